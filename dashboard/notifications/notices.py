"""What people are told: of what kind, whose, how grave, how long, where.

Nothing that an agent wrote: no content, no name of a tool, no purpose and no reason. The link
opens a page that asks for a sign-in, and a GET of it changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings

from dashboard.clock import written
from dashboard.inspection.findings import Severity
from dashboard.notifications.models import ACCOUNT_EVENTS, NoticeEvent

MOST_LISTED = 10
"""Of the requests of one message, so many have a line; the queue has them all."""


@dataclass(frozen=True, kw_only=True)
class Notice:
    """What one message is about, before its channel gives it a form.

    Attributes:
        at: When it happened.
        now: When this is sent.
        kind: Of the request, such as ``"tool_call"``; empty if this is not about one, as are the
            others then.
        severity: The gravest finding; ``"high"`` where the inspection is missing or not finished.
        expires_at: When the time of the request is over, or that of the code or the sign-in link
            that this is about.
        code: What proves that an address is a person's.
    """

    event: NoticeEvent
    at: datetime
    now: datetime
    url: str
    id: str = ""
    kind: str = ""
    agent: str = ""
    severity: str = ""
    expires_at: datetime | None = None
    code: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the body of a signed webhook."""
        about = {"id": self.id, "kind": self.kind, "agent": self.agent, "severity": self.severity}
        data: dict[str, Any] = {**about} if self.id else {}
        if self.expires_at is not None:
            data["expires_at"] = written(self.expires_at)
        data["url"] = self.url
        return {"type": str(self.event), "timestamp": written(self.at), "data": data}

    @property
    def what(self) -> str:
        """The request in words, such as ``"Tool call of beamline"``."""
        return f"{self.kind.replace('_', ' ').capitalize()} of {self.agent}"


def rank(severity: str) -> int:
    """Return how grave a notice is, from -1 where nothing was found."""
    return Severity(severity).rank if severity else -1


def gravest(notices: Sequence[Notice]) -> str:
    """Return the gravest severity of several notices; empty if nothing was found in any."""
    return max((notice.severity for notice in notices), key=rank)


_URGENT = (
    *ACCOUNT_EVENTS,
    NoticeEvent.HELD,
    NoticeEvent.LIFTED,
    NoticeEvent.TEST,
    NoticeEvent.CODE,
    NoticeEvent.ASKS,
    NoticeEvent.ASSIGNED,
    NoticeEvent.HALF,
    NoticeEvent.LAST_MINUTE,
    NoticeEvent.UNSEEN,
)
"""What is told of a request in a message with others, if several things are: the last of these."""


def in_order(notices: Iterable[Notice]) -> list[Notice]:
    """Put what is told in one message in order: one notice a request, and the agents in turns.

    So however much one agent asks, what the others ask is among the first: the gravest of each
    agent, then the second of each, and so on.
    """
    latest: dict[str, Notice] = {}
    for notice in sorted(notices, key=lambda one: _URGENT.index(one.event)):
        latest[notice.id] = notice
    turns: dict[str, int] = {}
    placed = []
    for notice in sorted(latest.values(), key=lambda one: -rank(one.severity)):
        turns[notice.agent] = turns.get(notice.agent, 0) + 1
        placed.append((turns[notice.agent], -rank(notice.severity), notice))
    return [notice for *_, notice in sorted(placed, key=lambda each: each[:2])]


_TITLES = {
    NoticeEvent.ASKS: "{one.what} waits for approval",
    NoticeEvent.HALF: "Half of the time is over: {one.what}",
    NoticeEvent.LAST_MINUTE: "Last minute: {one.what}",
    NoticeEvent.UNSEEN: "Expired unseen: {one.what}",
    NoticeEvent.ASSIGNED: "Assigned to you: {one.what}",
    NoticeEvent.HELD: "Approvals are on hold",
    NoticeEvent.LIFTED: "The hold on approvals is lifted",
    NoticeEvent.TEST: "Test message from Approvals",
    NoticeEvent.CODE: "Your code for Approvals: {code}",
    NoticeEvent.PASSKEY_ADDED: "A passkey was added to your account for Approvals",
    NoticeEvent.PASSKEY_CONFIRMED: "An admin confirmed a passkey of yours for Approvals",
    NoticeEvent.PASSKEY_REMOVED: "A passkey of your account for Approvals was removed",
    NoticeEvent.FACTOR_ADDED: "The second factor of your account for Approvals was changed",
    NoticeEvent.FACTOR_REMOVED: "The second factor of your account for Approvals was removed",
    NoticeEvent.PASSWORD_CHANGED: "The password of your account for Approvals was changed",
    NoticeEvent.LINK_MADE: "Somebody made a sign-in link for your account for Approvals",
    NoticeEvent.LINKED: "Single sign-on was linked to your account for Approvals",
    NoticeEvent.UNLINKED: "Single sign-on was unlinked from your account for Approvals",
    NoticeEvent.REACTIVATED: "Your account for Approvals was activated again",
    NoticeEvent.REMEMBERED: "A browser stays signed in to your account for Approvals",
    NoticeEvent.ADDRESS_PAUSED: "An address where you are told by Approvals was paused",
    NoticeEvent.ADDRESS_REMOVED: "An address where you are told by Approvals was removed",
    NoticeEvent.KEPT_ADMIN_USED: "The kept admin signed in to Approvals",
}


