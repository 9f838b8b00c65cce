"""Moments and lengths of time in words. Pure; static/js/countdown.js says the same, live."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400

_JUST_NOW_S = 5

_LAST_S = 60

_MILLISECONDS_BELOW_S = 0.1

_TENTHS_BELOW_S = 10


@dataclass(frozen=True, slots=True)
class Moment:
    """A moment for the page: relative on sight, exact for machines, on hover and in the record."""

    iso: str
    exact: str
    ago: str


@dataclass(frozen=True, slots=True)
class TimeLeft:
    """What is left of a time limit. ``tone`` is ``calm``, ``soon`` (last quarter) or ``last``."""

    begins: str
    ends: str
    exact: str
    text: str
    tone: str


def moment(at: datetime, now: datetime) -> Moment:
    """Describe a moment that has passed."""
    return Moment(at.astimezone(UTC).isoformat(), exact(at), ago(now - at))


def exact(at: datetime) -> str:
    """Write a moment to the second, with its zone."""
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def clock(at: datetime) -> str:
    """Write the time of the day to the second, with its zone."""
    return at.astimezone(UTC).strftime("%H:%M:%S UTC")


def ago(passed: timedelta) -> str:
    """Say how long ago something was, in one unit."""
    seconds = int(passed.total_seconds())
    if seconds < _JUST_NOW_S:
        return "just now"
    for size, unit in ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit} ago"
    return f"{seconds} s ago"


def time_left(submitted_at: datetime, expires_at: datetime, now: datetime) -> TimeLeft:
    """Describe what is left until ``expires_at``."""
    left_s = max(0, int((expires_at - now).total_seconds()))
    limit_s = (expires_at - submitted_at).total_seconds()
    return TimeLeft(
        begins=submitted_at.astimezone(UTC).isoformat(),
        ends=expires_at.astimezone(UTC).isoformat(),
        exact=exact(expires_at),
        text=left(left_s),
        tone=_tone(left_s, limit_s),
    )


def left(seconds: int) -> str:
    """Say how much time is left: to the second below an hour, coarser above."""
    if seconds >= _DAY:
        return f"{seconds // _DAY} d {seconds % _DAY // _HOUR} h left"
    if seconds >= _HOUR:
        return f"{seconds // _HOUR} h {seconds % _HOUR // _MINUTE} min left"
    return f"{seconds // _MINUTE}:{seconds % _MINUTE:02} left" if seconds else "time is over"


def length(seconds: float) -> str:
    """Say how long something took, as exactly as a reader cares for."""
    if seconds < _MILLISECONDS_BELOW_S:
        return f"{seconds * 1000:.0f} ms"
    if seconds < _TENTHS_BELOW_S:
        return f"{seconds:.1f} s"
    if seconds < _MINUTE:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), _MINUTE)
    if minutes < _MINUTE:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, _MINUTE)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def _tone(left_s: float, limit_s: float) -> str:
    if left_s < _LAST_S:
        return "last"
    return "soon" if left_s < limit_s / 4 else "calm"
