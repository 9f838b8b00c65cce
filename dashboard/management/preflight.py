"""Reasons not to start: each says what is wrong, that nothing was started, and the remedy."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

_WILDCARD = {"0.0.0.0", "::", ""}  # noqa: S104 - to recognise them
_USUAL_PORTS = {"http": 80, "https": 443}
_SHORTEST_KEY, _FEWEST_CHARACTERS = 32, 10


class CannotStart(Exception):
    """The server will not start; the message says why and what to do."""


def check_settings(*, host: str, insecure_http: bool) -> None:
    """Refuse settings under which the gate would not be one.

    Raises:
        CannotStart: With every reason found.
    """
    reasons = list(_reasons(host, insecure_http=insecure_http))
    if reasons:
        raise CannotStart("\n".join(["Nothing was started.", *reasons]))


def make_data_dir() -> Path:
    """Make the data folder, readable by this account alone.

    Raises:
        CannotStart: It cannot be made or written to.
    """
    folder: Path = settings.DATA_DIR
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        probe = folder / ".writable"
        probe.touch()
        probe.unlink(missing_ok=True)  # another start may look at the same time
    except OSError as error:
        raise CannotStart(
            f"Nothing was started. The data folder {folder} cannot be written to "
            f"({error.strerror}). Make it writable, or name another one in DASHBOARD_DATA_DIR."
        ) from None
    return folder


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach ``host``."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:  # a name: only this one is certain
        return host == "localhost"


def is_weak(key: str) -> bool:
    """Whether a secret key is short or guessable."""
    guessable = key.startswith("django-insecure") or len(set(key)) < _FEWEST_CHARACTERS
    return guessable or len(key) < _SHORTEST_KEY


def _reasons(host: str, *, insecure_http: bool) -> Iterator[str]:
    public = not is_loopback(host)
    if settings.DEBUG and public:
        yield (
            f"DEBUG shows secrets on error pages and {host} is a public address. Unset DEBUG, or "
            "use --host 127.0.0.1."
        )
    if settings.SECRET_KEY_IS_CONFIGURED and is_weak(_secret_key()):
        yield (
            "SECRET_KEY is missing or weak, and whoever guesses it can sign in as anybody. Set "
            "50 random characters, or unset it and one is made and kept in the data folder."
        )
    if "*" in settings.ALLOWED_HOSTS:
        yield (
            "ALLOWED_HOSTS=* lets any site speak in our name. List the host names that people "
            "use, or unset it."
        )
    yield from _address(host, public=public, insecure_http=insecure_http)


def _address(host: str, *, public: bool, insecure_http: bool) -> Iterator[str]:
    url = urlsplit(settings.PUBLIC_URL)
    if settings.PUBLIC_URL_IS_CONFIGURED and not _is_origin(settings.PUBLIC_URL):
        yield (
            f"PUBLIC_URL is {settings.PUBLIC_URL!r}. Set the scheme, host and port that people "
            "use and nothing more, in lower case, such as https://approvals.example.org."
        )
    if public and not insecure_http and url.scheme != "https":
        yield (
            f"Plain http on {host} shows passwords, tokens and decisions to the network. Put TLS "
            "in front and set PUBLIC_URL=https://…, or insist with --insecure-http."
        )
    if host in _WILDCARD and not settings.PUBLIC_URL_IS_CONFIGURED:
        yield (
            f"{host} is every address at once and decisions count from one only. Set PUBLIC_URL "
            "to the address that people will use."
        )


def _secret_key() -> str:
    try:
        return str(settings.SECRET_KEY)
    except ImproperlyConfigured:  # Django's way to say that it is empty
        return ""


def _is_origin(url: str) -> bool:
    # Exactly what browsers send as the origin: lower case, and no port where it is the usual one.
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError:
        return False
    return (
        parts.scheme in _USUAL_PORTS
        and bool(parts.hostname)
        and "@" not in parts.netloc
        and port != _USUAL_PORTS[parts.scheme]
        and url == f"{parts.scheme}://{parts.netloc}".lower()
    )
