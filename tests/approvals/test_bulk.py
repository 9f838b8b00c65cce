"""What can be answered together: like with like, and nothing that deserves a look of its own."""

from uuid import uuid4

import pytest
from django.utils import timezone

from approval_client.wire import Kind
from dashboard.approvals import services
from dashboard.approvals.rules import bulk
from dashboard.inspection.findings import Finding, Report, Severity
from tests import make

pytestmark = pytest.mark.django_db


def call(token, path, tool="read", **more):
    content = {"tool": tool, "arguments": {"path": path}}
    fields = {"kind": Kind.TOOL_CALL, "capability": "files", "content": content}
    return make.pending(token, **(fields | more))


def sorted_out(person, *approvals):
    found = bulk.sort_out([approval.pk for approval in approvals], person, timezone.now())
    return [one.approval for one in found.alike], {one.id: one.why for one in found.alone}


@pytest.fixture
def finding(monkeypatch):
    """Have our inspection find just this from now on."""

    def find(severity, name="network", **more):
        report = Report((Finding(name, severity, 1, 1, "x", **more),), ("python",))
        make.inspected(monkeypatch, report)

    return find


def test_the_same_tool_of_one_agent_is_alike(token, alice):
    one, two = call(token, "a"), call(token, "b")

    assert sorted_out(alice, two, one) == ([one, two], {})


def test_another_agent_kind_capability_or_tool_is_not(token, alice):
    one = call(token, "a")
    others = [
        call(make.token(make.agent("other")), "a"),
        make.pending(token, capability="files"),
        call(token, "a", capability="disks"),
        call(token, "a", tool="write"),
    ]

    found, alone = sorted_out(alice, one, *others)

    assert (found, set(alone)) == ([one], {other.pk for other in others})
    assert "differs from the first" in alone[others[-1].pk]


def test_other_findings_are_not_alike(token, alice, finding):
    one = call(token, "a")
    finding(Severity.LOW)

    assert sorted_out(alice, one, call(token, "b"))[0] == [one]


@pytest.mark.parametrize("severity", [Severity.MEDIUM, Severity.HIGH])
def test_what_is_flagged_is_never_among_them(token, alice, finding, severity):
    finding(severity)

    found, alone = sorted_out(alice, call(token, "a"), call(token, "b"))

    assert found == []
    assert all("medium or high risk" in why for why in alone.values())


def test_what_could_not_be_read_is_never_among_them(token, alice, finding):
    finding(Severity.LOW, "cannot-be-followed")

    assert sorted_out(alice, call(token, "a"), call(token, "b"))[0] == []


def test_what_several_have_to_approve_is_never_among_them(token, alice):
    make.in_force({"name": "Two", "effect": "review", "demands": {"approvals": 2}})

    assert sorted_out(alice, call(token, "a"), call(token, "b"))[0] == []


def test_what_somebody_else_is_on_is_left_to_them(token, alice, bob):
    one, two = call(token, "a"), call(token, "b")
    services.assign(approval_id=one.pk, person=bob, auth="session:password")

    assert sorted_out(alice, one, two) == ([two], {one.pk: "It is assigned to bob."})
    assert sorted_out(bob, one, two)[0] == [one, two]


def test_what_is_mine_to_ask_is_not_mine_to_approve(agent, alice):
    make.own(agent, alice)
    token = make.token(agent)

    found, alone = sorted_out(alice, call(token, "a"))

    assert found == []
    assert "own beamline" in next(iter(alone.values()))


def test_what_is_answered_overdue_unknown_or_long_is_left_out(token, alice, monkeypatch):
    monkeypatch.setattr(bulk, "LONGEST", 100)
    one, answered, over = call(token, "a"), call(token, "b"), make.overdue(token)
    long, unknown = call(token, "x" * 200), uuid4()
    make.decided(answered, alice)

    found = bulk.sort_out([one.pk, answered.pk, over.pk, long.pk, unknown], alice, timezone.now())

    assert [single.approval for single in found.alike] == [one]
    assert {single.id for single in found.alone} == {answered.pk, over.pk, long.pk, unknown}


def test_fifty_are_looked_at_and_no_more_than_fits_on_a_page(token, alice, monkeypatch):
    monkeypatch.setattr(bulk, "MOST", 2)
    three = [call(token, path) for path in "abc"]
    assert len(sorted_out(alice, *three)[0]) == 2

    monkeypatch.setattr(bulk, "MOST_CHARACTERS", 60)
    assert len(sorted_out(alice, *three)[0]) == 1
