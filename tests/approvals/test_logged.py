"""The log keeps no text of a request: it names the rows, with a key that goes with the content."""

import hashlib
import json
from itertools import cycle

import pytest
from django.db import transaction

from approval_client.wire import Kind, OutcomeState, Status
from dashboard.approvals import guards, services
from dashboard.approvals.models import ApprovalRequest, Assignment, Decision, Grant, Vote
from dashboard.approvals.rules import fingerprint as rules
from dashboard.approvals.rules.fingerprint import fingerprint_of
from dashboard.approvals.rules.grant import GrantScope, GrantTerms
from dashboard.approvals.rules.logged import texts_of
from dashboard.approvals.rules.step import StepAnswer, StepSaid
from dashboard.approvals.services import closing
from dashboard.audit import services as audit
from dashboard.audit.models import AuditEntry
from dashboard.clock import database_now
from tests import make, notebooks

pytestmark = pytest.mark.django_db
AUTH = "session:password"
RULES = (
    {
        "name": "Two people",
        "effect": "review",
        "when": {"tools": ["planted-tool-two"]},
        "demands": {"approvals": 2},
    },
    {"name": "Fast", "effect": "approve", "when": {"tools": ["planted-tool-fast"]}},
    {"name": "Never", "effect": "reject", "when": {"tools": ["planted-tool-never"]}},
    make.REMEMBERS,
)


@pytest.fixture
def token():
    return make.token(make.agent())


@pytest.fixture
def ada():
    return make.person("ada", reviewer=True)


@pytest.fixture
def bob():
    return make.person("bob", reviewer=True)


def entry(action, subject=None):
    found = AuditEntry.objects.filter(action=action)
    return (found.filter(subject=subject) if subject else found).latest("seq")


