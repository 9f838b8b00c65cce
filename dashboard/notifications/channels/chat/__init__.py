"""Chat and on-call services, by apprise: one message for people, in a process of its own."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings

from approval_client.wire import canonical_json
from dashboard.inspection.findings import Severity
from dashboard.notifications.channels.chat.places import Place, checked_place, place
from dashboard.notifications.channels.kind import ChannelKind, Parcel
from dashboard.notifications.errors import AddressRefused
from dashboard.notifications.models import Channel
from dashboard.notifications.notices import (
    MOST_LISTED,
    Notice,
    gravest,
    lines,
    more,
    queue_url,
    title,
)
from dashboard.notifications.sending import Sent, judged
from dashboard.sandbox import clean_environment

SEND_WITHIN_S = 20.0
"""For everything: the process, the names, the calls. Then the process is killed."""
LONGEST_TEXT = 800
"""The shortest of the services takes 1,000 characters (Teams), some of them with the title."""
_CHILD = Path(__file__).with_name("child.py")
_TRUST = {"SSL_CERT_FILE", "SSL_CERT_DIR"}
# Set by tests: hosts that are called elsewhere, and a file of certificates to trust.
_RESOLVE: Mapping[str, tuple[str, int]] = {}
_TRUSTED = ""

log = logging.getLogger(__name__)


def _missing() -> str:
    if find_spec("apprise") is not None:
        return ""
    return (
        "Messages to chats need another package. An operator has to run "
        "pip install -e '.[notify]' in the checkout and start the server again."
    )


def _check(address: str) -> None:
    target = checked_place(address)
    if problem := _missing():
        raise AddressRefused(problem)
    from dashboard.notifications.channels.chat.child import made  # noqa: PLC0415 - if installed

    try:
        made(target.service.plugin, target.options)
    except Exception:  # noqa: BLE001 - its words hold the token
        raise AddressRefused(
            f"This is not an address of {target.service.name}. It must look like "
            f"{target.service.example}."
        ) from None


def _where(address: str) -> str:
    target = place(address)
    return f"{target.service.name} at {target.host}" if target.host else target.service.name


_TYPES = {Severity.HIGH.value: "failure", Severity.MEDIUM.value: "warning"}
"""What apprise calls a severity. On-call services make their own of it."""


def _parcel(channel: Channel, notices: Sequence[Notice], message_id: UUID) -> Parcel:
    queue = queue_url()
    body = {
        "title": title(notices),
        "text": _text(notices, queue),
        "severity": _TYPES.get(gravest(notices), "info"),
        "link": notices[0].url if len(notices) == 1 else queue,
        "id": str(message_id),
    }
    return Parcel(
        address=channel.address,
        headers={},
        body=canonical_json(body).encode(),
        is_own=channel.person_id is not None,
    )


def _text(notices: Sequence[Notice], queue: str) -> str:
    """Write as many of the requests as one message may hold, and how many more there are."""
    for most in range(min(len(notices), MOST_LISTED), 0, -1):
        text = "\n".join(lines(notices[:most], queue))
        if rest := notices[most:]:
            text += f"\n{more(rest)}: {queue}"
        if len(text) <= LONGEST_TEXT:
            return text
    return f"{title(notices)}: {queue}"


_NOT_THEIRS = (
    "It is not on the public internet, and only admins can have messages sent elsewhere. Ask one "
    "for a channel of the house."
)


async def _send(parcel: Parcel) -> Sent:
    if problem := _missing():
        return Sent(taken=False, said=f"{problem} Nothing was sent.")
    try:
        target = checked_place(parcel.address)
    except AddressRefused as error:
        return Sent(taken=False, said=str(error))
    try:
        async with asyncio.timeout(SEND_WITHIN_S):
            networks = [] if parcel.is_own else settings.WEBHOOK_NETWORKS
            answer = await _answer(_job(target, json.loads(parcel.body), networks))
    except TimeoutError:
        return Sent(taken=False, said=f"It did not answer within {SEND_WITHIN_S:g} s.")
    except (OSError, ValueError):  # no process, or it died
        log.exception("A message to a chat could not be sent.")
        return Sent(taken=False, said="It could not be sent. The server's log says why.")
    if answer["refused"] and parcel.is_own:  # what a name stands for inside is not theirs to learn
        return Sent(taken=False, said=_NOT_THEIRS)
    return _judged(answer)


def _job(target: Place, message: Mapping[str, str], networks: Sequence[str]) -> bytes:
    options = dict(target.options)
    if target.service.has_link:
        options["click"] = message["link"]
    if target.service.id_as:
        options[target.service.id_as] = message["id"]
    form = _markdown if target.service.is_markdown else str
    job = {
        "plugin": target.service.plugin,
        "options": options,
        "title": form(message["title"]),
        "text": form(message["text"]),
        "format": "markdown" if target.service.is_markdown else "text",
        "severity": message["severity"],
        "networks": list(networks),
        "within_s": SEND_WITHIN_S,
        "resolve": _RESOLVE,
        "trusted": _TRUSTED,
    }
    return json.dumps(job).encode()


def _markdown(text: str) -> str:
    """Write plain text as Markdown: each line a paragraph, each address a link, the rest as is."""
    escaped = re.sub(r"[\\`*_\[\]<>]", r"\\\g<0>", text)
    linked = re.sub(r"https?://\S+", lambda match: _link(match[0].replace("\\", "")), escaped)
    return linked.replace("\n", "\n\n")


def _link(url: str) -> str:
    return f"[{url}]({url})"


async def _answer(job: bytes) -> dict[str, Any]:
    """Return what the child process says. It is killed if nobody waits for that any more.

    Not a worker of ``dashboard.sandbox``: there are two, which inspect what agents ask, and a
    host that hangs would hold one of them for as long as it may.

    Raises:
        ValueError: It died before it said anything.
    """
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-P",
        str(_CHILD),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=clean_environment() | {name: os.environ[name] for name in _TRUST & os.environ.keys()},
        start_new_session=True,  # the terminal's Ctrl-C is not for it
    )
    try:
        output, _ = await process.communicate(job)
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    answer: dict[str, Any] = json.loads(output)
    return answer


def _judged(answer: Mapping[str, Any]) -> Sent:
    status, problem = answer["status"], answer["problem"]
    outcome = None if status is None else judged(status, answer["retry_after"])
    if outcome and (not outcome.taken or (answer["taken"] and not problem)):
        return outcome
    if not problem:
        problem = "It could not be sent. Check that the address is complete, and send it again."
        if outcome:
            problem = f"{outcome.said[:-1]}, but did not take the message. Check what it allows."
    return Sent(taken=False, said=problem)


KIND = ChannelKind(
    label="Chat or on-call",
    about="Slack, Teams, Discord, Mattermost, Telegram, ntfy, Matrix, PagerDuty or Opsgenie.",
    address_label="Address of the channel",
    example="https://hooks.slack.com/services/…",
    help="Slack, Teams, Discord or Mattermost: the webhook's own address. Telegram, ntfy, Matrix, "
    "PagerDuty or Opsgenie: such as ntfys://ntfy.example.org/topic.",
    missing=_missing,
    check=_check,
    where=_where,
    parcel=_parcel,
    send=_send,
)
