"""Pages are shown at the address that decisions count from; elsewhere one says what to set."""

import logging

import pytest

from tests.web.pages import read

OURS, PROXYS = "127.0.0.1:8000", "localhost:8000"


@pytest.fixture
def said(caplog):
    """What the server's log has of it, line by line."""
    caplog.set_level(logging.WARNING, logger="dashboard.web.errors")
    return lambda: [record.getMessage() for record in caplog.records]


def facts(response):
    card = read(response).one(class_="facts")
    return dict(
        zip([e.text for e in card.all("dt")], [e.text for e in card.all("dd")], strict=True)
    )


@pytest.mark.parametrize("host", [PROXYS, "[::1]:8000", "127.0.0.1:9000"])
def test_a_host_that_is_not_the_address_is_refused_and_never_redirected(client, said, host):
    response = client.get("/approvals?tab=mine", HTTP_HOST=host)

    assert response.status_code == 421
    assert facts(response) == {"Set": "PUBLIC_URL=http://127.0.0.1:8000", "Host": host}
    assert read(response).one("a")["href"] == "http://127.0.0.1:8000/approvals?tab=mine"
    assert "works only in a browser on the server's own machine" in read(response).text
    [line] = said()
    assert f"Host {host!r}" in line
    assert "PUBLIC_URL (http://127.0.0.1:8000)" in line


@pytest.mark.parametrize(
    ("public", "host"),
    [
        ("https://gate.example", "gate.example:443"),
        ("http://gate.example", "gate.example:80"),
        ("https://gate.example", "GATE.example"),
    ],
)
def test_the_usual_port_and_capitals_are_the_same_address(client, db, settings, public, host):
    settings.PUBLIC_URL, settings.ALLOWED_HOSTS = public, ["gate.example"]

    assert client.get("/sign-in", HTTP_HOST=host, secure=True).status_code == 200


@pytest.mark.parametrize("prefix", ["/", "/, /"])
def test_a_prefix_that_is_none_is_no_path(client, db, prefix):
    response = client.get("/sign-in", HTTP_HOST=OURS, HTTP_X_FORWARDED_PREFIX=prefix)

    assert response.status_code == 200


def test_a_host_that_nobody_allowed_is_told_the_same_and_stays_forbidden(client, settings, said):
    before = list(settings.ALLOWED_HOSTS)
    response = client.get("/", HTTP_HOST="abc.tunnel.example")

    assert response.status_code == 421
    assert facts(response)["Host"] == "abc.tunnel.example"
    assert len(said()) == 1
    assert before == settings.ALLOWED_HOSTS


def test_a_form_to_a_host_that_nobody_allowed_does_nothing(client, said):
    response = client.post("/sign-in", HTTP_HOST="abc.tunnel.example")

    assert response.status_code == 421
    assert read(response).one("a")["href"] == "http://127.0.0.1:8000/"
    assert len(said()) == 1


def test_what_came_is_shown_as_text(client, said):
    response = client.get("/", HTTP_HOST="<script>alert(1)</script>\x1b[2J")

    assert b"<script>alert" not in response.content
    assert facts(response)["Host"].startswith("<script>alert(1)")
    assert "\x1b" not in said()[0]


def test_below_a_path_it_says_that_it_needs_an_address_of_its_own(client, said):
    response = client.get("/", HTTP_HOST=OURS, HTTP_X_FORWARDED_PREFIX="/approvals/")

    assert response.status_code == 421
    assert facts(response)["X-Forwarded-Prefix"] == "/approvals/"
    assert "cannot be served below a path" in read(response).text
    assert len(said()) == 1


def test_a_form_of_the_address_that_a_proxy_hid_is_told_what_to_set(client, said):
    response = client.post(
        "/sign-in",
        HTTP_HOST=OURS,
        HTTP_ORIGIN="https://abc.tunnel.example",
        HTTP_SEC_FETCH_SITE="same-origin",
    )

    assert response.status_code == 421
    assert facts(response)["Origin"] == "https://abc.tunnel.example"
    assert len(said()) == 1


def test_a_form_of_another_site_leaves_a_line_too(client, said):
    response = client.post("/sign-in", HTTP_HOST=OURS, HTTP_ORIGIN="http://evil.example")

    assert response.status_code == 403
    assert "A form from a page of 'http://evil.example' was refused" in said()[0]


@pytest.mark.parametrize("path", ["/api/v1/approvals", "/readyz"])
def test_programs_may_use_any_allowed_host(client, db, path):
    assert client.get(path, HTTP_HOST=PROXYS).status_code != 421
