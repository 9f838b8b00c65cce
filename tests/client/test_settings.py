"""Address and token, checked before anything is sent."""

import ssl

import pytest

from approval_client import Client, NotConfigured
from approval_client._driver import is_loopback, read_settings


def read(url="https://dashboard.example", token="dash_x", *, insecure_http=False):
    return read_settings(url, token, insecure_http=insecure_http)


@pytest.fixture(autouse=True)
def no_environment(monkeypatch):
    monkeypatch.delenv("DASHBOARD_URL", raising=False)
    monkeypatch.delenv("DASHBOARD_TOKEN", raising=False)


def test_the_environment_says_where_and_as_whom(monkeypatch):
    monkeypatch.setenv("DASHBOARD_URL", "https://dashboard.example/gate/")
    monkeypatch.setenv("DASHBOARD_TOKEN", " dash_env\n")

    settings = read(None, None)

    assert (settings.url, settings.token) == ("https://dashboard.example/gate", "dash_env")


def test_what_is_passed_goes_before_the_environment(monkeypatch):
    monkeypatch.setenv("DASHBOARD_URL", "https://other.example")

    assert read().url == "https://dashboard.example"


@pytest.mark.parametrize("name", ["DASHBOARD_URL", "DASHBOARD_TOKEN"])
def test_what_is_missing_is_named(monkeypatch, name):
    monkeypatch.setenv("DASHBOARD_URL", "https://dashboard.example")
    monkeypatch.setenv("DASHBOARD_TOKEN", "dash_x")
    monkeypatch.delenv(name)

    with pytest.raises(NotConfigured, match=f"Set {name} in the environment"):
        Client()


@pytest.mark.parametrize(
    "url",
    [
        "http://dashboard.example",
        "http://127.0.0.1.evil.example",
        "http://localhost.evil.example",
        "http://0.0.0.0:8000",
        "http://192.168.0.7",
    ],
)
def test_plain_http_to_another_machine_is_refused(url):
    with pytest.raises(NotConfigured, match="others on the network could read the token"):
        read(url)


def test_plain_http_to_another_machine_can_be_insisted_on():
    settings = read("http://dashboard.example", insecure_http=True)

    assert settings.url == "http://dashboard.example"


def test_only_true_itself_allows_plain_http():
    with pytest.raises(NotConfigured):
        read("http://dashboard.example", insecure_http="no")


@pytest.mark.parametrize(
    "url",
    ["http://localhost:8000", "http://127.0.0.1:8000", "http://[::1]:8000", "http://LOCALHOST"],
)
def test_plain_http_to_this_machine_is_fine(url):
    assert read(url).loopback is True


@pytest.mark.parametrize(
    "url",
    [
        "dashboard.example",
        "ftp://dashboard.example",
        "https://",
        "file:///etc/passwd",
        "https://a.example?x=1",
        "https://a.example#x",
    ],
)
def test_what_is_no_address_is_refused(url):
    with pytest.raises(NotConfigured):
        read(url)


def test_a_password_in_the_address_is_refused_and_not_repeated():
    with pytest.raises(NotConfigured, match="must not contain a user name") as caught:
        read("ftp://alice:hunter2@dashboard.example")

    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("token", ["dash x", "dash\nx", "dásh", "dash\x00"])
def test_a_token_that_no_header_can_hold_is_refused_and_not_repeated(token):
    with pytest.raises(NotConfigured, match="Copy it again") as caught:
        read(token=token)

    assert token not in str(caught.value)


def test_proxies_of_the_environment_are_ignored_for_this_machine_only():
    assert read("http://localhost").options()["trust_env"] is False
    assert read().options()["trust_env"] is True


def test_redirects_are_never_followed():
    assert read().options()["follow_redirects"] is False


def test_any_number_of_agents_may_wait_at_once():
    assert read().options()["limits"].max_connections is None


def test_without_tls_nobody_is_trusted_and_no_list_of_whom_is_read():
    context = read("http://localhost").options()["verify"]

    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.get_ca_certs() == []


@pytest.mark.parametrize("url", ["https://localhost", "https://dashboard.example"])
def test_with_tls_the_usual_authorities_are_trusted(url):
    assert "verify" not in read(url).options()


@pytest.mark.parametrize(
    ("host", "is_one"),
    [
        ("localhost", True),
        ("127.1.2.3", True),
        ("::1", True),
        ("127.1", False),
        ("10.0.0.1", False),
    ],
)
def test_loopback_is_recognised(host, is_one):
    assert is_loopback(host) is is_one
