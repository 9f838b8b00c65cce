"""E-mail, by whatever mail backend of Django's is set: plain text and simple HTML."""

from __future__ import annotations

import asyncio
import logging
import smtplib
import ssl
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from django.conf import settings
from django.core import mail
from django.core.exceptions import ValidationError
from django.core.mail import EmailMultiAlternatives
from django.core.validators import validate_email
from django.template.loader import render_to_string
from django.utils.module_loading import import_string

from approval_client.wire import canonical_json, parse_json
from dashboard.notifications.channels.kind import ChannelKind, Parcel
from dashboard.notifications.errors import AddressRefused
from dashboard.notifications.models import Channel
from dashboard.notifications.notices import (
    MOST_LISTED,
    Notice,
    lines,
    more,
    queue_url,
    sentences,
    title,
)
from dashboard.notifications.sending import Sent

SEND_WITHIN_S = 30.0
"""For everything. Each step of it has the ten seconds that the settings give a mail server."""

log = logging.getLogger(__name__)


def _missing() -> str:
    if "default" in settings.MAILERS:
        return ""
    return "No mail server is set. An operator has to set EMAIL_URL and start the server again."


def _check(address: str) -> None:
    try:
        validate_email(address)
    except ValidationError:
        raise AddressRefused(
            "This is not an e-mail address. It must look like name@example.org."
        ) from None
    if not address.isascii():
        raise AddressRefused(
            "Only plain letters can be sent to. Use the address in its ASCII form."
        )


def _where(address: str) -> str:
    # The log keeps it for ever, so it must not name a person.
    name, _, host = address.rpartition("@")
    return f"{name[:1]}…@{host}"


def _parcel(channel: Channel, notices: Sequence[Notice], message_id: UUID) -> Parcel:
    queue, host = queue_url(), _host()
    headers = {
        "Subject": title(notices),
        "Message-ID": f"<{message_id}@{host}>",
        "Auto-Submitted": "auto-generated",
        "X-Auto-Response-Suppress": "All",
    }
    if len(notices) == 1 and notices[0].id:  # all mail about one request is one thread
        headers["References"] = headers["In-Reply-To"] = f"<request-{notices[0].id}@{host}>"
    listed = [(" ".join(sentences(notice)), notice.url) for notice in notices[:MOST_LISTED]]
    context = {
        "title": title(notices),
        "shown": listed,
        "more": more(rest) if (rest := notices[MOST_LISTED:]) else "",
        "queue": queue,
        "account": f"{queue}account/told" if channel.person_id else "",
    }
    text = [title(notices), *lines(notices, queue), *_footer(context["account"])]
    body = {
        "text": "\n\n".join(text) + "\n",
        "html": render_to_string("mail/notice.html", context),
    }
    return Parcel(address=channel.address, headers=headers, body=canonical_json(body).encode())


def _footer(account: Any) -> list[str]:
    return [f"You are told this because you asked for it: {account}"] if account else []


def _host() -> str:
    return (urlsplit(settings.PUBLIC_URL).hostname or "localhost").replace(":", "-")


async def _send(parcel: Parcel) -> Sent:
    if problem := _missing():
        return Sent(taken=False, said=f"{problem} Nothing was sent.")
    try:
        async with asyncio.timeout(SEND_WITHIN_S):
            return await _in_a_thread(lambda: _deliver(parcel))
    except TimeoutError:
        return Sent(taken=False, said=f"The mail server took longer than {SEND_WITHIN_S:g} s.")


def _deliver(parcel: Parcel) -> Sent:
    """Hand a message to the mail server; blocks."""
    body = parse_json(parcel.body.decode())
    headers = dict(parcel.headers)
    message = EmailMultiAlternatives(
        headers.pop("Subject"), body["text"], to=[parcel.address], headers=headers
    )
    message.attach_alternative(body["html"], "text/html")
    backend = _backend()
    try:
        count = backend.send_messages([message])
    except Exception as error:  # noqa: BLE001 - whatever a backend raises is told on the page
        return Sent(taken=False, said=_failure(error))
    finally:
        with suppress(Exception):  # after a failed sign-in Django leaves it open
            backend.close()
    if not count:
        return Sent(taken=False, said="The mail server took nothing and did not say why.")
    return Sent(taken=True, said="The mail server took it.")


def _backend() -> Any:
    if hasattr(mail, "mailers"):  # Django 6.1
        return mail.mailers["default"]
    mailer = settings.MAILERS["default"]
    return import_string(mailer["BACKEND"])(**mailer.get("OPTIONS", {}))


_FAILURES = (  # the first that fits
    (
        smtplib.SMTPAuthenticationError,
        "The mail server refused the user name or the password. Check EMAIL_URL.",
    ),
    (smtplib.SMTPResponseException, "The mail server answered {code}."),
    (
        smtplib.SMTPNotSupportedError,
        "The mail server lacks STARTTLS or signing in. Check EMAIL_URL.",
    ),
    (smtplib.SMTPServerDisconnected, "The mail server closed the connection."),
    (
        ssl.SSLError,
        "The mail server does not speak TLS as EMAIL_URL says. Check its scheme and port.",
    ),
    (TimeoutError, "The mail server did not answer in time."),
    (OSError, "No connection to the mail server could be made. Check EMAIL_URL."),
)


def _failure(error: Exception) -> str:
    """Say what a mail server did, in our words: its own may hold what nobody should read."""
    match error:
        case smtplib.SMTPRecipientsRefused():
            codes = sorted({str(code) for code, _ in error.recipients.values()})
            return f"The mail server refused this address ({', '.join(codes)})."
        case smtplib.SMTPSenderRefused():
            return (
                f"The mail server refused the sender {settings.DEFAULT_FROM_EMAIL} "
                f"({error.smtp_code}). Set DEFAULT_FROM_EMAIL to one that it takes."
            )
        case smtplib.SMTPServerDisconnected(__context__=TimeoutError()):
            error = TimeoutError()  # smtplib calls both by one name
        case ssl.SSLCertVerificationError():
            return f"The mail server's certificate is not trusted: {error.verify_message}."
    for kind, reason in _FAILURES:
        if isinstance(error, kind):
            return reason.format(code=getattr(error, "smtp_code", ""))
    log.error("A mail could not be sent.", exc_info=error)
    return "It could not be sent. The server's log says why."


async def _in_a_thread(work: Callable[[], Sent]) -> Sent:
    """Run what blocks in a thread of its own, for which the server does not wait at its end."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Sent] = loop.create_future()

    def tell(outcome: Sent) -> None:
        if not future.done():  # it was too late
            future.set_result(outcome)

    def run() -> None:
        outcome = work()
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(tell, outcome)

    threading.Thread(target=run, name="mail", daemon=True).start()
    return await future


KIND = ChannelKind(
    label="E-mail",
    about="To one address, at most one message each ten seconds.",
    address_label="E-mail address",
    example="name@example.org",
    help="One address; a group's or a list's for the whole house.",
    has_secret=False,
    missing=_missing,
    check=_check,
    where=_where,
    parcel=_parcel,
    send=_send,
)
