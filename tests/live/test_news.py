import asyncio

import pytest
from channels.testing import WebsocketCommunicator
from django.conf import settings as django_settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore

from dashboard.accounts.services import people
from dashboard.approvals import services
from dashboard.live import hub as hub_module
from dashboard.live import push
from dashboard.live.layer import Bell
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


def by_nobody(*_):
    """Stands for a bell of another process, which does not come."""


@pytest.fixture
async def hear_again(hub, monkeypatch):
    """The hub hears no other process; gives a function that has it hear again."""
    await asyncio.sleep(A_FEW_TICKS_S / 2)  # after its own look at the line
    monkeypatch.setattr(hub._doorbell, "is_deaf", True)
    return lambda: monkeypatch.setattr(hub._doorbell, "is_deaf", False)


async def test_while_no_bells_come_a_page_is_told_of_changes_a_tick_late(
    hub, hear_again, session, token, monkeypatch
):
    monkeypatch.setattr(push, "ring", by_nobody)
    talk = socket(session.session_key)
    assert (await talk.connect())[0]
    assert await talk.receive_json_from(2) == {"id": "all", "version": 0, "late": True}
    heard = hub.heard

    await in_thread(make.pending)(token)

    assert await talk.receive_json_from(2) == {"id": "all", "version": 0, "late": True}
    assert hub.heard > heard  # what pages share is read again
    await talk.disconnect()


async def test_where_nothing_changed_nothing_is_told_while_no_bells_come(hear_again, session):
    talk = socket(session.session_key)
    assert (await talk.connect())[0]
    await talk.receive_json_from(2)

    assert await talk.receive_nothing(A_FEW_TICKS_S)
    await talk.disconnect()


async def test_a_page_that_opens_meanwhile_is_told_too_and_when_bells_come_again(
    hear_again, session
):
    await asyncio.sleep(A_FEW_TICKS_S)
    talk = socket(session.session_key)
    assert (await talk.connect())[0]
    assert (await talk.receive_json_from(2))["late"] is True

    hear_again()

    assert await talk.receive_json_from(2) == {"id": "all", "version": 0, "late": False}
    await talk.disconnect()


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


@pytest.fixture
def sends_little(monkeypatch):
    """Pages are sent few messages, so that what changes meanwhile comes together."""
    monkeypatch.setattr(hub_module, "NEWS_A_SECOND", 1)


async def test_what_changes_soon_after_comes_in_one_message(
    sends_little, hub, session, token, alice
):
    talk = socket(session.session_key)
    await talk.connect()

    first = await in_thread(make.pending)(token)
    await talk.receive_json_from(2)
    others = [await in_thread(make.pending)(token) for _ in range(3)]
    await in_thread(make.decided)(first, alice)

    together = await talk.receive_json_from(3)
    heard = [together, *together.pop("also")]
    expected = {(str(other.pk), 1) for other in others} | {(str(first.pk), 2)}
    assert {(news["id"], news["version"]) for news in heard} == expected
    assert await talk.receive_nothing(0.5)
    await talk.disconnect()


async def test_a_page_hears_that_a_report_changes_no_list(hub, session, token, alice):
    approval = await in_thread(make.pending)(token)
    await in_thread(make.decided)(approval, alice)
    talk = socket(session.session_key)
    await talk.connect()

    await in_thread(make.report)(approval, token)

    news = {"id": str(approval.pk), "version": 3, "in_queue": False}
    assert await talk.receive_json_from(2) == news
    await talk.disconnect()


async def test_a_change_that_lists_show_is_not_hidden_by_a_report(sends_little, hub, session):
    talk = socket(session.session_key)
    await talk.connect()

    hub._hear([Bell("gate", 1)])
    await talk.receive_json_from(2)
    for bell in (Bell("gate", 2), Bell("gate", 3, in_queue=False)):
        hub._hear([bell])

    assert await talk.receive_json_from(3) == {"id": "gate", "version": 3}
    await talk.disconnect()


async def test_that_another_process_checks_its_line_is_no_news(hub, session):
    talk = socket(session.session_key)
    await talk.connect()

    hub._hear([])

    assert await talk.receive_nothing(0.3)
    hub._hear([Bell("gate", 1)])
    assert await talk.receive_json_from(2) == {"id": "gate", "version": 1}
    await talk.disconnect()


async def test_a_burst_is_told_at_once_and_what_goes_on_is_told_less_often(hub, session):
    talk = socket(session.session_key)
    await talk.connect()
    began, count = asyncio.get_running_loop().time(), 2 * hub_module.NEWS_A_SECOND

    for version in range(count):
        hub._hear([Bell("gate", version)])
        await talk.receive_json_from(2)

    took_s = asyncio.get_running_loop().time() - began
    assert took_s >= count / hub_module.NEWS_A_SECOND - 1.1
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
async def test_another_origin_opens_no_socket(hub, session, origin, caplog):
    assert await socket(session.session_key, origin).connect() == (False, 4403)
    [line] = [r.getMessage() for r in caplog.records if r.name == "dashboard.live.origin"]
    assert repr(origin.decode() if origin else "nowhere") in line


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


async def test_a_page_that_cannot_be_told_ends_no_telling(hub, session, monkeypatch):
    talk = socket(session.session_key)
    await talk.connect()
    (page,) = hub._pages

    with monkeypatch.context() as broken:
        broken.setattr(page, "tell", lambda _: 1 / 0)
        hub._hear([Bell("gate", 1)])
        assert await talk.receive_nothing(0.2)
    hub._hear([Bell("gate", 2)])

    assert await talk.receive_json_from(2) == {"id": "gate", "version": 2}
    await talk.disconnect()


async def test_a_page_that_does_not_keep_up_is_told_to_come_back(hub, session):
    talk = socket(session.session_key)
    await talk.connect()
    (page,) = hub._pages

    for version in range(101):
        page.tell([Bell("x", version)])

    assert await closing_code(talk) == 1013


async def test_when_the_server_stops_pages_are_told_that_it_restarts(hub, session):
    talk = socket(session.session_key)
    await talk.connect()
    await asyncio.sleep(0)

    await hub.close()

    assert await closing_code(talk) == 1012


def test_a_tick_comes_well_within_five_seconds():
    assert hub_module.TICK_S <= 2.5
