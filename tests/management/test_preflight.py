"""Every reason not to start says what is wrong, that nothing was started, and the remedy."""

import re

import pytest

from dashboard.management.preflight import (
    OURS,
    CannotStart,
    check_settings,
    is_loopback,
    is_weak,
    make_data_dir,
    misspelled,
)
from tests.management.running import ROOT

STRONG = "wJ8kQ2vN5xR7tY1uI4oP6aS9dF3gH0jK-zXcVbNm_QwErTyUi"
REMEDY = re.compile(r"\. (Set|Unset|List|Put) ")


@pytest.fixture
def why_not(settings):
    """Return the reasons against starting on a host under some settings."""

    def why_not(host="127.0.0.1", *, insecure_http=False, **changes):
        for name, value in changes.items():
            setattr(settings, name, value)
        if "PUBLIC_URL" in changes:
            settings.PUBLIC_URL_IS_CONFIGURED = True
        with pytest.raises(CannotStart) as refusal:
            check_settings(host=host, insecure_http=insecure_http)
        first, *reasons = str(refusal.value).splitlines()
        assert first == "Nothing was started."
        return "\n".join(reasons)

    return why_not


def accepts(host="127.0.0.1", *, insecure_http=False):
    check_settings(host=host, insecure_http=insecure_http)
    return True


def test_what_a_newcomer_has_is_accepted():
    assert accepts()


def test_debug_is_refused_on_a_public_address(why_not):
    reasons = why_not("192.0.2.1", DEBUG=True, PUBLIC_URL="https://a.example")

    assert reasons == (
        "DEBUG shows secrets on error pages and 192.0.2.1 is a public address. Unset DEBUG, or "
        "use --host 127.0.0.1."
    )


def test_debug_is_accepted_on_this_machine(settings):
    settings.DEBUG = True

    assert accepts()


@pytest.mark.parametrize(
    "key", ["", "short", "a" * 60, "ab" * 40, "django-insecure-" + STRONG, STRONG[:31]]
)
def test_a_weak_key_from_outside_is_refused(why_not, key):
    reasons = why_not(SECRET_KEY=key, SECRET_KEY_IS_CONFIGURED=True)

    assert reasons == (
        "SECRET_KEY is missing or weak, and whoever guesses it can sign in as anybody. Set 50 "
        "random characters, or unset it and one is made and kept in the data folder."
    )


def test_a_strong_key_from_outside_is_accepted(settings):
    settings.SECRET_KEY, settings.SECRET_KEY_IS_CONFIGURED = STRONG, True

    assert not is_weak(STRONG)
    assert accepts()


def test_hosts_without_the_one_that_people_use_are_refused(why_not):
    hosts = {"ALLOWED_HOSTS": ["b.example"], "ALLOWED_HOSTS_IS_CONFIGURED": True}
    reasons = why_not(**hosts, PUBLIC_URL="https://a.example")

    assert reasons == (
        "ALLOWED_HOSTS does not name a.example, the host of PUBLIC_URL, so every page would be "
        "refused. List it there too, or unset ALLOWED_HOSTS."
    )


@pytest.mark.parametrize(
    "address",
    [
        "foo",
        "http://a.example",
        "redis.example:6379",
        "redis://127.0.0.1:abc/7",
        "redis://127.0.0.1:99999/7",
        "redis://127.0.0.1/7x",
        "redis://127.0.0.1/0?db=x",
        "redis://127.0.0.1/0?colour=red",
    ],
)
def test_what_is_no_address_of_redis_is_refused(why_not, address):
    reasons = why_not(REDIS_URL=address)

    assert reasons.startswith(f"REDIS_URL is {address!r}. Set an address such as redis://")


@pytest.mark.parametrize(
    "address", ["redis://a.example", "rediss://me:pw@a.example:6380/7", "unix:///run/r.sock?db=1"]
)
def test_an_address_of_redis_is_accepted(settings, address):
    settings.REDIS_URL = address

    assert accepts()


@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("REDIS_URL", "http://me:hunter2@a.example"),
        ("REDIS_URL", "redis://a.example/x?password=hunter2"),
        ("AUDIT_HEADS", "https://me:hunter2@a.example/heads"),
        ("AUDIT_HEADS", "https://me:hunt/hunter2@a.example/heads"),
        ("AUDIT_HEADS", "ftp://me:hunter2@a.example/heads"),
        ("PUBLIC_URL", "https://me:hunter2@a.example"),
    ],
)
def test_a_password_is_not_repeated(why_not, name, address):
    reasons = why_not(**{name: address})

    assert "a.example" in reasons
    assert "hunter2" not in reasons


@pytest.mark.parametrize("address", ["bücher.example", "https://é:x"])
def test_what_is_no_address_in_another_script_is_told_of_an_example(why_not, address):
    assert "such as https://approvals.example.org." in why_not(PUBLIC_URL=address)


