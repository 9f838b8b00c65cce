"""``AsyncClient``, which awaits: a thin driver of the conversation.

Each event loop has connections of its own. They are opened with the first call that needs them
and closed after the last, so a client does not have to be closed and survives a second
``asyncio.run``. ``async with`` keeps them open in between.
"""

from __future__ import annotations

import asyncio
import inspect
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

from approval_client import _flow as flows
from approval_client._answers import Access, Answer
from approval_client._calls import Call, Finished, Flow, Received, Sleep, Tell
from approval_client._driver import (
    STOPPED,
    TOO_SLOW,
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


@dataclass
class _Shared:
    """The connections of one event loop, and how many conversations use them."""

    http: httpx2.AsyncClient
    users: int = 0


class AsyncClient(Driver):
    """Asks for approval; other tasks run on until there is an answer.

    Takes what ``Client`` takes. It may be used from one event loop after another, and from
    several at once.
    """

    _awaits = True

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        transport: httpx2.AsyncBaseTransport | None = None,
        insecure_http: bool = False,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
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
        usual = clock is time.monotonic and sleep is asyncio.sleep
        self._of_environment = usual and options == (None,) * len(options)
        self._transport = transport
        self._sleep = sleep
        self._leave_the_connections()

    async def __aenter__(self) -> Self:
        self._acquire()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._release()

    async def request_approval(
        self,
        request: ApprovalRequest,
        *,
        idempotency_key: str | None = None,
        heard: flows.Heard | None = None,
    ) -> ApprovalResponse:
        """Do what ``Client.request_approval`` does.

        A cancelled task withdraws its request before the cancellation goes on.
        """
        talk = self._conversation(to_submit(request), idempotency_key, heard)
        return await self._converse(talk, talk.ask())

    async def submit(
        self, request: ApprovalRequest, *, idempotency_key: str | None = None
    ) -> Pending:
        """Ask without waiting. ``wait`` takes what is returned."""
        talk = self._conversation(to_submit(request), idempotency_key)
        return await self._converse(talk, talk.submit())

    async def wait(
        self, pending: Pending, *, withdraw: bool = True, heard: flows.Heard | None = None
    ) -> ApprovalResponse:
        """Wait for what was submitted, like ``Client.wait``."""
        key = to_await(pending).idempotency_key or None
        talk = self._conversation(pending.request, key, heard)
        return await self._converse(talk, talk.resume(pending.id), withdraw=withdraw)

    async def decided(
        self, pending: Pending, *, withdraw: bool = True, heard: flows.Heard | None = None
    ) -> ApprovalResponse:
        """Wait, and use no approval: ``approved`` stays False until ``start``."""
        key = to_await(pending).idempotency_key or None
        talk = self._conversation(pending.request, key, heard)
        return await self._converse(talk, talk.decided(pending.id), withdraw=withdraw)

    async def start(self, response: ApprovalResponse) -> ApprovalResponse:
        """Use an approval right before what was approved is run, like ``Client.start``."""
        return await self._converse(None, flows.start(response, self._timing))

    async def get(
        self, approval_id: str, *, request: ApprovalRequest | Asked | None = None
    ) -> Answer:
        """Ask where a request stands, like ``Client.get``."""
        return await self._converse(None, flows.get(approval_id, request, self._timing))

    def iter_decided(
        self, since: flows.Since = None, *, about: flows.About | None = None
    ) -> AsyncIterator[Answer]:
        """Give what was decided, in order, like ``Client.iter_decided``; for ``async for``."""
        return self._decided(flows.Reading(since, about))

    async def check(self, *, within_s: float = flows.SHORT_S) -> Access:
        """Ask the dashboard who this is, like ``Client.check``."""
        return await self._converse(None, flows.check(self._timing, within_s))

    async def cancel(self, approval_id: str, reason: str = "") -> Answer:
        """Withdraw a request that nobody has decided."""
        return await self._converse(None, flows.cancel(approval_id, reason, self._timing))

    async def report_finished(
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
        return await self._converse(None, flows.report(response, end, self._timing, within_s))

    async def approval_func(self, request: Any) -> Any:
        """Ask whether code may run, as AutoGen's asynchronous ``approval_func``.

        Whatever goes wrong is returned as a rejection whose reason says what happened. It returns
        an ``ApprovalResponse``, typed as anything because AutoGen asks for its own class.
        """
        try:
            return for_model(await self.request_approval(to_request(request)))
        except Exception as error:  # noqa: BLE001 - whatever goes wrong is a rejection
            return refusal(error)

    async def _begin(self, response: ApprovalResponse) -> ApprovalResponse:
        """Start an approval whose content an adapter bound to what its framework calls."""
        return await self._converse(None, flows.begin(response, self._timing))

    def _leave_the_connections(self) -> None:
        self._shared: WeakKeyDictionary[asyncio.AbstractEventLoop, _Shared] = WeakKeyDictionary()
        self._farewells: set[asyncio.Task[None]] = set()

    async def _decided(self, reading: flows.Reading) -> AsyncIterator[Answer]:
        while not reading.over:
            for answer in await self._converse(None, reading.page(self._timing)):
                yield reading.checked(answer)

    async def _converse(
        self, talk: Conversation | None, flow: Flow[T], *, withdraw: bool = True
    ) -> T:
        http = self._acquire()
        try:
            result = await self._drive(http, flow)
        except GeneratorExit:
            self._say_farewell(http, talk if withdraw else None)  # nothing can be awaited here
            raise
        except BaseException:
            # A task of its own: a second cancellation ends the waiting here, not the farewell.
            farewell = self._say_farewell(http, talk if withdraw else None)
            if farewell is not None:
                await asyncio.shield(farewell)
            raise
        await self._release()
        return result

    def _say_farewell(
        self, http: httpx2.AsyncClient, talk: Conversation | None
    ) -> asyncio.Task[None] | None:
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:  # the loop is gone, and its connections with it
            return None
        task = loop.create_task(self._farewell(http, talk))
        self._farewells.add(task)
        task.add_done_callback(self._farewells.discard)
        return task

    async def _farewell(self, http: httpx2.AsyncClient, talk: Conversation | None) -> None:
        if talk is not None:
            with suppress(Exception):
                async with asyncio.timeout(flows.FAREWELL_S):
                    await self._drive(http, talk.withdraw(STOPPED))
        with suppress(Exception):
            await self._release()

    async def _drive(self, http: httpx2.AsyncClient, flow: Flow[T]) -> T:
        with conversation() as traced:
            return await self._go(http, flow, traced)

    async def _go(self, http: httpx2.AsyncClient, flow: Flow[T], traced: Mapping[str, str]) -> T:
        received: Received = None
        while True:
            try:
                step = flow.send(received)
            except StopIteration as stop:
                result: T = stop.value
                return result
            if isinstance(step, Sleep):
                await self._sleep(step.seconds)
                received = None
                continue
            if isinstance(step, Tell):
                try:
                    if inspect.isawaitable(awaitable := step.listener(step.answer)):
                        await awaitable
                except Exception as error:  # noqa: BLE001 - it is the host's code, and only told
                    step.failed(error)
                received = None
                continue
            try:
                async with asyncio.timeout(step.limit_s):
                    received = await self._exchange(http, step, traced)
            except TimeoutError:
                received = TOO_SLOW
            except httpx2.HTTPError as error:
                received = failure(error)

    async def _exchange(
        self, http: httpx2.AsyncClient, call: Call, traced: Mapping[str, str]
    ) -> Received:
        body = bytearray()
        async with http.stream(**self._arguments(call, traced)) as response:
            if (
                trouble := not_read_on(response, 0, math.inf)
            ) is not None:  # a little may unpack to a lot
                return trouble
            async for chunk in response.aiter_bytes():
                body += chunk
                if (trouble := not_read_on(response, len(body), math.inf)) is not None:
                    return trouble
            return reply(response, bytes(body))

    def _acquire(self) -> httpx2.AsyncClient:
        loop = asyncio.get_running_loop()
        shared = self._shared.get(loop)
        if shared is None:
            try:
                options = self._settings.options()
                http = httpx2.AsyncClient(transport=self._transport, **options)
            except Exception as error:
                raise unusable(error) from error
            shared = self._shared[loop] = _Shared(http)
        shared.users += 1
        return shared.http

    async def _release(self) -> None:
        loop = asyncio.get_running_loop()
        shared = self._shared.get(loop)
        if shared is None:  # it was acquired by the process that this one was forked from
            return
        shared.users -= 1
        if shared.users == 0:
            del self._shared[loop]
            if self._transport is None:
                await shared.http.aclose()
