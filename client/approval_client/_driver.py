"""What both clients share: settings, how a call becomes an HTTP request, and what comes back."""

from __future__ import annotations

import inspect
import ipaddress
import os
import ssl
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from approval_client._accepted import is_key
from approval_client._arguments import check_listener, check_type
from approval_client._calls import MAX_ANSWER_BYTES, Call, Contact, Failure, Reply, Timing
from approval_client._errors import NotConfigured, RequestRefused
from approval_client._flow import Conversation, Heard
from approval_client._models import ApprovalRequest, Asked, Pending
from approval_client._runs import in_run
from approval_client._telling import Listener, Listeners
from approval_client.wire import PROTOCOL, PROTOCOL_HEADER

if TYPE_CHECKING:
    from typing import Self

    import httpx2
else:
    from approval_client import _http as httpx2


# --- where the dashboard is and who asks -------------------------------------------------------


@dataclass(frozen=True)
class Settings:
    """An address and a token. The token never shows in ``repr``."""

    url: str
    token: str = field(repr=False)
    loopback: bool

    def headers(self) -> dict[str, str]:
        """Return the headers of every call."""
        return {
            "Authorization": f"Bearer {self.token}",
            "Accept": "application/json",
            "Accept-Encoding": "identity",  # no few bytes become many
            "User-Agent": "approval-client",
            PROTOCOL_HEADER: str(PROTOCOL),
        }

    def options(self) -> dict[str, Any]:
        """Return how both HTTP clients are made.

        The environment's proxies do not apply to this machine itself: a token for localhost
        must not travel to them. Redirects are not followed, for the same reason.
        """
        options: dict[str, Any] = {
            "headers": self.headers(),
            "follow_redirects": False,
            "trust_env": not self.loopback,
            "limits": httpx2.Limits(max_connections=None, max_keepalive_connections=20),
        }
        if self.loopback and self.url.startswith("http:"):
            # Nothing is encrypted on the way. To read whom TLS would trust takes longer than to
            # ask and be answered; this trusts nobody.
            options["verify"] = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        return options


def read_settings(url: str | None, token: str | None, *, insecure_http: bool) -> Settings:
    """Check the given address and token, or those of ``DASHBOARD_URL`` and ``DASHBOARD_TOKEN``.

    Raises:
        NotConfigured: One is missing or cannot be used.
    """
    url = (url or os.environ.get("DASHBOARD_URL", "")).strip()
    token = (token or os.environ.get("DASHBOARD_TOKEN", "")).strip()
    variables = {"DASHBOARD_URL": url, "DASHBOARD_TOKEN": token}
    if missing_names := " and ".join(name for name, value in variables.items() if not value):
        raise _not_configured(
            f"Set {missing_names} in the environment, or give the client its url and token. The "
            "dashboard prints both when it starts for the first time."
        )
    if not (token.isascii() and token.isprintable() and " " not in token):
        raise _not_configured(
            "The token (DASHBOARD_TOKEN) contains invalid characters. Copy it again."
        )
    address = _address(url)
    loopback = is_loopback(address.host)
    if address.scheme == "http" and not loopback and insecure_http is not True:
        raise _not_configured(
            f"The address {url!r} is plain http, so others on the network could read the token. "
            "Use https, or pass insecure_http=True if you trust the network."
        )
    return Settings(url=str(address).rstrip("/"), token=token, loopback=loopback)


