"""Has LangChain call a tool once for one approval, also where a middleware of the host retries.

A callback is the place that is nearest to a call: whatever makes the call again comes by it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib import import_module
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


class _Calls:
    """The calls that were approved, and those of them that were made."""

    def __init__(self) -> None:
        self._ids: dict[str, set[str]] = {}
        self._without_ids: set[str] = set()
        self._made: dict[tuple[str, str], Any] = {}
        self._may: dict[tuple[str, str], Sequence[IsApproved]] = {}

    def approve(self, tool: str, ids: Collection[str], may: Sequence[IsApproved]) -> None:
        self._may |= dict.fromkeys([(tool, name) for name in ids or ("",)], may)
        self._ids.setdefault(tool, set()).update(ids)
        if not ids:
            self._without_ids.add(tool)
        for call in list(self._made):
            if call[0] == tool and (call[1] in ids or not ids):
                del self._made[call]

    def make(self, tool: str, call_id: str | None, run_id: Any, inputs: Any) -> None:
        """Note that a tool is about to be called.

        Raises:
            AlreadyUsed: This call of it was approved and made before.
            DigestMismatch: It was approved with other arguments.
        """
        approved = tool in self._without_ids or call_id in self._ids.get(tool, ())
        if call_id is None or not approved:
            return
        if (tool, call_id) in self._made:
            raise AlreadyUsed(called_again(tool))
        may = self._may.get((tool, call_id)) or self._may.get((tool, ""), ())
        if inputs is not None and not any(is_approved(inputs) for is_approved in may):
            raise DigestMismatch(
                f"{tool!r:.80} would now be called with something else than what was approved, "
                "which a middleware or a callback has changed. It was not called. Have it change "
                "that before it is asked, or not at all."
            )
        self._made[tool, call_id] = run_id

    def interrupted(self, run_id: Any) -> None:
        """Note that a call has interrupted the graph, which makes it again from its start."""
        for call in [call for call, name in self._made.items() if name == run_id]:
            del self._made[call]


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

        def on_tool_start(self, serialized: Any, _: str, *, run_id: Any, **said: Any) -> None:
            tool = str((serialized or {}).get("name"))
            self.calls.make(tool, said.get("tool_call_id"), run_id, said.get("inputs"))

        def on_tool_error(self, error: BaseException, *, run_id: Any, **_: Any) -> None:
            if isinstance(error, interrupt):
                self.calls.interrupted(run_id)

    return Watching()
