"""The tables are compared with the audit log: tampering is found, and ordinary work is not."""

import json
from datetime import timedelta

import pytest
from django.db import connection
from django.db.models import F
from django.utils import timezone

from approval_client.wire import Kind, OutcomeState, Status, digest
from dashboard.accounts.models import Agent, AgentToken, Group, User
from dashboard.accounts.services import groups
from dashboard.approvals import guards, services
from dashboard.approvals.models import (
    ApprovalRequest,
    Closing,
    Decision,
    Edit,
    Grant,
    Hold,
    Inspection,
    Judgement,
    JudgementGrounds,
    Notebook,
    NotebookPin,
    Outcome,
    Recall,
    RequestHeadline,
    Tool,
    Vote,
)
from dashboard.approvals.rules import proof
from dashboard.approvals.rules.fingerprint import COLUMNS, fingerprint_of
from dashboard.approvals.rules.grant import GrantScope, GrantTerms
from dashboard.audit import services as audit
from dashboard.audit.chain import link_hash
from dashboard.audit.models import AuditEntry, AuditHead
from dashboard.audit.queries import last_ended
from dashboard.policies.evaluate import EVERYTHING_TO_A_PERSON, Policy, parse_rule
from dashboard.policies.models import PolicyRevision
from dashboard.policies.services import current_revision, publish
from tests import make, notebooks

pytestmark = pytest.mark.django_db


def published(author, *rules):
    present = current_revision()
    policy = Policy(modes=EVERYTHING_TO_A_PERSON.modes, rules=tuple(map(parse_rule, rules)))
    publish(
        policy,
        author=author,
        note="",
        by=audit.Actor(f"user:{author.username}"),
        based_on=present.number,
        confirmed="loosen",
    )


class House:
    """A dashboard where something of every kind has happened, by the services alone."""

    def __init__(self):
        self.ada = make.person("ada", admin=True, reviewer=True)
        self.bob = make.person("bob", reviewer=True)
        self.eve = make.person("eve", auditor=True)
        groups.set_members(
            groups.create_group(name="operators", by=make.BY), members=[self.bob], by=make.BY
        )
        groups.delete_group(groups.create_group(name="gone", by=make.BY), by=make.BY)
        self.token = make.token(make.agent("beamline"))
        published(
            self.ada,
            {
                "name": "Two",
                "effect": "review",
                "when": {"tools": ["move"]},
                "demands": {"approvals": 2},
            },
            {"name": "Fast", "effect": "approve", "when": {"tools": ["read"]}},
            make.REMEMBERS,
        )
        self._requests()
        self.classed = Tool.objects.get(name="read")
        changes = {self.classed.pk: services.ClassChange("", "reads")}
        services.class_tools(changes, by=self.ada, auth="session:password")
        services.place_hold(by=self.ada, auth="session:password", reason="beam dump")
        services.lift_hold(by=self.ada, auth="session:password")

    def _requests(self):
        token, ada, bob = self.token, self.ada, self.bob
        self.approved = make.approved(token, bob, evidence={"why": "as asked"})
        make.report(self.approved, token)
        make.report(self.approved, token, OutcomeState.FINISHED, key="f", duration_s=1)
        self.rejected = make.pending(token, content={"code": "print(2)"})
        make.decided(self.rejected, bob, Status.REJECTED, reason="Too risky.")
        call = {"kind": Kind.TOOL_CALL, "capability": "move"}
        self.voted = make.pending(token, content={"tool": "move", "arguments": {}}, **call)
        make.decided(self.voted, ada, reason="Moves little.")
        self.half = make.pending(token, content={"tool": "move", "arguments": {"x": 1}}, **call)
        make.decided(self.half, ada)
        make.decided(self.voted, bob)
        read = {"kind": Kind.TOOL_CALL, "capability": "read"}
        self.by_policy = make.pending(token, content={"tool": "read", "arguments": {}}, **read)
        self.cancelled = make.pending(token, content={"code": "print(3)"})
        services.cancel(approval_id=self.cancelled.pk, token=token)
        self.edited = make.pending(token, content={"code": "print(4)"}, accepts_edits=True)
        edit = make.edited(self.edited, ada)
        make.decided(self.edited, bob, basis=make.basis(self.edited, edit))
        self._granted()
        self.recalled = make.approved(token, bob, content={"code": "print(8)"})
        services.recall(
            approval_id=self.recalled.pk, person=bob, auth="session:password", reason="Too early."
        )
        body = notebooks.notebook(notebooks.code("print(6)"))
        sent, _ = services.send_notebook(token=token, digest=notebooks.digest_of(body), body=body)
        evidence = {"notebook": sent.digest}
        make.pending(token, content={"code": "print(6)"}, evidence=evidence)
        self.pending = make.pending(token, content={"code": "print(7)"})

    def _granted(self):
        asked = {"content": {"code": "print(5)", "language": "python"}, "accepts_grants": True}
        first = make.pending(self.token, **asked)
        terms = GrantTerms(scope=GrantScope.CONTENT, this_run=False, most_uses=10)
        make.decided(first, self.bob, remember=terms)
        self.by_grant = make.pending(self.token, **asked)
        self.grant = Grant.objects.latest("pk")
        other = asked | {"content": {"code": "print(9)", "language": "python"}}
        make.decided(make.pending(self.token, **other), self.bob, remember=terms)
        self.ended = Grant.objects.latest("pk")
        services.revoke_grant(self.ended.pk, by=self.ada, auth="session:password")


