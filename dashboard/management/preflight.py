"""Reasons not to start: each says what is wrong, that nothing was started, and the remedy."""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.http.request import validate_host

from dashboard.audit.heads import is_address
from dashboard.notifications.addresses import checked_url
from dashboard.notifications.errors import AddressRefused
from dashboard.owner import give_to_owner
from dashboard.settings import without_password

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
    if reasons := wrong_settings(host, insecure_http=insecure_http):
        raise CannotStart("\n".join(["Nothing was started.", *reasons]))


def check_worker() -> None:
    """Refuse settings that a worker beside the servers could not work under.

    Raises:
        CannotStart: With every reason found.
    """
    if reasons := list(_shared()):
        raise CannotStart("\n".join(["Nothing was started.", *reasons]))


def wrong_settings(host: str, *, insecure_http: bool = False) -> list[str]:
    """Say of each setting under which the gate would not be one what is wrong and what to do."""
    return list(_reasons(host, insecure_http=insecure_http))


def make_data_dir(nothing: str = "Nothing was started.") -> Path:
    """Make the data folder, readable by this account alone.

    Args:
        nothing: What to say was not done, if it cannot be made.

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
            f"{nothing} The data folder {folder} cannot be written to "
            f"({error.strerror}). Make it writable, or name another one in DASHBOARD_DATA_DIR."
        ) from None
    return folder


def folder_doubt() -> str:
    """Say why the data folder could not be made or written to, without making anything."""
    folder: Path = settings.DATA_DIR
    present = next(path for path in (folder, *folder.parents) if os.path.lexists(path))
    if present.is_dir() and os.access(present, os.W_OK | os.X_OK):
        return ""
    return (
        f"The data folder {folder} cannot be written to. Make it writable, or name another one in "
        "DASHBOARD_DATA_DIR."
    )


def key_file_doubt(file: Path) -> str:
    """Say what is wrong with the secret key that ``start`` made; empty if it made none yet."""
    try:
        key = file.read_text(encoding="utf-8").strip()
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except (OSError, UnicodeDecodeError) as error:
        return f"The key in {file} cannot be read ({error}). Make it readable to this account."
    if not is_weak(key):
        return ""
    return (
        f"The key in {file} is empty or weak, and whoever guesses it can sign in as anybody. "
        "Delete the file: a new one is made and everybody signs in again."
    )


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
    yield from _shared()


def _address(host: str, *, public: bool, insecure_http: bool) -> Iterator[str]:
    url = urlsplit(settings.PUBLIC_URL)
    if settings.PUBLIC_URL_IS_CONFIGURED and not _is_origin(settings.PUBLIC_URL):
        yield (
            f"PUBLIC_URL is {without_password(settings.PUBLIC_URL)!r}. Set the scheme, host and "
            "port that people use and nothing more, in lower case, such as "
            f"{_in_ascii(settings.PUBLIC_URL)}."
        )
    if public and not insecure_http and url.scheme != "https":
        yield (
            f"Plain http on {host} shows passwords, tokens and decisions to the network. Put TLS "
            "in front and set PUBLIC_URL=https://…, or insist with --insecure-http."
        )
    if settings.ALLOWED_HOSTS_IS_CONFIGURED and not _is_allowed(url.hostname or ""):
        yield (
            f"ALLOWED_HOSTS does not name {url.hostname}, the host of PUBLIC_URL, so every page "
            "would be refused. List it there too, or unset ALLOWED_HOSTS."
        )
    if host in _WILDCARD and not settings.PUBLIC_URL_IS_CONFIGURED:
        yield (
            f"{host} is every address at once and decisions count from one only. Set PUBLIC_URL "
            "to the address that people will use."
        )


def _is_allowed(host: str) -> bool:
    return validate_host(f"[{host}]" if ":" in host else host, settings.ALLOWED_HOSTS)


def _shared() -> Iterator[str]:
    yield from _redis()
    yield from _heads(settings.AUDIT_HEADS)


def _redis() -> Iterator[str]:
    address = settings.REDIS_URL
    if address and not _is_redis(address):
        yield (
            f"REDIS_URL is {without_password(address)!r}. Set an address such as "
            "redis://127.0.0.1:6379/0, or unset it if this server runs alone."
        )


def _is_redis(address: str) -> bool:
    from redis import ConnectionPool  # noqa: PLC0415 - may be absent where no Redis is used

    try:
        parts = urlsplit(address)
        ConnectionPool.from_url(address).make_connection()  # connects to nothing yet
    except (ValueError, TypeError):
        return False
    # It would take database 0 for a path that is no number.
    return parts.scheme == "unix" or bool(re.fullmatch("/?[0-9]*/?", parts.path))


def _heads(named: str) -> Iterator[str]:
    if is_address(named):
        try:
            checked_url(named)
        except AddressRefused as error:
            host = without_password(named).partition("://")[2] or without_password(named)
            yield (
                f"AUDIT_HEADS names {host.partition('/')[0]!r}. {error} Set another address, or a "
                "file."
            )
        return
    path = Path(named)
    if named and not path.is_absolute():
        yield (
            f"AUDIT_HEADS is {without_password(named)!r}. Set the whole path of a file, such as "
            "/mnt/elsewhere/heads, or an address that begins with https://."
        )
    elif named:
        try:
            _reach(path)
        except OSError as error:
            yield (
                f"The file {path} of AUDIT_HEADS cannot be written to ({error.strerror}), so no "
                "head of the log could be kept there. Make it writable, or name another one."
            )


def _reach(path: Path) -> None:
    """Make a file, for whoever owns its folder, or see that it can be added to."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    except FileExistsError:
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND)
    else:
        give_to_owner(descriptor, path.parent)
    os.close(descriptor)


