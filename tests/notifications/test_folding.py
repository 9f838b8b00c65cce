"""Many requests within a few seconds are told to people in one message, and to programs singly."""

import json
import re

import pytest

from dashboard.approvals.services import expire, lift_hold, place_hold
from dashboard.clock import database_now
from dashboard.notifications.models import Channel, Message, NoticeEvent, State
from dashboard.notifications.sending import Sent
from dashboard.notifications.services import Wish, add_channel, queue_notices
from dashboard.notifications.services.telling import Turns, settle_telling
from tests import make

pytestmark = pytest.mark.django_db

SIGNED = {"auth": "session:password"}
REFUSED = Sent(taken=False, said="No.")
GRAVE = {"code": "import os; os.system('rm -rf /')", "language": "python"}


def added(ada, kind="email", address="ops@example.org", name="Ops"):
    wish = Wish(name=name, address=address)
    return add_channel(kind=kind, wish=wish, by=ada, **SIGNED)[0]


@pytest.fixture
def channel(ada, mails):
    """A channel of the house by mail."""
    return added(ada)


def later():
    """Ten seconds pass, as far as channels know."""
    Channel.objects.update(quiet_until=database_now())


def subjects(mails):
    return [one.subject for one in mails]


def of(mail):
    """The ids of the requests that a mail links to."""
    return re.findall(r"/approvals/([0-9a-f-]{36})", mail.body)


def again():
    """A minute passes for what is under way."""
    Message.objects.filter(state=State.WAITING, attempts__gt=0).update(due_at=database_now())


def test_the_first_goes_at_once_and_what_follows_is_told_in_one(channel, token, tell, mails):
    make.pending(token)
    tell()
    for content in ({"code": "print(1)"}, GRAVE, {"code": "print(2)"}):
        make.pending(token, content=content)
        tell()
    assert len(mails) == 1
    later()
    tell()

    assert subjects(mails)[1:] == ["3 requests need people, the gravest is high"]
    assert len(set(of(mails[1]))) == 3


def test_the_gravest_stands_first(channel, token, tell, mails):
    make.pending(token, content={"code": "print(1)", "language": "python"})
    grave = make.pending(token, content=GRAVE)
    tell()

    assert of(mails[0])[0] == str(grave.pk)


def test_of_more_than_ten_the_queue_tells_the_rest(channel, token, tell, mails):
    for _ in range(13):
        make.pending(token)
    tell()

    assert len(of(mails[0])) == 10
    assert "And 3 more, of beamline: http://127.0.0.1:8000/" in mails[0].body


def test_an_agent_that_floods_hides_no_other_agents_request(channel, token, tell, mails):
    for _ in range(20):
        make.pending(token, content=GRAVE)
    quiet = {"content": {"code": "print(1)", "language": "python"}}
    other = make.pending(make.token(make.agent("other")), **quiet)
    tell()

    assert str(other.pk) in of(mails[0])[:2]


def test_one_request_is_told_once_in_a_message_by_what_is_most_urgent(channel, token, tell, mails):
    make.pending(token)
    make.pending(token)
    queue_notices()
    Message.objects.filter(event=NoticeEvent.HALF).update(due_at=database_now())
    tell()

    assert subjects(mails) == ["2 requests need people, the gravest is high"]
    assert mails[0].body.count("Half of the time is over: Code of beamline.") == 2


def test_what_expired_is_counted_apart(channel, token, tell, mails):
    for approval in [make.overdue(token) for _ in range(2)]:
        expire(approval.pk)
    tell()
    make.pending(token)
    expire(make.overdue(token).pk)
    later()
    tell()

    assert subjects(mails) == [
        "2 requests expired unseen",
        "1 request needs people, its severity is high, 1 expired unseen",
    ]


def test_a_flood_is_one_message_each_ten_seconds(channel, token, tell, mails):
    for _ in range(6):
        for _ in range(8):
            make.pending(token)
            tell()
        later()
    tell()

    assert len(mails) == 7  # the first at once
    assert Message.objects.filter(event=NoticeEvent.ASKS, state=State.DELIVERED).count() == 48


