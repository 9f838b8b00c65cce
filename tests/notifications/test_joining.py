"""Who may approve later is told when they join: the group of ``escalate_to``."""

import pytest

from dashboard.approvals.services import assign
from dashboard.approvals.services.extension import extend
from dashboard.approvals.services.judgement import judge_pending_again
from dashboard.clock import database_now
from dashboard.notifications.models import Choice, Message, NoticeEvent, State
from dashboard.notifications.services import Wish, add_channel, queue_notices
from tests import make
from tests.notifications.test_own_channels import proved

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("mails")]

SIGNED = {"auth": "session:password"}
HOUR = 3600
ASKS, HALF, LAST_MINUTE = NoticeEvent.ASKS, NoticeEvent.HALF, NoticeEvent.LAST_MINUTE


@pytest.fixture(autouse=True)
def _groups(alice, bob):
    make.group("operators", alice)
    make.group("directors", bob)


def escalate(after=HOUR):
    """Have directors join after half of ``after``."""
    demands = {"groups": ["operators"], "escalate_to": "directors", "time_limit_s": after}
    make.in_force({"name": "r", "effect": "review", "demands": demands})


def of_bob(bob, _ada):
    return proved(bob, Choice.ALL, "bob@example.org")


def of_directors(_bob, ada):
    wish = Wish(name="Directors", address="directors@example.org", groups=["directors"])
    return add_channel(kind="email", wish=wish, by=ada, **SIGNED)[0]


def schedule(channel, approval):
    """Return what a channel is told of a request, and how many seconds after it was asked."""
    queue_notices()
    rows = Message.objects.filter(channel=channel, approval=approval, state=State.WAITING)
    return {
        row.event: (row.due_at - approval.submitted_at).total_seconds()
        for row in rows.order_by("due_at")
    }


@pytest.mark.parametrize("receiver", [of_bob, of_directors])
@pytest.mark.parametrize(
    ("limit_s", "expected"),
    [
        (3600, {ASKS: 1800, HALF: 1800, LAST_MINUTE: 3540}),
        (3000, {ASKS: 1800, LAST_MINUTE: 2940}),
        (1850, {ASKS: 1800}),
    ],
    ids=["joins at half time", "joins after half time", "joins in the last minute"],
)
def test_whoever_joins_is_told_then_and_of_what_comes_after(
    bob, ada, token, receiver, limit_s, expected
):
    escalate()
    channel = receiver(bob, ada)
    approval = make.pending(token, time_limit_s=limit_s)

    assert schedule(channel, approval) == expected


def test_whoever_would_join_too_late_is_told_nothing(bob, ada, token):
    escalate()
    channel = of_bob(bob, ada)
    approval = make.pending(token, time_limit_s=1700)

    assert schedule(channel, approval) == {}


def test_whoever_joins_because_time_was_added_is_told(alice, bob, ada, token):
    escalate(after=44 * 60)
    channel = of_bob(bob, ada)
    approval = make.half_over(token)  # its time is over after 21 minutes
    assert schedule(channel, approval) == {}

    extend(approval_id=approval.pk, person=alice, ends=approval.expires_at, **SIGNED)

    assert schedule(channel, approval)[ASKS] == 22 * 60


def test_whoever_may_approve_from_the_beginning_is_asked_once(alice, ada, token):
    escalate()
    channel = proved(alice)
    approval = make.pending(token, time_limit_s=HOUR)
    queue_notices()
    Message.objects.filter(event=ASKS).update(state=State.DELIVERED, due_at=database_now())
    assign(approval_id=approval.pk, person=alice, **SIGNED)

    assert schedule(channel, approval) == {HALF: 1800, LAST_MINUTE: 3540}


def test_another_policy_moves_when_people_join_and_are_told(bob, ada, token):
    escalate(after=HOUR)
    channel = of_bob(bob, ada)
    approval = make.pending(token, time_limit_s=HOUR)
    queue_notices()
    escalate(after=HOUR * 3 // 2)
    judge_pending_again()

    assert schedule(channel, approval)[ASKS] == 2700


def test_a_channel_added_after_another_policy_is_told_when_people_join(bob, ada, token):
    escalate()
    approval = make.pending(token, time_limit_s=HOUR)
    of_bob(bob, ada)
    queue_notices()
    escalate(after=HOUR * 3 // 2)
    judge_pending_again()

    assert schedule(of_directors(bob, ada), approval)[ASKS] == 2700


def test_who_joins_gets_the_message_when_they_do(bob, ada, token, tell, mails):
    escalate(after=100)
    channel = of_directors(bob, ada)
    approval = make.pending(token)
    tell()
    assert mails == []

    make.silent(approval)  # it was asked a minute ago
    Message.objects.filter(channel=channel, event=ASKS).update(due_at=database_now())
    tell()

    assert [mail.subject for mail in mails] == ["Code of beamline waits for approval"]