@pytest.fixture
def house():
    return House()


def found():
    """What a whole verification finds, the chain first."""
    broken = audit.verify()
    return [broken.reason] if broken else tables()


def tables():
    return [one.said for _, found in services.compare() for one in found]


def head():
    kept = AuditHead.objects.get()
    return {kept.seq: {kept.hash}}


def tamper(change, house):
    guards.remove()
    change(house)


def test_what_the_services_wrote_agrees_with_the_log(house):
    assert {house.by_policy.status, house.by_grant.status} == {"approved"}

    assert found() == []


def content(h):
    changed = json.dumps({"code": "import shutil; shutil.rmtree('/')"})
    ApprovalRequest.objects.filter(pk=h.approved.pk).update(content=changed)


def content_and_digest(h):
    wrong = {"code": "rm()"}
    new = digest("code", wrong)
    asked = ApprovalRequest.objects.filter(pk=h.approved.pk)
    asked.update(content=json.dumps(wrong, separators=(",", ":")), digest=new)
    for table in (Decision, Vote, Inspection):
        table.objects.filter(approval=h.approved).update(digest=new)


def of_decision(which, **changes):
    def change(h):
        Decision.objects.filter(approval=getattr(h, which)).update(**changes)

    return change


def rejected_to_approved(h):
    until = timezone.now() + timedelta(minutes=10)
    ApprovalRequest.objects.filter(pk=h.rejected.pk).update(status="approved")
    Decision.objects.filter(approval=h.rejected).update(status="approved", valid_until=until)


def approved_by_hand(h):
    ApprovalRequest.objects.filter(pk=h.pending.pk).update(status="approved")


def token_of_ones_own(h):
    AgentToken.objects.create(agent=h.token.agent, prefix="dash_mine", hash="f" * 64)


