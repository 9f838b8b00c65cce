"""``FakeDashboard`` keeps the server's rules: the same bodies are put to both."""

import json
from uuid import uuid4

import httpx2
import pytest

from approval_client.testing import FakeDashboard
from dashboard.approvals.models import ApprovalRequest
from tests.api.conftest import CODE

pytestmark = pytest.mark.django_db
CALL = {"tool": "x", "arguments": {}}
MEMORY = {"operation": "write", "user_id": "ada", "content": "tea"}


def of(kind, content, **more):
    return {"kind": kind, "capability": "x", "content": content} | more


QUESTIONS = [
    CODE,
    {},
    [],
    None,
    "text",
    5,
    CODE | {"more": 1},
    CODE | {"kind": "dance"},
    CODE | {"kind": None},
    CODE | {"kind": ["code"]},
    CODE | {"capability": ""},
    CODE | {"capability": "x" * 200},
    CODE | {"capability": "x" * 201},
    CODE | {"capability": "a\nb"},
    CODE | {"capability": "a\u200bb"},
    CODE | {"capability": 1},
    CODE | {"content": "print(1)"},
    CODE | {"content": None},
    CODE | {"content": {}},
    CODE | {"objective": "x" * 4000},
    CODE | {"objective": "x" * 4001},
    CODE | {"objective": None},
    CODE | {"objective": ["a"]},
    CODE | {"evidence": {"context": "x"}},
    CODE | {"evidence": ["a"]},
    CODE | {"evidence": None},
    CODE | {"evidence": {"notebook": 5}},
    CODE | {"run_id": ""},
    CODE | {"run_id": "a\tb"},
    CODE | {"run_id": "x" * 201},
    CODE | {"run_id": 7},
    CODE | {"time_limit_s": None},
    CODE | {"time_limit_s": 5},
    CODE | {"time_limit_s": 5.0},
    CODE | {"time_limit_s": 5.5},
    CODE | {"time_limit_s": 4},
    CODE | {"time_limit_s": 2_592_001},
    CODE | {"time_limit_s": "600"},
    CODE | {"time_limit_s": True},
    CODE | {"max_wait_s": 10**400},
    CODE | {"max_wait_s": -1},
    CODE | {"accepts_edits": "yes"},
    CODE | {"accepts_edits": 1},
    CODE | {"accepts_grants": None},
    of("code", {"code": ""}),
    of("code", {"code": 1}),
    of("code", {"code": "1", "lang": "python"}),
    of("code", {"code": "1", "language": None}),
    of("code", {"code": "1", "language": ""}),
    of("code", {"code": "1", "language": "a\nb"}),
    of("tool_call", CALL),
    of("tool_call", CALL | {"tool": ""}),
    of("tool_call", CALL | {"tool": "memory"}),
    of("tool_call", CALL | {"tool": "a\u202eb"}),
    of("tool_call", CALL | {"arguments": ["a"]}),
    of("tool_call", CALL | {"arguments": None}),
    of("tool_call", {"tool": "x"}),
    of("plan", {"steps": []}),
    of("plan", {"steps": ["read the table"]}),
    of("plan", {"steps": {"task": "x"}}),
    of("plan", {"steps": [{}]}),
    of("memory", MEMORY),
    of("memory", MEMORY | {"user_id": ""}),
    of("memory", MEMORY | {"operation": ""}),
    of("memory", MEMORY | {"content": ""}),
    of("memory", MEMORY | {"content": None}),
    of("memory", MEMORY | {"existing": None}),
    of("memory", MEMORY | {"existing": 5}),
]
DIGEST = "0" * 64
REPORTS = [
    {},
    {"state": "started"},
    {"state": "begun", "digest": DIGEST},
    {"state": "started", "digest": DIGEST},
    {"state": "started", "digest": "0" * 63},
    {"state": "started", "digest": "G" * 64},
    {"state": "started", "digest": DIGEST, "more": 1},
    {"state": "finished", "digest": DIGEST, "exit_code": "1"},
    {"state": "finished", "digest": DIGEST, "exit_code": 2**31},
    {"state": "finished", "digest": DIGEST, "exit_code": 1.0},
    {"state": "finished", "digest": DIGEST, "duration_s": -1},
    {"state": "finished", "digest": DIGEST, "duration_s": None},
    {"state": "finished", "digest": DIGEST, "error": None},
    {"state": "finished", "digest": DIGEST, "output_head": "x" * 4001},
]
WITHDRAWALS = [{}, {"reason": "Done."}, {"reason": None}, {"reason": "x" * 4001}, {"why": "x"}]
KEYS = ["k", "a b", "x" * 200, "x" * 201, "a\tb"]


class Both:
    """The server and a fake, which get the same."""

    def __init__(self, api):
        self.api, self.fake = api, FakeDashboard.silent()

    def post(self, body, path="", key="", ids=("", "")):
        """Return what each answers: its status, its code and the place that it names."""
        key, text = key or uuid4().hex, json.dumps(body)
        ours = self.api.post(f"/approvals{path.format(ids[0])}", text, key=key)
        url = f"{self.fake.url}/api/v1/approvals{path.format(ids[1])}"
        headers = {
            "Authorization": f"Bearer {self.fake.token}",
            "Idempotency-Key": key,
            "Content-Type": "application/json",
        }
        client = httpx2.Client(transport=httpx2.MockTransport(self.fake._carry))
        theirs = client.post(url, content=text.encode(), headers=headers)
        return [_told(one.status_code, one.json()) for one in (ours, theirs)]


def _told(status, body):
    if status < 300:
        return status, "", ""
    place = body["detail"].partition(":")[0] if body["detail"].startswith("body.") else ""
    return status, body["code"], place


@pytest.fixture
def both(api):
    return Both(api)


@pytest.mark.parametrize("body", QUESTIONS, ids=lambda body: json.dumps(body)[:60])
def test_a_question_is_accepted_by_both_or_refused_by_both(both, body):
    ours, theirs = both.post(body)

    assert theirs[:2] == ours[:2]
    assert not theirs[2] or ours[2].startswith(theirs[2])


@pytest.mark.parametrize("body", REPORTS, ids=json.dumps)
def test_a_report_is_accepted_by_both_or_refused_by_both(both, body):
    ours, theirs = both.post(body, "/{}/outcome", ids=asked(both))

    assert theirs[:2] == ours[:2]


@pytest.mark.parametrize("body", WITHDRAWALS, ids=lambda body: json.dumps(body)[:60])
def test_a_withdrawal_is_accepted_by_both_or_refused_by_both(both, body):
    ours, theirs = both.post(body, "/{}/cancel", ids=asked(both))

    assert theirs[:2] == ours[:2]


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key[:10])
def test_a_key_is_accepted_by_both_or_refused_by_both(both, key):
    ours, theirs = both.post(CODE, key=key)

    assert theirs[:2] == ours[:2]


def asked(both):
    both.post(CODE)
    return ApprovalRequest.objects.latest("pk").pk, both.fake.approvals[-1].id
