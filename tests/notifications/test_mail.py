"""Mail reaches a mail server, says what is to be known, and whatever goes wrong is said."""

import asyncio
import smtplib
import socket
import ssl
import threading
import time
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from dashboard.notifications.channels import email
from dashboard.notifications.channels.email import KIND
from dashboard.notifications.errors import AddressRefused
from dashboard.notifications.models import Channel, NoticeEvent
from dashboard.notifications.notices import Notice
from tests.notifications.inbox import Inbox, mail_server

NOW = datetime(2026, 11, 26, 14, 0, tzinfo=UTC)
ID = "6f1c1f0e-8f5c-4a6e-9d51-1a2b3c4d5e6f"
MESSAGE = UUID("11111111-2222-3333-4444-555555555555")
BACKEND = "django.core.mail.backends.smtp.EmailBackend"


def notice(**changes):
    given = {
        "event": NoticeEvent.ASKS,
        "at": NOW,
        "now": NOW,
        "url": f"https://gate.example.org/approvals/{ID}",
        "id": ID,
        "kind": "tool_call",
        "agent": "beamline",
        "severity": "high",
        "expires_at": NOW + timedelta(minutes=30),
    }
    return Notice(**{**given, **changes})


def parcel(*notices, address="ops@example.org", person=None):
    channel = Channel(name="Ops", kind="email", address=address, person_id=person)
    return KIND.parcel(channel, notices or (notice(),), MESSAGE)


def send(*notices):
    return asyncio.run(KIND.send(parcel(*notices)))


@contextmanager
def serving(settings, inbox, options=None, **more):
    with mail_server(inbox, **more) as port:
        set_server(settings, port, **(options or {}))
        yield inbox


def set_server(settings, port, **options):
    given = {"host": "127.0.0.1", "port": port, "timeout": 2, **options}
    settings.MAILERS = {"default": {"BACKEND": BACKEND, "OPTIONS": given}}


@pytest.fixture
def inbox(settings):
    with serving(settings, Inbox()) as inbox:
        yield inbox


# What arrives.


def test_a_mail_arrives_with_what_is_to_be_known_and_the_link(inbox):
    assert send() == (True, "The mail server took it.", False, 0.0)

    [mail] = inbox.mails
    assert (mail["To"], mail["From"]) == ("ops@example.org", "approvals@127.0.0.1")
    assert mail["Subject"] == "Tool call of beamline waits for approval"
    text = mail.get_body(("plain",)).get_content()
    assert "Tool call of beamline. Severity: high. 30 min left, until 14:30 UTC." in text
    assert f"https://gate.example.org/approvals/{ID}" in text.split()


def test_the_html_says_the_same_and_links(inbox):
    send()

    html = inbox.mails[0].get_body(("html",)).get_content()
    assert f'<a href="https://gate.example.org/approvals/{ID}">' in html
    assert "Severity: high" in html


def test_all_mail_about_one_request_is_one_thread(inbox):
    send()
    send(notice(event=NoticeEvent.LAST_MINUTE))

    threads = {(mail["References"], mail["In-Reply-To"]) for mail in inbox.mails}
    assert threads == {(f"<request-{ID}@127.0.0.1>",) * 2}


def test_the_id_of_a_mail_is_that_of_its_message(inbox):
    send()
    send()

    assert {mail["Message-ID"] for mail in inbox.mails} == {f"<{MESSAGE}@127.0.0.1>"}


def test_several_requests_are_no_thread(inbox):
    send(notice(), notice(severity=""))

    assert inbox.mails[0]["Subject"] == "2 requests need people, the gravest is high"
    assert inbox.mails[0]["References"] is None


def test_a_person_is_told_where_to_end_it():
    body = parcel(person=1).body.decode()

    assert "You are told this because you asked for it: http://127.0.0.1:8000/account" in body


@pytest.mark.parametrize(
    ("event", "subject"),
    [
        (NoticeEvent.HALF, "Half of the time is over: Tool call of beamline"),
        (NoticeEvent.LAST_MINUTE, "Last minute: Tool call of beamline"),
        (NoticeEvent.UNSEEN, "Expired unseen: Tool call of beamline"),
        (NoticeEvent.ASSIGNED, "Assigned to you: Tool call of beamline"),
    ],
)
def test_the_subject_says_what_happened(event, subject):
    assert parcel(notice(event=event)).headers["Subject"] == subject


