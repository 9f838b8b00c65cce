from html.parser import HTMLParser

import pytest
from django.core.cache import cache


class Page(HTMLParser):
    """Reads rendered HTML back: the plain text, the glyphs in order, and every tag used.

    What is marked as passing for something else is text: it is drawn as it is.
    """

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.parts = []  # ("text", text) or ("glyph", (label, title))
        self.tags = set()  # (name, class)
        self._open = []
        self.feed(html)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        if tag == "bdi":  # an isolate, with nothing else to say
            assert found in ({"dir": "rtl"}, {"dir": "ltr"}, {"class": "leftwards", "dir": "rtl"})
            self._open.append(found)
            return
        assert list(found) in (["class"], ["class", "title"])
        self.tags.add((tag, found["class"]))
        self._open.append(found)

    def handle_endtag(self, tag):  # noqa: ARG002 - the parser's signature
        self._open.pop()

    def handle_data(self, data):
        if self._open and "title" in self._open[-1] and self._open[-1]["class"] != "alike":
            self.parts.append(("glyph", (data, self._open[-1]["title"])))
        else:
            self.parts.append(("text", data))

    def handle_comment(self, data):
        raise AssertionError(data)

    handle_decl = handle_pi = unknown_decl = handle_comment


@pytest.fixture(scope="session")
def read():
    return Page


@pytest.fixture(autouse=True)
def empty_cache():
    cache.clear()
