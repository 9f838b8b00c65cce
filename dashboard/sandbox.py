"""Run a function in a worker process that can be killed. Standard library only.

Lexers and parsers can be quadratic on hostile text and hold the interpreter's lock meanwhile, so
only another process can keep a time limit. Workers stay alive between calls. They end when their
parent does: an idle one reads the end of its input, a busy one is ended by its own alarm.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import os
import queue
import re
import resource
import signal
import socket
import struct
import subprocess
import sys
import time
import traceback
import warnings
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

POOL_SIZE = 2
HEAVY_POOL_SIZE = 1
"""Workers for what takes seconds, so that what takes milliseconds never waits for it."""

HEAVY_NICENESS = 10
QUEUE_WAIT_S = 2.0  # for a free worker; not part of a call's own deadline
START_WAIT_S = 10.0  # for a new worker on a busy machine; usually 0.05
ALARM_GRACE_S = 1.0  # after the deadline an orphan ends itself
MEMORY_BYTES = 1 << 30
MAX_REPLY_BYTES = 16 << 20
_NAME = re.compile(r"dashboard(\.[A-Za-z_][A-Za-z0-9_]*){2,}")
_CALL = struct.Struct("!ddII")  # seconds, those of computing, lengths of name and payload
_REPLY = struct.Struct("!?I")  # whether the function returned, length of what follows
_LOAD = "load "  # before the name of a module: it is only loaded
_INHERITED = ("PATH", "LANG", "LC_ALL", "LC_CTYPE")  # no secret is among these


class SandboxError(Exception):
    """The function gave no result: it failed, or its worker died or was never free."""


class NoWorkerFree(SandboxError):
    """All workers were busy for as long as the caller would wait. It says nothing of the call."""


class CallFailed(SandboxError):
    """The function itself raised an exception: whatever it was given, that is a fault of ours."""


class DeadlineExceeded(SandboxError):
    """The function was still running at its deadline and was killed."""


def call(
    dotted_name: str,
    payload: bytes,
    deadline_s: float,
    *,
    computing_s: float | None = None,
    queue_wait_s: float | None = None,
    is_heavy: bool = False,
) -> bytes:
    """Return what the function ``dotted_name`` makes of ``payload``, computed in a worker.

    Blocks for ``queue_wait_s`` and ``deadline_s`` at most, and the start of a worker.

    Args:
        dotted_name: A function from bytes to bytes, ``"dashboard.package.module.function"``.
        payload: What it is called with.
        deadline_s: How long it may run. Its worker is killed then.
        computing_s: How long it may compute, which a busy machine does not use up.
        queue_wait_s: How long to wait for a free worker, ``QUEUE_WAIT_S`` if it is left out.
        is_heavy: Whether it may take seconds. There are workers for that which run when nothing
            else wants the processor.

    Raises:
        ValueError: The name is not one of ours.
        DeadlineExceeded: It ran or computed for longer.
        SandboxError: It raised, its worker died, its result was too large, or no worker was free.
    """
    if not _NAME.fullmatch(dotted_name):
        raise ValueError(f"{dotted_name!r} does not name a function of this package.")
    pool = _heavy_pool if is_heavy else _pool
    return pool.run(
        dotted_name, payload, deadline_s, computing_s=computing_s, queue_wait_s=queue_wait_s
    )


class _Worker:
    """One child process and our end of the socket that is its input and output."""

    def __init__(self, niceness: int = 0) -> None:
        self._loaded: set[str] = set()
        self._socket, theirs = socket.socketpair()
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-m", "dashboard.sandbox"],
                stdin=theirs.fileno(),
                stdout=theirs.fileno(),
                stderr=subprocess.DEVNULL,
                env=clean_environment(),
                start_new_session=True,  # the terminal's Ctrl-C is not for it
            )
        if niceness:
            self._yield_to_others(niceness)

    def _yield_to_others(self, niceness: int) -> None:
        present = os.getpriority(os.PRIO_PROCESS, self.process.pid)
        os.setpriority(os.PRIO_PROCESS, self.process.pid, min(present + niceness, 19))
        # Where Linux groups processes by session, niceness only counts within one.
        with suppress(OSError):
            Path(f"/proc/{self.process.pid}/autogroup").write_text(str(niceness))

    def await_ready(self) -> None:
        self._receive(time.monotonic() + START_WAIT_S)

    def ask(
        self, name: str, payload: bytes, deadline_s: float, computing_s: float | None = None
    ) -> tuple[bool, bytes]:
        """Call a function; the time that its module takes to load is not part of the deadline.

        Raises:
            TimeoutError: It ran until ``deadline_s``, or computed for ``computing_s``.
        """
        module = name.rpartition(".")[0]
        if module not in self._loaded:
            self._send(_LOAD + module, b"", START_WAIT_S, 0)
            self._loaded.add(module)
        return self._send(name, payload, deadline_s, computing_s or 0)

    def _send(
        self, name: str, payload: bytes, deadline_s: float, computing_s: float
    ) -> tuple[bool, bytes]:
        until = time.monotonic() + deadline_s
        encoded = name.encode()
        self._socket.settimeout(deadline_s)
        head = _CALL.pack(deadline_s, computing_s, len(encoded), len(payload))
        self._socket.sendall(head + encoded + payload)
        return self._receive(until)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        self._socket.close()

    def abandon(self) -> None:
        """Let go of a process that belongs to our parent, without a warning or a signal."""
        self.process.returncode = 0
        self._socket.close()

    def _ended_by(self) -> int:
        """Return the signal that ended the process, 0 if none did."""
        with suppress(subprocess.TimeoutExpired):
            return max(-self.process.wait(ALARM_GRACE_S), 0)
        return 0

    def _receive(self, until: float) -> tuple[bool, bytes]:
        returned, length = _REPLY.unpack(self._read(_REPLY.size, until))
        if length > MAX_REPLY_BYTES:
            raise SandboxError(f"The result has {length} bytes; {MAX_REPLY_BYTES} are allowed.")
        return returned, self._read(length, until)

    def _read(self, size: int, until: float) -> bytes:
        buffer = bytearray()
        while len(buffer) < size:
            self._socket.settimeout(max(until - time.monotonic(), 1e-6))
            chunk = self._socket.recv(min(size - len(buffer), 1 << 18))
            if not chunk and self._ended_by() == signal.SIGPROF:
                raise TimeoutError  # it computed for as long as it may
            if not chunk:
                raise SandboxError("The worker process died.")
            buffer += chunk
        return bytes(buffer)


class _Pool:
    """As many slots as there may be workers; a slot is empty until somebody needs it."""

    def __init__(
        self, size: int = POOL_SIZE, *, queue_wait_s: float = QUEUE_WAIT_S, niceness: int = 0
    ) -> None:
        self._size = size
        self._niceness = niceness
        self._queue_wait_s = queue_wait_s
        self._reset()

    def run(
        self,
        dotted_name: str,
        payload: bytes,
        deadline_s: float,
        *,
        computing_s: float | None = None,
        queue_wait_s: float | None = None,
    ) -> bytes:
        patience_s = self._queue_wait_s if queue_wait_s is None else queue_wait_s
        try:
            worker = self._slots.get(timeout=patience_s)
        except queue.Empty:
            raise NoWorkerFree("No worker process became free in time.") from None
        healthy = None
        try:
            worker = self._living(worker)
            returned, body = worker.ask(dotted_name, payload, deadline_s, computing_s)
            healthy = worker
        except TimeoutError:
            limits = f"{deadline_s:g} s"
            limits += f", or {computing_s:g} s of computing" if computing_s else ""
            raise DeadlineExceeded(f"{dotted_name} was killed after {limits}.") from None
        except OSError as error:
            raise SandboxError(f"The worker process could not be used: {error}.") from None
        finally:
            if healthy is None:
                self._end(worker)
            self._slots.put(healthy)
        if not returned:
            # Memory that was not enough says something of what was given, and not of the function.
            kind = SandboxError if body.startswith(b"MemoryError ") else CallFailed
            raise kind(f"{dotted_name} failed: {body.decode(errors='replace')}.")
        return body

    def close(self) -> None:
        for worker in list(self.workers):
            self._end(worker)

    def abandon(self) -> None:
        """Forget the workers of the process that we were forked from."""
        for worker in self.workers:
            worker.abandon()
        self._reset()

    def _reset(self) -> None:
        self.workers: set[_Worker] = set()
        # The last one used is taken first, so that one caller at a time needs one worker only.
        self._slots: queue.LifoQueue[_Worker | None] = queue.LifoQueue()
        for _ in range(self._size):
            self._slots.put(None)

    def _living(self, worker: _Worker | None) -> _Worker:
        if worker is not None and worker.process.poll() is None:
            return worker
        self._end(worker)
        fresh = _Worker(self._niceness)
        self.workers.add(fresh)
        try:
            fresh.await_ready()
        except BaseException:
            self._end(fresh)
            raise
        return fresh

    def _end(self, worker: _Worker | None) -> None:
        if worker is not None:
            worker.kill()
            self.workers.discard(worker)


def clean_environment() -> dict[str, str]:
    """Return what a child process may know of our environment: no secret and no proxy."""
    inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    ours = str(Path(__file__).resolve().parents[1])
    return inherited | {
        "PYTHONPATH": os.pathsep.join(filter(None, [ours, os.getenv("PYTHONPATH")]))
    }


def _serve() -> None:
    """Be a worker: answer one call after the other until the input ends."""
    _restrict()
    calls = sys.stdin.buffer
    with os.fdopen(os.dup(1), "wb") as replies:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what a library prints is no reply
        _reply(replies, returned=True, body=b"")
        while len(header := calls.read(_CALL.size)) == _CALL.size:
            seconds, computing_s, *lengths = _CALL.unpack(header)
            name, payload = (calls.read(length) for length in lengths)
            signal.setitimer(signal.ITIMER_REAL, seconds + ALARM_GRACE_S)
            signal.setitimer(signal.ITIMER_PROF, computing_s)  # 0 is for ever
            returned, body = _answer(name.decode(), payload)
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.setitimer(signal.ITIMER_REAL, 0)
            _reply(replies, returned=returned, body=body)


def _restrict() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for ending in (signal.SIGALRM, signal.SIGPROF):
        signal.signal(ending, signal.SIG_DFL)  # ends the process whatever Python is doing
    warnings.simplefilter("ignore")  # parsers warn about the text that they read
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with suppress(ValueError, OSError):  # macOS has no such limit
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))


def _answer(dotted_name: str, payload: bytes) -> tuple[bool, bytes]:
    module, _, function = dotted_name.rpartition(".")
    try:
        if dotted_name.startswith(_LOAD):
            _load(dotted_name.removeprefix(_LOAD))
            return True, b""
        return True, bytes(getattr(importlib.import_module(module), function)(payload))
    except Exception as error:  # noqa: BLE001 - whatever it is, the caller is told
        # Where it failed, and not its message: that may quote what an agent wrote.
        frame = traceback.extract_tb(error.__traceback__, limit=-1)[-1]
        place = f"{Path(frame.filename).name}:{frame.lineno}"
        return False, f"{type(error).__name__} at {place}".encode()


def _load(module: str) -> None:
    gc.disable()  # what is loaded stays: neither now nor later is there garbage in it
    try:
        importlib.import_module(module)
    finally:
        gc.freeze()
        gc.enable()


def _reply(replies: BinaryIO, *, returned: bool, body: bytes) -> None:
    replies.write(_REPLY.pack(returned, len(body)))
    replies.write(body)
    replies.flush()


_pool = _Pool()
_heavy_pool = _Pool(HEAVY_POOL_SIZE, niceness=HEAVY_NICENESS)
for _each in (_pool, _heavy_pool):
    atexit.register(_each.close)
    os.register_at_fork(after_in_child=_each.abandon)

if __name__ == "__main__":
    _serve()
