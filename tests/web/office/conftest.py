from html.parser import HTMLParser
from urllib.parse import urlsplit

import httpx2
import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from dashboard.accounts.provider import metadata
from dashboard.audit.models import AuditEntry
from dashboard.inspection.findings import Report
from dashboard.policies import inspections
from dashboard.web.access import AUTH_KEY
from tests import make
from tests.provider import CLIENT, SECRET
from tests.provider import provider as running_provider
from tests.serving import PLAIN


@pytest.fixture
def browser(db, settings):
    """Makes browsers that are at our address and say so, as real ones do."""

    def make_browser():
        host = urlsplit(settings.PUBLIC_URL).netloc
        return Client(headers={"host": host, "origin": settings.PUBLIC_URL})

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


@pytest.fixture
def provider(settings):
    """An OpenID Connect provider that people sign in at; it says what a test has it say."""
    with running_provider() as running:
        settings.OIDC_ISSUER, settings.OIDC_NAME = running.issuer, "Example ID"
        settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET = CLIENT, SECRET
        metadata.forget()
        yield running
    metadata.forget()


@pytest.fixture
def comes_back(provider):
    """Goes to the provider and back with a browser, as far as the callback; returns its answer."""

    def go(client, begin="/sign-in/provider"):
        led = client.get(begin)
        assert led.status_code == 302, led.content
        return client.get(path_back(led.url))

    return go


def path_back(address):
    """The path of ours that the provider's ``address`` leads back to."""
    answer = httpx2.get(address, trust_env=False, verify=PLAIN)
    parts = urlsplit(answer.headers["Location"])
    return f"{parts.path}?{parts.query}"
