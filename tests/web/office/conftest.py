from html.parser import HTMLParser

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from dashboard.audit.models import AuditEntry
from dashboard.inspection.findings import Report
from dashboard.policies import inspections
from dashboard.web.access import AUTH_KEY
from tests import make


@pytest.fixture
def browser(db, settings):
    """Makes browsers that are at our address and say so, as real ones do."""

    def make_browser():
        return Client(headers={"host": "127.0.0.1:8000", "origin": settings.PUBLIC_URL})

    return make_browser


@pytest.fixture
def enter(browser):
    """Signs a person in as their password would, and returns their browser."""

    def sign_in(person):
        client = browser()
        client.force_login(person)
        session = client.session
        session[AUTH_KEY] = "password"
        session.save()
        return client

    return sign_in


@pytest.fixture
def admin(enter, ada):
    """The browser of ada, an admin."""
    return enter(ada)


@pytest.fixture
def reviewer(enter, alice):
    """The browser of alice, a reviewer."""
    return enter(alice)


@pytest.fixture
def auditor(enter, db):
    """The browser of otto, an auditor."""
    return enter(make.person("otto", auditor=True))


@pytest.fixture
def found(monkeypatch):
    """Lets our inspection find something; nothing, until it is told what."""

    def find(*findings, languages=("python",)):
        report = Report(findings, languages).to_json()
        monkeypatch.setattr(inspections, "_inspected", lambda _: report)

    find()
    return find


@pytest.fixture
def recorded():
    """The entries of one action: (actor, auth, subject) each."""

    def find(action):
        entries = AuditEntry.objects.filter(action=action).order_by("seq")
        return list(entries.values_list("actor", "auth", "subject"))

    return find


class _Text(HTMLParser):
    def __init__(self, html):
        super().__init__()
        self.words, self.by_id, self._open = [], {}, []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        if tag not in {"br", "hr", "img", "input", "link", "meta"}:
            self._open.append(dict(attributes).get("id"))

    def handle_startendtag(self, tag, attributes):
        """Holds no words."""

    def handle_endtag(self, _):
        self._open.pop()

    def handle_data(self, data):
        self.words.append(data)
        for name in filter(None, self._open):
            self.by_id[name] = f"{self.by_id.get(name, '')} {data}"


@pytest.fixture
def read():
    """Reads a page: all its words, or those inside the element with an id."""

    def text(reply, element_id=None):
        page = _Text(reply.content.decode())
        return " ".join((page.by_id[element_id] if element_id else " ".join(page.words)).split())

    return text


@pytest.fixture
def cost():
    """Counts the queries of a page that was open before."""

    def count(client, path):
        client.get(path)
        with CaptureQueriesContext(connection) as queries:
            client.get(path)
        return len(queries)

    return count