def is_loopback(host: str) -> bool:
    """Say whether ``host`` is this machine itself."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _address(url: str) -> httpx2.URL:
    # The parser that will send the requests, so that both mean the same host.
    try:
        address = httpx2.URL(url)
    except httpx2.InvalidURL:
        raise _not_configured("DASHBOARD_URL is not a valid address.") from None
    if address.userinfo or address.query or address.fragment:
        raise _not_configured(
            "DASHBOARD_URL must not contain a user name, password, query or fragment. The "
            "token alone says who asks."
        )
    if address.scheme not in {"http", "https"} or not address.host:
        raise _not_configured(f"DASHBOARD_URL must be http(s)://host, not {url!r}.")
    return address


def _not_configured(remedy: str) -> NotConfigured:
    return NotConfigured(f"The dashboard was not asked and nothing was approved. {remedy}")


# --- calls as HTTP -----------------------------------------------------------------------------

STOPPED = "The agent stopped waiting."


class Driver:
    """A client without its connections."""

    _awaits = False
    _of_environment = False

    def __init__(
        self,
        url: str | None,
        token: str | None,
        *,
        insecure_http: bool,
        clock: Callable[[], float],
        on_pending: Listener | None,
        on_decided: Listener | None,
    ) -> None:
        self._settings = read_settings(url, token, insecure_http=insecure_http)
        self._timing = Timing(clock=clock, contact=Contact(self._settings.url))
        self._listeners = Listeners()
        self._listen(on_pending, on_decided)
        _clients.add(self)

    def __copy__(self) -> Self:
        return self  # one client may be shared by everything in its process

    def __deepcopy__(self, _: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle a client that the environment configures, and no token.

        Raises:
            TypeError: It was given something that another process cannot be handed.
        """
        if not self._of_environment:
            raise TypeError(
                f"This {type(self).__name__} cannot be pickled: it was given a token, an address "
                "or a function, and a token must not end up in a file. Nothing was written. Set "
                "DASHBOARD_URL and DASHBOARD_TOKEN and make it without arguments, or make one in "
                "the process that needs it."
            )
        return type(self), ()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._settings.url!r})"

    def telling(
        self, *, on_pending: Listener | None = None, on_decided: Listener | None = None
    ) -> Self:
        """Return this client, but with these listeners where they are given.

        Args:
            on_pending: Called with the answer when a person has to decide, once a question. It
                takes the place of the line on standard error. ``review_url`` is the link.
            on_decided: Called with the answer when it was decided, before anything runs.
                ``decision`` says by whom and when. An ``AsyncClient`` awaits both if they can be.

        Raises:
            TypeError: A listener is no function, or is asynchronous and the client blocks.
        """
        if on_pending is None and on_decided is None:
            return self
        clone = object.__new__(type(self))
        clone.__dict__.update(self.__dict__)
        clone._connections_of_its_own()
        clone._listen(on_pending, on_decided)
        clone._of_environment = False
        _clients.add(clone)
        return clone

    def _connections_of_its_own(self) -> None:
        """Share none with the client that this was made of, unless they can be shared."""

    def _leave_the_connections(self) -> None:
        """Leave them to the process that this one was forked from, which goes on with them."""

    def _listen(self, on_pending: Listener | None, on_decided: Listener | None) -> None:
        for name, listener in (("on_pending", on_pending), ("on_decided", on_decided)):
            check_listener(name, listener)
            if inspect.iscoroutinefunction(listener) and not self._awaits:
                raise TypeError(
                    "A Client cannot await on_pending or on_decided. Pass plain functions, or "
                    "use an AsyncClient."
                )
        self._listeners = Listeners(
            on_pending or self._listeners.on_pending, on_decided or self._listeners.on_decided
        )

    @property
    def contact(self) -> Contact:
        """The dashboard's address, and whether it ever answered there."""
        return self._timing.contact

    def _share_contact(self, contacts: dict[str, Contact]) -> None:
        """Know what other clients of the same address found out: they are one to whoever asks."""
        contact = contacts.setdefault(self._settings.url, self._timing.contact)
        self._timing = replace(self._timing, contact=contact)

    def _conversation(
        self, request: ApprovalRequest | Asked, key: str | None = None, heard: Heard | None = None
    ) -> Conversation:
        key = uuid.uuid4().hex if key is None else _usable(key)
        # Whoever hears every answer shows them, so the line on standard error is left out.
        listener = None if heard is None else self._listeners.on_pending or (lambda _: None)
        listeners = (
            self._listeners if listener is None else replace(self._listeners, on_pending=listener)
        )
        return Conversation(
            in_run(request), key=key, timing=self._timing, heard=heard, listeners=listeners
        )

    def _arguments(self, call: Call, traced: Mapping[str, str]) -> dict[str, Any]:
        return {
            "method": call.method,
            "url": self._settings.url + call.path,
            "content": call.content(),
            "headers": {**traced, **call.headers()},
            "timeout": httpx2.Timeout(call.timeout_s),
        }


