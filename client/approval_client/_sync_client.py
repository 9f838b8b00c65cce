"""``Client``, which blocks: a thin driver of the conversation.

It opens its connections with the first call that needs them and closes them after the last, so
it does not have to be closed. ``with`` keeps them open in between.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

from approval_client import _flow as flows
from approval_client._answers import Access, Answer
from approval_client._calls import Call, Finished, Flow, Received, Sleep, Tell
from approval_client._deadlines import deadline, keep
from approval_client._driver import (
    STOPPED,
    Driver,
    failure,
    not_read_on,
    reply,
    to_await,
    to_submit,
    unusable,
)
from approval_client._flow import Conversation
from approval_client._from_autogen import to_request
from approval_client._models import ApprovalRequest, ApprovalResponse, Asked, Pending
from approval_client._refusals import for_model, refusal
from approval_client._telling import Listener
from approval_client._tracing import conversation

if TYPE_CHECKING:
    from typing import Self

    import httpx2
else:
    from approval_client import _http as httpx2

T = TypeVar("T")
_BLOCKS = (
    "A Client blocks, and this thread runs an event loop, so everything else in it stands still "
    "until somebody decides. Use AsyncClient, or call this in asyncio.to_thread()."
)


_OURS = "approval_client."


def _warn_in_a_loop() -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    # For the caller's line, so that Python says it once for each.
    depth, frame = 2, sys._getframe(1)  # noqa: SLF001 - warnings.warn counts such frames
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(_OURS):
        depth, frame = depth + 1, frame.f_back
    warnings.warn(_BLOCKS, RuntimeWarning, stacklevel=depth)


class Client(Driver):
    """Asks for approval and blocks until there is an answer. Safe to share between threads.

    Args:
        url: The dashboard's address; ``DASHBOARD_URL`` if None.
        token: The agent's token; ``DASHBOARD_TOKEN`` if None.
        transport: Carries the requests; never closed here.
        insecure_http: Allow plain http to another machine, where anybody on the way could read
            the token.
        clock: Seconds that never run backwards; given in tests.
        sleep: Waits that many seconds; given in tests.
        on_pending: Called with the answer when a person has to decide; see ``telling``.
        on_decided: Called with the answer when it was decided; see ``telling``.

    Raises:
        NotConfigured: The address or the token is missing or cannot be used.
    """

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        transport: httpx2.BaseTransport | None = None,
        insecure_http: bool = False,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        on_pending: Listener | None = None,
        on_decided: Listener | None = None,
    ) -> None:
        super().__init__(
            url,
            token,
            insecure_http=insecure_http,
            clock=clock,
            on_pending=on_pending,
            on_decided=on_decided,
        )
        options = (url, token, transport, insecure_http or None, on_pending, on_decided)
        usual = clock is time.monotonic and sleep is time.sleep
        self._of_environment = usual and options == (None,) * len(options)
        self._transport = transport
        self._sleep = sleep
        self._lock = threading.Lock()
        self._http: httpx2.Client | None = None
        self._users = 0
        self._entered: list[httpx2.Client] = []  # of each ``with`` that has begun

    def __enter__(self) -> Self:
        self._entered.append(self._acquire())
        return self

    def __exit__(self, *_: object) -> None:
        self._release(self._entered.pop())

    def request_approval(
        self,
        request: ApprovalRequest,
        *,
        idempotency_key: str | None = None,
        heard: flows.Heard | None = None,
    ) -> ApprovalResponse:
        """Ask, wait until somebody decides, and use the approval if there is one.

        A returned response with ``approved`` True may be acted upon once, now. Rejected, expired
        and cancelled are returned too, with ``approved`` False.

        Args:
            request: The question.
            idempotency_key: Names the question. Asking again with the same key and the same
                request, after a restart for example, finds the first one.
            heard: Called with every answer while nobody has decided, to show the time left.

        Raises:
            DashboardError: There is no answer, or one that must not be used.
        """
        talk = self._conversation(to_submit(request), idempotency_key, heard)
        return self._converse(talk, talk.ask())

    def submit(self, request: ApprovalRequest, *, idempotency_key: str | None = None) -> Pending:
        """Ask without waiting. ``wait`` takes what is returned."""
        talk = self._conversation(to_submit(request), idempotency_key)
        return self._converse(talk, talk.submit())

    def wait(
        self, pending: Pending, *, withdraw: bool = True, heard: flows.Heard | None = None
    ) -> ApprovalResponse:
        """Wait for what was submitted, like ``request_approval``.

        Args:
            pending: What ``submit`` returned.
            withdraw: Withdraw the request if the wait is interrupted.
            heard: Called with every answer while nobody has decided.
        """
        key = to_await(pending).idempotency_key or None
        talk = self._conversation(pending.request, key, heard)
        return self._converse(talk, talk.resume(pending.id), withdraw=withdraw)

    def decided(
        self, pending: Pending, *, withdraw: bool = True, heard: flows.Heard | None = None
    ) -> ApprovalResponse:
        """Wait like ``wait``, but use no approval: its ``approved`` stays False until ``start``.

        For something that runs later than it was decided. A hold, the end of the approval's
        validity and its being taken back stop it in between.
        """
        key = to_await(pending).idempotency_key or None
        talk = self._conversation(pending.request, key, heard)
        return self._converse(talk, talk.decided(pending.id), withdraw=withdraw)

    def start(self, response: ApprovalResponse) -> ApprovalResponse:
        """Use an approval that ``decided`` returned, right before what was approved is run.

        What is no approval is returned as it is.

        Returns:
            The response with ``approved`` True: it may be acted upon once, now.

        Raises:
            AlreadyUsed: It was used before.
            OnHold: Everything is on hold.
            TakenBack: A person took it back.
            TooLate: The time to use it is over.
            DashboardError: The dashboard could not record that it is used.
        """
        return self._converse(None, flows.start(response, self._timing))

    def get(self, approval_id: str, *, request: ApprovalRequest | Asked | None = None) -> Answer:
        """Ask where a request stands, whoever asked it. This uses no approval.

        Args:
            approval_id: The request, perhaps of another process.
            request: What it should be about; checked if given.

        Raises:
            DigestMismatch: It, or its approval, is about something else than ``request``.
        """
        return self._converse(None, flows.get(approval_id, request, self._timing))

    def iter_decided(
        self, since: flows.Since = None, *, about: flows.About | None = None
    ) -> Iterator[Answer]:
        """Give what was decided of this agent's requests, in order, until there is no more.

        Each answer is what ``get`` gives, and uses nothing up. Keep the ``id`` of the last one
        that you dealt with and go on from it: nothing is missed and nothing comes twice, however
        late a decision was recorded. A moment cannot promise that, because clocks differ.

        Args:
            since: The ``id`` of an earlier answer; a moment with its time zone, to begin with
                what was decided then or later; None for everything.
            about: Returns the request of an id, or None if it is not known. An answer about
                something else is refused as by ``get``.

        Raises:
            ValueError: ``since`` is neither.
            DigestMismatch: An answer, or its approval, is about something else. The message says
                which, and how to go on after it.
            RequestRefused: ``since`` names no request of this agent that was decided.
        """
        return self._decided(flows.Reading(since, about))

    def check(self, *, within_s: float = flows.SHORT_S) -> Access:
        """Ask the dashboard who this is, and whether a question can be approved now.

        Nobody is asked and nothing is stored, so an agent can call this when it starts.

        Args:
            within_s: How long to try, in seconds.

        Raises:
            NotADashboard, Unreachable: The address is wrong, or nothing answered in time.
            TokenRefused: The token is not known, was revoked, or has expired.
            ProtocolMismatch: The dashboard speaks another version of the protocol.
        """
        return self._converse(None, flows.check(self._timing, within_s))

    def cancel(self, approval_id: str, reason: str = "") -> Answer:
        """Withdraw a request that nobody has decided."""
        return self._converse(None, flows.cancel(approval_id, reason, self._timing))

    def report_finished(
        self,
        response: ApprovalResponse,
        *,
        exit_code: int | None = None,
        error: str = "",
        duration_s: float | None = None,
        output_head: str = "",
        within_s: float = flows.REPORT_WITHIN_S,
    ) -> Answer:
        """Tell the dashboard how something that was approved ended, trying for ``within_s``."""
        end = Finished(exit_code, error, duration_s, output_head)
        return self._converse(None, flows.report(response, end, self._timing, within_s))

    def approval_func(self, request: Any) -> Any:
        """Ask whether code may run, as AutoGen's blocking ``approval_func``.

        Whatever goes wrong is returned as a rejection whose reason says what happened. It returns
        an ``ApprovalResponse``, typed as anything because AutoGen asks for its own class.
        """
        try:
            return for_model(self.request_approval(to_request(request)))
        except Exception as error:  # noqa: BLE001 - whatever goes wrong is a rejection
            return refusal(error)

    def _connections_of_its_own(self) -> None:
        self._leave_the_connections()
        self._entered = []

    def _leave_the_connections(self) -> None:
        self._lock, self._http, self._users = threading.Lock(), None, 0

    def _decided(self, reading: flows.Reading) -> Iterator[Answer]:
        while not reading.over:
            for answer in self._converse(None, reading.page(self._timing)):
                yield reading.checked(answer)

    def _converse(self, talk: Conversation | None, flow: Flow[T], *, withdraw: bool = True) -> T:
        _warn_in_a_loop()
        with self._connected() as http:
            try:
                return self._drive(http, flow)
            except BaseException:
                if talk is not None and withdraw:
                    until = time.monotonic() + flows.FAREWELL_S
                    with suppress(Exception), deadline(until):
                        self._drive(http, talk.withdraw(STOPPED))
                raise

    def _drive(self, http: httpx2.Client, flow: Flow[T]) -> T:
        with conversation() as traced:
            return self._go(http, flow, traced)

    def _go(self, http: httpx2.Client, flow: Flow[T], traced: Mapping[str, str]) -> T:
        received: Received = None
        while True:
            try:
                step = flow.send(received)
            except StopIteration as stop:
                result: T = stop.value
                return result
            if isinstance(step, Sleep):
                self._sleep(step.seconds)
                received = None
                continue
            if isinstance(step, Tell):
                try:
                    step.listener(step.answer)
                except Exception as error:  # noqa: BLE001 - it is the host's code, and only told
                    step.failed(error)
                received = None
                continue
            try:
                received = self._exchange(http, step, traced)
            except httpx2.HTTPError as error:
                received = failure(error)

    def _exchange(self, http: httpx2.Client, call: Call, traced: Mapping[str, str]) -> Received:
        until, body = time.monotonic() + call.limit_s, bytearray()
        with deadline(until), http.stream(**self._arguments(call, traced)) as response:
            if (
                trouble := not_read_on(response, 0, until)
            ) is not None:  # a little may unpack to a lot
                return trouble
            for chunk in response.iter_bytes():
                body += chunk
                if (trouble := not_read_on(response, len(body), until)) is not None:
                    return trouble
            return reply(response, bytes(body))

    @contextmanager
    def _connected(self) -> Iterator[httpx2.Client]:
        http = self._acquire()
        try:
            yield http
        finally:
            self._release(http)

    def _acquire(self) -> httpx2.Client:
        with self._lock:
            if self._http is None:
                try:
                    options = self._settings.options()
                    self._http = httpx2.Client(transport=self._transport, **options)
                except Exception as error:
                    raise unusable(error) from error
                keep(self._http)
            self._users += 1
            return self._http

    def _release(self, http: httpx2.Client) -> None:
        with self._lock:
            if http is not self._http:  # of the process that this one was forked from
                return
            self._users -= 1
            if self._users == 0:
                if self._transport is None:
                    http.close()
                self._http = None