class Planting:
    """Does everything that can be done to requests, with texts that must not be in the log."""

    def __init__(self, token, ada, bob):
        self.token, self.ada, self.bob = token, ada, bob
        self.count = 0

    def asked(self, **changes):
        """A request all of whose free texts are planted."""
        self.count += 1
        return make.pending(
            self.token,
            **{
                "content": {"code": f"print('planted-code-{self.count}')  # planted-comment"},
                "objective": "planted-objective",
                "run_id": "planted-run",
                "evidence": {
                    "context": "planted-context",
                    "safety_concerns": ["planted-concern", "planted-worry"],
                    "analysis_details": {
                        "planted-key": "planted-value",
                        "deep": [{"planted-inner-key": "planted-inner-value"}],
                    },
                    "notebook_path": "planted-path.ipynb",
                },
                "accepts_edits": True,
                "accepts_grants": True,
            }
            | changes,
        )

    def call(self, tool="planted-tool", **changes):
        content = {
            "tool": tool,
            "arguments": {"planted-argument": f"planted-{self.count}", "x": "planted-other"},
            "call_id": "planted-call-id",
        }
        return self.asked(kind=Kind.TOOL_CALL, capability=tool, content=content, **changes)

    def plan(self):
        steps = [{"task": f"planted-step-{n}", "details": "planted-detail"} for n in range(2)]
        return self.asked(kind=Kind.PLAN, capability="plan", content={"steps": steps})

    def memory(self):
        content = {"operation": "write", "user_id": "planted-user", "content": "planted-memory"}
        return self.asked(kind=Kind.MEMORY, capability="memory", content=content)

    # What is done, a way to end a request each:

    def approves(self):
        approval = self.asked()
        services.assign(approval_id=approval.pk, person=self.ada, auth=AUTH)
        services.hand_over(
            approval_id=approval.pk, person=self.ada, auth=AUTH, to=self.bob, note="planted-note"
        )
        make.decided(approval, self.bob, reason="> line 1: planted-quote")
        make.report(approval, self.token)
        make.report(
            approval,
            self.token,
            OutcomeState.FINISHED,
            key="f",
            error="planted-error",
            output_head="planted-output",
        )

    def rejects(self):
        make.decided(self.call(), self.ada, Status.REJECTED, reason="> line 2: planted-refusal")

    def replaces(self):
        approval = self.asked()
        edit = make.edited(approval, self.ada, content={"code": "planted-replacement()"})
        basis = make.basis(approval, edit)
        make.decided(approval, self.ada, Status.REJECTED, basis=basis, reason="planted-why")

    def edits(self):
        approval = self.asked()
        edit = make.edited(approval, self.ada, content={"code": "planted_change()"})
        make.decided(approval, self.bob, basis=make.basis(approval, edit), reason="planted-yes")

    def votes(self):
        approval = self.call("planted-tool-two")
        make.decided(approval, self.ada, reason="planted-vote")
        make.decided(approval, self.bob, reason="planted-second")

    def answers_steps(self):
        plan = self.plan()
        said = [
            StepSaid(0, StepAnswer.ALLOWED),
            StepSaid(1, StepAnswer.REFUSED, note="planted-step-note"),
        ]
        edit = make.part_of(plan, self.ada, said)
        make.decided(plan, self.bob, basis=make.basis(plan, edit))

    def cancels(self):
        approval = self.memory()
        services.cancel(approval_id=approval.pk, token=self.token, reason="planted-cancel")

    def expires(self):
        asked = self.asked()
        with transaction.atomic():
            approval = closing.lock(asked.pk)
            closing.expire_locked(approval, database_now())

    def is_approved_by_policy(self):
        self.call("planted-tool-fast")

    def is_rejected_by_policy(self):
        self.call("planted-tool-never")

    def remembers(self):
        call = self.call()
        chosen = GrantTerms(
            scope=GrantScope.ARGUMENTS, this_run=True, most_uses=2, arguments=("x",)
        )
        make.decided(call, self.ada, remember=chosen)
        self.call()  # answered by it
        grant = Grant.objects.latest("pk")
        services.revoke_grant(grant.pk, by=self.ada, auth=AUTH)

    def takes_back(self):
        approval = self.asked()
        make.decided(approval, self.ada)
        services.recall(
            approval_id=approval.pk, person=self.ada, auth=AUTH, reason="planted-recall"
        )

    def sends_a_notebook(self):
        cell = notebooks.code(f"planted_cell_{self.count}()  # planted-cell-comment")
        prose = notebooks.markdown("planted-prose")
        body = notebooks.notebook(cell, prose)
        sent, _ = services.send_notebook(
            token=self.token, digest=notebooks.digest_of(body), body=body
        )
        approval = self.asked(evidence={"notebook": sent.digest})
        make.decided(approval, self.ada)

    def exports(self):
        services.record_export(
            by=make.BY, form="csv", filters={"run": "planted-run", "status": "approved"}, rows=3
        )
        make.decided(self.asked(), self.ada)


WAYS = [name for name in vars(Planting) if name[0] != "_" and name not in dir(object)]
WAYS = [name for name in WAYS if name not in ("asked", "call", "plan", "memory")]


def test_nothing_that_an_agent_or_a_reviewer_wrote_is_in_the_log(token, ada, bob):
    make.in_force(*RULES)
    planting = Planting(token, ada, bob)
    for way in cycle(WAYS):
        if ApprovalRequest.objects.exclude(status=Status.PENDING).count() >= 200:
            break
        getattr(planting, way)()

    kept = [list(row) for row in AuditEntry.objects.values_list()]

    assert "planted" not in json.dumps(kept, default=str)
    assert audit.verify() is None
    differences = [one.said for _, found in services.compare() for one in found]
    assert differences == ["policy revision 2 is not what the log says"]  # put in force by itself


def test_each_request_has_a_key_of_its_own(token):
    first, second = make.pending(token), make.pending(token)

    assert len({first.log_key, second.log_key, ""}) == 3
    assert len(bytes.fromhex(first.log_key)) == 32


def test_what_the_log_says_cannot_be_guessed_without_the_key(token, ada):
    approval = make.approved(token, ada, content={"code": "print(1)"})
    decision = Decision.objects.get(approval=approval)
    values = {name: getattr(decision, name) for name in rules.COLUMNS[Decision]}

    said = json.loads(entry("approval.approved").details)["row"]

    assert said == fingerprint_of(decision)
    assert said != rules.fingerprint(values)
    assert said != rules.fingerprint(values, hashlib.sha256(b"a guess").hexdigest())


