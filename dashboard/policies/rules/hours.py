"""Time windows. Pure: the moment is given."""

from __future__ import annotations

from datetime import datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from dashboard.policies.rules.rule import DAYS, Hours

_MIDNIGHT = time(0, 0)


@lru_cache(maxsize=64)
def zone(name: str) -> ZoneInfo:
    """Return a time zone by its name.

    Raises:
        ValueError: There is none of this name.
    """
    try:
        return ZoneInfo(name)
    except (KeyError, OSError, ValueError):
        raise ValueError(f"There is no time zone {name!r}; one is 'Europe/Berlin'.") from None


def includes(hours: Hours, moment: datetime) -> bool:
    """Whether a moment is within the window, by the clock on the wall of its time zone.

    Raises:
        ValueError: The moment has no time zone.
    """
    if moment.tzinfo is None:
        raise ValueError("Pass a moment with a time zone.")
    local = moment.astimezone(zone(hours.timezone))
    today, now = local.date(), local.time()
    yesterday = today - timedelta(days=1)
    if hours.until == _MIDNIGHT or hours.from_ < hours.until:
        is_over = hours.until != _MIDNIGHT and now >= hours.until
        return _is_on(hours, today.weekday()) and now >= hours.from_ and not is_over
    began_today = now >= hours.from_ and _is_on(hours, today.weekday())
    return began_today or (now < hours.until and _is_on(hours, yesterday.weekday()))


def _is_on(hours: Hours, weekday: int) -> bool:
    return DAYS[weekday] in hours.days