def _secret_key() -> str:
    try:
        return str(settings.SECRET_KEY)
    except ImproperlyConfigured:  # Django's way to say that it is empty
        return ""


OURS = frozenset(
    {
        "DATABASE_URL_FILE",
        "EMAIL_URL_FILE",
        "METRICS_TOKEN_FILE",
        "OIDC_CLIENT_SECRET_FILE",
        "REDIS_URL_FILE",
        "SECRET_KEY_FILE",
        "ALLOWED_HOSTS",
        "AUDIT_HEADS",
        "AUDIT_HEADS_EVERY_S",
        "DASHBOARD_DATA_DIR",
        "DATABASE_URL",
        "DEBUG",
        "DEFAULT_FROM_EMAIL",
        "EMAIL_URL",
        "KIB_PER_MINUTE",
        "KEPT_ADMIN",
        "LOG_FORMAT",
        "LOG_LEVEL",
        "METRICS_NETWORKS",
        "METRICS_TOKEN",
        "NOTEBOOK_MIB_PER_AGENT",
        "OIDC_CHECK_S",
        "OIDC_CLIENT_ID",
        "OIDC_CLIENT_SECRET",
        "OIDC_GROUPS_CLAIM",
        "OIDC_ISSUER",
        "OIDC_NAME",
        "OIDC_SCOPES",
        "PASSWORD_SIGN_IN",
        "PENDING_PER_TOKEN",
        "POLICY_TWO_PEOPLE",
        "PROXY_COUNT",
        "PUBLIC_URL",
        "READY_NEEDS_WHOLE_LOG",
        "REDIS_URL",
        "REQUESTS_PER_MINUTE",
        "SECOND_FACTOR",
        "SIGN_IN_LINKS",
        "SECRET_KEY",
        "SESSION_IDLE_S",
        "SESSION_LONGEST_S",
        "WAITS_PER_PROCESS",
        "WAITS_PER_TOKEN",
        "WEBHOOK_NETWORKS",
    }
)


_OF_AGENTS = {"DASHBOARD_URL", "DASHBOARD_TOKEN", "DASHBOARD_QUIET"}
_ALIKE = 0.85  # of 1; PUBLIC_ULR and REDIS_UR are, REDIS_HOST and DATABASE_NAME are not


def misspelled(environment: Iterable[str]) -> Iterator[str]:
    """Name variables that nothing reads and that look like one of our settings.

    Others' variables stand in an environment too, so this is said and does not keep us from
    starting.
    """
    for name in sorted(set(environment) - OURS - _OF_AGENTS):
        close = get_close_matches(name, OURS, n=1, cutoff=_ALIKE)
        if close:
            yield f"{name} is not a setting and was not read. Did you mean {close[0]}?"
        elif name.startswith("DASHBOARD_"):
            yield f"{name} is not a setting and was not read. docs/settings.md names all of them."


def _in_ascii(url: str) -> str:
    """The address as browsers send it where its host is in another script, or any other one."""
    if not url.isascii():
        with suppress(httpx2.InvalidURL, ValueError):
            parts = httpx2.URL(url)
            if not (parts.scheme and parts.host):
                raise ValueError
            return f"{parts.scheme}://{parts.netloc.decode('ascii')}"
    return "https://approvals.example.org"


def _is_origin(url: str) -> bool:
    # Exactly what browsers send as the origin: lower case, and no port where it is the usual one.
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError:
        return False
    return (
        parts.scheme in _USUAL_PORTS
        and url.isascii()
        and not any(character.isspace() for character in url)
        and bool(parts.hostname)
        and "@" not in parts.netloc
        and port != _USUAL_PORTS[parts.scheme]
        and url == f"{parts.scheme}://{parts.netloc}".lower()
    )