def to_submit(request: ApprovalRequest) -> ApprovalRequest:
    """Return a question that can be asked: one that is known by its digest alone cannot.

    Raises:
        TypeError: It is something else.
    """
    advice = "Make one, such as with ApprovalRequest.code(…)."
    check_type("request", request, (ApprovalRequest,), advice)
    return request


def to_await(pending: Pending) -> Pending:
    """Return a question that was submitted.

    Raises:
        TypeError: It is something else.
    """
    check_type("pending", pending, (Pending,), "Pass what submit() returned.")
    advice = "Make the Pending with what was asked."
    check_type("request", pending.request, (ApprovalRequest, Asked), advice)
    return pending


def _usable(key: object) -> str:
    """Return an idempotency key.

    Raises:
        RequestRefused: The dashboard would refuse it, or it could not be sent at all.
    """
    if isinstance(key, str) and is_key(key):
        return key
    reason = "it needs 1 to 200 visible characters of ASCII, without blanks and line breaks"
    if key == "":
        advice = "Leave it out, or pass None, where asking twice may make two questions."
    elif isinstance(key, str):
        advice = "Strip it, or take a digest of it."
    else:
        advice = "Pass text, such as str(key) of a UUID."
    raise RequestRefused(
        f"The idempotency key {key!a:.60} cannot be used: {reason}. Nothing was sent and nothing "
        f"was approved. {advice}",
        code="invalid",
        detail=reason,
    )


_clients: WeakSet[Driver] = WeakSet()


def _after_fork() -> None:
    # A lock may be held by a thread that is not in this process, and an answer on a connection may
    # be for the other one.
    for client in _clients:
        client._leave_the_connections()  # noqa: SLF001 - one package


if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(after_in_child=_after_fork)


TOO_SLOW = Failure("its answer took too long")


def not_read_on(response: httpx2.Response, size: int, until: float) -> Failure | None:
    """Return why an answer is not read to its end, if it is not.

    The timeouts of httpx2 are those of each read, which a server keeps that sends a byte now and
    then.

    Args:
        response: What has come of it.
        size: How many bytes of its body have.
        until: When it must be there, on ``time.monotonic``.
    """
    if response.headers.get("Content-Encoding", "identity") != "identity":
        return Failure("its answer is compressed, which nobody asked for")
    if size > MAX_ANSWER_BYTES:
        return Failure("its answer is too long")
    return TOO_SLOW if time.monotonic() >= until else None


def reply(response: httpx2.Response, body: bytes) -> Reply:
    """Return what came back, for the flow to judge."""
    return Reply(
        status=response.status_code,
        body=body,
        protocol=response.headers.get(PROTOCOL_HEADER, ""),
        retry_after=response.headers.get("Retry-After", ""),
        location=response.headers.get("Location", ""),
    )


_NOT_TLS = {"WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE", "UNKNOWN_PROTOCOL"}


def failure(error: httpx2.HTTPError) -> Failure:
    """Return that nothing came back, in words that cannot hold a token."""
    name = type(error).__name__
    detail = f": {error}" if isinstance(error, httpx2.NetworkError) and str(error) else ""
    cause = _tls_error(error)
    if isinstance(cause, ssl.SSLCertVerificationError):
        return Failure(f"{name}{detail}", untrusted=cause.verify_message)
    if cause is not None and cause.reason in _NOT_TLS:
        return Failure(
            f"{name}{detail}", stranger="it does not speak TLS; try http:// instead of https://"
        )
    if isinstance(error, httpx2.LocalProtocolError):
        return Failure(name, unsendable=True)
    if isinstance(error, httpx2.RemoteProtocolError) and str(error).startswith("illegal"):
        return Failure(
            name, stranger="it does not answer in HTTP; try https:// instead of http://"
        )
    return Failure(f"{name}{detail}")


def _tls_error(error: BaseException) -> ssl.SSLError | None:
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, ssl.SSLError):
        cause = cause.__cause__ or cause.__context__
    return cause


def unusable(error: Exception) -> NotConfigured:
    """Return the error for an HTTP client that could not be made."""
    return NotConfigured(
        "The dashboard was not asked and nothing was approved. The HTTP client could not be "
        f"created ({type(error).__name__}). Check the proxies and certificates in the "
        "environment."
    )