def title(notices: Sequence[Notice]) -> str:
    """Say in one line what a message is about."""
    if len(notices) == 1:
        [notice] = notices
        return _TITLES[notice.event].format(one=notice, code=notice.code)
    waiting = [notice for notice in notices if notice.event != NoticeEvent.UNSEEN]
    expired = len(notices) - len(waiting)
    phrases = []
    if waiting:
        phrases.append("1 request needs" if len(waiting) == 1 else f"{len(waiting)} requests need")
        phrases[0] += " people"
        if grave := gravest(waiting):
            phrases.append("its severity is" if len(waiting) == 1 else "the gravest is")
            phrases[1] += f" {grave}"
    if expired:
        phrases.append(
            f"{expired} expired unseen" if waiting else f"{expired} requests expired unseen"
        )
    return ", ".join(phrases)


_WHEN = {
    NoticeEvent.HALF: ["Half of the time is over:"],
    NoticeEvent.LAST_MINUTE: ["Last minute:"],
    NoticeEvent.ASSIGNED: ["Assigned to you:"],
    NoticeEvent.UNSEEN: ["Expired unseen:"],
}


_NOT_YOU = "If this was not you, {} and tell an admin at once."
_ELSE = {
    NoticeEvent.HELD: "Nothing is approved until somebody lifts the hold.",
    NoticeEvent.LIFTED: "Requests can be approved again.",
    NoticeEvent.TEST: "This channel works. Nothing needs to be done.",
    NoticeEvent.CODE: "Enter the code on the page Tell me, to be told here. "
    "It is valid until {until}.",
    NoticeEvent.PASSKEY_ADDED: "It signs approvals in your name once an admin has confirmed it, "
    f"or after 24 hours where its page says so. {_NOT_YOU.format('remove it there')}",
    NoticeEvent.PASSKEY_CONFIRMED: "It signs approvals in your name from now on. "
    f"{_NOT_YOU.format('remove it there')}",
    NoticeEvent.PASSKEY_REMOVED: _NOT_YOU.format("look at your passkeys there"),
    NoticeEvent.FACTOR_ADDED: "An app or recovery codes were added. "
    f"{_NOT_YOU.format('remove the app there')}",
    NoticeEvent.FACTOR_REMOVED: _NOT_YOU.format("add one there again"),
    NoticeEvent.PASSWORD_CHANGED: _NOT_YOU.format("sign out all others there"),
    NoticeEvent.LINK_MADE: "It signs whoever has it in as you, once, until {until}. "
    f"{_NOT_YOU.format('sign out all others there')}",
    NoticeEvent.LINKED: "Whoever has that account of the provider signs in as you from now on. "
    f"{_NOT_YOU.format('sign out all others there')}",
    NoticeEvent.UNLINKED: "You sign in with your password, or with a link that an admin makes. "
    f"{_NOT_YOU.format('sign out all others there')}",
    NoticeEvent.REACTIVATED: "You can sign in again. If you no longer work with it, tell an admin "
    "at once.",
    NoticeEvent.REMEMBERED: "It stays signed in for 30 days, for reading. "
    f"{_NOT_YOU.format('sign it out there')}",
    NoticeEvent.ADDRESS_PAUSED: "Of requests, nothing is sent there until you go on with it. "
    f"{_NOT_YOU.format('go on with it there')}",
    NoticeEvent.ADDRESS_REMOVED: "For a day after that it is told of what happens to your "
    f"account, then of nothing. {_NOT_YOU.format('keep it there')}",
    NoticeEvent.KEPT_ADMIN_USED: "That account is kept for the day the provider of single sign-on "
    "is down. If nobody of you did this, put all approvals on hold, and change its password.",
}


def sentences(notice: Notice) -> list[str]:
    """Say what is to be known of one request, or of what else a message is about."""
    if not notice.id:
        return [_ELSE[notice.event].format(until=_day_and_time(notice.expires_at))]
    texts = [*_WHEN.get(notice.event, ()), f"{notice.what}."]
    if notice.severity:
        texts.append(f"Severity: {notice.severity}.")
    if notice.event == NoticeEvent.UNSEEN:
        texts.append("Nobody opened it, and its time is over. The agent was told that it expired.")
    elif notice.expires_at is not None:
        until = f"{notice.expires_at.astimezone(UTC):%H:%M} UTC"
        texts.append(f"{_left(notice.expires_at - notice.now)} left, until {until}.")
    return texts


def _day_and_time(at: datetime | None) -> str:
    # What is told of an account may have waited for days.
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if at else ""


def queue_url() -> str:
    """Return the address of the queue."""
    return f"{settings.PUBLIC_URL}/"


def lines(notices: Sequence[Notice], queue: str) -> Iterator[str]:
    """Write a message as plain text, a line at a time; ``queue`` is the address of the queue."""
    for notice in notices[:MOST_LISTED]:
        yield " ".join(sentences(notice))
        yield notice.url
    if rest := notices[MOST_LISTED:]:
        yield f"{more(rest)}: {queue}"


def more(rest: Sequence[Notice]) -> str:
    """Say how many requests have no line of their own, and whose they are."""
    agents = list(dict.fromkeys(notice.agent for notice in rest))
    names = ", ".join(agents[:MOST_LISTED]) + (", …" if agents[MOST_LISTED:] else "")
    return f"And {len(rest)} more, of {names}"


def _left(left: timedelta) -> str:
    seconds = max(0, int(left.total_seconds()))
    for unit, length in ("d", 86_400), ("h", 3_600), ("min", 60):
        if seconds >= 2 * length or (unit == "min" and seconds >= length):
            return f"{seconds // length} {unit}"
    return f"{seconds} s"
