"""How long a client may take, by a clock that stands still until it is turned."""

from types import SimpleNamespace

import pytest
from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport
from twisted.web.http import Request

from dashboard.api.problems import NOTEBOOK_TOO_LARGE, TOO_LARGE
from dashboard.management.connections import GuardedChannel, Room

HEADER = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n"


class Answered(Request):
    """Is answered in another turn of the loop, as every request is."""

    def process(self):
        self.channel.callLater(0, self.answer)

    def answer(self):
        self.write(b"")
        self.finish()


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def client(clock):
    """What a client sends goes to ``client``; ``client.transport.disconnecting`` is the end."""
    channel = GuardedChannel()
    channel.callLater, channel.timeOut, channel.requestFactory = clock.callLater, 60, Answered
    channel.factory = SimpleNamespace(log=lambda _: None)
    transport = StringTransport()
    transport.server = SimpleNamespace(room=Room(10))
    channel.makeConnection(transport)
    return channel


def answered(clock, client, data):
    """Send a request and let it be answered."""
    client.dataReceived(data)
    clock.advance(0)


def send_slowly(clock, client, data, *, each_s):
    """Send a byte at a time; returns how many until the client was hung up on."""
    for sent in range(len(data)):
        if client.transport.disconnecting:
            return sent
        client.dataReceived(data[sent : sent + 1])
        clock.advance(each_s)
    return len(data)


def test_a_header_that_does_not_end_is_cut_however_often_a_byte_comes(clock, client):
    assert send_slowly(clock, client, b"GET /healthz HTTP/1.1", each_s=5) == 3


def test_a_client_that_sends_nothing_is_cut_after_as_long(clock, client):
    clock.advance(14)
    assert not client.transport.disconnecting
    clock.advance(1)
    assert client.transport.disconnecting


def test_the_header_of_a_later_request_has_its_time_from_its_first_byte(clock, client):
    answered(clock, client, HEADER % 0)
    clock.advance(50)
    client.dataReceived(b"G")
    clock.advance(14)
    assert not client.transport.disconnecting
    clock.advance(1)
    assert client.transport.disconnecting


def test_a_body_may_take_as_long_as_it_takes_while_something_comes(clock, client):
    client.dataReceived(HEADER % 100)

    assert send_slowly(clock, client, b"x" * 100, each_s=55) == 100
    assert b"200 OK" in client.transport.value()


def test_a_client_may_be_idle_for_a_minute_between_two_requests(clock, client):
    answered(clock, client, HEADER % 0)
    clock.advance(59)
    answered(clock, client, HEADER % 0)

    assert client.transport.value().count(b"200 OK") == 2
    clock.advance(60)
    assert client.transport.disconnecting


def test_requests_that_come_at_once_are_answered_one_after_the_other(clock, client):
    client.dataReceived(HEADER % 1 + b"x" + HEADER % 0 + b"GET")
    clock.pump([0, 0])

    assert client.transport.value().count(b"200 OK") == 2
    clock.advance(15)
    assert client.transport.disconnecting


@pytest.mark.parametrize(
    ("path", "problem"),
    [(b"/api/v1/approvals", TOO_LARGE), (b"/api/v1/notebooks/a", NOTEBOOK_TOO_LARGE)],
)
def test_a_body_that_is_declared_too_large_is_refused_as_by_the_api(clock, client, path, problem):
    header = HEADER.replace(b" / ", b" %b " % path) % 20_000_000
    client.dataReceived(header.replace(b"Host", b"Expect: 100-continue\r\nHost"))
    for _ in range(5):
        client.dataReceived(b"GET / HTTP/1.1\r\n\r\n")
        clock.advance(1)

    head, _, body = client.transport.value().partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 413 ")
    assert b"\r\nConnection: close" in head
    assert body == problem.body()
    assert not client.transport.disconnecting  # or most would never read it
    clock.advance(5)
    assert client.transport.disconnecting


@pytest.mark.parametrize(("most", "at_once"), [(4, 1), (102, 12), (10_000, 100)])
def test_few_are_accepted_before_what_others_sent_is_read(most, at_once):
    """Else a request that has come could be closed, unread, to make room for a crowd."""
    assert Room(most).in_one_turn() == at_once


def test_nothing_is_accepted_where_nothing_is_idle():
    room = Room(2)
    for connection in (object(), object()):
        room.enter(connection)
        room.answers(connection)
    assert room.in_one_turn() == 0
