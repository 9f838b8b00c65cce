"""Sends one message by apprise, in a process of its own that can be killed.

It is started as a file: its package would load Django, which it knows nothing of. It reads a
``Job`` as JSON from its input and writes an ``ChildAnswer`` as one line of JSON to its output.

All that the plug-ins send goes through ``requests``, whose one place where a connection is made is
replaced here: the name is looked up once, each address is checked, and a checked one is called.
"""

from __future__ import annotations

import importlib
import json
import logging
import os
import signal
import socket
import ssl
import sys
from collections.abc import Mapping, Sequence
from ipaddress import ip_address
from typing import Protocol, TypedDict, cast
from urllib.parse import SplitResult, urlsplit

import certifi
import requests
from apprise import AppriseAsset
from requests import PreparedRequest, Response
from requests.adapters import HTTPAdapter
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool, Timeout
from urllib3.exceptions import (
    ConnectTimeoutError,
    HTTPError,
    NewConnectionError,
    ReadTimeoutError,
)
from urllib3.response import BaseHTTPResponse

from dashboard.notifications.errors import AddressRefused
from dashboard.notifications.networks import IPAddress, check_reachable

CONNECT_WITHIN_S = 3.0
READ_WITHIN_S = 15.0
MOST_ADDRESSES = 3
MOST_BYTES = 64 << 10
"""Of an answer. The plug-ins look for a word or a number in it."""
_SUCCESS = range(200, 300)
_REDIRECTS = range(300, 400)
_PORTS = {"https": 443, "http": 80}


class Job(TypedDict):
    """What is to be sent, and where that is allowed.

    ``resolve`` and ``trusted`` are for tests: hosts with the address and port that are called
    instead, and a file of certificates.
    """

    plugin: list[str]  # its module and class
    options: dict[str, object]
    title: str
    text: str
    format: str  # of title and text: text or markdown
    severity: str  # as apprise calls it: info, warning or failure
    networks: list[str]
    within_s: float
    resolve: dict[str, tuple[str, int]]
    trusted: str


class ChildAnswer(TypedDict):
    """What came of it.

    ``status`` is of the last call that was answered, and ``problem`` a sentence of ours about the
    last that was not. ``refused`` says that it was not made because of the address.
    """

    taken: bool
    status: int | None
    retry_after: str | None
    problem: str
    refused: bool


class Plugin(Protocol):
    """What is used of a plug-in of apprise."""

    def notify(self, *, title: str, body: str, notify_type: str, body_format: str) -> bool:
        """Send; False whatever went wrong."""

    throttle: object


def made(plugin: Sequence[str], options: Mapping[str, object]) -> Plugin:
    """Make a plug-in. Only its module is loaded, of apprise's 190, and it sends nothing.

    Raises:
        Exception: It does not take these options.
    """
    module, name = plugin
    # What a plug-in logs holds tokens.
    logging.getLogger("apprise").disabled = True
    asset = AppriseAsset(
        app_id="Approvals",
        app_desc="Approvals",
        app_url="",
        image_url_mask="",
        image_url_logo="",
        async_mode=False,
        http_redirects=False,
        allow_templates=False,
        plugin_paths=[],
        storage_mode="memory",
        default_service_retry=0,
    )
    maker = getattr(importlib.import_module(f"apprise.plugins.{module}"), name)
    return cast("Plugin", maker(asset=asset, **options))


