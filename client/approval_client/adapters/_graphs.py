"""Graphs that stop instead of blocking: ask about pending interrupts, and resume with the answers.

The conversation is without I/O, so that blocking and asynchronous graphs share it. A process that
is killed loses nothing: questions are named by their interrupt, so the next one finds them.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any, TypeAlias

from approval_client._arguments import check_seconds
from approval_client._async_client import AsyncClient
from approval_client._errors import DashboardError, DigestMismatch
from approval_client._models import ApprovalRequest, ApprovalResponse, within_limit
from approval_client._outcomes import Run
from approval_client.adapters import _core
from approval_client.adapters._pauses import (
    Asker,
    Unfinished,
    every,
    give_up,
    in_time,
    is_approval,
    not_run,
    start,
    tell,
)
from approval_client.adapters._steps import Flow, Go, Look, Wait

Responses: TypeAlias = Sequence[ApprovalResponse]
Report: TypeAlias = Callable[[Run], Mapping[str, Any]]
_ID = re.compile(r"[0-9a-f]{32}", re.ASCII)
_UNTOLD = "its answer could not be passed on"
_OF_INVOKE = (
    "context",
    "control",
    "durability",
    "interrupt_after",
    "interrupt_before",
    "output_keys",
    "print_mode",
    "stream_mode",
    "version",
)
_MOVED = "the graph was resumed by somebody else"


@dataclass(frozen=True, kw_only=True)
class Question:
    """What one interrupt asks, and how answers become what the graph is resumed with.

    Attributes:
        requests: What is asked, each on its own.
        answer: Takes the answers in that order and returns what to resume with.
        settle: Called right before with the answers. Returns those that the graph is told: an
            approval that it does not take becomes a rejection. Raises if what would run is not
            what was asked.
        ends: Called when the graph has gone on, or with the error that it ended with. Returns for
            each of the answers what is reported of its end; None if that is the end of the graph.
        after: Called at the end, whatever became of the graph.
        starts: Its node uses the approval itself, right before it runs, and tells the end.
    """

    requests: Sequence[ApprovalRequest]
    answer: Callable[[Responses], Any]
    settle: Callable[[Responses], Responses] = lambda responses: responses
    ends: Callable[[Responses, BaseException | None], Sequence[Report | None]] = (
        lambda responses, _: [None for _ in responses]
    )
    after: Callable[[], None] = lambda: None
    starts: bool = False


Answers: TypeAlias = Mapping[str, Responses]
Questions: TypeAlias = Mapping[str, Question]


@dataclass(frozen=True, kw_only=True)
class GraphDesk:
    """Where the interrupts of one thread of a graph are asked.

    Attributes:
        read: Makes a question of an interrupt, its task, and the values of the graph's state.
        command: Makes what the graph takes of values to resume with, by the interrupts' ids.
        max_wait_s: How long to wait for people, in seconds; as long as they have if None.
        most: How many interrupts the graph can be resumed from at once; any number if None.
        holds: Whether this state still holds an answer, which its node did not take.
        check: Raises if a graph in this state cannot be told what people answer.
    """

    client: AsyncClient
    config: Mapping[str, Any]
    read: Callable[[Any, Any, Any], Question]
    command: Callable[[Mapping[str, Any]], Any]
    max_wait_s: float | None = None
    time_limit_s: int | None = None
    most: int | None = None
    holds: Callable[[Any], bool] = lambda _: False
    check: Callable[[Any], None] = lambda _: None

    def __post_init__(self) -> None:
        for name in ("max_wait_s", "time_limit_s"):
            check_seconds(name, getattr(self, name))

    @cached_property
    def _asker(self) -> Asker:
        where = _configurable(self.config)
        names = [str(where.get("thread_id", "")), str(where.get("checkpoint_ns", ""))]
        return Asker(client=self.client, names=names, max_wait_s=self.max_wait_s)

    def questions(self, state: Any) -> dict[str, Question]:
        """Return what is asked now, by the interrupts' ids."""
        self.check(state)
        pending = {
            _id(interrupt): (interrupt, task)
            for task in state.tasks
            for interrupt in task.interrupts
            if getattr(task, "result", None) is None
        }
        if self.most is not None and len(pending) > self.most:
            raise ValueError(
                f"{len(pending)} interrupts are pending, but this graph takes one answer at a "
                "time. Nobody was asked and nothing was resumed."
            )
        return {name: self._question(*origin, state.values) for name, origin in pending.items()}

    async def ask(self, questions: Questions) -> tuple[Answers, list[Exception]]:
        """Ask everything at once and wait. A question without all of its answers is an error."""
        coroutines = [self._ask(name, question) for name, question in questions.items()]
        replies = await asyncio.gather(*coroutines, return_exceptions=True)
        both = list(zip(questions, replies, strict=True))
        answers = {name: reply for name, reply in both if not isinstance(reply, BaseException)}
        for _, reply in both:
            if isinstance(reply, BaseException) and not isinstance(reply, Exception):
                raise reply
        late = await self._late(answers) if len(questions) > 1 else {}
        errors = [reply for _, reply in both if isinstance(reply, Exception)]
        timely_answers = {name: answers[name] for name in answers if name not in late}
        return timely_answers, [*errors, *late.values()]

    async def start(self, questions: Questions, answers: Answers) -> Answers:
        """Use the approvals of the questions whose nodes do not do that themselves.

        Raises:
            DashboardError: One cannot be used. Those that were are reported as not run.
        """
        here = {
            f"{name} {n}": response
            for name, responses in answers.items()
            for n, response in enumerate(responses)
            if not questions[name].starts
        }
        started = await start(self.client, here)
        return {
            name: [started.get(f"{name} {n}", response) for n, response in enumerate(responses)]
            for name, responses in answers.items()
        }

    async def tell(self, answers: Answers, reports: Mapping[str, Any]) -> None:
        """Report how everything that was started ended."""
        await tell(self.client, chain.from_iterable(answers.values()), reports)

    async def tell_each(self, ends: Sequence[tuple[ApprovalResponse, Mapping[str, Any]]]) -> None:
        """Report how each that was started ended."""
        coroutines = [tell(self.client, [answer], reports) for answer, reports in ends]
        await asyncio.gather(*coroutines)

    async def give_up(self, answers: Answers, reason: str) -> None:
        """Use up approvals that nothing will run any more, and tell why."""
        await give_up(self.client, chain.from_iterable(answers.values()), reason)

    def _question(self, interrupt: Any, task: Any, values: Any) -> Question:
        question = self.read(interrupt, task, values)
        run_id = _core.line(str(_configurable(self.config).get("thread_id", "")))
        requests = [
            within_limit(
                replace(
                    request,
                    run_id=request.run_id or run_id,
                    time_limit_s=request.time_limit_s or self.time_limit_s,
                )
            )
            for request in question.requests
        ]
        return replace(question, requests=requests)

    async def _late(self, answers: Answers) -> dict[str, DashboardError]:
        """Return why what waited too long for other answers cannot be used any more."""
        late: dict[str, DashboardError] = {}
        for name, responses in answers.items():
            try:
                await in_time(self.client, responses)
            except DashboardError as error:
                late[name] = error
        return late

    async def _ask(self, name: str, question: Question) -> Sequence[ApprovalResponse]:
        names = [f"{name} {n}" for n in range(len(question.requests))]
        both = zip(names, question.requests, strict=True)
        coroutines = {key: self._asker.ask(key, request) for key, request in both}
        answers = await every(self.client, coroutines)
        return [answers[key] for key in names]


