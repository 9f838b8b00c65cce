"""A yes that is remembered: where it is offered, what it says, and what it then answers."""

import re
from html import unescape

import pytest

from approval_client.wire import Kind, Source, Status, digest
from dashboard.approvals.models import ApprovalRequest, Grant
from dashboard.audit.models import AuditEntry
from dashboard.inspection.findings import Finding, Severity, in_doubt
from dashboard.web.desk.grant import drawn_argument
from tests import make
from tests.web.pages import bar_of, links, page_of, read

CALL = {"tool": "move_file", "arguments": {"from": "/data/a", "to": "/data/b"}}
WRITES = Finding("file-write", Severity.MEDIUM, 0, 0, "writes-file")
CHOSEN = {"for_s": "3600", "most_uses": "3", "where": "agent"}


@pytest.fixture(autouse=True)
def _nothing_is_found(inspected):
    inspected()


@pytest.fixture
def may(db):
    """The policy allows that a yes is remembered."""
    make.in_force(make.REMEMBERS)


@pytest.fixture
def call(ask, may):
    """Ask for a call of a tool, as an agent that takes a remembered yes."""

    def submit(content=CALL, **more):
        fields = {"kind": Kind.TOOL_CALL, "capability": "files", "accepts_grants": True}
        return ask(content=content, **(fields | more))

    return submit


def with_arguments(**changed):
    return {**CALL, "arguments": CALL["arguments"] | changed}


def panel(browser, approval):
    return bar_of(browser, approval).one("details", class_="remember")


def offers(browser, approval):
    return list(bar_of(browser, approval).all("details", class_="remember")) != []


# --- where it is offered ------------------------------------------------------------------------


def test_it_is_offered_where_the_policy_allows_it(browser, call):
    assert offers(browser, call())


def test_it_is_not_offered_where_the_policy_says_nothing_of_it(browser, ask):
    approval = ask(accepts_grants=True)

    assert not offers(browser, approval)


def test_it_is_not_offered_where_the_agent_wants_a_person_each_time(browser, call):
    assert not offers(browser, call(accepts_grants=False))


def test_it_is_not_offered_where_several_people_have_to_approve(browser, ask):
    make.in_force({**make.REMEMBERS, "demands": {"grants_allowed": True, "approvals": 2}})

    assert not offers(browser, ask(accepts_grants=True))


def test_it_is_not_offered_for_what_nobody_could_read(browser, call, inspected):
    inspected(*in_doubt("does-not-parse", "This does not parse.").findings)

    assert not offers(browser, call())


def test_it_is_not_offered_to_whose_yes_would_not_count(browser, ask):
    make.group("operators")
    demands = {"grants_allowed": True, "groups": ["operators"]}
    make.in_force({**make.REMEMBERS, "demands": demands})

    assert not offers(browser, ask(accepts_grants=True))


def test_values_are_not_offered_where_a_name_would_read_as_several(browser, call):
    shown = panel(browser, call(with_arguments(**{'path="/tmp", mode': "r"})))

    verdicts = [button["value"] for button in shown.all("button", name="verdict")]
    assert verdicts == ["remember-content", "remember-tool"]


# --- what it says -------------------------------------------------------------------------------


def test_each_button_says_what_it_allows(browser, call):
    shown = panel(browser, call())

    by = "by agent beamline, as chosen above"
    said = [button.text for button in shown.all("button", name="verdict")]
    assert said[0] == f"Approve, and allow exactly this call, {by}"
    assert said[2] == f"Approve, and allow move_file with any values, {by}"
    assert said[1].startswith("Approve, and allow move_file with the ticked values")


def test_code_can_only_be_allowed_as_it_is(browser, ask, may):
    shown = panel(browser, ask(accepts_grants=True))

    assert [b["value"] for b in shown.all("button", name="verdict")] == ["remember-content"]
    assert "exactly this code" in shown.one("button", name="verdict").text


def test_the_run_is_only_spoken_of_where_there_is_one(browser, call):
    assert "Only in this run" in panel(browser, call(run_id="r1")).text
    assert "Only in this run" not in panel(browser, call()).text


def test_eight_hours_and_ten_times_are_what_is_meant_unless_said_otherwise(browser, call):
    shown = panel(browser, call())

    assert shown.one("option", selected=None).text == "8 hours"
    assert shown.one("input", name="most_uses")["value"] == "10"


def test_what_the_agent_wrote_stands_boxed_in_the_buttons(browser, call):
    evil = {"tool": "x", "arguments": {"<b>now</b>": "\u202eallow everything"}}
    shown = panel(browser, call(evil))

    for button in shown.all("button", name="verdict"):
        assert "now" not in "".join(c for c in button.inside if isinstance(c, str))
        assert list(button.all("b")) == []


def test_no_name_of_an_argument_reads_as_two():
    odd = 'path="/tmp", mode'

    assert unescape(drawn_argument(odd, "r")) == r'''"path=\"/tmp\", mode" = "r"'''
    assert drawn_argument("path", "r") == "path = &quot;r&quot;"


def test_what_would_be_remembered_keeps_the_order_of_its_source():
    line = drawn_argument("command", "ledger-sync אב, גד")

    assert re.findall(r'<bdi dir="rtl">(.*?)</bdi>', line) == ["אב", "גד"]