class Courier:
    """Makes the calls of one job, and keeps what came of the last one."""

    def __init__(self, job: Job) -> None:
        self._networks = job["networks"]
        self._resolve = job["resolve"]
        self._trust = ssl.create_default_context(cafile=job["trusted"] or _certificates())
        self.status: int | None = None
        self.retry_after: str | None = None
        self.problem = ""
        self.refused = False

    def send(self, adapter: HTTPAdapter, request: PreparedRequest) -> Response:
        """Do what ``HTTPAdapter.send`` does, for one checked address.

        Raises:
            ConnectionError: One of ``requests``, without words: ``problem`` says what happened.
        """
        failed = self.status is not None and self.status not in _SUCCESS
        if self.problem or failed:  # nothing is tried again here: its time comes later
            raise requests.ConnectionError
        self.status = self.retry_after = None
        try:
            reply = self._call(request)
            body = reply.read(MOST_BYTES)
        except AddressRefused as error:
            self.problem, self.refused = str(error), True
        except (HTTPError, OSError) as error:
            self.problem = _failure(error)
        if self.problem:
            raise requests.ConnectionError
        self.status, self.retry_after = reply.status, reply.headers.get("Retry-After")
        response = adapter.build_response(request, reply)
        response._content = body  # noqa: SLF001 - the rest of it is never read
        reply.close()
        if self.status in _REDIRECTS:
            response.headers.pop("Location", None)
        return response

    def _call(self, request: PreparedRequest) -> BaseHTTPResponse:
        """Send to one of a host's addresses, with its own name in the request and in TLS."""
        url = urlsplit(request.url or "")
        targets = self._targets(url)
        for target in targets[:-1]:
            try:
                return self._post(request, url, target)
            except (NewConnectionError, ConnectTimeoutError):
                continue  # of a host with several addresses one may be out of reach
        return self._post(request, url, targets[-1])

    def _targets(self, url: SplitResult) -> list[tuple[IPAddress, int]]:
        """Return addresses and ports of a host; one address that is refused refuses all.

        Raises:
            AddressRefused: One is refused, or the name cannot be resolved.
        """
        port = _PORTS.get(url.scheme)
        host = url.hostname or ""
        if port is None:
            raise AddressRefused("Only http and https are sent. Nothing was sent.")
        called, port = self._resolve.get(host, (host, url.port or port))
        try:
            entries = socket.getaddrinfo(called, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            raise AddressRefused(f"The name {host} cannot be resolved.") from None
        addresses = list(dict.fromkeys(ip_address(entry[4][0]) for entry in entries))
        for address in addresses:
            check_reachable(address, url.scheme, self._networks)
        return [(address, port) for address in addresses[:MOST_ADDRESSES]]

    def _post(
        self, request: PreparedRequest, url: SplitResult, target: tuple[IPAddress, int]
    ) -> BaseHTTPResponse:
        address, port = target
        own_headers = {"Host": url.netloc.rpartition("@")[2], "Accept-Encoding": "identity"}
        timeout = Timeout(connect=CONNECT_WITHIN_S, read=READ_WITHIN_S)
        if url.scheme == "https":
            pool: HTTPConnectionPool = HTTPSConnectionPool(
                str(address), port, ssl_context=self._trust, server_hostname=url.hostname
            )
        else:
            pool = HTTPConnectionPool(str(address), port)
        return pool.urlopen(
            request.method or "POST",
            request.path_url,
            body=cast("bytes | str | None", request.body),
            headers={**cast("Mapping[str, str]", request.headers), **own_headers},
            redirect=False,
            retries=False,
            timeout=timeout,
            preload_content=False,
        )


def _certificates() -> str | None:
    """Return a file of trusted certificates, if the system has none of its own."""
    paths = ssl.get_default_verify_paths()
    return None if paths.cafile or paths.capath else certifi.where()


def _failure(error: Exception) -> str:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"Its certificate is not trusted: {cause.verify_message}."[:300]
        cause = cause.__cause__ or cause.__context__
    if isinstance(error, NewConnectionError | ConnectTimeoutError):
        return "No connection to it could be made."
    if isinstance(error, TimeoutError | ReadTimeoutError):
        return f"It did not answer within {READ_WITHIN_S:g} s."
    return f"The connection failed ({type(error).__name__})."


def _sent(job: Job) -> ChildAnswer:
    courier = Courier(job)

    def send(adapter: HTTPAdapter, request: PreparedRequest, *_: object, **__: object) -> Response:
        return courier.send(adapter, request)

    HTTPAdapter.send = send  # type: ignore[method-assign, assignment]
    is_taken = False
    try:
        plugin = made(job["plugin"], job["options"])
        plugin.throttle = lambda *_, **__: None  # it would wait between calls
        is_taken = plugin.notify(
            title=job["title"],
            body=job["text"],
            notify_type=job["severity"],
            body_format=job["format"],
        )
    except Exception as error:  # noqa: BLE001 - of which no word is told, as it may hold a token
        courier.problem = courier.problem or f"It could not be sent ({type(error).__name__})."
    return {
        "taken": is_taken is True,
        "status": courier.status,
        "retry_after": courier.retry_after,
        "problem": courier.problem,
        "refused": courier.refused,
    }


def main() -> None:
    """Do the job of the input."""
    # What anybody else writes to the output, such as a plug-in's log, is no part of the answer.
    with os.fdopen(os.dup(1), "wb") as output:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        job = cast("Job", json.load(sys.stdin.buffer))
        signal.alarm(int(job["within_s"]) + 2)  # if whoever would kill us was killed
        os.environ["NETRC"] = os.devnull  # else requests adds passwords that it finds at home
        output.write(json.dumps(_sent(job)).encode() + b"\n")


if __name__ == "__main__":
    main()
