"""LangChain's human-in-the-loop requests, batched and one for each call (langchain 1.4.7)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

from approval_client._models import ApprovalRequest, ApprovalResponse
from approval_client._outcomes import Run
from approval_client._refusals import Unaskable, for_model, refusal
from approval_client.adapters import _binding, _core
from approval_client.adapters._ends import UNSEEN
from approval_client.adapters._graphs import Question, Report, Responses
from approval_client.adapters._pauses import is_approval
from approval_client.adapters.langgraph._once import (
    Seen,
    approve_once,
    is_refused,
    seen_calls,
)
from approval_client.adapters.langgraph._tools import (
    NOWHERE,
    Origin,
    asked,
    is_called,
    is_written,
)

# With anything else beside these it is no such request, and all of it is what is asked.
_OF_A_CALL = {"name", "args", "description"}
_OF_ONE = _OF_A_CALL | {"type", "tool_call_id"}
_OF_A_BATCH = {"action_requests", "review_configs"}
Decide: TypeAlias = Callable[[frozenset[str], Mapping[str, Any], ApprovalResponse], Any]
_ALL = frozenset({"approve", "edit", "reject"})


def question(value: Any, schema: Any = None, place: Origin = NOWHERE) -> Question | None:
    """Return what such a request asks, one request for each call, or None if it is not one.

    A call that its tool would not be made with is not asked, and is rejected with the cause.

    Args:
        schema: The interrupt's own for its answer, if there is one.
        place: Where the graph was interrupted.

    Raises:
        ValueError: Two calls of the model have the same id.
    """
    if not isinstance(value, Mapping):
        return None
    if value.get("type") == "tool_approval" and value.keys() <= _OF_ONE:
        ids = [str(value["tool_call_id"])] if value.get("tool_call_id") else []
        _check_ids([value], place.written)
        call = ReviewedCall(value, _kinds(schema), place.tool_of_one(value, schema), ids)
        return asking([call], lambda decisions: decisions[0])
    calls = value.get("action_requests")
    if not isinstance(calls, Sequence) or not calls or not value.keys() <= _OF_A_BATCH:
        return None
    if not all(isinstance(call, Mapping) and call.keys() <= _OF_A_CALL for call in calls):
        return None
    rules = {
        rule.get("action_name"): frozenset(rule.get("allowed_decisions", _ALL))
        for rule in value.get("review_configs", ())
    }
    sources = place.written
    _check_ids(calls, sources)
    left_out = () if _apart(calls, sources) else ("edit",)
    batch = [
        ReviewedCall(
            call,
            rules.get(call["name"], _ALL).difference(left_out),
            place.tool_of_a_batch(call),
            [source["id"] for source in sources if source.get("id") and is_written(source, call)],
        )
        for call in calls
    ]
    return asking(batch, lambda decisions: {"decisions": decisions})


@dataclass(frozen=True)
class ReviewedCall:
    """A call of a model, the decisions that its tool allows, and the tool if it is in sight.

    Attributes:
        tool: LangChain's; or, where only that is in sight, the JSON schema of its arguments.
        ids: Those that it may have, as far as they are known.
    """

    call: Mapping[str, Any]
    may: frozenset[str]
    tool: Any = None
    ids: Sequence[str] = ()

    def request(self) -> ApprovalRequest:
        """Make a question of it.

        Raises:
            Unaskable: Its tool would not be called with what the model wrote.
        """
        arguments = asked(self.tool, self.call["args"])
        original = _core.differing(self.call["args"], arguments)
        return ApprovalRequest.tool_call(
            self.call["name"],
            arguments,
            objective=str(self.call.get("description") or "")[: _core.MAX_TEXT],
            evidence=_core.of_call(
                {"written_by_the_model": original, **_core.out_of_sight(self._tool_in_sight)},
                self._schema,
                lambda: self.tool.metadata,
            ),
            accepts_edits="edit" in self.may,
        )

    def written(self, response: ApprovalResponse) -> Any:
        """Return the arguments with which it is made once it was approved."""
        return response.content["arguments"] if response.edited else self.call["args"]

    def may_be(self, other: ReviewedCall) -> bool:
        """Say whether an id that this may have can be the other's."""
        same = self.call["name"] == other.call["name"]
        return same and ({*self.ids} == {*other.ids} or not {*self.ids}.isdisjoint(other.ids))

    def end(
        self, response: ApprovalResponse, number: int, error: BaseException | None
    ) -> Report | None:
        """Return how it ended, as far as that is known by itself; None if only the graph's end is.

        Args:
            number: How many calls that may have its ids were approved.
            error: That which the graph ended with.
        """
        is_called = (
            response.edited or "approve" in self.may
        )  # else a person's words are its result
        tool = str(self.call["name"])
        calls = seen_calls(tool, self.ids)
        if response.approved is not True or not is_called or calls is None:
            return None
        if len(calls) >= number and (report := _alike(calls)) is not None:
            return report
        if error is not None and not isinstance(error, Exception):
            return None  # what was stopped in the middle was stopped by that
        if not calls and (self._tool_in_sight is None or is_refused(tool, self.ids, error)):
            return None
        return partial(_unknown, error)

    @property
    def _tool_in_sight(self) -> Any:
        return None if isinstance(self.tool, Mapping) else self.tool

    def _schema(self) -> Any:
        schema = self.tool if isinstance(self.tool, Mapping) else self.tool.tool_call_schema
        return schema if isinstance(schema, Mapping) else schema.model_json_schema()

    def taken(self, response: ApprovalResponse) -> ApprovalResponse:
        """Return an answer, or a rejection if a person's arguments would not be what is called."""
        if not is_approval(response) or not response.edited:
            return response
        changed = _core.plain(response.content["arguments"])
        try:
            arguments = _binding.edited(partial(asked, self.tool), self.call["args"], changed)
        except Unaskable as error:
            return refusal(error)
        return replace(response, content={**response.content, "arguments": arguments})


