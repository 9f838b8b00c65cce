"""No sequence of replies opens unless the whole chain is honest: approved, digest, started."""

import copy
import json

from hypothesis import given
from hypothesis import strategies as st

from approval_client import ApprovalRequest, DashboardError
from approval_client._calls import Failure, Reply, Sleep, Timing
from approval_client._flow import Conversation

QUESTION = ApprovalRequest.code("print('hello')", max_wait_s=120)
NOW = "2026-11-21T12:00:00Z"
DECISION = {
    "status": "approved",
    "source": "reviewer",
    "reason": "",
    "decided_by": "alice",
    "decided_at": NOW,
    "digest": QUESTION.digest,
    "valid_until": "2026-11-21T12:10:00Z",
    "grant": None,
}
ANSWER = {
    "id": "a1",
    "status": "approved",
    "digest": QUESTION.digest,
    "version": 1,
    "now": NOW,
    "submitted_at": NOW,
    "expires_at": "2026-11-21T12:30:00Z",
    "review_url": "https://dashboard.example/a1",
    "policy": {"revision": 1, "trace": []},
    "decision": DECISION,
    "outcome": {"started_at": None, "finished_at": None},
}
STARTED = ANSWER | {"outcome": {"started_at": NOW, "finished_at": None}}
PENDING = ANSWER | {"status": "pending", "decision": None}

words = st.sampled_from(
    [
        "approved",
        "yes",
        "true",
        "APPROVED",
        "approved ",
        "rejected",
        "pending",
        "",
        QUESTION.digest,
    ]
)
leaves = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), words, st.text())
anything = st.recursive(
    leaves, lambda inner: st.lists(inner) | st.dictionaries(words | st.text(), inner), max_leaves=8
)
codes = st.sampled_from([200, 200, 200, 201, 204, 302, 400, 401, 404, 409, 429, 500, 503])


@st.composite
def spoiled(draw):
    """Take an honest answer and spoil one field of it, or leave one out."""
    answer = copy.deepcopy(draw(st.sampled_from([ANSWER, STARTED, PENDING])))
    part = draw(st.sampled_from(["", "decision", "outcome", "policy"]))
    target = answer[part] if part and answer[part] else answer
    name = draw(st.sampled_from(sorted(target)))
    if draw(st.booleans()):
        del target[name]
    else:
        target[name] = draw(anything)
    return answer


def encoded(value):
    return json.dumps(value).encode()


bodies = st.one_of(
    st.sampled_from([ANSWER, STARTED, PENDING]).map(encoded),
    spoiled().map(encoded),
    anything.map(encoded),
    st.binary(max_size=40),
    st.tuples(st.sampled_from([ANSWER, STARTED]), st.integers(1, 200)).map(
        lambda cut: encoded(cut[0])[: -cut[1]]
    ),
)
protocols = st.sampled_from(["1", "1", "1", "1.7", "", "2", "01", "1, 1", "one"])
replies = st.one_of(
    st.builds(Reply, status=codes, body=bodies, protocol=protocols, retry_after=words),
    st.just(Failure("ReadTimeout")),
)


def honest(body):
    return Reply(status=200, body=body, protocol="1")


class Run:
    """Plays prepared replies, then nothing but failures, and remembers what was used."""

    def __init__(self, script):
        self.script, self.now, self.seen = list(script), 0.0, []

    def response(self):
        timing = Timing(clock=lambda: self.now, jitter=lambda: 1.0)
        flow, received = Conversation(QUESTION, key="k", timing=timing).ask(), None
        while True:
            try:
                step = flow.send(received)
            except StopIteration as stop:
                return stop.value
            except DashboardError:
                return None
            received = self.receive(step)

    def receive(self, step):
        self.now += step.seconds if isinstance(step, Sleep) else 0.1
        if isinstance(step, Sleep):
            return None
        reply = self.script.pop(0) if self.script else Failure("ConnectError")
        self.seen.append((step, reply))
        return reply


def is_honest(reply, *, started):
    """Say, independently of the library's reader, whether a reply approves our content."""
    if not isinstance(reply, Reply) or reply.status not in {200, 201}:
        return False
    if reply.protocol not in {"1", "1.7"}:
        return False
    answer = json.loads(reply.body)
    decision = answer["decision"]
    approved = answer["status"] == decision["status"] == "approved"
    same = answer["digest"] == decision["digest"] == QUESTION.digest
    return approved and same and (isinstance(answer["outcome"]["started_at"], str) or not started)


@given(st.lists(replies, max_size=6))
def test_nothing_opens_but_an_approval_and_a_start_of_this_very_content(script):
    run = Run(script)

    response = run.response()

    if response is not None and response.approved is not False:
        (_, approval), (start, started) = run.seen[-2], run.seen[-1]
        asked = [reply for call, reply in run.seen if not call.path.endswith("/outcome")]
        assert is_honest(asked[-1], started=False), approval
        assert start.path == "/api/v1/approvals/a1/outcome"
        assert is_honest(started, started=True)


@given(anything)
def test_a_status_that_is_not_the_word_never_opens(status):
    told = STARTED | {"status": status, "decision": DECISION | {"status": status}}
    body = encoded(told)

    response = Run([honest(body)] * 3).response()

    assert (response is not None and response.approved) is (status == "approved")


@given(anything)
def test_a_digest_that_is_not_ours_never_opens(digest):
    told = STARTED | {"decision": DECISION | {"digest": digest}}

    response = Run([honest(encoded(told))] * 3).response()

    assert (response is not None and response.approved) is (digest == QUESTION.digest)


def test_the_honest_chain_opens():
    script = [honest(encoded(answer)) for answer in (PENDING, ANSWER, STARTED)]

    assert Run(script).response().approved is True
