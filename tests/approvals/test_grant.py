"""A remembered yes: what it answers, what it does not, and how it ends."""

import re
from dataclasses import replace

import pytest

from approval_client.wire import Kind, Source, Status
from dashboard.accounts.services import people
from dashboard.approvals import services
from dashboard.approvals.errors import AlreadyClosed, GrantRefused, NotAllowed, NotFound
from dashboard.approvals.models import ApprovalRequest, Grant
from dashboard.approvals.rules import grant as grant_rules
from dashboard.approvals.rules.grant import GrantScope, GrantTerms, covers
from dashboard.audit.models import AuditEntry
from dashboard.inspection.findings import Finding, Report, Severity
from tests import make

pytestmark = pytest.mark.django_db

REMEMBERS = {"name": "May", "effect": "review", "demands": {"grants_allowed": True}}
CALL = {"tool": "move_file", "arguments": {"from": "/data/a", "to": "/data/b"}}


@pytest.fixture(autouse=True)
def _grants_are_allowed(db):
    make.in_force(REMEMBERS)


def ask(token, content=CALL, **more):
    fields = {"kind": Kind.TOOL_CALL, "capability": "files", "accepts_grants": True}
    return make.pending(token, content=content, **(fields | more))


def grant(token, by, scope=GrantScope.CONTENT, content=CALL, run_id="", **terms):
    approval = ask(token, content, run_id=run_id)
    chosen = GrantTerms(scope=scope, **({"this_run": bool(run_id)} | terms))
    make.decided(approval, by, remember=chosen)
    return Grant.objects.latest("pk")


def answered(approval):
    approval.refresh_from_db()
    return approval.status == Status.APPROVED and approval.decision.source == Source.GRANT


def with_arguments(**changed):
    return {**CALL, "arguments": CALL["arguments"] | changed}


def test_the_same_content_is_answered_by_the_grant(token, alice):
    made = grant(token, alice)

    again = ask(token)

    assert answered(again)
    assert (again.decision.grant, again.decision.decided_by) == (made, None)
    assert again.decision.reason == f"alice approved this before (grant {made.pk})."


@pytest.mark.parametrize(
    "name",
    ["execution_folder_path", "execution_mode", "project_folder_path", "working_directory"],
)
@pytest.mark.parametrize(
    ("there", "here", "is_answered"),
    [("one", "one", True), ("one", "two", False), ("one", None, False), (None, "two", False)],
)
def test_the_same_content_is_answered_only_where_and_how_it_was_approved(
    token, alice, name, there, here, is_answered
):
    def said(value):
        return {} if value is None else {name: value}

    make.decided(
        ask(token, evidence=said(there)),
        alice,
        remember=GrantTerms(scope=GrantScope.CONTENT, this_run=False),
    )

    assert answered(ask(token, evidence=said(here))) == is_answered


def test_the_agent_is_told_what_was_allowed_and_not_that_this_was_approved(token, alice):
    made = grant(token, alice, GrantScope.TOOL)

    again = ask(token, with_arguments(path="/data/other"))

    assert (
        again.decision.reason == f"alice allowed this tool with any arguments (grant {made.pk})."
    )


def test_uses_are_counted_and_recorded(token, alice):
    made = grant(token, alice)

    ask(token)

    made.refresh_from_db()
    assert made.uses == 1
    assert AuditEntry.objects.filter(actor=f"grant:{made.pk}", action="approval.approved").exists()


@pytest.mark.parametrize(
    ("scope", "arguments", "content", "expected"),
    [
        (GrantScope.CONTENT, (), with_arguments(to="/data/c"), False),
        (GrantScope.ARGUMENTS, ("from",), with_arguments(to="/data/c"), True),
        (GrantScope.ARGUMENTS, ("from",), with_arguments(**{"from": "/data/x"}), False),
        (GrantScope.ARGUMENTS, ("from",), {"tool": "move_file", "arguments": {}}, False),
        (GrantScope.ARGUMENTS, ("from",), {**CALL, "tool": "copy_file"}, False),
        (GrantScope.TOOL, (), with_arguments(to="/data/c"), True),
        (GrantScope.TOOL, (), {**CALL, "tool": "copy_file"}, False),
    ],
)
def test_a_grant_covers_its_scope_and_no_more(token, alice, scope, arguments, content, expected):
    grant(token, alice, scope, arguments=arguments)

    assert answered(ask(token, content)) is expected


@pytest.mark.parametrize("name", ["From", "from ", "from[]", "%66rom", "fr\u00adom", "from:x"])
def test_another_spelling_of_a_name_is_not_covered(token, alice, name):
    grant(token, alice, GrantScope.ARGUMENTS, arguments=("from",))

    assert not answered(ask(token, with_arguments(**{name: "/etc"})))
    assert answered(ask(token, with_arguments(from_when="noon")))


@pytest.mark.parametrize("name", ['path="/tmp/cache", mode', "", "x" * 61])
def test_values_under_names_that_cannot_be_shown_are_not_remembered(token, alice, name):
    content = with_arguments(**{name: "r"})

    with pytest.raises(GrantRefused, match="plain words"):
        grant(token, alice, GrantScope.ARGUMENTS, content, arguments=("from",))

    assert not Grant.objects.exists()
    grant(token, alice, GrantScope.CONTENT, content)
    assert answered(ask(token, content))


