"""Has LangChain call a tool once for one approval, also where a middleware of the host retries.

A callback is the place that is nearest to a call: whatever makes the call again comes by it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import chain
from typing import Any, TypeAlias

from approval_client._errors import AlreadyUsed, DigestMismatch
from approval_client.adapters._pauses import called_again
from approval_client.adapters.langgraph._tools import calls_in, named_calls

IsApproved: TypeAlias = Callable[[Any], bool]
_current: ContextVar[Any] = ContextVar("approved_calls", default=None)
_tool_run: ContextVar[Any] = ContextVar("tool_run", default=None)  # whose code runs


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


@dataclass(frozen=True)
class Seen:
    """What was seen of one call that was approved and made.

    Attributes:
        has_ended: Whether its end was seen.
        error: That which it ended with, if it did.
    """

    has_ended: bool = False
    error: BaseException | None = None


def seen_calls(tool: str, ids: Collection[str]) -> Sequence[Seen] | None:
    """Return what was seen of the calls of a tool with these ids; None if that cannot be seen."""
    callback = _current.get()
    return None if callback is None else callback.calls.seen(tool, ids)


def is_refused(tool: str, ids: Collection[str], error: BaseException | None) -> bool:
    """Say whether this error stopped a call that would have stood in the place of one of these."""
    callback = _current.get()
    return callback is not None and callback.calls.is_refused(tool, ids, error)


@dataclass(frozen=True)
class _Run:
    """One run of LangChain's: of a tool, or of what may call tools.

    Attributes:
        calls: What the latter was started with, by their names and ids.
    """

    parent: Any
    is_tool: bool = False
    calls: Collection[tuple[str, str]] = ()
    before: Any = None  # the run of the tool whose code ran before


class _Calls:
    """The calls that were approved, those of them that were made, and what models wrote."""

    def __init__(self) -> None:
        self._ids: dict[str, set[str]] = {}
        self._without_ids: set[str] = set()
        self._made: dict[tuple[str, str], Any] = {}
        self._may: dict[tuple[str, str], Sequence[IsApproved]] = {}
        self._written: set[tuple[str, str]] = set()
        self._seen: dict[tuple[str, str], Seen] = {}
        self._refused: list[tuple[BaseException, str, str | None]] = []
        self._runs: dict[Any, _Run] = {}
        self._nameless: set[str] = set()  # called without an id, as far as LangChain says

    def approve(self, tool: str, ids: Collection[str], may: Sequence[IsApproved]) -> None:
        self._may |= dict.fromkeys([(tool, name) for name in ids or ("",)], may)
        self._ids.setdefault(tool, set()).update(ids)
        if not ids:
            self._without_ids.add(tool)
        for call in list(self._made):
            if call[0] == tool and (call[1] in ids or not ids):
                del self._made[call]
        for call in list(self._seen):
            if call[0] == tool and (call[1] in ids or not ids):
                del self._seen[call]

    def write(self, calls: Iterable[Mapping[str, Any]]) -> Collection[tuple[str, str]]:
        """Note calls as they stand in a model's message, and return their names and ids."""
        pairs = [(str(call["name"]), str(call.get("id"))) for call in calls]
        self._written.update(pairs)
        return pairs

    def begin(self, run_id: Any, run: _Run) -> None:
        """Note that a run has begun."""
        self._runs[run_id] = run

    def end(self, run_id: Any) -> _Run | None:
        """Note that a run is over, and return it."""
        return self._runs.pop(run_id, None)

    def make(self, tool: str, call_id: str | None, run_id: Any, parent: Any, inputs: Any) -> None:
        """Note that a tool is about to be called.

        Raises:
            AlreadyUsed: This call of it was approved and made before.
            DigestMismatch: It was approved with other arguments, of another tool, or not at all.
        """
        try:
            self._make(tool, call_id, run_id, parent, inputs)
        except (AlreadyUsed, DigestMismatch) as error:
            self._refused.append((error, tool, call_id))
            raise

    def _make(self, tool: str, call_id: str | None, run_id: Any, parent: Any, inputs: Any) -> None:
        if call_id is None or not self._is_approved(tool, call_id):
            if not self._is_helper(parent):
                self._check_stranger(tool, call_id)
            return
        if (tool, call_id) in self._made:
            raise AlreadyUsed(called_again(tool))
        may = self._may.get((tool, call_id)) or self._may.get((tool, ""), ())
        if inputs is not None and not any(is_approved(inputs) for is_approved in may):
            raise _changed(f"{tool!r:.80} would now be called with something else than")
        self._made[tool, call_id] = run_id
        self._seen[tool, call_id] = Seen()

    def note_nameless(self, tool: str) -> None:
        """Note a call of which LangChain does not say which it is."""
        self._nameless.add(tool)

    def seen(self, tool: str, ids: Collection[str]) -> Sequence[Seen] | None:
        if not ids or tool in self._nameless:
            return None
        return [self._seen[tool, name] for name in ids if (tool, name) in self._seen]

    def is_refused(self, tool: str, ids: Collection[str], error: BaseException | None) -> bool:
        return any(
            refusal is error and (call_id in ids or name == tool)
            for refusal, name, call_id in self._refused
        )

    def ended(self, run_id: Any, error: BaseException | None) -> None:
        """Note how a call ended."""
        for call in [call for call, name in self._made.items() if name == run_id]:
            self._seen[call] = Seen(has_ended=True, error=error)

    def interrupted(self, run_id: Any) -> None:
        """Note that a call has interrupted the graph, which makes it again from its start."""
        for call in [call for call, name in self._made.items() if name == run_id]:
            del self._made[call]

    def _is_helper(self, parent: Any) -> bool:
        """Say whether the code of a tool makes a call, and not what stands before the tools.

        It may pass on the configuration that it was called with itself, or one without any run.
        """
        for run in self._above(parent):
            if run.is_tool:
                return True
            if any(self._is_approved(*call) for call in run.calls):
                return False  # this is what calls the tools of an agent, behind another tool too
        caller = self._runs.get(_tool_run.get())
        if caller is None:
            return False
        return parent is None or any(
            run is self._runs.get(parent) for run in self._above(caller.parent)
        )

    def _is_open(self, tool: str) -> bool:
        """Say whether a call of a tool was approved, and was not seen yet."""
        if tool in self._nameless:
            return False
        ids = {name for seen_tool, name in self._seen if seen_tool == tool}
        return not ids.issuperset(self._ids.get(tool, ())) or (
            tool in self._without_ids and not ids
        )

    def _above(self, run_id: Any) -> Iterator[_Run]:
        """Return a run and what runs it, the nearest first."""
        while (run := self._runs.get(run_id)) is not None:
            yield run
            run_id = run.parent

    def _is_approved(self, tool: str, call_id: str) -> bool:
        return tool in self._without_ids or call_id in self._ids.get(tool, ())

    def _check_stranger(self, tool: str, call_id: str | None) -> None:
        """Refuse a call that nobody approved if it may stand in the place of one that was.

        Raises:
            DigestMismatch: No model wrote it, and its tool or its id has an approval.
        """
        if call_id is None:
            if self._is_open(tool):
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


