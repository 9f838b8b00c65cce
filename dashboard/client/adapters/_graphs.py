"""Graphs that stop instead of blocking: pending interrupts on the desk, on with the answers.

The conversation is without I/O, so that blocking and asynchronous graphs share it. A process that
is killed loses nothing: questions are named by their interrupt, so the next one finds them.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any, TypeAlias

from dashboard.client._async_client import AsyncClient
from dashboard.client._errors import DigestMismatch
from dashboard.client._models import ApprovalRequest, ApprovalResponse
from dashboard.client._outcomes import Run
from dashboard.client.adapters import _core
from dashboard.client.adapters._pauses import Asker, every, not_run, tell
from dashboard.client.adapters._steps import Flow, Go, Look, Wait

_ID = re.compile(r"[0-9a-f]{32}", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class Question:
    """What one interrupt asks, and how answers become what the graph is resumed with.

    Attributes:
        requests: What is asked, each on its own.
        answer: Takes the answers in that order, yes or no each, and returns what to resume with.
        check: Called right before; raises if what would run is not what was asked.
    """

    requests: Sequence[ApprovalRequest]
    answer: Callable[[Sequence[ApprovalResponse]], Any]
    check: Callable[[], None] = lambda: None


Answers: TypeAlias = Mapping[str, Sequence[ApprovalResponse]]
Questions: TypeAlias = Mapping[str, Question]


@dataclass(frozen=True, kw_only=True)
class Desk:
    """Where the interrupts of one thread of a graph are asked.

    Attributes:
        read: Makes a question of an interrupt's value and the name of its node.
        command: Makes what the graph takes of values to resume with, by the interrupts' ids.
        wait_s: How long to wait for people, in seconds; as long as they have if None.
        most: How many interrupts the graph can be resumed from at once; any number if None.
    """

    client: AsyncClient
    config: Mapping[str, Any]
    read: Callable[[Any, str], Question]
    command: Callable[[Mapping[str, Any]], Any]
    wait_s: float | None = None
    time_limit_s: int | None = None
    most: int | None = None

    @cached_property
    def _asker(self) -> Asker:
        where = _configurable(self.config)
        names = [str(where.get("thread_id", "")), str(where.get("checkpoint_ns", ""))]
        return Asker(client=self.client, names=names, wait_s=self.wait_s)

    def questions(self, state: Any) -> dict[str, Question]:
        """Return what is asked now, by the interrupts' ids."""
        pending = {
            _id(interrupt): (interrupt, task.name)
            for task in state.tasks
            for interrupt in task.interrupts
            if getattr(task, "result", None) is None
        }
        if self.most is not None and len(pending) > self.most:
            raise ValueError(
                f"{len(pending)} interrupts are pending, and this graph can be told one answer "
                "at a time. Nobody was asked and nothing was resumed."
            )
        return {name: self._question(*found) for name, found in pending.items()}

    async def ask(self, questions: Questions) -> tuple[Answers, list[Exception]]:
        """Ask everything at once and wait; what is not answered whole is an error."""
        asked = [self._ask(name, question) for name, question in questions.items()]
        told = await asyncio.gather(*asked, return_exceptions=True)
        both = list(zip(questions, told, strict=True))
        answers = {name: one for name, one in both if not isinstance(one, BaseException)}
        for _, one in both:
            if isinstance(one, BaseException) and not isinstance(one, Exception):
                raise one
        return answers, [one for _, one in both if isinstance(one, Exception)]

    async def tell(self, answers: Answers, told: Mapping[str, Any]) -> None:
        """Report how everything that was approved ended."""
        await tell(self.client, chain.from_iterable(answers.values()), told)

    def _question(self, interrupt: Any, node: str) -> Question:
        question = self.read(interrupt.value, node)
        run_id = _core.line(str(_configurable(self.config).get("thread_id", "")))
        requests = [
            _core.fitting(
                replace(
                    request,
                    run_id=request.run_id or run_id,
                    time_limit_s=request.time_limit_s or self.time_limit_s,
                )
            )
            for request in question.requests
        ]
        return replace(question, requests=requests)

    async def _ask(self, name: str, question: Question) -> Sequence[ApprovalResponse]:
        names = [f"{name} {n}" for n in range(len(question.requests))]
        both = zip(names, question.requests, strict=True)
        asked = {one: self._asker.ask(one, request) for one, request in both}
        answers = await every(self.client, asked)
        return [answers[one] for one in names]


def resuming(desk: Desk) -> Flow:
    """Ask and go on until nothing is pending. Returns what the graph returned last.

    Raises:
        DashboardError: There is no yes and no no; the graph stays interrupted.
    """
    state = yield Look()
    result = state.values
    while questions := desk.questions(state):
        answers, errors = yield Wait(desk.ask(questions))
        fresh = desk.questions((yield Look()))
        kept = {name: answers[name] for name in answers if _same(questions, fresh, name)}
        moved = {name: answers[name] for name in answers if name not in kept}
        if moved:
            yield Wait(desk.tell(moved, not_run("the graph was resumed by somebody else")))
        if kept:
            result = yield from _going(desk, fresh, kept)
        if errors:
            raise errors[0]
        state = yield Look()
    return result


def checked(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return ``config`` if it names a thread as it is now.

    Raises:
        ValueError: It names no thread, or a checkpoint of the past.
    """
    where = _configurable(config)
    if not where.get("thread_id"):
        raise ValueError("The config names no thread_id. Nobody was asked.")
    if where.get("checkpoint_id"):
        raise ValueError("The config names a checkpoint. Nobody was asked: leave it out.")
    return config


def _going(desk: Desk, questions: Questions, answers: Answers) -> Flow:
    try:
        for name in answers:
            questions[name].check()
        values = {name: questions[name].answer(answers[name]) for name in answers}
        command = desk.command(values)
    except Exception:
        yield Wait(desk.tell(answers, not_run("its answer could not be handed on")))
        raise
    run = Run()
    try:
        result = yield Go(command)
    except GeneratorExit:
        raise
    except BaseException as error:
        yield Wait(desk.tell(answers, run.raised(error)))
        raise
    yield Wait(desk.tell(answers, run.returned(None)))
    return result


def _same(asked: Questions, fresh: Questions, name: str) -> bool:
    if name not in fresh:
        return False
    before = [request.digest for request in asked[name].requests]
    return before == [request.digest for request in fresh[name].requests]


def _id(interrupt: Any) -> str:
    # Anything else LangGraph would take for the answer itself, to whatever is pending.
    if not (isinstance(interrupt.id, str) and _ID.fullmatch(interrupt.id)):
        raise DigestMismatch(
            f"The interrupt has the id {interrupt.id!r:.80}, by which LangGraph does not resume. "
            "Nothing was approved. Use LangGraph 1.0 or later."
        )
    return interrupt.id


def _configurable(config: Mapping[str, Any]) -> Mapping[str, Any]:
    found = config.get("configurable") or {}
    return found if isinstance(found, Mapping) else {}
