"""Browsers of people who are signed in, at the one address that decisions count from."""

from functools import partial

import pytest
from django.conf import settings as django_settings
from django.test import Client

from dashboard.inspection.findings import Report
from dashboard.policies import inspections
from dashboard.web.desk.request import request_content as read_approval
from tests import make


@pytest.fixture
def browser_of():
    """Gives a client that is signed in as somebody."""

    def sign_in(person, **more):
        client = Client(
            HTTP_HOST=django_settings.PUBLIC_URL.partition("://")[2],
            HTTP_ORIGIN=django_settings.PUBLIC_URL,
            **more,
        )
        client.force_login(person)
        session = client.session
        session["auth"] = "password"
        session.save()
        return client

    return sign_in


@pytest.fixture
def browser(browser_of, alice):
    """Alice's browser; she is a reviewer."""
    return browser_of(alice)


@pytest.fixture
def answer():
    """Post an answer as the page's own form would."""

    def post(browser, approval, verdict="approve", **changes):
        judgement = approval.judgements.latest("id")
        form = {
            "verdict": verdict,
            "digest": approval.digest,
            "judgement": judgement.pk,
            "shown": read_approval(approval, judgement, "127.0.0.1:8000").shown,
            "end_seen": "yes",
        }
        headers = changes.pop("headers", {})
        path = f"/approvals/{approval.pk}/decide{changes.pop('query', '')}"
        return browser.post(path, form | changes, headers=headers)

    return post


@pytest.fixture
def hold(ada):
    """Everything is on hold."""
    from dashboard.approvals.services import place_hold  # noqa: PLC0415 - needs the registry

    return place_hold(by=ada, auth="session:password", reason="Maintenance.")


@pytest.fixture
def ask(token):
    """Submit as the agent."""
    return partial(make.pending, token)


@pytest.fixture
def inspected(monkeypatch):
    """Have our inspection find just this in whatever is submitted from now on."""

    def find(*findings, languages=("python",)):
        make.inspected(monkeypatch, Report(findings, languages))

    return find


@pytest.fixture
def count_queries():
    """Count the queries of a call."""
    from django.db import connection  # noqa: PLC0415 - only here
    from django.test.utils import CaptureQueriesContext  # noqa: PLC0415 - only here

    def count(call):
        with CaptureQueriesContext(connection) as queries:
            call()
        return len(queries)

    return count


@pytest.fixture
def read_in_part(monkeypatch):
    """Have long contents inspected no longer than short ones: the test is about their page."""
    monkeypatch.setattr(inspections, "COMPUTING_S", 0.5)
    monkeypatch.setattr(inspections, "MORE_PER_MIB_S", 0.0)