def _newest(state: Any) -> Sequence[Mapping[str, Any]]:
    """Return what a node is called with of calls: some, or a state with a model's message.

    The state is the host's, and may hold anything under these names.
    """
    if isinstance(state, Mapping):
        call, messages = state.get("tool_call"), state.get("messages")
    else:
        call, messages = None, state if isinstance(state, list) else getattr(state, "messages", ())
    if single := named_calls([call]):
        return single
    if not isinstance(messages, list | tuple):
        return ()
    return [
        *(call for call in named_calls(messages) if call.get("type") == "tool_call"),
        *calls_in(messages),
    ]


@cache
def _register() -> None:
    hooks = import_module("langchain_core.tracers.context")
    hooks.register_configure_hook(_current, inheritable=True)


class _Watching:
    """What LangChain tells of its runs. A handler's methods, for its base is LangChain's own."""

    raise_error = True  # else LangChain logs it, and makes the call
    run_inline = True

    def __init__(self) -> None:
        super().__init__()
        self.calls = _Calls()

    def on_llm_end(self, response: Any, **_: Any) -> None:
        with suppress(Exception):  # what is not noted is refused
            for generation in chain.from_iterable(response.generations):
                message = getattr(generation, "message", None)
                self.calls.write(named_calls(getattr(message, "tool_calls", ())))

    def on_chain_start(
        self, _: Any, inputs: Any, *, run_id: Any, parent_run_id: Any = None, **__: Any
    ) -> None:
        calls: Collection[tuple[str, str]] = ()
        with suppress(Exception):  # the state is the host's, and what is not noted is refused
            calls = self.calls.write(_newest(inputs))
        self.calls.begin(run_id, _Run(parent_run_id, calls=calls))

    def on_chain_end(self, _: Any, *, run_id: Any, **__: Any) -> None:
        self.calls.end(run_id)

    def on_chain_error(self, _: BaseException, *, run_id: Any, **__: Any) -> None:
        self.calls.end(run_id)

    def on_tool_start(
        self, serialized: Any, _: str, *, run_id: Any, parent_run_id: Any = None, **said: Any
    ) -> None:
        tool = str((serialized or {}).get("name"))
        if "tool_call_id" not in said:
            self.calls.note_nameless(tool)
            return
        self.calls.make(tool, said["tool_call_id"], run_id, parent_run_id, said.get("inputs"))
        self.calls.begin(run_id, _Run(parent_run_id, is_tool=True, before=_tool_run.get()))
        _tool_run.set(run_id)

    def on_tool_end(self, _: Any, *, run_id: Any, **__: Any) -> None:
        self.calls.ended(run_id, None)
        self._leave(run_id)

    def on_tool_error(self, error: BaseException, *, run_id: Any, **_: Any) -> None:
        errors = import_module("langgraph.errors")
        if isinstance(error, errors.GraphInterrupt):
            self.calls.interrupted(run_id)
        elif not isinstance(error, errors.GraphBubbleUp):  # which only leads elsewhere
            self.calls.ended(run_id, error)
        self._leave(run_id)

    def _leave(self, run_id: Any) -> None:
        run = self.calls.end(run_id)
        if run is not None and _tool_run.get() == run_id:
            _tool_run.set(run.before)


def _callback() -> Any:
    base: Any = import_module("langchain_core.callbacks").BaseCallbackHandler
    return type("Watching", (_Watching, base), {})()
