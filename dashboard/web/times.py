"""Moments and lengths of time in words. Pure; static/js/countdown.js says the same, live."""

from __future__ import annotations

import re
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
    """What is left of a time limit. ``tone`` is ``calm``, ``soon`` (last quarter) or ``last``.

    ``share`` is how much of it is left, in percent.
    """

    begins: str
    ends: str
    exact: str
    text: str
    tone: str
    share: int

    @property
    def short(self) -> str:
        """The same for a narrow column."""
        return self.text.removesuffix(" left").replace(" min", "").replace("time is over", "over")


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
        share=min(100, round(100 * left_s / limit_s)) if limit_s else 0,
    )


def left(seconds: int) -> str:
    """Say how much time is left: to the second below an hour, coarser above."""
    if seconds >= _DAY:
        return f"{seconds // _DAY} d {seconds % _DAY // _HOUR} h left"
    if seconds >= _HOUR:
        return f"{seconds // _HOUR} h {seconds % _HOUR // _MINUTE} min left"
    return f"{seconds // _MINUTE}:{seconds % _MINUTE:02} left" if seconds else "time is over"


def length(seconds: float) -> str:
    """Say how long something took, as exactly as a reader cares for.

    Each unit is chosen after rounding, so that no length reads as 60 s or as 60 min.
    """
    if round(seconds, 3) < _MILLISECONDS_BELOW_S:
        return f"{seconds * 1000:.0f} ms"
    if round(seconds, 1) < _TENTHS_BELOW_S:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < _MINUTE:
        return f"{whole} s"
    if whole < _HOUR:
        return _in_two(whole, _MINUTE, "min", 1, "s")
    if whole < _DAY:
        return _in_two(whole, _HOUR, "h", _MINUTE, "min")
    return _in_two(whole, _DAY, "d", _HOUR, "h")


def _in_two(seconds: int, size: int, unit: str, small_size: int, small_unit: str) -> str:
    count, rest = divmod(seconds, size)
    smaller = rest // small_size
    return f"{count} {unit} {smaller} {small_unit}" if smaller else f"{count} {unit}"


def _tone(left_s: float, limit_s: float) -> str:
    if left_s < _LAST_S:
        return "last"
    return "soon" if left_s < limit_s / 4 else "calm"


_UNITS = {"day": _DAY, "h": _HOUR, "min": _MINUTE, "s": 1}

_SPELLED = {
    "w": 7 * _DAY,
    **dict.fromkeys(("week", "weeks"), 7 * _DAY),
    **dict.fromkeys(("d", "day", "days"), _DAY),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), _HOUR),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), _MINUTE),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1),
}

_UNEQUAL = ("mo", "mon", "month", "months", "y", "yr", "yrs", "year", "years")

_PART = re.compile(r"([0-9]{1,7}(?:\.[0-9]{1,3})?)\s*([a-z]+)\s*", re.ASCII | re.IGNORECASE)

_PARTS = re.compile(rf"(?:{_PART.pattern})+", re.ASCII | re.IGNORECASE)


def read_length(text: str) -> int:
    """Read a length of time as people write it: ``15m``, ``2 h``, ``1 day``, ``1h 30m``.

    Returns:
        Whole seconds.

    Raises:
        ValueError: It is not one, or could mean two things; the message says what to write.
    """
    text = text.strip()
    if re.fullmatch(r"[0-9.]+", text, re.ASCII):
        raise ValueError(f"Add a unit: {text}m, {text}h or {text}d.")
    if ":" in text:
        raise ValueError("A colon could mean hours or minutes. Write 1h 30m, or 1m 30s.")
    if re.search(r"[0-9],[0-9]", text, re.ASCII):
        raise ValueError("Write a point instead of the comma, such as 1.5h.")
    if not _PARTS.fullmatch(text):
        raise ValueError("Write a length of time, such as 15m, 2h or 1 day.")
    parts = [(number, _unit(name)) for number, name in _PART.findall(text)]
    units = [unit for _, unit in parts]
    if units != sorted(set(units), reverse=True):
        raise ValueError("Write each unit once, the longest first, such as 1h 30m.")
    seconds = sum(float(number) * unit for number, unit in parts)
    if seconds != int(seconds):
        raise ValueError("Write whole seconds, such as 90s.")
    return int(seconds)


def _unit(name: str) -> int:
    if name == "M":
        raise ValueError("M could mean minutes or months. Write min, or days.")
    if name.lower() in _UNEQUAL:
        raise ValueError("Months and years differ in length. Write days.")
    if name.lower() not in _SPELLED:
        raise ValueError(f"{name!r} is not a unit of time. Write s, min, h or days.")
    return _SPELLED[name.lower()]


def write_length(seconds: int) -> str:
    """Write a length of time as ``read_length`` reads it: ``1 day``, ``1 h 30 min``."""
    parts = []
    for unit, length_s in _UNITS.items():
        count, seconds = divmod(seconds, length_s)
        if count:
            parts.append(f"{count} {unit}{'s' if unit == 'day' and count > 1 else ''}")
    return " ".join(parts) or "0 s"