# --- what it does -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scope", "changes", "expected"),
    [
        ("content", {}, Status.APPROVED),
        ("content", {"to": "/data/c"}, Status.PENDING),
        ("arguments", {"to": "/data/c"}, Status.APPROVED),
        ("arguments", {"from": "/data/c"}, Status.PENDING),
        ("tool", {"from": "/", "to": "/data/c"}, Status.APPROVED),
    ],
)
def test_the_next_one_is_answered_as_was_said(browser, call, answer, scope, changes, expected):
    reply = answer(browser, call(), f"remember-{scope}", pinned="0", **CHOSEN)

    assert reply.status_code == 303
    again = call(with_arguments(**changes))
    again.refresh_from_db()
    assert again.status == expected


def test_until_when_and_how_often_are_kept(browser, call, answer, alice):
    answer(browser, call(run_id="r1"), "remember-tool", **CHOSEN | {"where": "run"})

    grant = Grant.objects.get()
    assert (grant.expires_at - grant.made_at).total_seconds() == 3600
    assert (grant.most_uses, grant.run_id, grant.made_by) == (3, "r1", alice)


def test_any_number_has_to_be_said(browser, call, answer):
    answer(browser, call(), "remember-content", for_s="3600", any_number="on")

    assert Grant.objects.get().most_uses is None


@pytest.mark.parametrize("most_uses", ["", "0", "-1", "10001", "many"])
def test_without_a_number_nothing_is_recorded_and_the_choice_stays(
    browser, call, answer, most_uses
):
    approval = call()

    reply = answer(browser, approval, "remember-tool", **CHOSEN | {"most_uses": most_uses})

    assert reply.status_code == 422
    back = read(reply).one("details", class_="remember")
    assert "open" in back.attributes
    assert "checked" in back.one("input", id="remember-tool").attributes
    assert (
        "Say how often this approval may be used" in read(reply).one(class_="notice--danger").text
    )
    approval.refresh_from_db()
    assert (approval.status, Grant.objects.count()) == (Status.PENDING, 0)


def test_values_that_have_to_be_the_same_must_be_chosen(browser, call, answer):
    reply = answer(browser, call(), "remember-arguments", **CHOSEN)

    assert reply.status_code == 422
    said = read(reply).one(class_="notice--danger").text
    assert "Choose at least one argument of this call whose value has to be the same." in said
    assert not Grant.objects.exists()


def test_what_was_not_offered_cannot_be_sent(browser, ask, answer):
    approval = ask(accepts_grants=True)

    reply = answer(browser, approval, "remember-content", **CHOSEN)

    assert reply.status_code == 409
    approval.refresh_from_db()
    assert (approval.status, Grant.objects.count()) == (Status.PENDING, 0)


def test_a_plain_yes_is_not_remembered(browser, call, answer):
    answer(browser, call(), "approve", **CHOSEN)

    assert not Grant.objects.exists()


# --- what it answered ---------------------------------------------------------------------------


def test_what_it_answered_says_whose_yes_it_was(browser, call, answer):
    first = call()
    answer(browser, first, "remember-content", **CHOSEN)

    page = page_of(browser, call())

    number = Grant.objects.get().pk
    told = page.one(class_="result-grant")
    assert told.text.startswith("Nobody was asked: you approved a request like this at ")
    assert links(told) == [
        ("a request like this", f"/approvals/{first.pk}"),
        (f"remembered approval {number}", f"/grants#grant-{number}"),
    ]


def test_what_it_was_made_from_says_that_it_is_remembered(browser, call, answer):
    first = call()
    answer(browser, first, "remember-content", **CHOSEN)

    told = page_of(browser, first).one(class_="result-grant").text
    assert told == (
        f"Kept as remembered approval {Grant.objects.get().pk}: the same is approved at once from "
        "now on."
    )


def test_what_it_answered_is_in_the_record(browser, call, answer):
    answer(browser, call(), "remember-content", **CHOSEN)
    again = call()

    entry = AuditEntry.objects.get(subject=str(again.pk), action="approval.approved")
    assert entry.actor == f"grant:{Grant.objects.get().pk}"
    assert entry.digest == digest(Kind.TOOL_CALL, CALL)
    assert ApprovalRequest.objects.get(pk=again.pk).decision.source == Source.GRANT


def test_what_has_a_finding_that_the_yes_did_not_cover_is_asked(browser, call, answer, inspected):
    answer(browser, call(), "remember-tool", **CHOSEN)
    inspected(WRITES)

    again = call(with_arguments(to="/etc/passwd"))
    assert "Approve" in [b.text for b in bar_of(browser, again).all("button", value="approve")]


def test_a_reason_that_the_policy_wants_is_wanted_here_too(browser, ask, answer):
    demands = {"grants_allowed": True, "reason_required": True}
    make.in_force({**make.REMEMBERS, "demands": demands})
    approval = ask(accepts_grants=True)

    refused = answer(browser, approval, "remember-content", **CHOSEN | {"most_uses": "7"})
    assert refused.status_code == 422
    assert read(refused).one("input", name="most_uses")["value"] == "7"

    answer(browser, approval, "remember-content", approve_reason="Daily.", **CHOSEN)
    assert Grant.objects.get().made_from.decision.reason == "Daily."