def test_a_hold_is_told_at_once_and_alone(channel, token, tell, mails, ada):
    make.pending(token)
    tell()
    place_hold(by=ada, **SIGNED)
    tell()

    assert subjects(mails)[1:] == ["Approvals are on hold"]


@pytest.mark.parametrize("times", [1, 2])
def test_people_are_told_how_it_is_with_holds_and_not_how_it_was(channel, tell, mails, ada, times):
    for _ in range(times):
        place_hold(by=ada, **SIGNED)
        queue_notices()
        lift_hold(by=ada, **SIGNED)
        queue_notices()
    tell()
    assert set(subjects(mails)) == {"The hold on approvals is lifted"}

    Message.objects.update(state=State.WAITING, due_at=database_now(), attempts=0)
    mails.clear()
    place_hold(by=ada, **SIGNED)
    tell()
    assert set(subjects(mails)) == {"Approvals are on hold"}


def test_programs_are_told_singly(ada, host, token, tell):
    added(ada, kind="webhook", address=host.url)
    for _ in range(3):
        make.pending(token)
    tell()

    ids = [json.loads(call.body)["data"]["id"] for call in host.calls]
    assert len(set(ids)) == 3


def test_one_agents_flood_delays_no_other_agents_message(ada, host, token, tell):
    added(ada, kind="webhook", address=host.url)
    for _ in range(20):
        make.pending(token)
    queue_notices()
    make.pending(make.token(make.agent("other")))
    tell()

    agents = [json.loads(call.body)["data"]["agent"] for call in host.calls]
    assert "other" in agents[:2]


# At least once, with one id.


def begun(channel):
    telling = Turns().begin(channel.pk)
    return telling.parcel.headers["Message-ID"], telling


def test_what_failed_is_told_again_in_the_same_message(channel, token):
    for _ in range(3):
        make.pending(token)
    queue_notices()
    first, telling = begun(channel)
    settle_telling(telling, REFUSED)
    again()
    later()
    second, repeat = begun(channel)

    assert (first, set(telling.ids)) == (second, set(repeat.ids))


def test_what_a_killed_process_had_is_told_again_in_the_same_message(channel, token):
    make.pending(token)
    make.pending(make.token(make.agent("other")))
    queue_notices()
    first, telling = begun(channel)
    again()
    later()
    second, repeat = begun(channel)

    assert (first, set(telling.ids)) == (second, set(repeat.ids))


def test_what_came_since_is_not_added_to_a_message_that_may_have_arrived(channel, token):
    make.pending(token)
    queue_notices()
    _, telling = begun(channel)
    make.pending(token)
    queue_notices()
    again()
    later()
    _, one = begun(channel)
    later()
    _, other = begun(channel)

    assert telling.ids in (one.ids, other.ids)
    assert (len(one.ids), len(other.ids)) == (1, 1)


def test_a_message_whose_first_request_was_decided_has_another_id(channel, token, alice):
    approvals = [make.pending(token) for _ in range(2)]
    queue_notices()
    first, telling = begun(channel)
    lead = Message.objects.get(pk=telling.ids[0])
    make.decided(lead.approval, alice)
    again()
    later()
    second, repeat = begun(channel)

    assert (first != second, len(repeat.ids)) == (True, 1)
    assert Message.objects.get(pk=repeat.ids[0]).approval in approvals


def test_only_one_of_two_who_begin_within_ten_seconds_gets_anything(channel, token):
    make.pending(token)
    queue_notices()
    assert Turns().begin(channel.pk) is not None
    make.pending(token)
    queue_notices()

    assert Turns().begin(channel.pk) is None


def test_who_asks_to_be_left_alone_is(channel, token, tell, mails):
    make.pending(token)
    queue_notices()
    _, telling = begun(channel)
    settle_telling(telling, REFUSED._replace(retry_after_s=600.0))
    make.pending(token)
    later()
    tell()

    assert mails == []
    Channel.objects.update(rests_until=database_now())
    Message.objects.filter(event=NoticeEvent.ASKS).update(due_at=database_now())
    tell()
    assert len(mails) == 1
