import pytest
from django.core.exceptions import BadRequest
from django.db import InterfaceError, OperationalError
from django.test import RequestFactory

from dashboard.web import errors
from tests.web.pages import read


def test_a_page_that_is_not_there_says_so_with_a_way_back(browser):
    response = browser.get("/nothing/here")

    page = read(response)
    assert (response.status_code, page.one("h1").text) == (404, "Page not found")
    assert page.one(class_="empty").one("a")["href"] == "/"


def test_a_page_that_is_not_there_says_so_without_signing_in(client):
    response = client.get("/nothing", HTTP_HOST="127.0.0.1:8000")

    page = read(response)
    assert (response.status_code, list(page.all(id="live"))) == (404, [])


def test_a_form_from_elsewhere_is_told_where_ours_are(client):
    response = client.post("/", HTTP_HOST="127.0.0.1:8000", HTTP_ORIGIN="http://evil.example")

    assert response.status_code == 403
    assert "Open http://127.0.0.1:8000 and try there." in read(response).text


def test_when_we_break_the_page_needs_nothing_that_could_break_again():
    response = errors.broken(RequestFactory().get("/"))

    assert response.status_code == 500
    assert read(response).one("h1").text == "Something went wrong"


def test_who_has_another_role_is_told_so(browser_of, ada, ask):
    response = browser_of(ada).get(f"/approvals/{ask().pk}/edit")

    page = read(response)
    assert (response.status_code, page.one("h1").text) == (403, "You may not open this page")


@pytest.mark.parametrize("error", [OperationalError, InterfaceError])
def test_without_an_answer_of_the_database_a_page_says_so(browser, monkeypatch, error):
    def nothing(*_args, **_options):
        raise error("canceling statement due to lock timeout")

    monkeypatch.setattr("dashboard.web.desk.queue.listed", nothing)
    browser.raise_request_exception = False

    response = browser.get("/")

    assert (response.status_code, response["Retry-After"]) == (503, "2")
    assert read(response).one("h1").text == "The database is not answering"


@pytest.mark.parametrize("limit", ["NUMBER_FIELDS", "MEMORY_SIZE"])
def test_a_form_that_is_too_large_is_refused_on_a_page_of_ours(browser, settings, limit):
    setattr(settings, f"DATA_UPLOAD_MAX_{limit}", 2)

    response = browser.post(
        "/bulk/decide", "item=a&item=b&item=c", "application/x-www-form-urlencoded"
    )

    assert response.status_code == 400
    assert read(response).one("h1").text == "This form is too large"
    assert "Nothing was recorded" in read(response).text


def test_what_cannot_be_read_is_refused_on_a_page_of_ours():
    response = errors.unreadable(RequestFactory().get("/"), BadRequest())

    assert response.status_code == 400
    assert read(response).one("h1").text == "This request could not be read"