@pytest.mark.parametrize("name", ["From", "fr_om", "from.user", "FROM"])
def test_values_under_names_that_some_tools_read_as_one_are_not_remembered(token, alice, name):
    with pytest.raises(GrantRefused, match="reads as one another"):
        grant(
            token, alice, GrantScope.ARGUMENTS, with_arguments(**{name: "r"}), arguments=("from",)
        )


def test_values_that_an_earlier_version_remembered_under_such_a_name_answer_nothing(
    token, alice, monkeypatch
):
    odd = 'path="/tmp/cache", mode'
    with monkeypatch.context() as earlier:
        earlier.setattr(grant_rules, "_PLAIN_NAME", re.compile(".*"))
        grant(token, alice, GrantScope.ARGUMENTS, with_arguments(**{odd: "r"}), arguments=(odd,))

    assert not answered(ask(token, with_arguments(**{odd: "r"})))


def test_a_grant_never_leaks_to_another_agent(token, alice):
    grant(token, alice, GrantScope.TOOL)

    assert not answered(ask(make.token(make.agent("other"))))


@pytest.mark.parametrize(("run_id", "expected"), [("one", True), ("two", False), ("", False)])
def test_a_grant_for_a_run_holds_in_that_run(token, alice, run_id, expected):
    grant(token, alice, run_id="one")

    assert answered(ask(token, run_id=run_id)) is expected


def test_a_grant_for_the_agent_holds_in_every_run(token, alice):
    grant(token, alice, run_id="one", this_run=False)

    assert answered(ask(token, run_id="two"))


def test_a_finding_that_the_yes_did_not_cover_is_asked_about(token, alice):
    grant(token, alice, GrantScope.TOOL)

    assert not answered(ask(token, with_arguments(command="rm -rf /data")))


@pytest.mark.parametrize("severity", Severity)
def test_a_finding_of_any_severity_has_to_be_covered(token, alice, severity):
    made = grant(token, alice)
    finding = Finding("file-read", severity, 1, 1, "file-read")

    assert covers(made, made.made_from, CALL, Report((), ()))
    assert not covers(made, made.made_from, CALL, Report((finding,), ()))


def test_what_nobody_could_read_is_asked_about(token, alice):
    approval = ask(token, with_arguments(code="def ("))

    with pytest.raises(GrantRefused, match="not fully inspected"):
        make.decided(
            approval, alice, remember=GrantTerms(scope=GrantScope.CONTENT, this_run=False)
        )


def test_a_grant_is_used_as_often_as_was_said(token, alice):
    grant(token, alice, most_uses=2)

    assert [answered(ask(token)) for _ in range(3)] == [True, True, False]


def test_a_grant_ends_when_its_time_is_over(token, alice):
    made = grant(token, alice)
    make.outdated(made)

    assert not answered(ask(token))


def test_a_revoked_grant_answers_nothing(token, alice):
    made = grant(token, alice)

    services.revoke_grant(made.pk, by=alice, auth="session:password")

    assert not answered(ask(token))
    assert AuditEntry.objects.filter(action="grant.ended").count() == 1


def test_an_admin_may_end_a_grant_and_a_second_time_changes_nothing(token, alice, ada):
    made = grant(token, alice)

    ended = [services.revoke_grant(made.pk, by=ada, auth="x").ended_at for _ in range(2)]

    assert ended[0] == ended[1]


def test_another_reviewer_may_not_end_a_grant(token, alice, bob):
    made = grant(token, alice)

    with pytest.raises(NotAllowed):
        services.revoke_grant(made.pk, by=bob, auth="x")


def test_there_must_be_a_grant_to_end(alice):
    with pytest.raises(NotFound):
        services.revoke_grant(7, by=alice, auth="x")


def test_a_grant_of_somebody_who_reviews_no_more_answers_nothing(token, alice):
    grant(token, alice)

    people.change_roles(alice, roles={}, by=make.BY)

    assert not answered(ask(token))


def test_an_agent_that_wants_a_person_gets_one(token, alice):
    grant(token, alice)

    assert not answered(ask(token, accepts_grants=False))


def test_while_everything_is_on_hold_a_grant_answers_nothing(token, alice, ada):
    grant(token, alice)
    services.place_hold(by=ada, auth="x")

    assert not answered(ask(token))


def test_a_policy_that_forbids_grants_ends_them(token, alice):
    made = grant(token, alice)
    make.in_force()

    assert not answered(ask(token))
    assert services.end_forbidden_grants() == 1
    made.refresh_from_db()
    assert made.ended_because == "The policy no longer allows remembering this approval."


def test_a_policy_that_rejects_what_was_granted_ends_the_grant(token, alice):
    made = grant(token, alice)
    make.in_force({"name": "No", "effect": "reject", "when": {"tools": ["move_*"]}}, REMEMBERS)

    assert services.end_forbidden_grants() == 1
    made.refresh_from_db()
    assert made.ended_at is not None


