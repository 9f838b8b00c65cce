"""A webhook is believed only if the dashboard signed it, just now, and it makes sense."""

import json
import time
from base64 import b64decode, b64encode

import pytest

from approval_client import NotConfigured
from approval_client.webhooks import NotGenuine, Seen, verify
from approval_client.wire import Status, webhook_signature

KEY = b"k" * 32
SECRET = "whsec_" + b64encode(KEY).decode()
OTHER = "whsec_" + b64encode(b"o" * 32).decode()
DATA = {
    "id": "a1",
    "status": "approved",
    "decided_at": "2026-11-21T12:00:00.000000Z",
    "digest": "0" * 64,
}
EVENT = {"type": "approval.approved", "timestamp": DATA["decided_at"], "data": DATA}


def signed(body=EVENT, *, at=None, key=KEY, message_id="msg_1"):
    """Returns (headers, body) as they are sent."""
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    at = int(time.time()) if at is None else at
    return {
        "Webhook-Id": message_id,
        "webhook-timestamp": str(at),
        "WEBHOOK-SIGNATURE": webhook_signature(key, message_id, at, body),
    }, body


def data(**changes):
    return EVENT | {"data": DATA | changes}


def test_the_signature_is_that_of_the_specification():
    key = b64decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    body = b'{"test": 2432232314}'

    found = webhook_signature(key, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, body)
    assert found == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_what_the_dashboard_sent_is_an_event():
    event = verify(*signed(), SECRET)

    assert (event.message_id, event.id, event.status) == ("msg_1", "a1", Status.APPROVED)
    assert event.digest == "0" * 64


@pytest.mark.parametrize("kind", ["approval.submitted", "approval.pending", "hold.placed"])
def test_what_this_release_does_not_know_is_returned_as_what_it_is(kind):
    event = verify(*signed({"type": kind, "data": {"id": "a1", "left_s": 60}}), SECRET)

    assert (event.message_id, event.type, event.data) == (
        "msg_1",
        kind,
        {"id": "a1", "left_s": 60},
    )
    assert not hasattr(event, "status")


def test_what_is_not_known_is_seen_once_too():
    event, seen = verify(*signed({"type": "hold.placed", "data": {}}), SECRET), Seen()

    assert [seen.first(event), seen.first(event)] == [True, False]


def test_one_good_signature_among_others_is_enough():
    headers, body = signed()
    headers["WEBHOOK-SIGNATURE"] = f"v1,AAAA v2,x {headers['WEBHOOK-SIGNATURE']}"

    assert verify(headers, body, SECRET).id == "a1"


def test_without_the_secret_nobody_makes_one():
    with pytest.raises(NotGenuine, match="signature"):
        verify(*signed(), OTHER)


@pytest.mark.parametrize("name", ["Webhook-Id", "webhook-timestamp", "WEBHOOK-SIGNATURE"])
def test_each_header_has_to_be_there(name):
    headers, body = signed()
    del headers[name]

    with pytest.raises(NotGenuine):
        verify(headers, body, SECRET)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Webhook-Id", "msg_2"),
        ("Webhook-Id", "msg_1.1"),
        ("webhook-timestamp", "1"),
        ("webhook-timestamp", "-5"),
        ("webhook-timestamp", "1e9"),
        ("webhook-timestamp", "\u0661"),
        ("WEBHOOK-SIGNATURE", "v1,"),
        ("WEBHOOK-SIGNATURE", ""),
        ("WEBHOOK-SIGNATURE", "\udcff"),
    ],
)
def test_what_was_signed_cannot_be_exchanged(name, value):
    headers, body = signed()

    with pytest.raises(NotGenuine, match="nothing was done"):
        verify(headers | {name: value}, body, SECRET)


def test_a_body_that_was_changed_is_not_believed():
    headers, body = signed(data(status="rejected"))

    with pytest.raises(NotGenuine, match="signature"):
        verify(headers, body.replace(b"rejected", b"approved"), SECRET)


@pytest.mark.parametrize("off_s", [-301, 301])
def test_an_old_message_is_not_believed_nor_one_of_the_future(off_s):
    with pytest.raises(NotGenuine, match="more than 300 s ago"):
        verify(*signed(at=int(time.time()) + off_s), SECRET)


def test_how_old_is_for_the_host_to_say():
    headers, body = signed(at=int(time.time()) - 50)

    assert verify(headers, body, SECRET, tolerance_s=60).id == "a1"
    with pytest.raises(NotGenuine):
        verify(headers, body, SECRET, tolerance_s=40)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"\xff",
        b'{"type": 1, "type": 2}',
        EVENT | {"type": "approval.rejected"},
        EVENT | {"type": "something"},
        EVENT | {"type": "Some thing.else"},
        {"type": "approval.submitted"},
        {"type": "approval.submitted", "data": []},
        {"type": "approval.approved"},
        data(status="pending") | {"type": "approval.approved"},
        data(status="yes") | {"type": "approval.approved"},
        data(id="../other"),
        data(digest="short"),
        data(decided_at="2026-11-21T12:00:00"),
        data(decided_at="soon"),
    ],
)
def test_a_good_signature_makes_no_sense_of_nonsense(body):
    with pytest.raises(NotGenuine, match="It is not an event"):
        verify(*signed(body), SECRET)


@pytest.mark.parametrize(
    "secret", ["", "whsec_", "whsec_***", "whsec_c2hvcnQ=", "é", f"{SECRET}*"]
)
def test_what_is_no_secret_verifies_nothing(secret):
    with pytest.raises(NotConfigured, match="Nothing was verified"):
        verify(*signed(), secret)


def test_a_body_that_somebody_has_decoded_is_not_taken():
    headers, body = signed()

    with pytest.raises(TypeError, match="the bytes that were received"):
        verify(headers, body.decode(), SECRET)


def test_a_message_that_is_played_again_is_seen():
    seen, event = Seen(), verify(*signed(), SECRET)
    other = verify(*signed(message_id="msg_2"), SECRET)

    assert [seen.first(event), seen.first(event), seen.first(other)] == [True, False, True]


def test_one_that_could_not_be_dealt_with_may_come_again():
    seen, event = Seen(), verify(*signed(), SECRET)
    seen.first(event)
    seen.forget(event)

    assert seen.first(event) is True


def test_what_is_too_old_to_be_believed_is_forgotten():
    now = [0.0]
    seen, event = Seen(clock=lambda: now[0]), verify(*signed(), SECRET)
    seen.first(event)

    now[0] = 599
    assert seen.first(event) is False
    now[0] = 600
    assert seen.first(event) is True


def test_it_remembers_no_more_than_it_may():
    seen = Seen(most=2)
    events = [verify(*signed(message_id=f"msg_{n}"), SECRET) for n in range(3)]

    assert [seen.first(event) for event in [*events, events[2], events[0]]] == [
        True,
        True,
        True,
        False,
        True,
    ]