def test_a_public_url_in_another_script_is_told_as_browsers_send_it(why_not):
    reasons = why_not(PUBLIC_URL="https://bücher.example:8443")

    assert reasons.endswith("in lower case, such as https://xn--bcher-kva.example:8443.")


def test_a_misspelled_setting_is_named():
    environment = ["PUBLIC_ULR", "PUBLIC_URL", "REDIS_HOST", "DATABASE_NAME", "PATH", "HOME"]

    assert list(misspelled(environment)) == [
        "PUBLIC_ULR is not a setting and was not read. Did you mean PUBLIC_URL?"
    ]


def test_every_setting_of_the_manual_is_known():
    page = (ROOT / "docs" / "settings.md").read_text()

    assert set(re.findall(r"^\| `([A-Z_]+)`", page, re.MULTILINE)) <= OURS


def test_any_host_name_is_refused(why_not):
    reasons = why_not(ALLOWED_HOSTS=["a.example", "*"])

    assert reasons == (
        "ALLOWED_HOSTS=* lets any site speak in our name. List the host names that people use, "
        "or unset it."
    )


def test_plain_http_to_other_machines_is_refused(why_not):
    reasons = why_not("192.0.2.1")

    assert reasons == (
        "Plain http on 192.0.2.1 shows passwords, tokens and decisions to the network. Put TLS "
        "in front and set PUBLIC_URL=https://…, or insist with --insecure-http."
    )


def test_plain_http_to_other_machines_can_be_insisted_on():
    assert accepts("192.0.2.1", insecure_http=True)


def test_tls_in_front_opens_a_public_address(settings):
    settings.PUBLIC_URL, settings.PUBLIC_URL_IS_CONFIGURED = "https://a.example", True

    assert accepts("0.0.0.0")  # noqa: S104 - what containers bind


@pytest.mark.parametrize("host", ["0.0.0.0", "::", ""])  # noqa: S104 - to see it refused
def test_every_address_at_once_needs_a_public_one(why_not, host):
    reasons = why_not(host, insecure_http=True)

    assert reasons == (
        f"{host} is every address at once and decisions count from one only. Set PUBLIC_URL to "
        "the address that people will use."
    )


@pytest.mark.parametrize(
    "url",
    [
        "https://a.example/approvals",
        "https://a.example?x=1",
        "https://A.example",
        "https://a.example:443",
        "http://a.example:80",
        "https://a.example:port",
        "ftp://a.example",
        "https://",
        "a.example",
    ],
)
def test_a_public_url_that_no_browser_sends_as_its_origin_is_refused(why_not, url):
    reasons = why_not(PUBLIC_URL=url)

    assert reasons == (
        f"PUBLIC_URL is {url!r}. Set the scheme, host and port that people use and nothing more, "
        "in lower case, such as https://approvals.example.org."
    )


@pytest.mark.parametrize("url", ["https://a.example", "http://[::1]:8000", "https://a.b:8443"])
def test_an_origin_is_accepted_as_public_url(settings, url):
    settings.PUBLIC_URL, settings.PUBLIC_URL_IS_CONFIGURED = url, True

    assert accepts()


def test_all_reasons_are_told_at_once_and_each_has_a_remedy(why_not):
    reasons = why_not("0.0.0.0", DEBUG=True, ALLOWED_HOSTS=["*"])  # noqa: S104 - the same

    assert len(reasons.splitlines()) == 4
    assert all(REMEDY.search(reason) for reason in reasons.splitlines())


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.10", "::1", "localhost"])
def test_this_machine_is_loopback(host):
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["127.evil.example", "10.0.0.1", "localhost.example", "", "::"])
def test_what_others_can_reach_is_not_loopback(host):
    assert not is_loopback(host)


def test_the_data_folder_is_for_this_account_alone(place):
    assert make_data_dir() == place
    assert place.stat().st_mode & 0o777 == 0o700


def test_a_data_folder_that_cannot_be_written_to_is_refused(place):
    place.parent.joinpath("var").write_text("a file")

    with pytest.raises(CannotStart) as refusal:
        make_data_dir()

    assert str(refusal.value) == (
        f"Nothing was started. The data folder {place} cannot be written to (File exists). Make "
        "it writable, or name another one in DASHBOARD_DATA_DIR."
    )


def test_a_second_place_for_heads_has_to_be_one(why_not, tmp_path):
    assert "Set the whole path of a file" in why_not(AUDIT_HEADS="heads")
    assert "cannot be written to" in why_not(AUDIT_HEADS=str(tmp_path / "none" / "heads"))
    assert "Set another address, or a file." in why_not(AUDIT_HEADS="http://heads.example/")


def test_a_file_that_can_be_written_to_is_a_second_place(settings, tmp_path):
    settings.AUDIT_HEADS = str(tmp_path / "heads")

    assert accepts()