def test_a_mail_in_a_file_is_whole(settings, tmp_path):
    backend = "django.core.mail.backends.filebased.EmailBackend"
    settings.MAILERS = {"default": {"BACKEND": backend, "OPTIONS": {"file_path": str(tmp_path)}}}

    assert send().taken
    [file] = tmp_path.iterdir()
    assert f"/approvals/{ID}" in file.read_text()


# What goes wrong.


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ({"rcpt": "550 SECRET no such user"}, "The mail server refused this address (550)."),
        (
            {"mail": "553 SECRET"},
            "The mail server refused the sender approvals@127.0.0.1 (553). Set DEFAULT_FROM_EMAIL",
        ),
        ({"data": "554 SECRET"}, "The mail server answered 554."),
        ({"data": "421 SECRET"}, "The mail server answered 421."),
    ],
)
def test_a_refusal_is_said_in_our_words(settings, answers, said):
    with serving(settings, Inbox(**answers)):
        sent = send()
        assert not sent.taken
        assert sent.said.startswith(said)
        assert "SECRET" not in sent.said


def test_a_wrong_password_is_said(settings):
    class Strict(Inbox):
        async def refuse(self, *_):
            return "535 SECRET"

        handle_AUTH = refuse  # noqa: N815 - aiosmtpd's

    options = {"username": "us", "password": "SECRET"}
    with serving(settings, Strict(), options, auth_require_tls=False):
        assert send().said == (
            "The mail server refused the user name or the password. Check EMAIL_URL."
        )


def test_a_server_without_starttls_is_said_and_gets_no_password(settings):
    options = {"use_tls": True, "username": "us", "password": "SECRET"}
    with serving(settings, Inbox(), options) as inbox:
        assert send().said == "The mail server lacks STARTTLS or signing in. Check EMAIL_URL."
        assert inbox.mails == []


def test_no_server_is_said(settings):
    set_server(settings, closed_port())
    assert send().said == "No connection to the mail server could be made. Check EMAIL_URL."


def test_a_server_that_hangs_is_left_after_the_limit(settings, monkeypatch):
    monkeypatch.setattr(email, "SEND_WITHIN_S", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as hangs:
        set_server(settings, hangs.getsockname()[1], timeout=2)
        began = time.monotonic()
        assert send().said == "The mail server took longer than 0.3 s."
        assert time.monotonic() - began < 2


def test_a_server_that_hangs_is_said_after_its_own_limit(settings):
    with socket.create_server(("127.0.0.1", 0)) as hangs:
        set_server(settings, hangs.getsockname()[1], timeout=0.2)
        assert send().said == "The mail server did not answer in time."


def test_a_server_that_closes_is_said(settings):
    with socket.create_server(("127.0.0.1", 0)) as closes:
        set_server(settings, closes.getsockname()[1], timeout=2)
        thread = threading.Thread(target=take_and_close, args=(closes,))
        thread.start()
        assert send().said == "The mail server closed the connection."
        thread.join()


def test_without_a_mail_server_it_is_said_what_to_set(settings):
    settings.MAILERS = {}
    assert KIND.missing().startswith("No mail server is set. An operator has to set EMAIL_URL")
    assert send().said.endswith("Nothing was sent.")


def test_an_error_that_nobody_foresaw_is_in_the_servers_log_alone(settings, monkeypatch, caplog):
    set_server(settings, 25)
    monkeypatch.setattr(smtplib, "SMTP", lambda *_, **__: 1 / 0)
    assert send().said == "It could not be sent. The server's log says why."
    assert "ZeroDivisionError" in caplog.text


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ssl.SSLError("SECRET"), "does not speak TLS as EMAIL_URL says"),
        (ssl.SSLCertVerificationError("SECRET"), "certificate is not trusted"),
    ],
)
def test_what_tls_refuses_is_said(settings, monkeypatch, error, said):
    def refuse(*_, **__):
        raise error

    set_server(settings, 25)
    monkeypatch.setattr(smtplib, "SMTP", refuse)
    if isinstance(error, ssl.SSLCertVerificationError):
        error.verify_message = "self-signed certificate"
    assert said in send().said


@pytest.mark.parametrize(
    "address",
    ["", "x", "a@b", "a@example.org\r\nBcc: b@example.org", "A <a@example.org>", "a@b@c.org"],
)
def test_what_is_no_address_is_refused(address):
    with pytest.raises(AddressRefused):
        KIND.check(address)


def test_an_address_is_not_named_in_full():
    assert KIND.where("ada.lovelace@example.org") == "a…@example.org"


def take_and_close(server):
    server.accept()[0].close()


def closed_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]