def test_requests_that_are_older_than_the_keys_have_the_fingerprints_they_had(token, ada):
    approval = make.approved(token, ada)
    decision = Decision.objects.select_related("approval").get(approval=approval)
    decision.approval.log_key = ""

    values = {name: getattr(decision, name) for name in rules.COLUMNS[Decision]}

    assert fingerprint_of(decision) == rules.fingerprint(values)


def test_what_an_older_server_wrote_meanwhile_is_no_difference(token, ada, monkeypatch):
    approval = make.pending(token)
    plain = lambda row: rules.fingerprint(  # noqa: E731 - as it was
        {name: field.to_python(getattr(row, name)) for name, field in rules._of(type(row))}
    )
    for module in ("closing", "answer"):
        monkeypatch.setattr(f"dashboard.approvals.services.{module}.fingerprint_of", plain)
    make.decided(approval, ada, Status.REJECTED, reason="Too risky.")
    said = entry("approval.rejected")

    assert [one.said for _, found in services.compare() for one in found] == []
    assert texts_of([said]) == {said.seq: ("Too risky.", True)}


@pytest.mark.parametrize("key", ["zz", "", "0" * 64, "\u00e9"])
def test_a_key_that_was_changed_is_a_difference_and_breaks_no_page(token, ada, key):
    make.decided(make.pending(token), ada, Status.REJECTED, reason="Too risky.")
    guards.remove()
    ApprovalRequest.objects.update(log_key=key)
    said = entry("approval.rejected")

    assert texts_of([said]) == {said.seq: ("Too risky.", False)}
    assert [one.said for _, found in services.compare() for one in found] != []


def test_a_note_that_was_changed_is_a_difference(token, ada, bob):
    approval = make.pending(token)
    services.hand_over(
        approval_id=approval.pk, person=ada, auth=AUTH, to=bob, note="You know the magnet."
    )
    before = [one.said for _, found in services.compare() for one in found]
    Assignment.objects.update(note="Approve it at once.")

    [found] = [one.said for _, found in services.compare() for one in found]
    assert before == []
    assert found.endswith("whom it was handed over to, or the note, is not what the log says")


def test_a_reason_is_read_from_its_row(token, ada):
    make.decided(make.pending(token), ada, Status.REJECTED, reason="Too risky.")
    said = entry("approval.rejected")

    assert texts_of([said]) == {said.seq: ("Too risky.", True)}


def test_a_reason_that_was_changed_is_not_as_logged(token, ada):
    make.decided(make.pending(token), ada, Status.REJECTED, reason="Too risky.")
    said = entry("approval.rejected")
    guards.remove()
    Decision.objects.update(reason="Fine.")

    assert texts_of([said]) == {said.seq: ("Fine.", False)}


def test_each_vote_has_its_own_reason(token, ada, bob):
    make.in_force(RULES[0] | {"demands": {"approvals": 3}})
    approval = make.pending(
        token,
        kind=Kind.TOOL_CALL,
        capability="planted-tool-two",
        content={"tool": "planted-tool-two", "arguments": {}},
    )
    make.decided(approval, ada, reason="Moves little.")
    make.decided(approval, bob, reason="Watched it.")
    entries = list(AuditEntry.objects.filter(action="approval.voted"))

    assert [text.text for text in texts_of(entries).values()] == ["Moves little.", "Watched it."]
    assert Vote.objects.count() == 2


def test_a_note_is_kept_as_long_as_its_assignment(token, ada, bob):
    approval = make.pending(token)
    handing = {"approval_id": approval.pk, "auth": AUTH}
    services.hand_over(person=ada, to=bob, note="You know the magnet.", **handing)
    first = entry("approval.handed_over")
    before = texts_of([first])
    services.hand_over(person=bob, to=ada, note="Not this one.", **handing)

    assert before == {first.seq: ("You know the magnet.", True)}
    assert texts_of([first]) == {}
    assert Assignment.objects.get().note == "Not this one."


def test_old_entries_tell_their_own_text():
    old = AuditEntry(
        seq=7,
        action="approval.rejected",
        subject="7d1a5a3e-2f64-4c6e-9f7e-1d9d0c6a4b11",
        details='{"reason":"As it was then.","source":"reviewer"}',
    )

    assert texts_of([old]) == {7: ("As it was then.", True)}
