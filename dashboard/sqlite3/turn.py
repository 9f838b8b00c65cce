"""One at a time, in the order in which they came."""

from __future__ import annotations

from collections import deque
from threading import Lock, Thread, current_thread
from time import monotonic

_LOOK_EVERY_S = 1.0


class _Waiting:
    """A thread in the queue; ``given`` is released when it is its turn."""

    def __init__(self) -> None:
        self.thread, self.given = current_thread(), Lock()
        self.given.acquire()


class Turn:
    """A lock that goes to whoever has waited longest.

    First come, first served: it is handed to the next thread in the queue. A thread that ends
    releases it.
    """

    def __init__(self) -> None:
        self._guard = Lock()
        self._holder: Thread | None = None
        self._queue: deque[_Waiting] = deque()

    def take(self, within_s: float) -> bool:
        """Wait until it is this thread's turn, and say whether that came in time."""
        with self._guard:
            self._pass_by_the_dead()
            if self._holder is None:
                self._holder = current_thread()
                return True
            waiting = _Waiting()
            self._queue.append(waiting)
        try:
            if self._wait(waiting, monotonic() + within_s):
                return True
        except BaseException:  # as Ctrl+C is
            if not self._leave(waiting):
                self.give()
            raise
        return not self._leave(waiting)

    def give(self) -> None:
        """Hand it to whoever is next."""
        with self._guard:
            self._hand_over()

    def _wait(self, waiting: _Waiting, until: float) -> bool:
        while (left_s := until - monotonic()) > 0:
            if waiting.given.acquire(timeout=min(left_s, _LOOK_EVERY_S)):
                return True
            with self._guard:
                self._pass_by_the_dead()
        return False

    def _leave(self, waiting: _Waiting) -> bool:
        """Leave the queue; False if it is this thread's turn by now."""
        with self._guard:
            if waiting not in self._queue:
                return False
            self._queue.remove(waiting)
            return True

    def _pass_by_the_dead(self) -> None:
        while self._holder is not None and not self._holder.is_alive():
            self._hand_over()

    def _hand_over(self) -> None:
        self._holder = None
        if self._queue:
            following = self._queue.popleft()
            self._holder = following.thread
            following.given.release()
