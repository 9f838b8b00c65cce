import asyncio

import pytest
from channels.testing import WebsocketCommunicator
from django.conf import settings as django_settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore

from dashboard.accounts.services import people
from dashboard.approvals import services
from dashboard.live import hub as hub_module
from tests import make
from tests.live.conftest import in_thread

pytestmark = pytest.mark.django_db(transaction=True)
HERE = b"http://127.0.0.1:8000"
A_FEW_TICKS_S = 1.0


@pytest.fixture
def session(alice):
    """alice's session, as signing in leaves it."""
    store = SessionStore()
    store[SESSION_KEY] = str(alice.pk)
    store[BACKEND_SESSION_KEY] = django_settings.AUTHENTICATION_BACKENDS[0]
    store[HASH_SESSION_KEY] = alice.get_session_auth_hash()
    store.create()
    return store


def socket(session_key="", origin=HERE):
    from dashboard.asgi import application  # noqa: PLC0415 - fills the app registry

    cookie = f"{django_settings.SESSION_COOKIE_NAME}={session_key}".encode()
    headers = [(b"host", b"127.0.0.1:8000"), (b"cookie", cookie)]
    headers += [(b"origin", origin)] if origin is not None else []
    return WebsocketCommunicator(application, "/ws/queue/", headers)


async def closing_code(talk, within_s=A_FEW_TICKS_S):
    message = await talk.receive_output(within_s)
    assert message["type"] == "websocket.close"
    return message["code"]


async def test_a_page_hears_ids_and_versions_and_nothing_else(hub, session, token, alice):
    talk = socket(session.session_key)
    assert (await talk.connect())[0]

    approval = await in_thread(make.pending)(token)
    submitted = await talk.receive_json_from(2)
    await in_thread(make.decided)(approval, alice)
    decided = await talk.receive_json_from(2)

    assert submitted == {"id": str(approval.pk), "version": 1}
    assert decided == {"id": str(approval.pk), "version": 2}
    await talk.disconnect()


async def test_a_page_hears_that_the_gate_changed(hub, session, ada):
    talk = socket(session.session_key)
    await talk.connect()

    await in_thread(services.place_hold)(by=ada, auth="session:password")

    assert await talk.receive_json_from(2) == {"id": "gate", "version": 0}
    await talk.disconnect()


@pytest.mark.parametrize(
    "origin",
    [
        None,
        b"null",
        b"http://127.0.0.1:8888",
        b"https://127.0.0.1:8000",
        b"http://localhost:8000",
        b"http://127.0.0.1:8000.evil.example",
        b"http://evil.example",
    ],
)
async def test_another_origin_opens_no_socket(hub, session, origin):
    assert await socket(session.session_key, origin).connect() == (False, 4403)


async def test_nobody_in_particular_is_told_to_sign_in(hub, db):
    talk = socket()
    await talk.connect()

    assert await closing_code(talk) == 4401


async def test_a_person_without_a_role_hears_nothing(hub, session, alice):
    await in_thread(people.change_roles)(alice, roles={}, by=make.BY)
    talk = socket(session.session_key)
    await talk.connect()

    assert await closing_code(talk) == 4403


async def test_signing_out_closes_the_socket_at_the_next_tick(hub, session):
    talk = socket(session.session_key)
    await talk.connect()

    await in_thread(session.delete)()

    assert await closing_code(talk) == 4401


@pytest.mark.parametrize("loss", ["role", "account", "password"])
async def test_losing_the_right_closes_the_socket_at_the_next_tick(hub, session, alice, loss):
    talk = socket(session.session_key)
    await talk.connect()

    if loss == "role":
        await in_thread(people.change_roles)(alice, roles={}, by=make.BY)
    elif loss == "account":
        await in_thread(people.set_active)(alice, active=False, by=make.BY)
    else:
        await in_thread(people.set_password)(alice, password="another long one", by=make.BY)

    assert await closing_code(talk) == 4401


async def test_what_a_page_sends_is_ignored(hub, session, token):
    talk = socket(session.session_key)
    await talk.connect()

    for nonsense in ("{", '{"decide": "approved"}', "x" * 10_000):
        await talk.send_to(text_data=nonsense)
    await talk.send_to(bytes_data=b"\xff")
    await in_thread(make.pending)(token)

    assert set(await talk.receive_json_from(2)) == {"id", "version"}
    await talk.disconnect()


async def test_a_page_that_does_not_keep_up_is_told_to_come_back(hub, session):
    talk = socket(session.session_key)
    await talk.connect()
    (page,) = hub._pages

    for version in range(101):
        page.tell({"id": "x", "version": version})

    assert await closing_code(talk) == 1013


async def test_when_the_server_stops_pages_are_told_that_it_restarts(hub, session):
    talk = socket(session.session_key)
    await talk.connect()
    await asyncio.sleep(0)

    await hub.close()

    assert await closing_code(talk) == 1012


def test_a_tick_comes_well_within_five_seconds():
    assert hub_module.TICK_S <= 2.5