def resuming(desk: GraphDesk) -> Flow:
    """Ask and go on until nothing is pending. Returns what the graph returned last.

    Raises:
        DashboardError: It was neither approved nor rejected; the graph stays interrupted.
        Unfinished: A node is left unfinished, and nothing is pending.
    """
    state = yield Look()
    result = state.values
    while questions := desk.questions(state):
        answers, errors = yield Wait(desk.ask(questions))
        looked = yield Look()
        fresh = yield from _seen(desk, looked, answers)
        valid_answers = {name: answers[name] for name in answers if _same(questions, fresh, name)}
        moved = {name: answers[name] for name in answers if name not in valid_answers}
        if moved:
            yield Wait(desk.give_up(moved, _MOVED))
        if valid_answers:
            result = yield from _going(desk, fresh, valid_answers, afresh=desk.holds(looked))
        if errors:
            raise errors[0]
        state = yield Look()
    _make_sure_it_ended(state)
    return result


def _make_sure_it_ended(state: Any) -> None:
    """Refuse to return the state of a graph that stopped in the middle as its result.

    Raises:
        Unfinished: It did.
    """
    if nodes := ", ".join(getattr(state, "next", ())):
        raise Unfinished(
            f"The graph stopped before {nodes!r:.80} had ended, and nothing is pending there: it "
            "failed, was killed, or has a breakpoint. Nobody was asked and nothing was run. "
            "graph.invoke(None, config) goes on from there without asking. If it runs what was "
            "approved, have the graph ask again first: an approval is used once."
        )


def _seen(desk: GraphDesk, looked: Any, answers: Answers) -> Flow:
    try:
        return desk.questions(looked)
    except Exception:
        yield Wait(desk.give_up(answers, _MOVED))
        raise