TAMPERING = {
    "content": content,
    "content with its digests": content_and_digest,
    "evidence": lambda h: ApprovalRequest.objects.filter(pk=h.approved.pk).update(
        evidence='{"why":"other"}'
    ),
    "capability": lambda h: ApprovalRequest.objects.filter(pk=h.approved.pk).update(
        capability="memory"
    ),
    "time limit": lambda h: ApprovalRequest.objects.filter(pk=h.pending.pk).update(
        expires_at=F("expires_at") + timedelta(hours=1)
    ),
    "person": lambda h: Decision.objects.filter(approval=h.approved).update(decided_by=h.ada),
    "reason": of_decision("rejected", reason="Fine."),
    "headline": lambda h: RequestHeadline.objects.filter(approval=h.pending).update(severity=-1),
    "grounds": lambda h: JudgementGrounds.objects.filter(
        judgement__in=Judgement.objects.filter(approval=h.pending)
    ).update(facts='{"kind":"code"}'),
    "grounds deleted": lambda h: JudgementGrounds.objects.filter(
        judgement__approval=h.pending
    ).delete(),
    "headline deleted": lambda h: RequestHeadline.objects.filter(approval=h.pending).delete(),
    "valid until": lambda h: Decision.objects.filter(approval=h.approved).update(
        valid_until=F("valid_until") + timedelta(days=1)
    ),
    "what was shown": of_decision("approved", shown='{"end_seen":"yes","x":1}'),
    "rejected to approved": rejected_to_approved,
    "cancelled to approved": lambda h: ApprovalRequest.objects.filter(pk=h.cancelled.pk).update(
        status="approved"
    ),
    "approved by hand": approved_by_hand,
    "vote moved": lambda h: Vote.objects.filter(approval=h.half).update(person=h.bob),
    "vote added": lambda h: Vote.objects.create(
        approval=h.half,
        person=h.bob,
        judgement=h.half.judgements.get(),
        digest=h.half.digest,
        end_seen=True,
        voted_at=timezone.now(),
    ),
    "vote taken away": lambda h: Vote.objects.filter(approval=h.voted, person=h.ada).delete(),
    "inspection emptied": lambda h: Inspection.objects.filter(approval=h.approved).update(
        report='{"findings":[],"languages":[],"inspector":1}'
    ),
    "inspection added": lambda h: Inspection.objects.create(
        approval=h.approved,
        digest=h.approved.digest,
        report='{"findings":[],"languages":[],"inspector":1}',
        repeated=0,
        inspected_at=timezone.now(),
    ),
    "inspection made unreadable": lambda h: Inspection.objects.filter(approval=h.approved).update(
        report="{}"
    ),
    "demands of a judgement": lambda h: Judgement.objects.filter(approval=h.half).update(
        demands=h.approved.judgements.get().demands
    ),
    "edit": lambda _: Edit.objects.update(content='{"code":"print(99)"}'),
    "policy": lambda _: PolicyRevision.objects.filter(number=2).update(
        document=PolicyRevision.objects.get(number=1).document
    ),
    "the first policy": lambda _: PolicyRevision.objects.filter(number=1).update(
        document=PolicyRevision.objects.get(number=2).document
    ),
    "policy added": lambda _: PolicyRevision.objects.create(
        number=3,
        document=PolicyRevision.objects.get(number=2).document,
        published_at=timezone.now(),
    ),
    "grant that lasts": lambda _: Grant.objects.update(
        expires_at=F("expires_at") + timedelta(days=9)
    ),
    "grant for everything": lambda _: Grant.objects.update(scope="tool"),
    "who ended a grant": lambda h: Grant.objects.filter(pk=h.ended.pk).update(ended_by=h.bob),
    "tool that was classed": lambda h: Tool.objects.filter(pk=h.classed.pk).update(
        name="wipe", spelling="wipe"
    ),
    "schema of a tool that was classed": lambda h: Tool.objects.filter(pk=h.classed.pk).update(
        schema_digest="e" * 64
    ),
    "agent of a tool that was classed": lambda h: Tool.objects.filter(pk=h.classed.pk).update(
        agent=make.agent("another")
    ),
    "tool of a request": lambda h: ApprovalRequest.objects.filter(pk=h.voted.pk).update(
        tool=h.by_policy.tool
    ),
    "grant used less": lambda _: Grant.objects.update(uses=0),
    "outcome": lambda _: Outcome.objects.filter(state="finished").update(exit_code=1),
    "outcome taken away": lambda _: Outcome.objects.filter(state="started").delete(),
    "recall taken away": lambda _: Recall.objects.all().delete(),
    "reason of a recall": lambda _: Recall.objects.update(reason="Just because."),
    "person of a recall": lambda h: Recall.objects.update(person=h.ada),
    "recall by hand": lambda h: Recall.objects.create(
        seq=10_000,
        approval=h.by_policy,
        agent=h.token.agent,
        person=h.ada,
        source="admin",
        reason="By hand.",
        taken_back_at=timezone.now(),
    ),
    "role": lambda h: User.objects.filter(pk=h.eve.pk).update(is_reviewer=True),
    "person let in": lambda _: User.objects.create(username="mallory", is_admin=True),
    "person shut out": lambda h: User.objects.filter(pk=h.bob.pk).update(is_active=False),
    "member of a group": lambda h: Group.objects.get(name="operators").members.add(h.eve),
    "owner of an agent": lambda h: Agent.objects.update(owner=h.ada),
    "token added": token_of_ones_own,
    "token exchanged": lambda _: AgentToken.objects.update(hash="e" * 64),
    "hold": lambda _: Hold.objects.update(active=True, lifted_by=None, lifted_at=None),
    "notebook": lambda _: Notebook.objects.update(body=b"{}"),
    "notebook taken away": lambda _: NotebookPin.objects.all().delete(),
    "place of a closing": lambda h: Closing.objects.filter(approval=h.approved).update(seq=9999),
}


