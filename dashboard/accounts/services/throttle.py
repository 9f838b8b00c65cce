"""Slow down whoever guesses: counted for each account and for each address."""

from __future__ import annotations

from datetime import datetime, timedelta
from ipaddress import IPv6Address, IPv6Network, ip_address

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from dashboard.accounts.errors import TooManyAttempts
from dashboard.accounts.models import SignInAttempts

WINDOW = timedelta(minutes=5)
LIMITS = {
    "account": 10,
    "address": 30,
    "browser": 10,
    "session": 10,
    "provider": 100,
    "logout": 30,
    "factor": 5,
    "signature": 5,
}
_SITE_BITS = 64  # what one owner of IPv6 addresses has at least


def account(name: str) -> str:
    """Return the key that failures of an account are counted under, whether it exists or not."""
    return f"account:{name}".lower()[:200]


def browser(name: str, nonce: str) -> str:
    """Return the key of one browser in which ``name`` has signed in before.

    Its failures are counted apart, so nobody can keep people out who guesses from elsewhere (the
    device cookies of OWASP's cheat sheet).
    """
    return f"browser:{nonce}:{name}".lower()[:200]


def session(name: str) -> str:
    """Return the key of those who confirm their password while they are signed in."""
    return f"session:{name}".lower()[:200]


def address(text: str) -> str:
    """Return the key of an address; all IPv6 addresses of one site count as one."""
    return f"address:{_site(text)}"[:200]


def factor(name: str) -> str:
    """Return the key of somebody who shows a second proof, after the first was right."""
    return f"factor:{name.lower()}"[:200]


def signature(name: str) -> str:
    """Return the key of somebody who signs approvals; it never keeps them from signing in."""
    return f"signature:{name.lower()}"[:200]


def provider(text: str) -> str:
    """Return the key of an address from which people come back from single sign-on."""
    return f"provider:{_site(text)}"[:200]


def logout(text: str) -> str:
    """Return the key of an address that says that sessions have ended at the provider."""
    return f"logout:{_site(text)}"[:200]


def _site(text: str) -> str:
    try:
        ip = ip_address(text)
    except ValueError:
        return text
    if not isinstance(ip, IPv6Address):
        return str(ip)
    return str(ip.ipv4_mapped or IPv6Network((int(ip), _SITE_BITS), strict=False))


def check(*keys: str) -> None:
    """Refuse when any of ``keys`` failed too often; counts nothing.

    Raises:
        TooManyAttempts: Says how long to wait.
    """
    _refuse([row for row in _recent(*keys) if row.failures >= _limit(row.key)])


def begin(*keys: str) -> None:
    """Count an attempt before it is checked, so that guessing all at once gains nothing.

    Raises:
        TooManyAttempts: Says how long to wait. The attempt must not be checked.
    """
    now = timezone.now()
    with transaction.atomic():
        SignInAttempts.objects.filter(since__lte=now - WINDOW).delete()
        for key in sorted(keys):
            _count(key, now)
        rows = list(_recent(*keys))
    _refuse([row for row in rows if row.failures > _limit(row.key)])


def succeeded(own: str, address: str = "") -> None:
    """Forget the failures of one's own key; the address keeps those of other attempts."""
    SignInAttempts.objects.filter(key=own).delete()
    if address:
        withdraw(address)


def withdraw(key: str) -> None:
    """Take back an attempt that nothing was checked of."""
    rows = SignInAttempts.objects.filter(key=key, failures__gt=0)
    rows.update(failures=F("failures") - 1)


def _recent(*keys: str) -> list[SignInAttempts]:
    since = timezone.now() - WINDOW
    return list(SignInAttempts.objects.filter(key__in=keys, since__gt=since))


def _refuse(over: list[SignInAttempts]) -> None:
    now = timezone.now()
    if over:
        raise TooManyAttempts(max((row.since + WINDOW - now).total_seconds() for row in over))


def _count(key: str, now: datetime) -> None:
    SignInAttempts.objects.get_or_create(key=key, defaults={"since": now})
    SignInAttempts.objects.filter(key=key).update(failures=F("failures") + 1)


def _limit(key: str) -> int:
    return LIMITS[key.split(":", 1)[0]]
