"""Has LangChain call a tool once for one approval, also where a middleware of the host retries.

A callback is the place that is nearest to a call: whatever makes the call again comes by it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from typing import Any

from approval_client._errors import AlreadyUsed
from approval_client.adapters._pauses import called_again

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


def approve_once(tool: str, ids: Collection[str]) -> None:
    """Allow the calls of a tool that have these ids once; each of its calls if there are none.

    A model may give an id again, to a call that is asked about anew.
    """
    if (callback := _current.get()) is not None:
        callback.calls.approve(tool, ids)


class _Calls:
    """The calls that were approved, and those of them that were made."""

    def __init__(self) -> None:
        self._ids: dict[str, set[str]] = {}
        self._without_ids: set[str] = set()
        self._made: dict[tuple[str, str], Any] = {}

    def approve(self, tool: str, ids: Collection[str]) -> None:
        self._ids.setdefault(tool, set()).update(ids)
        if not ids:
            self._without_ids.add(tool)
        for call in list(self._made):
            if call[0] == tool and (call[1] in ids or not ids):
                del self._made[call]

    def make(self, tool: str, call_id: str | None, run_id: Any) -> None:
        """Note that a tool is about to be called.

        Raises:
            AlreadyUsed: This call of it was approved and made before.
        """
        approved = tool in self._without_ids or call_id in self._ids.get(tool, ())
        if call_id is None or not approved:
            return
        if (tool, call_id) in self._made:
            raise AlreadyUsed(called_again(tool))
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
            self.calls.make(tool, said.get("tool_call_id"), run_id)

        def on_tool_error(self, error: BaseException, *, run_id: Any, **_: Any) -> None:
            if isinstance(error, interrupt):
                self.calls.interrupted(run_id)

    return Watching()