def checked(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return ``config`` if it names a thread as it is now.

    Raises:
        ValueError: It names no thread, or a checkpoint of the past.
    """
    where = _configurable(config)
    if not where.get("thread_id"):
        raise ValueError("The config names no thread_id. Nobody was asked. Add one.")
    if where.get("checkpoint_id"):
        raise ValueError("The config names a checkpoint. Nobody was asked. Leave it out.")
    return config


def check_options(options: Mapping[str, Any], names: Collection[str]) -> None:
    """Refuse an option that has none of these names.

    Raises:
        TypeError: It is one.
    """
    if unknown_names := options.keys() - {*names}:
        raise TypeError(
            f"There is no option {min(unknown_names)!r:.80}. Nobody was asked and nothing was "
            f"resumed. The options are {', '.join(names)}."
        )


def of_invoke(
    graph: Any, options: Mapping[str, Any], own: Collection[str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the options that are ours, and those with which the graph goes on.

    Args:
        own: The names of ours.

    Raises:
        TypeError: It is an option of neither.
        ValueError: The nodes of the graph take a context, and none was passed.
    """
    check_options(options, [*own, *_OF_INVOKE])
    if "context" not in options and (name := _needs_context(graph)):
        raise ValueError(
            f"{name} has a context_schema, and LangGraph keeps no context with a thread: what was "
            "approved would run without any. Nobody was asked and nothing was resumed. Pass the "
            "context= that the graph was invoked with; None if that had none."
        )
    ours = {name: value for name, value in options.items() if name in own}
    return ours, {name: value for name, value in options.items() if name not in own}


def _needs_context(graph: Any) -> str:
    """Return the name of the graph, or of one that is its node, whose nodes take a context."""
    if getattr(graph, "context_schema", None) is not None:
        return "The graph"
    nodes = getattr(graph, "nodes", None)
    for name, node in nodes.items() if isinstance(nodes, Mapping) else ():
        if _needs_context(getattr(node, "bound", None)):
            return f"The graph in the node {name!r:.80}"
    return ""


def _going(desk: GraphDesk, questions: Questions, answers: Answers, *, afresh: bool) -> Flow:
    try:
        return (yield from _told(desk, questions, answers, afresh=afresh))
    finally:
        for name in answers:
            questions[name].after()


def _told(desk: GraphDesk, questions: Questions, answers: Answers, *, afresh: bool) -> Flow:
    settled, replies = yield from _started(desk, questions, answers)
    try:
        command = desk.command({name: questions[name].answer(replies[name]) for name in replies})
    except Exception:
        yield Wait(desk.tell(replies, not_run(_UNTOLD)))
        raise
    dropped = {name: _dropped(answers[name], settled[name]) for name in settled}
    yield Wait(desk.give_up(dropped, "the graph does not take this answer"))
    run = Run()
    try:
        result = yield Go(command, afresh=afresh)
    except GeneratorExit:
        raise
    except BaseException as error:
        went = yield from _went_on(replies)
        causes = {name: None if name in went else error for name in replies}
        yield Wait(desk.tell_each(_ends(questions, replies, run, causes)))
        raise
    causes = dict.fromkeys(replies)
    yield Wait(desk.tell_each(_ends(questions, replies, run, causes)))
    return result


def _ends(
    questions: Questions,
    answers: Answers,
    run: Run,
    causes: Mapping[str, BaseException | None],
) -> list[tuple[ApprovalResponse, Mapping[str, Any]]]:
    """Return what is reported of each answer.

    Args:
        causes: What the nodes of the questions ended with, if they did not go on.
    """
    ends: list[tuple[ApprovalResponse, Mapping[str, Any]]] = []
    for name, responses in answers.items():
        error = causes[name]
        whole = run.returned(None) if error is None else run.raised(error)
        reports = questions[name].ends(responses, error)
        for answer, report in zip(responses, reports, strict=True):
            ends.append((answer, whole if report is None else report(run)))
    return ends


def _started(desk: GraphDesk, questions: Questions, answers: Answers) -> Flow:
    """Return what the graph takes of the answers, and the same with its approvals started."""
    try:
        settled = {name: questions[name].settle(answers[name]) for name in answers}
    except Exception:
        yield Wait(desk.give_up(answers, _UNTOLD))
        raise
    return settled, (yield Wait(desk.start(questions, settled)))


def _went_on(answers: Answers) -> Flow:
    """Return the interrupts whose nodes came to their end, although another one failed."""
    try:
        state = yield Look()
    except Exception:  # noqa: BLE001 - what failed before is what is told
        return set()
    # LangGraph 1.0.0 shows interrupts of what went on too, and a result of what failed.
    tasks = [node for node in state.tasks if node.error or getattr(node, "result", None) is None]
    pending = {interrupt.id for task in tasks for interrupt in task.interrupts}
    # With none of them pending the graph went further, and what was approved may have failed.
    return answers.keys() - pending if answers.keys() & pending else set()


def _dropped(answers: Responses, settled: Responses) -> Responses:
    """Return each approval that became a rejection because the graph does not take it."""
    both = zip(answers, settled, strict=True)
    return [answer for answer, reply in both if is_approval(answer) and not is_approval(reply)]


def _same(asked: Questions, fresh: Questions, name: str) -> bool:
    if name not in fresh:
        return False
    old_digests = [request.digest for request in asked[name].requests]
    return old_digests == [request.digest for request in fresh[name].requests]


def _id(interrupt: Any) -> str:
    # Anything else LangGraph would take for the answer itself, to whatever is pending.
    if not (isinstance(interrupt.id, str) and _ID.fullmatch(interrupt.id)):
        raise DigestMismatch(
            f"LangGraph cannot resume the interrupt with the id {interrupt.id!r:.80}. Nothing "
            "was approved. Use LangGraph 1.0 or later."
        )
    return interrupt.id


def _configurable(config: Mapping[str, Any]) -> Mapping[str, Any]:
    settings = config.get("configurable") or {}
    return settings if isinstance(settings, Mapping) else {}