@pytest.mark.parametrize("change", TAMPERING.values(), ids=TAMPERING.keys())
def test_a_table_that_was_changed_by_hand_is_found(house, change):
    tamper(change, house)

    assert found() != []


@pytest.mark.engine("sqlite")
def test_what_cannot_be_read_is_found_and_ends_a_verification(house):
    guards.remove()
    with connection.cursor() as cursor:
        cursor.execute("UPDATE dashboard_vote SET voted_at = '2026-13-45 00:00:00'")

    assert found() == ["something that is stored under requests cannot be read"] * len(found())
    audit.ask_to_verify(audit.Actor("user:ada"))
    while services.verify_on():
        pass
    assert "cannot be read" in last_ended().get().problem


def test_a_duration_that_is_minus_nothing_agrees_with_the_log(house):
    approved = make.approved(house.token, house.bob)
    make.report(approved, house.token)
    make.report(approved, house.token, OutcomeState.FINISHED, key="f", duration_s=-0.0)

    assert found() == []


def test_a_request_that_was_deleted_is_found(house):
    seq = AuditEntry.objects.get(action="approval.submitted", subject=house.pending.pk).seq
    guards.remove()
    JudgementGrounds.objects.filter(judgement__approval=house.pending).delete()
    Judgement.objects.filter(approval=house.pending).delete()
    Inspection.objects.filter(approval=house.pending).delete()
    RequestHeadline.objects.filter(approval=house.pending).delete()
    ApprovalRequest.objects.filter(pk=house.pending.pk).delete()

    assert found() == [f"entry {seq} of the log says that {house.pending.pk} was made: it is gone"]


def test_a_request_that_nobody_asked_is_found(house):
    guards.remove()
    asked = ApprovalRequest.objects.get(pk=house.pending.pk)
    asked.pk, asked.idempotency_key = "0" * 32, "other"
    asked.save(force_insert=True)

    assert [said.partition(": ")[2] for said in found()] == [
        "no entry of the log says that it was asked"
    ]


def test_what_disagrees_is_said_in_a_sentence(house):
    tamper(TAMPERING["person"], house)

    assert tables()[0] == (
        f"request {house.approved.pk}: it was decided by user:ada, and the log says user:bob"
    )


def test_what_does_not_fit_into_one_step_is_compared_in_several(house, monkeypatch):
    monkeypatch.setattr(proof, "_ROWS", 2)
    monkeypatch.setattr(proof, "_LOG_PAGE", 3)
    compared = sum(rows for rows, _ in services.compare())
    assert compared == proof.rows_to_compare()

    guards.remove()
    ApprovalRequest.objects.update(objective="other")
    assert len(tables()) == ApprovalRequest.objects.count()


# --- the log rewritten together with the tables --------------------------------------------------


