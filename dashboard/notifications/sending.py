"""One call to a host: to the address that was checked, with a bounded time, and no redirect."""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from http import HTTPStatus
from ipaddress import IPv6Address
from typing import NamedTuple

import httpx2

from dashboard.notifications.addresses import checked_url, resolved
from dashboard.notifications.errors import AddressRefused
from dashboard.notifications.networks import IPAddress

SEND_WITHIN_S = 10.0
"""For everything: the name, the connection, TLS, and the first line of the answer."""
CONNECT_WITHIN_S = 3.0
MOST_ADDRESSES = 3
LONGEST_PAUSE_S = 3600
"""A host that asks for more is called again after an hour all the same."""
_BUSY = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)

log = logging.getLogger(__name__)


class Sent(NamedTuple):
    """What came of a call: whether the host took it, and a sentence that says so."""

    taken: bool
    said: str
    is_gone: bool = False
    """The host says that it will never take anything again."""
    retry_after_s: float = 0.0
    """How long the host asks to be left alone, in seconds."""


async def send(url: str, headers: Mapping[str, str], body: bytes) -> Sent:
    """Call a host and say what came of it; whatever goes wrong is not an exception.

    Of the answer nothing but its status is read.
    """
    try:
        async with asyncio.timeout(SEND_WITHIN_S):
            return await _send(url, headers, body)
    except TimeoutError:
        return Sent(taken=False, said=f"It did not answer within {SEND_WITHIN_S:g} s.")
    except AddressRefused as error:
        return Sent(taken=False, said=str(error))
    except httpx2.HTTPError as error:
        return Sent(taken=False, said=_failure(error))
    except Exception:  # whatever an address can still be, the attempt is written down
        log.exception("A webhook could not be sent.")
        return Sent(taken=False, said="It could not be sent. The server's log says why.")


async def _send(text: str, headers: Mapping[str, str], body: bytes) -> Sent:
    url = checked_url(text)
    addresses = (await resolved(url))[:MOST_ADDRESSES]
    # The environment's proxies would look the name up again, and call what they find.
    times = httpx2.Timeout(None, connect=CONNECT_WITHIN_S)
    async with httpx2.AsyncClient(
        verify=_trust(), trust_env=False, follow_redirects=False, timeout=times
    ) as http:
        for address in addresses[:-1]:
            try:
                return await _post(http, url, address, headers, body)
            except (httpx2.ConnectError, httpx2.ConnectTimeout):
                continue  # of a host with several addresses one may be out of reach
        return await _post(http, url, addresses[-1], headers, body)


async def _post(
    http: httpx2.AsyncClient,
    url: httpx2.URL,
    address: IPAddress,
    headers: Mapping[str, str],
    body: bytes,
) -> Sent:
    """Send to ``address``, with the host's own name in the request and in TLS."""
    host = f"[{address}]" if isinstance(address, IPv6Address) else str(address)
    own_headers = {**headers, "Host": url.netloc.decode("ascii")}
    request = http.build_request(
        "POST", url.copy_with(host=host), headers=own_headers, content=body
    )
    request.extensions["sni_hostname"] = url.host
    response = await http.send(request, stream=True)
    try:
        return judged(response.status_code, response.headers.get("Retry-After"))
    finally:
        await response.aclose()


def judged(status: int, retry_after: str | None) -> Sent:
    """Say what an answer means that had this status, and this header where there was one."""
    if HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
        return Sent(taken=True, said=f"It answered {status}.")
    redirects = HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST
    if status == HTTPStatus.GONE:
        return Sent(taken=False, is_gone=True, said="It answered 410: it is gone for good.")
    more = " Redirects are not followed: enter the address itself." if redirects else ""
    pause_s = retry_after_s(retry_after) if status in _BUSY else 0.0
    return Sent(taken=False, said=f"It answered {status}.{more}", retry_after_s=pause_s)


def retry_after_s(value: str | None) -> float:
    """Return the seconds that a ``Retry-After`` header asks for, at most ``LONGEST_PAUSE_S``.

    It names seconds or a date; 0 for a date that is over and for what is neither.
    """
    text = (value or "").strip()
    if text.isdecimal() and text.isascii():
        return float(min(int(text[:10]), LONGEST_PAUSE_S))
    try:
        until = parsedate_to_datetime(text)
    except (ValueError, TypeError):
        return 0.0
    # RFC 9110 has these dates in GMT, also where they do not say so.
    until = until if until.tzinfo else until.replace(tzinfo=UTC)
    return min(max((until - datetime.now(UTC)).total_seconds(), 0.0), float(LONGEST_PAUSE_S))


def _failure(error: httpx2.HTTPError) -> str:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"Its certificate is not trusted: {cause.verify_message}."[:300]
        cause = cause.__cause__ or cause.__context__
    if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout):
        return "No connection to it could be made."
    return f"The connection failed ({type(error).__name__})."


@cache
def _trust() -> ssl.SSLContext:
    # Reading a system's certificates takes tens of milliseconds.
    return httpx2.create_ssl_context()
