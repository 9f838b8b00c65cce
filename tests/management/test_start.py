"""``start`` up to the point where it serves, which is replaced here."""

import os
import re
from types import SimpleNamespace

import pytest
from django.conf import settings as django_settings
from django.core.management import CommandError
from django.db import OperationalError

from dashboard.accounts.models import AgentToken, User
from dashboard.management import prepare
from dashboard.management.commands import start
from dashboard.management.listening import listen


@pytest.fixture
def starts(place, command, monkeypatch):
    """Call ``start`` and return what it printed; ``starts.served`` holds the descriptors."""

    def starts(*arguments, **options):
        port = {} if {"port", "fd"} & options.keys() else {"port": 0}
        return command("start", *arguments, **port, **options)

    def serve(_, fileno, *__, **___):
        os.close(fileno)
        starts.served.append(fileno)
        return SimpleNamespace(gave_up=False)

    starts.served = []
    monkeypatch.setattr(start.Command, "_serve", serve)
    return starts


def refusal(starts, *arguments, **options):
    with pytest.raises(CommandError) as refused:
        starts(*arguments, **options)
    assert starts.served == []
    assert refused.value.returncode != 0
    return str(refused.value)


def free_port():
    with listen("127.0.0.1", 0) as probe:
        return probe.getsockname()[1]


def test_a_first_run_tells_its_steps_the_address_a_link_and_a_token(starts):
    said = starts()

    url = django_settings.PUBLIC_URL
    assert re.fullmatch(
        "  preparing the data folder …\n  preparing the database …\n  preparing the pages …\n\n"
        rf"The dashboard is at {url}\nSign in for the first time \(works once, within the hour\):"
        rf"\n  {url}/sign-in/\S{{43}}\nFor an agent, shown this once:\n"
        rf"  export DASHBOARD_URL={url}\n  export DASHBOARD_TOKEN=dash_\S{{43}}\n",
        said,
    )
    assert len(starts.served) == 1


def test_a_second_run_tells_another_link_and_no_token(starts):
    starts()

    said = starts()

    assert "/sign-in/" in said
    assert "DASHBOARD_TOKEN" not in said
    assert f"  {django_settings.OPERATOR_COMMAND} issue_token agent\n" in said
    assert AgentToken.objects.count() == 1


def test_once_somebody_signed_in_it_says_how_to_get_in(starts):
    starts()
    person = User.objects.get()
    User.objects.update(last_login=person.created_at)

    said = starts()
    assert "/sign-in/" not in said
    assert "Sign in there with your name and password, or with a link" in said
    assert f"  {django_settings.OPERATOR_COMMAND} sign_in_link admin\n" in said


def test_a_service_prints_nothing_that_signs_in_or_opens_the_api(starts):
    said = starts(unattended=True)

    assert "/sign-in/" not in said
    assert "DASHBOARD_TOKEN" not in said
    assert f"  {django_settings.OPERATOR_COMMAND} sign_in_link admin\n" in said
    assert User.objects.get().is_admin  # for whom that command makes a link
    assert not AgentToken.objects.exists()


def test_no_password_is_printed_or_set(starts):
    said = starts()

    assert "password" not in said.lower()
    assert not User.objects.get().has_usable_password()


def test_the_address_is_the_port_that_was_opened(starts):
    starts(port=0)

    assert re.fullmatch(r"http://127\.0\.0\.1:[1-9]\d+", django_settings.PUBLIC_URL)


def test_a_configured_address_is_kept(starts, settings):
    settings.PUBLIC_URL, settings.PUBLIC_URL_IS_CONFIGURED = "https://a.example", True

    assert "The dashboard is at https://a.example\n" in starts()


def test_a_literal_address_of_the_newer_protocol_stands_in_brackets(starts):
    starts(host="::1")

    assert django_settings.PUBLIC_URL.startswith("http://[::1]:")


def test_a_socket_that_was_handed_over_is_served_on(starts):
    with listen("127.0.0.1", 0) as given:
        starts(fd=os.dup(given.fileno()))

        assert django_settings.PUBLIC_URL.endswith(f"127.0.0.1:{given.getsockname()[1]}")


def test_a_socket_that_was_handed_over_is_judged_by_its_own_address(starts):
    with listen("0.0.0.0", 0) as given:  # noqa: S104 - to see it refused
        why = refusal(starts, fd=os.dup(given.fileno()))

    assert "Plain http on 0.0.0.0 shows passwords" in why


def test_a_taken_port_is_a_refusal(starts):
    with listen("127.0.0.1", 0) as taken:
        why = refusal(starts, port=taken.getsockname()[1])

    assert why.endswith("Stop what uses it, or choose another with --port.")


def test_an_address_is_free_again_after_a_refusal(starts, settings):
    settings.ALLOWED_HOSTS = ["*"]
    port = free_port()

    refusal(starts, port=port)

    listen("127.0.0.1", port).close()


def test_settings_are_refused_before_anything_is_made(starts, place, settings):
    settings.ALLOWED_HOSTS = ["*"]

    assert refusal(starts).startswith("Nothing was started.\nALLOWED_HOSTS=*")
    assert not place.exists()


def test_a_public_host_over_plain_http_is_allowed_when_insisted_on(starts, monkeypatch):
    opened = listen("127.0.0.1", 0)
    monkeypatch.setattr(start, "listen", lambda *_: opened)

    starts("--insecure-http", host="192.0.2.1")

    assert django_settings.PUBLIC_URL.startswith("http://192.0.2.1:")
    assert "192.0.2.1" in django_settings.ALLOWED_HOSTS


def test_a_database_that_fails_is_a_refusal(starts, monkeypatch):
    def fail():
        raise OperationalError("disk I/O error\nand more")

    monkeypatch.setattr(prepare, "_migrate", fail)

    assert refusal(starts) == (
        "Nothing was started. The database cannot be used: disk I/O error. Check DATABASE_URL."
    )


def test_a_full_disk_is_a_refusal(starts, monkeypatch):
    def fail():
        raise OSError(28, "No space left on device", "/var/x")

    monkeypatch.setattr(prepare, "_collect_static", fail)

    assert refusal(starts) == ("Nothing was started. [Errno 28] No space left on device: '/var/x'")


def test_ctrl_c_while_preparing_is_no_traceback(starts, monkeypatch):
    def interrupt():
        raise KeyboardInterrupt

    monkeypatch.setattr(prepare, "_migrate", interrupt)

    with pytest.raises(CommandError, match="Stopped before anything was served") as stopped:
        starts()
    assert stopped.value.returncode == 130
