"""Has LangChain call a tool once for one approval, also where a middleware of the host retries.

A callback is the place that is nearest to a call: whatever makes the call again comes by it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from itertools import chain
from typing import Any, TypeAlias

from approval_client._errors import AlreadyUsed, DigestMismatch
from approval_client.adapters._pauses import called_again

IsApproved: TypeAlias = Callable[[Any], bool]
_current: ContextVar[Any] = ContextVar("approved_calls", default=None)


@contextmanager
def each_once() -> Iterator[None]:
    """Have each call of a tool that is approved within made once.

    Making it again raises ``AlreadyUsed``. A call that LangChain makes without its id, as
    langchain-core 1.0.0 does, is not counted.
    """
    _register()
    previous = _current.get()
    _current.set(_callback())
    try:
        yield
    finally:
        _current.set(previous)


def approve_once(tool: str, ids: Collection[str], may: Sequence[IsApproved]) -> None:
    """Allow the calls of a tool that have these ids once; each of its calls if there are none.

    A model may give an id again, to a call that is asked about anew.

    Args:
        tool: Its name.
        ids: Those of the calls.
        may: Of which one says that it may be called with its arguments.
    """
    if (callback := _current.get()) is not None:
        callback.calls.approve(tool, ids, may)


def is_unseen(tool: str, ids: Collection[str]) -> bool:
    """Say whether LangChain made no call of a tool with any of these ids, though it could."""
    callback = _current.get()
    return callback is not None and callback.calls.is_unseen(tool, ids)


class _Calls:
    """The calls that were approved, those of them that were made, and what models wrote."""

    def __init__(self) -> None:
        self._ids: dict[str, set[str]] = {}
        self._without_ids: set[str] = set()
        self._made: dict[tuple[str, str], Any] = {}
        self._may: dict[tuple[str, str], Sequence[IsApproved]] = {}
        self._written: set[tuple[str, str]] = set()
        self._seen: set[tuple[str, str]] = set()
        self._nameless: set[str] = set()  # called without an id, as far as LangChain says

    def approve(self, tool: str, ids: Collection[str], may: Sequence[IsApproved]) -> None:
        self._may |= dict.fromkeys([(tool, name) for name in ids or ("",)], may)
        self._ids.setdefault(tool, set()).update(ids)
        if not ids:
            self._without_ids.add(tool)
        for call in list(self._made):
            if call[0] == tool and (call[1] in ids or not ids):
                del self._made[call]
        self._seen.difference_update((tool, name) for name in ids)

    def write(self, calls: Iterable[Any]) -> None:
        """Note calls as they stand in a model's message."""
        self._written.update((str(call["name"]), str(call.get("id"))) for call in calls)

    def make(self, tool: str, call_id: str | None, run_id: Any, inputs: Any) -> None:
        """Note that a tool is about to be called.

        Raises:
            AlreadyUsed: This call of it was approved and made before.
            DigestMismatch: It was approved with other arguments, of another tool, or not at all.
        """
        if call_id is None or not self._is_approved(tool, call_id):
            self._check_stranger(tool, call_id)
            return
        if (tool, call_id) in self._made:
            raise AlreadyUsed(called_again(tool))
        may = self._may.get((tool, call_id)) or self._may.get((tool, ""), ())
        if inputs is not None and not any(is_approved(inputs) for is_approved in may):
            raise _changed(f"{tool!r:.80} would now be called with something else than")
        self._made[tool, call_id] = run_id
        self._seen.add((tool, call_id))

    def note_nameless(self, tool: str) -> None:
        """Note a call of which LangChain does not say which it is."""
        self._nameless.add(tool)

    def is_unseen(self, tool: str, ids: Collection[str]) -> bool:
        seen_calls = self._seen.intersection((tool, name) for name in ids)
        return bool(ids) and tool not in self._nameless and not seen_calls

    def interrupted(self, run_id: Any) -> None:
        """Note that a call has interrupted the graph, which makes it again from its start."""
        for call in [call for call, name in self._made.items() if name == run_id]:
            del self._made[call]

    def _is_approved(self, tool: str, call_id: str) -> bool:
        return tool in self._without_ids or call_id in self._ids.get(tool, ())

    def _check_stranger(self, tool: str, call_id: str | None) -> None:
        """Refuse a call that nobody approved if it may stand in the place of one that was.

        Raises:
            DigestMismatch: No model wrote it, and its tool or its id has an approval.
        """
        if call_id is None:  # as where the code of a tool calls another one
            if any(self.is_unseen(tool, [name]) for name in self._ids.get(tool, ())):
                raise _changed(f"{tool!r:.80} would now be called without the id of")
            return
        if (tool, call_id) in self._written:
            return
        if tool in self._ids:
            raise _changed(f"{tool!r:.80} would now be called under another id than")
        names = {name for name, written_id in self._written if written_id == call_id}
        if names & self._without_ids or any(call_id in ids for ids in self._ids.values()):
            raise _changed(f"{tool!r:.80} would now be called in the place of")


def _changed(what: str) -> DigestMismatch:
    return DigestMismatch(
        f"{what} what was approved, which a middleware or a callback has changed. It was not "
        "called. Have it change that before it is asked, or not at all."
    )


def _newest(state: Any) -> Iterable[Any]:
    """Return what a node is called with of calls: some, or a state with a model's message."""
    if isinstance(state, Mapping):
        call, messages = state.get("tool_call"), state.get("messages")
    else:
        call, messages = None, state if isinstance(state, list) else getattr(state, "messages", ())
    if isinstance(call, Mapping):
        return [call]
    if not isinstance(messages, list | tuple):
        return ()
    calls = [m for m in messages if isinstance(m, Mapping) and m.get("type") == "tool_call"]
    answers = (m.tool_calls for m in reversed(messages) if getattr(m, "type", "") == "ai")
    return [*calls, *next(answers, ())]


@cache
def _register() -> None:
    hooks = import_module("langchain_core.tracers.context")
    hooks.register_configure_hook(_current, inheritable=True)


def _callback() -> Any:
    base: Any = import_module("langchain_core.callbacks").BaseCallbackHandler
    interrupt = import_module("langgraph.errors").GraphInterrupt

    class Watching(base):  # type: ignore[misc] # LangChain is not installed where types are checked
        raise_error = True  # else LangChain logs it, and makes the call
        run_inline = True
        calls = _Calls()

        def on_llm_end(self, response: Any, **_: Any) -> None:
            for generation in chain.from_iterable(response.generations):
                message = getattr(generation, "message", None)
                self.calls.write(getattr(message, "tool_calls", ()))

        def on_chain_start(self, _: Any, inputs: Any, **__: Any) -> None:
            self.calls.write(_newest(inputs))

        def on_tool_start(self, serialized: Any, _: str, *, run_id: Any, **said: Any) -> None:
            tool = str((serialized or {}).get("name"))
            if "tool_call_id" not in said:
                self.calls.note_nameless(tool)
            else:
                self.calls.make(tool, said["tool_call_id"], run_id, said.get("inputs"))

        def on_tool_error(self, error: BaseException, *, run_id: Any, **_: Any) -> None:
            if isinstance(error, interrupt):
                self.calls.interrupted(run_id)

    return Watching()
