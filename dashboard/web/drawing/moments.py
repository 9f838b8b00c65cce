"""Moments as HTML. The page comes with UTC; static/js/times.js makes it the reader's own zone.

Every time on a page is drawn here, or by the tags ``exact``, ``clock``, ``ago`` and ``time_left``,
which do the same in templates.
"""

from __future__ import annotations

from datetime import UTC, datetime

from django.utils.html import format_html
from django.utils.safestring import SafeString

from dashboard.web import times
from dashboard.web.drawing.markup import trusted
from dashboard.web.times import Moment, TimeLeft


def exact(at: datetime) -> SafeString:
    """Write a moment to the second."""
    return format_html(
        '<time datetime="{}" data-local="exact">{}</time>', at.isoformat(), times.exact(at)
    )


def clock(at: datetime) -> SafeString:
    """Write the time of the day to the second, the whole date on hover; of another day, all of it.

    What day that is in the reader's zone, times.js knows.
    """
    is_today = at.astimezone(UTC).date() == datetime.now(UTC).date()
    return format_html(
        '<time datetime="{}" title="{}" data-local="clock">{}</time>',
        at.isoformat(),
        times.exact(at),
        times.clock(at) if is_today else times.exact(at),
    )


def ago(at: Moment) -> SafeString:
    """Write a moment relative to now, exact on hover; countdown.js keeps it true."""
    return format_html(
        '<time class="nowrap" datetime="{}" title="{}" data-ago data-local="hover">{}</time>',
        at.iso,
        at.exact,
        at.ago,
    )


def time_left(remaining: TimeLeft) -> SafeString:
    """Write what is left of a time limit; countdown.js counts it down."""
    return _left(remaining, remaining.text, short="")


def time_left_short(remaining: TimeLeft) -> SafeString:
    """Write it for a narrow column, and draw it."""
    return _left(remaining, remaining.short, short=" data-short") + time_bar(remaining)


def _left(remaining: TimeLeft, text: str, *, short: str) -> SafeString:
    return format_html(
        '<time class="left" datetime="{}" title="until {}" data-begins="{}" data-tone="{}" '
        'data-local="until"{} role="timer">{}</time>',
        remaining.ends,
        remaining.exact,
        remaining.begins,
        remaining.tone,
        trusted(short),
        text,
    )


def time_bar(remaining: TimeLeft) -> SafeString:
    """Draw what is left of a time limit as a thin bar, beside the words; countdown.js moves it."""
    return format_html(
        '<svg class="left-bar" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true" '
        'focusable="false"><rect class="left-limit" width="100" height="4"/>'
        '<rect class="left-rest left-rest--{}" width="{}" height="4"/></svg>',
        remaining.tone,
        remaining.share,
    )
