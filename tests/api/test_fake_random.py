"""``FakeDashboard`` answers as the server does, whatever is sent: random calls go to both."""

import json
from contextlib import contextmanager

import httpx2
import pytest
from hypothesis import HealthCheck, given, settings

from approval_client.testing import FakeDashboard, approve, reject
from approval_client.wire import Status
from dashboard.approvals import services
from dashboard.approvals.models import ApprovalRequest
from dashboard.approvals.rules import notebook as notebook_rules
from tests import make
from tests.api import random_calls
from tests.api.conftest import CODE

pytestmark = pytest.mark.django_db
ALIKE = ("status", "digest", "version", "size", "more")  # of what is answered with
QUESTION = random_calls.Call("POST", "/approvals", json.dumps(CODE).encode(), "first")


class Both:
    """The server and a fake, each with one pending request."""

    def __init__(self, api, person):
        self.api, self.person, self.fake = api, person, FakeDashboard.silent()
        transport = httpx2.MockTransport(self.fake._carry)
        self.http = httpx2.Client(transport=transport, base_url=f"{self.fake.url}/api/v1")
        self.ids, self.digest = ("", ""), ""
        first = [answer.json() for answer in self.send(QUESTION)]
        self.ids, self.digest = [answer["id"] for answer in first], first[0]["digest"]

    def send(self, call):
        """Return what the server answers to a call, and what the fake does."""
        body = call.body.replace(b"{digest}", self.digest.encode())
        ours, theirs = (call.path.replace("{}", id_) for id_ in self.ids)
        server = self.api.http.generic(
            call.method,
            f"/api/v1{ours}",
            body,
            content_type=call.type,
            headers=self.api.headers | {"Idempotency-Key": call.key},
        )
        headers = {
            "Authorization": f"Bearer {self.fake.token}",
            "Idempotency-Key": call.key.encode(),
            "Content-Type": call.type,
        }
        return server, self.http.request(call.method, theirs, content=body, headers=headers)

    def decide(self, what):
        """Have a person do something, if it is something that they can do now."""
        approval = ApprovalRequest.objects.get(pk=self.ids[0])
        can = approval.status == Status.PENDING and not self.fake.on_hold
        if what in {"approve", "reject"} and can:
            status = Status.APPROVED if what == "approve" else Status.REJECTED
            make.decided(approval, self.person, status, reason="Because.")
            self.fake.decide_next(approve("Because.") if what == "approve" else reject("Because."))
            self.fake.approvals[0].tick(self.fake._now(), heard=True)
        fake = self.fake.approvals[0]
        if what == "take back" and fake.status is Status.APPROVED and not fake.started:
            services.recall(
                approval_id=approval.pk, person=self.person, auth="session:password", reason="No."
            )
            self.fake.take_back("No.", by=self.person.username)
        if what == "hold" and not self.fake.on_hold:
            self.fake.on_hold = True
            services.place_hold(by=make.person("root", admin=True), auth="password", reason="No.")


@contextmanager
def both(api, person):
    """Make a server and a fake, and have the server forget what it was sent."""
    with make.undone():
        yield Both(api, person)


def told(answer):
    """Return what has to be alike: the status, the code or what is said of the request."""
    body = json.loads(answer.content or b"{}")
    if answer.status_code >= 400:
        return answer.status_code, body.get("code"), None
    decision = body.get("decision") or {}
    said = {name: decision.get(name) for name in ("status", "reason", "source", "taken_back")}
    return answer.status_code, {name: body.get(name) for name in ALIKE}, said


def places(answer):
    """Return the places that a refusal names."""
    body = json.loads(answer.content or b"{}")
    if "errors" in body:
        return {".".join(map(str, error["where"])) for error in body["errors"]}
    return {body["detail"].partition(":")[0]} if body.get("code") == "invalid" else set()


def compared(ours, theirs):
    assert told(theirs) == told(ours)
    assert places(theirs) <= places(ours)


def tried(calls, compare):
    """Try random calls; each is a test of its own, whose requests are forgotten."""

    @settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(calls)
    def attempt(drawn):
        compare(drawn)

    attempt()


@pytest.mark.parametrize("approved", [False, True], ids=["pending", "approved"])
@pytest.mark.parametrize("kind", ["questions", "reports", "withdrawals", "looks"])
def test_a_call_is_answered_alike(api, alice, kind, approved):
    def compare(call):
        with both(api, alice) as dashboards:
            if approved:
                dashboards.decide("approve")
            compared(*dashboards.send(call))

    tried(getattr(random_calls, kind), compare)


def test_a_notebook_is_kept_by_both_or_refused_by_both(api, alice, monkeypatch):
    monkeypatch.setattr(notebook_rules, "CHECK_WITHIN_S", 20.0)

    def compare(call):
        with both(api, alice) as dashboards:
            compared(*dashboards.send(call))

    tried(random_calls.notebooks, compare)


def test_whatever_happens_to_a_request_is_told_alike(api, alice):
    def compare(history):
        with both(api, alice) as dashboards:
            for step in history:
                if isinstance(step, str):
                    dashboards.decide(step)
                else:
                    compared(*dashboards.send(step))

    tried(random_calls.histories, compare)
