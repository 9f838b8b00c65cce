"""However many pages people look at, and agents ask, decisions are served meanwhile."""

import asyncio
from threading import Event, current_thread
from types import SimpleNamespace

import pytest
from asgiref.testing import ApplicationCommunicator
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.core.signals import request_finished
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.urls import path, re_path
from django.views.decorators.csrf import csrf_exempt

from dashboard.settings import POSTGRESQL_OPTIONS
from dashboard.web import handler
from tests.live.conftest import scope

MORE_THAN_THREADS = 12
HOST = "127.0.0.1:8000"
SESSIONS = ["ada", "bob", "cy"]
go_on = Event()


@csrf_exempt
@login_not_required
def drawn_slowly(request):
    go_on.wait()
    return HttpResponse()


@login_not_required
def answered(request):
    return HttpResponse("done", headers={"X-Thread": current_thread().name})


@login_not_required
def streamed(request):
    async def parts():
        yield b"a"
        yield b"b"

    return StreamingHttpResponse(parts())


@csrf_exempt
@login_not_required
def inspected(request):
    if len(request.body) > handler.LONG_BYTES:
        go_on.wait()
    return HttpResponse()


urlpatterns = [
    path("", drawn_slowly),
    path("slow", drawn_slowly),
    path("sign-in", drawn_slowly),
    path("api/v1/approvals", inspected),
    path("api/v1/slow", drawn_slowly),
    path("streamed", streamed),
    re_path("", answered),
]


@pytest.fixture
def application(settings):
    settings.ROOT_URLCONF, settings.MIDDLEWARE = __name__, []
    go_on.clear()
    application = handler.PooledHandler()
    for session in SESSIONS:
        application.remember(session)
    yield application
    go_on.set()
    for pool in application.pools.values():
        pool.shutdown()


async def requested(application, method, path, body=b"", token="", session="ada"):
    cookie = f"{settings.SESSION_COOKIE_NAME}={session}".encode()
    headers = [(b"origin", f"http://{HOST}".encode()), (b"cookie", cookie)]
    asked = scope(path, secret=token, headers=headers) | {"method": method}
    talk = ApplicationCommunicator(application, asked)
    await talk.send_input({"type": "http.request", "body": body, "more_body": False})
    return talk


async def answers(talks):
    go_on.set()
    return [(await talk.receive_output(3))["status"] for talk in talks]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/approvals/x/decide"),
        ("GET", "/api/v1/approvals/x"),
        ("POST", "/api/v1/approvals"),
        ("GET", "/readyz"),
    ],
)
async def test_pages_that_take_long_stand_before_nobody_who_answers(application, method, path):
    pages = [await requested(application, "GET", "/slow") for _ in range(MORE_THAN_THREADS)]

    talk = await requested(application, method, path)
    start = await talk.receive_output(3)

    assert start["type"] == "http.response.start"
    assert await answers(pages) == [200] * len(pages)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/approvals/x/decide"),
        ("GET", "/approvals/x"),
        ("POST", "/api/v1/approvals"),
        ("POST", "/api/v1/approvals/x/outcome"),
        ("GET", "/readyz"),
    ],
)
async def test_long_questions_stand_before_nobody_else(application, method, path):
    long = b"x" * (handler.LONG_BYTES + 1)
    questions = [
        await requested(application, "POST", "/api/v1/approvals", long, token=f"{number}")
        for number in range(MORE_THAN_THREADS)
    ]

    talk = await requested(application, method, path, token="another")

    assert (await talk.receive_output(3))["type"] == "http.response.start"
    assert await answers(questions) == [200] * len(questions)


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("asked", [("GET", "/approvals/x"), ("POST", "/approvals/x/decide")])
async def test_strangers_stand_before_nobody(application, monkeypatch, method, asked):
    monkeypatch.setattr(handler, "PATIENCE_S", 60)
    strangers = [
        await requested(application, method, "/slow", session=f"forged-{number}")
        for number in range(MORE_THAN_THREADS)
    ]

    talk = await requested(application, *asked)

    assert (await talk.receive_output(3))["type"] == "http.response.start"
    assert await answers(strangers) == [200] * len(strangers)


async def test_one_person_who_answers_much_stands_before_no_other(application):
    much = [await requested(application, "POST", "/slow") for _ in range(MORE_THAN_THREADS)]

    talk = await requested(application, "POST", "/approvals/x/decide", session="bob")

    assert (await talk.receive_output(3))["type"] == "http.response.start"
    assert await answers(much) == [200] * len(much)


