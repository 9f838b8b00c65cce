"""Nothing is sent to what an admin could not mean, or what a name turns out to be."""

import asyncio
import socket
from ipaddress import ip_address

import httpx2
import pytest
from django.core.exceptions import ImproperlyConfigured

from dashboard.notifications import sending
from dashboard.notifications.addresses import check_address, checked_url, resolved
from dashboard.notifications.errors import AddressRefused
from dashboard.settings import networks

PRIVATE = [
    "127.0.0.1",
    "10.0.0.1",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "0.0.0.0",  # noqa: S104 - to see it refused
    "224.0.0.1",
    "255.255.255.255",
    "240.0.0.1",
    "::1",
    "::",
    "fe80::1",
    "fd00::1",
    "ff02::1",
    "::ffff:10.0.0.1",
    "64:ff9b::a00:1",
    "2002:a00:1::",
    "2001::1",
    "fec0::1",
    "192.88.99.1",
    "3fff::1",
]


@pytest.fixture(autouse=True)
def _nothing_but_the_internet(settings):
    settings.WEBHOOK_NETWORKS = []


@pytest.fixture
def resolves_to(monkeypatch):
    """Has every name mean these addresses."""

    def to(*addresses):
        async def getaddrinfo(self, host, port, **_):
            return [(0, socket.SOCK_STREAM, 6, "", (one, port)) for one in addresses]

        monkeypatch.setattr(asyncio.BaseEventLoop, "getaddrinfo", getaddrinfo)

    return to


@pytest.mark.parametrize("text", PRIVATE)
def test_what_is_not_on_the_public_internet_is_refused(text):
    with pytest.raises(AddressRefused, match="not on the public internet"):
        check_address(ip_address(text), "https")


@pytest.mark.parametrize("text", ["93.184.216.34", "2606:2800:220:1::1", "64:ff9b::5db8:d822"])
def test_what_is_on_it_is_not(text):
    check_address(ip_address(text), "https")


def test_a_network_that_a_setting_names_is_allowed_and_no_other(settings):
    settings.WEBHOOK_NETWORKS = ["10.1.0.0/16", "fd00::/8"]

    check_address(ip_address("10.1.2.3"), "https")
    check_address(ip_address("::ffff:10.1.2.3"), "https")
    check_address(ip_address("fd00::1"), "https")
    with pytest.raises(AddressRefused):
        check_address(ip_address("10.2.0.1"), "https")


def test_plain_http_is_for_this_machine_where_a_setting_allows_it(settings):
    settings.WEBHOOK_NETWORKS = ["127.0.0.0/8", "10.0.0.0/8"]

    assert checked_url("http://localhost:8080/hook").port == 8080
    with pytest.raises(AddressRefused, match="Plain http"):
        checked_url("http://10.0.0.1/hook")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "host.example.org/hook",
        "ftp://host.example.org/",
        "file:///etc/passwd",
        "http://host.example.org/",
        "https://",
        "https://me:secret@host.example.org/",
        "https://host.example.org/#part",
        "https://host.example.org/a b",
        "https://host.example.org/\n",
        "https://höst.example.org/",
        "https://host.example.org:0/",
        "https://host.example.org:99999/",
        "https://127.0.0.1/",
        "https://[::1]/",
        "https://localhost/",
        "http://localhost/",
        "https://host.example.org/" + "a" * 500,
    ],
)
def test_what_is_no_address_of_a_host_is_refused(text):
    with pytest.raises(AddressRefused):
        checked_url(text)


async def test_a_name_that_means_a_private_address_is_refused(resolves_to):
    resolves_to("93.184.216.34", "10.0.0.1")

    with pytest.raises(AddressRefused, match=r"10\.0\.0\.1 is not on the public internet"):
        await resolved(httpx2.URL("https://host.example.org/"))


@pytest.mark.parametrize("name", ["2130706433", "0x7f000001", "127.1"])
async def test_a_number_for_a_name_is_what_it_resolves_to(name):
    sent = await sending.send(f"https://{name}/", {}, b"")

    assert sent.taken is False
    assert "public internet" in sent.said or "cannot be resolved" in sent.said


async def test_what_was_checked_is_what_is_called(monkeypatch, settings):
    from tests.notifications.host import hosted  # noqa: PLC0415 - a real host

    settings.WEBHOOK_NETWORKS = ["127.0.0.0/8"]
    looked_up = []

    async def getaddrinfo(self, host, port, **_):
        name = host if isinstance(host, str) else host.decode()
        if name == "localhost":  # whoever has the name says something else the next time
            looked_up.append(name)
            name = "127.0.0.1" if len(looked_up) == 1 else "127.0.0.2"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (name, port))]

    monkeypatch.setattr(asyncio.BaseEventLoop, "getaddrinfo", getaddrinfo)
    with hosted(200) as host:
        sent = await sending.send(host.url.replace("127.0.0.1", "localhost"), {}, b"{}")

    assert (sent.taken, looked_up) == (True, ["localhost"])


async def test_of_several_addresses_one_that_answers_is_enough(resolves_to, settings):
    from tests.notifications.host import hosted  # noqa: PLC0415 - a real host

    settings.WEBHOOK_NETWORKS = ["127.0.0.0/8"]
    resolves_to("127.0.0.2", "127.0.0.1")  # nothing listens on the first
    with hosted(200) as host:
        url = host.url.replace("127.0.0.1", "localhost")
        sent = await asyncio.wait_for(sending.send(url, {}, b"{}"), 5)

    assert (sent.taken, host.calls[0].headers["Host"]) == (True, httpx2.URL(url).netloc.decode())


async def test_a_proxy_of_the_environment_is_not_used(monkeypatch, settings):
    from tests.notifications.host import hosted  # noqa: PLC0415 - a real host

    settings.WEBHOOK_NETWORKS = ["127.0.0.0/8"]
    for name in ("HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with hosted(200) as host:
        assert (await sending.send(host.url, {}, b"{}")).taken is True


def test_a_setting_that_names_no_network_stops_the_start(monkeypatch):
    monkeypatch.setenv("WEBHOOK_NETWORKS", "10.0.0.0/8,10.0.0.1/8")
    with pytest.raises(ImproperlyConfigured, match="which is not a network"):
        networks("WEBHOOK_NETWORKS")