def asking(
    calls: Sequence[ReviewedCall], whole: Callable[[list[Any]], Any], decide: Decide | None = None
) -> Question:
    """Ask about the calls that can be asked; ``whole`` makes an answer of all decisions."""
    say = decide or _decision
    requests: list[ApprovalRequest] = []
    refused: list[ApprovalResponse | None] = []
    for call in calls:
        try:
            requests.append(call.request())
            refused.append(None)
        except (TypeError, ValueError) as error:
            refused.append(refusal(error))
    open_calls = [
        call for call, rejection in zip(calls, refused, strict=True) if rejection is None
    ]

    def settle(responses: Responses) -> Responses:
        return [call.taken(response) for call, response in zip(open_calls, responses, strict=True)]

    def answer(responses: Responses) -> Any:
        remaining = iter(responses)
        both = [
            (call, next(remaining) if rejection is None else rejection)
            for call, rejection in zip(calls, refused, strict=True)
        ]
        approved = [(call, response) for call, response in both if response.approved is True]
        for call, _ in approved:
            may = [
                partial(is_called, approved_call.tool, approved_call.written(response))
                for approved_call, response in approved
                if call.may_be(approved_call)
            ]
            approve_once(str(call.call["name"]), call.ids, may)
        return whole([say(call.may, call.call, response) for call, response in both])

    def ends(responses: Responses, error: BaseException | None) -> list[Report | None]:
        both = list(zip(open_calls, responses, strict=True))
        approved_calls = [call for call, response in both if response.approved is True]
        return [
            call.end(response, sum(map(call.may_be, approved_calls)), error)
            for call, response in both
        ]

    return Question(requests=requests, answer=answer, settle=settle, ends=ends)


def _alike(calls: Sequence[Seen]) -> Report | None:
    """Return the end of calls that ended alike; None if they did not, or have not ended."""
    if not all(call.has_ended for call in calls):
        return None
    errors = [call.error for call in calls if call.error is not None]
    if not errors:
        return _returned
    return partial(_raised, errors[0]) if len(errors) == len(calls) else None


def _returned(run: Run) -> dict[str, Any]:
    return run.returned(None)


def _raised(error: BaseException, run: Run) -> dict[str, Any]:
    return run.raised(error)


def _unknown(error: BaseException | None, run: Run) -> dict[str, Any]:
    """Say that its end is not known. What was not seen may have been called all the same."""
    if error is None:
        return run.told(output_head=UNSEEN)
    return run.told(output_head=f"{UNSEEN} The run ended with {run.raised(error)['error']}")


def _apart(calls: Sequence[Mapping[str, Any]], original: Sequence[Mapping[str, Any]]) -> bool:
    """Say whether every call in the model's message has an id of its own.

    LangChain applies an edit to whatever has the id of the call that was edited.
    """
    ids = [call.get("id") for call in original]
    all_present = all(any(is_written(source, call) for source in original) for call in calls)
    return all_present and all(ids) and len(set(ids)) == len(ids)


def _check_ids(calls: Sequence[Mapping[str, Any]], original: Sequence[Mapping[str, Any]]) -> None:
    ids = [call.get("id") for call in original]
    are_theirs = any(is_written(source, call) for source in original for call in calls)
    if are_theirs and len(set(ids)) != len(ids):
        raise ValueError(
            "Two calls have the same id, so an answer to one would be an answer to both. Nobody "
            "was asked and nothing was run."
        )


def _kinds(schema: Any) -> frozenset[str]:
    """Return the decisions that a JSON schema of them allows: several, or a single one."""
    json_schema = schema if isinstance(schema, Mapping) else {}
    try:
        if "discriminator" in json_schema:
            return frozenset(json_schema["discriminator"]["mapping"])
        return frozenset({json_schema["properties"]["type"]["const"]})
    except (LookupError, TypeError):
        return frozenset({"approve", "reject"})  # which LangChain checks again


def _decision(
    may: frozenset[str], call: Mapping[str, Any], response: ApprovalResponse
) -> dict[str, Any]:
    yes = response.approved is True
    decide: Callable[..., dict[str, Any]] = _yes if yes else _no
    return decide(may, call, response)


def _yes(
    may: frozenset[str], call: Mapping[str, Any], response: ApprovalResponse
) -> dict[str, Any]:
    if response.edited and "edit" in may and response.content["tool"] == call["name"]:
        arguments = _core.plain(response.content["arguments"])
        return {"type": "edit", "edited_action": {"name": call["name"], "args": arguments}}
    if not response.edited and "approve" in may:
        return {"type": "approve"}
    if not response.edited and "respond" in may:  # the reviewer's words are the tool's result
        return {"type": "respond", "message": response.reason or "Approved, without a note."}
    raise ValueError(
        f"{call['name']!r:.80} allows no answer that fits this approval. Nothing was resumed. "
        "Add one to allowed_decisions."
    )


def _no(
    may: frozenset[str], call: Mapping[str, Any], response: ApprovalResponse
) -> dict[str, Any]:
    for kind in ("reject", "respond"):
        if kind in may:
            return {"type": kind, "message": for_model(response).reason}
    raise ValueError(
        f"{call['name']!r:.80} does not allow a rejection. Nothing was resumed. Add it to "
        "allowed_decisions."
    )
