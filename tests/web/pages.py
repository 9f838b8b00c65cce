"""Reads a page back, as its reader would."""

from html.parser import HTMLParser

_VOID = {"meta", "link", "input", "img", "br", "hr", "use", "path", "circle"}


class Element:
    def __init__(self, tag, attributes):
        self.tag, self.attributes, self.inside = tag, attributes, []

    def __getitem__(self, name):
        return self.attributes[name]

    def all(self, tag=None, **wanted):
        """Elements of this name and these attributes; ``class_`` asks for one of the classes."""
        for child in self.inside:
            if isinstance(child, Element):
                if tag in (None, child.tag) and child.has(wanted):
                    yield child
                yield from child.all(tag, **wanted)

    def one(self, tag=None, **wanted):
        return next(self.all(tag, **wanted))

    def has(self, wanted):
        classes = wanted.get("class_")
        others = {name: value for name, value in wanted.items() if name != "class_"}
        in_class = classes is None or classes in (self.attributes.get("class") or "").split()
        return in_class and others.items() <= self.attributes.items()

    @property
    def raw(self):
        return "".join(c.raw if isinstance(c, Element) else c for c in self.inside)

    @property
    def text(self):
        return " ".join(self.raw.split())


class _Builder(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open = [Element("document", {})]

    def handle_starttag(self, tag, attributes):
        element = Element(tag, dict(attributes))
        self.open[-1].inside.append(element)
        if tag not in _VOID:
            self.open.append(element)

    def handle_startendtag(self, tag, attributes):
        self.open[-1].inside.append(Element(tag, dict(attributes)))

    def handle_endtag(self, tag):
        if tag not in _VOID:
            assert self.open.pop().tag == tag

    def handle_data(self, data):
        self.open[-1].inside.append(data)


def read(response):
    """The page that ``response`` holds, as a tree."""
    builder = _Builder()
    builder.feed(response.content.decode())
    builder.close()
    assert [element.tag for element in builder.open] == ["document"]
    return builder.open[0]


def value_of(response, name):
    """What a field of a page says that nobody sees."""
    return read(response).one("input", name=name).attributes.get("value", "")


def page_of(browser, approval):
    response = browser.get(f"/approvals/{approval.pk}")
    assert response.status_code == 200
    return read(response)


def bar_of(browser, approval):
    return page_of(browser, approval).one(id="request-bar")


_BUTTONS = {"submit", "button", "image", "reset"}


def named_twice(page):
    """Names that stand more than once in a form, which scripts and servers each read in their way.

    A group is meant: radio buttons, or checkboxes whose values differ. Of buttons only the one
    that was pressed is sent.
    """
    forms = {}
    for form, control in _controls(page, None):
        forms.setdefault((form, control["name"]), []).append(control)
    return [
        (form, name)
        for (form, name), controls in forms.items()
        if len(controls) > 1 and not _is_group(controls)
    ]


def _controls(element, form):
    for child in element.inside:
        if isinstance(child, str):
            continue
        owner = child if child.tag == "form" else form
        is_field = child.tag in {"input", "select", "textarea"} and "name" in child.attributes
        if is_field and child.attributes.get("type") not in _BUTTONS:
            yield child.attributes.get("form") or (owner and _name_of(owner)), child
        yield from _controls(child, owner)


def _name_of(form):
    return form.attributes.get("id") or f"{form.attributes.get('action')} {id(form)}"


def _is_group(controls):
    kinds = {control.attributes.get("type") for control in controls}
    values = {control.attributes.get("value") for control in controls}
    return kinds in ({"radio"}, {"checkbox"}) and len(values) == len(controls)


def links(element):
    return [(a.text, a["href"]) for a in element.all("a")]


def post(browser, approval, verb, **form):
    """Send a form of a request's page."""
    return browser.post(f"/approvals/{approval.pk}/{verb}", form)


def tabs(browser, address="/"):
    """Return the tabs of the queue: text, and whether each is open."""
    nav = read(browser.get(address)).one(class_="tabs")
    return {link.text: "aria-current" in link.attributes for link in nav.all("a")}


def ids(browser, address):
    """Return the ids of the listed requests."""
    page = read(browser.get(address)).one(id="list")
    return [item["data-id"] for item in page.all("li", class_="item")]