async def test_one_token_that_asks_much_stands_before_no_other(application, monkeypatch):
    monkeypatch.setattr(handler, "LONG_BYTES", -1)
    much = [
        await requested(application, "POST", "/api/v1/approvals", token="one")
        for _ in range(MORE_THAN_THREADS)
    ]
    monkeypatch.undo()

    talk = await requested(application, "POST", "/api/v1/approvals", token="two")

    assert (await talk.receive_output(3))["status"] == 200
    assert await answers(much) == [200] * len(much)


async def test_one_token_that_calls_much_stands_before_no_other(application):
    much = [
        await requested(application, "GET", "/api/v1/slow", token="one")
        for _ in range(MORE_THAN_THREADS)
    ]

    for token, place in (("two", "/api/v1/approvals/x"), ("one", "/api/v1/approvals")):
        talk = await requested(application, "POST", place, token=token)
        assert (await talk.receive_output(3))["status"] == 200
    assert await answers(much) == [200] * len(much)


@pytest.mark.parametrize("is_signed_in", [True, False])
async def test_whoever_was_signed_in_has_the_pools_of_people_from_then_on(
    application, monkeypatch, is_signed_in
):
    person = SimpleNamespace(is_authenticated=is_signed_in)
    monkeypatch.setattr(HttpRequest, "_cached_user", person, raising=False)
    cookies = {settings.SESSION_COOKIE_NAME: "new"}
    asked = SimpleNamespace(path="/", method="GET", COOKIES=cookies)
    assert application._pool_of(asked) == "strangers"

    talk = await requested(application, "GET", "/whoever", session="new")
    await talk.receive_output(3)

    assert application._pool_of(asked) == "pages" if is_signed_in else "strangers"


@pytest.mark.django_db
def test_django_says_who_is_signed_in_where_the_handler_looks(client, alice):
    client.force_login(alice)

    assert client.get("/", headers={"host": HOST}).wsgi_request._cached_user == alice


async def test_a_thread_that_works_on_is_not_taken_for_free(application):
    """A client that hangs up stops nothing, so its turn is not over either."""
    answer = await requested(application, "POST", "/slow")
    others = [await requested(application, "POST", "/slow", session="bob") for _ in range(2)]
    while application._answers < 3:
        await asyncio.sleep(0.01)
    answer.future.cancel()
    await asyncio.sleep(0.05)

    assert application._answers == 3
    assert await answers(others) == [200, 200]
    while application._answers:
        await asyncio.sleep(0.01)
    assert application._no_answer.is_set()


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/approvals/x"), ("POST", "/approvals/x/decide")]
)
async def test_agents_who_take_long_stand_before_nobody(application, monkeypatch, method, path):
    monkeypatch.setattr(handler, "PATIENCE_S", 60)
    calls = [await requested(application, "GET", "/api/v1/slow") for _ in range(MORE_THAN_THREADS)]

    talk = await requested(application, method, path)

    assert (await talk.receive_output(3))["type"] == "http.response.start"
    assert await answers(calls) == [200] * len(calls)


@pytest.mark.parametrize("path", ["/approvals/x", "/api/v1/approvals", "/streamed"])
async def test_a_request_ends_once_and_in_the_thread_that_served_it(application, path):
    """For there Django gives the connection back; what is streamed is still read then."""
    ended = []

    def end(**_):
        ended.append(current_thread().name)

    request_finished.connect(end)
    talk = await requested(application, "GET", path)
    start, body = await talk.receive_output(3), await talk.receive_output(3)
    while body.get("more_body"):
        body = await talk.receive_output(3)
    await talk.wait(3)
    request_finished.disconnect(end)

    served_by = dict(start["headers"]).get(b"X-Thread", b"").decode()
    assert len(ended) == 1
    assert served_by in {ended[0], ""}


async def test_a_page_is_begun_when_no_answer_is_being_taken(application, monkeypatch):
    monkeypatch.setattr(handler, "PATIENCE_S", 60)
    answer = await requested(application, "POST", "/slow")

    page = await requested(application, "GET", "/approvals/x")

    assert await page.receive_nothing(0.2)
    go_on.set()
    assert (await answer.receive_output(3))["status"] == 200
    assert (await page.receive_output(3))["status"] == 200


async def test_a_page_waits_only_so_long_for_those_who_answer(application, monkeypatch):
    monkeypatch.setattr(handler, "PATIENCE_S", 0.01)
    await requested(application, "POST", "/slow")

    page = await requested(application, "GET", "/approvals/x")

    assert (await page.receive_output(3))["status"] == 200


def test_the_pools_and_the_hub_fit_into_the_pool_of_connections():
    hub, others = 2, 6  # such as those of the background and of what looks whether it is ready
    assert sum(handler.POOLS.values()) + hub + others <= POSTGRESQL_OPTIONS["pool"]["max_size"]