def rewritten(seq, **changes):
    """Change an entry of the log and hash all after it anew, with the head: it holds together."""
    guards.remove()
    prev = AuditEntry.objects.filter(seq=seq - 1).values_list("hash", flat=True).first()
    for entry in AuditEntry.objects.filter(seq__gte=seq).order_by("seq"):
        if entry.seq == seq:
            for name, value in changes.items():
                setattr(entry, name, value)
        entry.prev = prev or entry.prev
        entry.save()
        entry.hash = prev = link_hash(next(audit.links(entry.seq - 1, entry.seq)))
        entry.save()
    AuditHead.objects.update(hash=prev)


def test_a_rewrite_of_log_and_tables_is_found_by_a_head_that_was_kept_alone(house):
    kept = head()
    entry = AuditEntry.objects.get(action="approval.rejected", subject=house.rejected.pk)
    decision = Decision.objects.get(approval=house.rejected)
    decision.reason = "Fine."
    guards.remove()
    decision.save()
    details = json.loads(entry.details) | {"reason": "Fine.", "row": fingerprint_of(decision)}
    rewritten(entry.seq, details=json.dumps(details))

    assert found() == []
    [seq] = kept
    assert audit.verify(expect=kept).reason == f"entry {seq} is not the one that was expected"


def test_an_entry_before_the_first_one_proves_nothing(token, alice):
    approval = make.pending(token)
    kept = AuditHead.objects.get()
    make.decided(approval, alice)
    assert tables() == []
    guards.remove()
    AuditEntry.objects.filter(seq__gt=kept.seq).update(seq=F("seq") - 1000)

    assert any(str(approval.pk) in sentence for sentence in tables())


def test_a_class_that_a_tool_is_given_later_says_nothing_of_earlier_signatures(
    token, ada, alice, bob
):
    in_class = {"tool_classes": ["money"]}
    signed = {
        "name": "Sign",
        "effect": "review",
        "when": in_class,
        "demands": {"proof": "passkey"},
    }
    published(ada, signed)
    call = {"tool": "pay", "arguments": {"user": "u1"}}
    schema = {"type": "object", "properties": {"user": {"type": "string"}}}
    more = {"kind": Kind.TOOL_CALL, "capability": "pay", "evidence": {"tool_schema": schema}}
    tool = make.pending(token, content=call, **more).tool_id
    services.class_tools({tool: services.ClassChange("", "reads")}, by=ada, auth="command")
    approval = make.pending(token, content=call, accepts_edits=True, **more)
    edit = make.edited(approval, alice, content={"tool": "pay", "arguments": {"user": "u2"}})
    make.decided(approval, bob, basis=make.basis(approval, edit))
    services.class_tools({tool: services.ClassChange("reads", "money")}, by=ada, auth="command")

    assert found() == []


# --- beside traffic ----------------------------------------------------------------------


def test_what_changes_while_it_is_compared_is_read_again_before_it_counts(house, monkeypatch):
    real = proof._stories
    decided = []

    def stories(subjects, *actions):
        told = real(subjects, *actions)
        if not decided:  # decided after the rows were read, and before the log, by somebody else
            make.allow_durable()
            decided.append(make.decided(house.pending, house.bob))
        return told

    monkeypatch.setattr(proof, "_stories", stories)

    assert found() == []
    assert decided


@pytest.mark.parametrize("model", COLUMNS)
def test_every_column_is_in_the_fingerprint_or_compared_otherwise(model):
    otherwise = {
        "ApprovalRequest": {"id", "content", "status", "version", "judged_under", "expires_at"}
        | {"extensions", "extended_s", "log_key", "tool_id"}
        | {"traceparent"},  # of the agent's trace, on which nothing depends
        "Recall": {"seq", "approval_id", "agent_id"},
        "RequestHeadline": {"id", "approval_id", "edit_id"},
        "JudgementGrounds": {"id", "judgement_id", "edit_id"},
        "Grant": {"id", "uses", "ended_at", "ended_by_id", "ended_because"},
    }
    columns = {field.attname for field in model._meta.fields}

    left = columns - set(COLUMNS[model]) - otherwise.get(model.__name__, {"id", "approval_id"})
    assert left == set()
