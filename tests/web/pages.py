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


def page_of(browser, approval):
    response = browser.get(f"/approvals/{approval.pk}")
    assert response.status_code == 200
    return read(response)


def bar_of(browser, approval):
    return page_of(browser, approval).one(id="request-bar")


def links(element):
    return [(a.text, a["href"]) for a in element.all("a")]