def test_a_policy_that_still_allows_grants_keeps_them(token, alice):
    grant(token, alice)
    make.in_force(REMEMBERS, {"name": "More", "effect": "reject", "when": {"tools": ["x"]}})

    assert services.end_forbidden_grants() == 0
    assert answered(ask(token))


@pytest.mark.parametrize("more", [{"reason_required": True}, {"whole_content": True}])
def test_a_yes_that_gave_less_than_is_asked_of_one_now_answers_nothing(token, alice, more):
    lenient = {**REMEMBERS["demands"], "whole_content": False}
    make.in_force({**REMEMBERS, "demands": lenient})
    terms = GrantTerms(scope=GrantScope.CONTENT, this_run=False)
    make.decided(ask(token), alice, remember=terms, shown={"end_seen": ""})
    assert answered(ask(token))

    make.in_force({**REMEMBERS, "demands": lenient | more})
    assert not answered(ask(token))


def test_what_a_rule_rejects_is_rejected_whatever_was_granted(token, alice):
    grant(token, alice)
    make.in_force(REMEMBERS, {"name": "No", "effect": "reject", "when": {"tools": ["move_*"]}})

    approval = ask(token)

    assert approval.status == Status.REJECTED


def test_where_several_have_to_approve_nothing_is_remembered(token, alice):
    make.in_force({**REMEMBERS, "demands": {"grants_allowed": True, "approvals": 2}})
    approval = ask(token)
    make.decided(approval, make.person("carol", reviewer=True))

    with pytest.raises(GrantRefused, match="Several people"):
        make.decided(
            approval, alice, remember=GrantTerms(scope=GrantScope.CONTENT, this_run=False)
        )

    assert ApprovalRequest.objects.get(pk=approval.pk).status == Status.PENDING


def test_a_yes_that_counts_only_late_is_not_remembered(token, alice):
    make.group("deputies", alice)
    demands = {"grants_allowed": True, "groups": ["operators"], "escalate_to": "deputies"}
    make.in_force({**REMEMBERS, "demands": demands})
    approval = make.half_over(
        token, kind=Kind.TOOL_CALL, capability="files", content=CALL, accepts_grants=True
    )

    with pytest.raises(GrantRefused, match="half of the time"):
        make.decided(
            approval, alice, remember=GrantTerms(scope=GrantScope.CONTENT, this_run=False)
        )

    assert make.decided(approval, alice).status == Status.APPROVED


def test_a_yes_that_was_given_without_can_not_be_remembered_later(token, alice):
    approval = ask(token)
    make.decided(approval, alice)

    with pytest.raises(AlreadyClosed):
        make.decided(
            approval, alice, remember=GrantTerms(scope=GrantScope.CONTENT, this_run=False)
        )

    assert not Grant.objects.exists()


@pytest.mark.parametrize(
    "terms",
    [
        {"this_run": True},
        {"for_s": 0},
        {"for_s": 31 * 24 * 3600},
        {"most_uses": 0},
        {"scope": GrantScope.ARGUMENTS},
        {"scope": GrantScope.ARGUMENTS, "arguments": ("absent",)},
    ],
)
def test_terms_that_make_no_sense_are_refused_and_nothing_is_decided(token, alice, terms):
    approval = ask(token)

    with pytest.raises(GrantRefused, match="Nothing was recorded"):
        make.decided(
            approval,
            alice,
            remember=GrantTerms(**({"scope": GrantScope.CONTENT, "this_run": False} | terms)),
        )

    assert ApprovalRequest.objects.get(pk=approval.pk).status == Status.PENDING


def test_code_can_only_be_remembered_as_it_is(token, alice):
    approval = make.pending(
        token, content={"code": "print(1)", "language": "python"}, accepts_grants=True
    )

    with pytest.raises(GrantRefused, match="Only a tool call"):
        make.decided(approval, alice, remember=GrantTerms(scope=GrantScope.TOOL, this_run=False))


def test_a_retired_agent_keeps_no_grants(token, alice):
    made = grant(token, alice)

    services.retire_agent(token.agent, by=make.BY)

    made.refresh_from_db()
    assert made.ended_because == "The agent was deactivated."


TERMS = GrantTerms(
    scope=GrantScope.ARGUMENTS, this_run=False, arguments=("from",), for_s=600, most_uses=1
)


def test_an_approval_that_is_remembered_returns_the_first_when_sent_again(token, alice):
    approval = ask(token)
    first = make.decided(approval, alice, remember=TERMS)

    assert make.decided(approval, alice, remember=TERMS) == first
    assert Grant.objects.count() == 1


@pytest.mark.parametrize(
    "other",
    [
        None,
        replace(TERMS, most_uses=100),
        replace(TERMS, for_s=3600),
        replace(TERMS, arguments=("from", "to")),
        replace(TERMS, scope=GrantScope.TOOL),
    ],
)
def test_an_approval_on_other_terms_is_another_one(token, alice, other):
    approval = ask(token)
    make.decided(approval, alice, remember=TERMS)

    with pytest.raises(AlreadyClosed):
        make.decided(approval, alice, remember=other)
