"""However many pages people look at, agents' calls and decisions are served meanwhile."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event, current_thread

import pytest
from asgiref.testing import ApplicationCommunicator
from django.contrib.auth.decorators import login_not_required
from django.core.signals import request_finished
from django.http import HttpResponse, StreamingHttpResponse
from django.urls import path, re_path

from dashboard.settings import POSTGRESQL_OPTIONS
from dashboard.web import handler
from tests.live.conftest import scope

MORE_THAN_THREADS = 12
go_on = Event()


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


urlpatterns = [
    path("", drawn_slowly),
    path("slow", drawn_slowly),
    path("api/v1/slow", drawn_slowly),
    path("streamed", streamed),
    re_path("", answered),
]


@pytest.fixture
def application(settings):
    settings.ROOT_URLCONF = __name__
    go_on.clear()
    application = handler.PooledHandler()
    yield application
    go_on.set()
    for pool in vars(application).values():
        if isinstance(pool, ThreadPoolExecutor):
            pool.shutdown()


async def requested(application, method, path):
    talk = ApplicationCommunicator(application, scope(path) | {"method": method})
    await talk.send_input({"type": "http.request", "body": b"", "more_body": False})
    return talk


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
    go_on.set()
    assert [(await page.receive_output(3))["status"] for page in pages] == [200] * len(pages)


async def test_agents_who_take_long_stand_before_no_page(application):
    calls = [await requested(application, "GET", "/api/v1/slow") for _ in range(MORE_THAN_THREADS)]

    page = await requested(application, "GET", "/approvals/x")

    assert (await page.receive_output(3))["status"] == 200
    go_on.set()
    assert [(await call.receive_output(3))["status"] for call in calls] == [200] * len(calls)


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


async def test_a_page_is_begun_when_nobody_is_being_answered(application, monkeypatch):
    monkeypatch.setattr(handler, "PATIENCE_S", 60)
    call = await requested(application, "GET", "/api/v1/slow")

    page = await requested(application, "GET", "/approvals/x")

    assert await page.receive_nothing(0.2)
    go_on.set()
    assert (await call.receive_output(3))["status"] == 200
    assert (await page.receive_output(3))["status"] == 200


def test_the_pools_and_the_hub_fit_into_the_pool_of_connections():
    hub = 2
    assert handler.ANSWERING + handler.VIEWING + hub <= POSTGRESQL_OPTIONS["pool"]["max_size"] / 2
