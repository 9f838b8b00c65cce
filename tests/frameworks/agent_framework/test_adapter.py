"""Microsoft Agent Framework: tools that require approval, asked in the dashboard."""

import asyncio
import json
from contextlib import suppress
from enum import Enum
from types import SimpleNamespace

import pytest
from agent_framework import (
    AgentSession,
    Content,
    FunctionMiddleware,
    FunctionTool,
    Message,
    ToolApprovalMiddleware,
    tool,
)

from approval_client import AlreadyUsed, DigestMismatch, Expired, OnHold, TooLate, Unreachable
from approval_client.adapters.agent_framework import Undecided, run_with_approvals
from tests.frameworks.agent_framework.kit import OLD, Accounts, Model, asked, call, deletions

REJECTED = "Error: Tool call invocation was rejected by user."
AT_ONCE = pytest.mark.skipif(OLD, reason="This release makes all calls at the same time.")


class Colour(Enum):
    RED = "red"


def restored(session):
    """The session as another process finds it."""
    return AgentSession.from_dict(json.loads(json.dumps(session.to_dict())))


async def test_a_tool_is_called_after_a_yes(gate):
    gate.approve_next()

    assert await Accounts().run(gate) == ["deleted 1"]
    assert gate.asked() == [{"tool": "delete_user", "arguments": {"user_id": "1"}}]


async def test_a_tool_is_not_called_after_a_no(gate):
    gate.reject_next("Keep it.")
    accounts = Accounts()

    await accounts.run(gate)

    assert (accounts.deleted, gate.started()) == ([], 0)


async def test_the_model_reads_the_reason_in_place_of_the_result(gate):
    gate.reject_next("Keep it.")

    (told,) = await Accounts().run(gate)

    assert told.startswith(f"{REJECTED} Keep it.\n\nThis was rejected by ")


async def test_the_reason_stays_in_the_history(gate):
    gate.reject_next("Keep it.")
    accounts = Accounts()
    (told,) = await accounts.run(gate)
    accounts.session = restored(accounts.session)

    assert await accounts.run(gate, "What did they say?") == [told]


async def test_the_reason_is_told_once_however_often_the_model_is_called(gate):
    gate.reject_next("Keep it.")
    accounts = Accounts(deletions("1"), [call("find_user", user_id="2")])

    rejected, _ = await accounts.run(gate)

    assert rejected.count("Keep it.") == 1


async def test_the_answer_of_the_agent_is_returned(gate):
    gate.approve_next()
    accounts = Accounts()

    response = await run_with_approvals(
        accounts.agent, "Delete 1.", session=accounts.session, client=gate.client
    )

    assert (response.text, response.user_input_requests) == ("done", [])


async def test_a_run_that_needs_no_approval_asks_nobody(gate):
    accounts = Accounts([call("find_user", user_id="1")])

    assert await accounts.run(gate) == ["found 1"]
    assert gate.asked() == []


async def test_a_second_request_of_the_same_run_is_asked_too(gate):
    gate.approve_next()
    gate.reject_next("Not that one.")
    accounts = Accounts(deletions("1"), deletions("2"))

    await accounts.run(gate)

    assert (accounts.deleted, gate.statuses()) == (["1"], ["approved", "rejected"])


async def test_how_it_ended_is_reported(gate):
    gate.approve_next()

    await Accounts().run(gate)

    assert gate.finished() == [{"exit_code": 0, "output_head": "deleted 1"}]


async def test_a_tool_that_fails_is_reported_with_its_error(gate):
    gate.approve_next()

    await Accounts(deletions("root")).run(gate)

    assert gate.finished() == [{"exit_code": 1, "error": "Not that one!"}]


async def test_a_call_that_ended_well_is_told_so_although_its_run_dies_later(gate):
    gate.approve_next()
    accounts = Accounts()
    accounts.model.turns.append(object())

    with pytest.raises(TypeError):
        await accounts.run(gate)

    assert gate.finished() == [{"exit_code": 0, "output_head": "deleted 1"}]


# Nobody, nothing, and too late.


async def test_nobody_answering_leaves_it_pending_and_next_time_it_is_asked_anew(gate):
    accounts = Accounts()
    running = asyncio.create_task(accounts.run(gate))
    await asked(gate)
    gate.run_out()
    with pytest.raises(Expired):
        await running

    gate.approve_next()

    assert await accounts.run(gate, None) == ["deleted 1"]
    assert gate.statuses() == ["expired", "approved"]


async def test_a_dashboard_that_is_down_leaves_it_pending(gate):
    gate.unplug()
    accounts = Accounts()

    with pytest.raises(Unreachable):
        await accounts.run(gate)

    assert accounts.deleted == []


async def test_a_late_yes_runs_nothing(gate):
    accounts = Accounts()
    running = asyncio.create_task(accounts.run(gate))
    await asked(gate)
    gate.run_out()
    gate.decide(0, "approve")
    with pytest.raises(Expired):
        await running

    with pytest.raises(Undecided):
        await accounts.run(gate, None, max_wait_s=0)
    assert (accounts.deleted, gate.started()) == ([], 0)


async def test_a_cancelled_run_leaves_its_question_for_whoever_comes_next(gate):
    accounts = Accounts()
    running = asyncio.create_task(accounts.run(gate))
    await asked(gate)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    gate.approve_next()

    assert await accounts.run(gate, None) == ["deleted 1"]
    assert len(gate.asked()) == 1


async def test_a_look_leaves_the_question_on_the_desk(gate):
    accounts = Accounts()

    with pytest.raises(Undecided):
        await accounts.run(gate, max_wait_s=0)

    assert (accounts.deleted, gate.statuses()) == ([], ["pending"])


async def test_without_an_address_nothing_is_called(monkeypatch):
    monkeypatch.delenv("DASHBOARD_URL", raising=False)
    accounts = Accounts()

    with pytest.raises(Exception, match="DASHBOARD_URL"):
        await run_with_approvals(accounts.agent, "Delete 1.", session=accounts.session)
    assert accounts.deleted == []


async def test_a_client_that_blocks_is_refused_before_anything_is_sent(gate):
    accounts = Accounts()

    with pytest.raises(TypeError, match="AsyncClient"):
        await accounts.run(gate, client=gate.blocking)

    assert accounts.model.read == []


# Another process goes on.


async def test_another_process_finds_the_question_again(gate):
    accounts = Accounts()
    with pytest.raises(Undecided):
        await accounts.run(gate, max_wait_s=0)
    gate.approve_next()
    other = Accounts(model=Model())
    other.session = restored(accounts.session)

    assert await other.run(gate, None) == ["deleted 1"]
    assert len(gate.asked()) == 1


async def test_the_session_is_saved_before_people_are_asked(gate):
    saved = []
    gate.approve_next()

    await Accounts().run(gate, save=lambda session: saved.append((len(gate.asked()), session)))

    assert [times for times, _ in saved] == [0]


async def test_saving_may_take_its_time(gate):
    saved = []

    async def save(session):
        await asyncio.sleep(0)
        saved.append(session.session_id)

    gate.approve_next()
    await Accounts().run(gate, save=save)

    assert saved == ["s1"]


async def test_what_was_started_before_a_crash_is_asked_anew(gate):
    accounts = Accounts()
    gate.approve_next()
    kept = []
    await accounts.run(gate, save=lambda session: kept.append(restored(session)))
    again = Accounts(model=Model())
    again.session = kept[0]
    gate.reject_next("Once is enough.")

    await again.run(gate, None)

    assert (again.deleted, gate.statuses()) == ([], ["approved", "rejected"])
    assert gate.evidence()[1]["asked_again"].startswith("Asked again: ")


async def test_a_message_for_a_session_in_which_something_is_pending_is_not_sent(gate):
    accounts = Accounts()
    with pytest.raises(Undecided):
        await accounts.run(gate, max_wait_s=0)

    with pytest.raises(ValueError, match="The message was not sent"):
        await accounts.run(gate, "Hurry up.")

    assert len(accounts.model.read) == 1


async def test_nothing_pending_and_no_message_is_nothing_to_do(gate):
    accounts = Accounts()

    found = await run_with_approvals(accounts.agent, session=accounts.session, client=gate.client)

    assert (found, accounts.model.read) == (None, [])


async def test_without_a_session_nothing_is_sent(gate):
    accounts = Accounts()

    with pytest.raises(ValueError, match="Pass a session"):
        await accounts.run(gate, session=None)

    assert accounts.model.read == []


# Several at once.


def with_middleware(*turns, model=None):
    return Accounts(*turns, model=model, middleware=[ToolApprovalMiddleware()])


async def test_approvals_that_nobody_used_are_used_by_another_process(gate):
    accounts, kept = with_middleware(deletions("1", "2")), []

    def save(session):
        kept.append(restored(session))
        if len(kept) == 2:
            raise OSError("The disk is full.")

    gate.approve_next()
    gate.approve_next()
    with pytest.raises(OSError, match="full"):
        await accounts.run(gate, save=save)
    other = with_middleware(model=Model())
    other.session = kept[1]

    await other.run(gate, None)

    assert (sorted(other.deleted), len(gate.asked()), gate.started()) == (["1", "2"], 2, 2)


async def test_approvals_that_nobody_used_let_nothing_run_without_this(gate):
    accounts, saved = with_middleware(deletions("1", "2")), []

    def save(session):
        saved.append(session)
        if len(saved) == 2:
            raise OSError("The disk is full.")

    gate.approve_next()
    gate.approve_next()
    with pytest.raises(OSError, match="full"):
        await accounts.run(gate, save=save)

    requests = accounts.session.state["tool_approval"]["pending_approval_requests"]
    no = Content.from_dict(requests[1]).to_function_approval_response(approved=False)
    await accounts.agent.run(Message("user", [no]), session=accounts.session)

    assert accounts.deleted == []


async def test_one_of_a_batch_is_approved_and_one_rejected(gate):
    accounts = Accounts(deletions("1", "2"))
    running = asyncio.create_task(accounts.run(gate))
    await asked(gate, 2)

    gate.approve_next()
    gate.reject_next("Keep that one.")

    first, second = await running
    kept = {"1": "2", "2": "1"}[gate.asked()[0]["arguments"]["user_id"]]
    assert accounts.deleted == [user for user in "12" if user != kept]
    assert [kept in told for told in (first, second)].count(True) == 0


async def test_each_of_two_gets_its_own_answer_whichever_is_decided_first(gate):
    accounts = Accounts(deletions("1", "2"))
    running = asyncio.create_task(accounts.run(gate))
    await asked(gate, 2)
    users = [content["arguments"]["user_id"] for content in gate.asked()]

    gate.decide(1, "approve")
    gate.decide(0, "No.")

    await running
    assert accounts.deleted == [users[1]]


async def test_a_batch_runs_only_when_all_of_it_is_decided(gate):
    accounts = Accounts(deletions("1", "2"))
    gate.approve_next()
    running = asyncio.create_task(accounts.run(gate))
    await asked(gate, 2)
    gate.run_out()
    with pytest.raises(Expired):
        await running

    assert (accounts.deleted, gate.started()) == ([], 0)


async def test_a_yes_that_waited_too_long_for_its_batch_runs_nothing(gate):
    gate.approve_next()
    accounts = Accounts(deletions("1", "2"))
    running = asyncio.create_task(accounts.run(gate))
    await asked(gate, 2)
    gate.let_pass(700)
    gate.decide(1, "approve")

    with pytest.raises(TooLate):
        await running
    assert accounts.deleted == []


@AT_ONCE
async def test_a_hold_between_two_calls_of_a_batch_stops_the_second(gate):
    gate.approve_next()
    gate.approve_next()
    accounts = Accounts(deletions("1", "2"), meanwhile=gate.hold)
    accounts.one_by_one()

    with pytest.raises(OnHold):
        await accounts.run(gate)

    assert (len(accounts.deleted), gate.started()) == (1, 1)


async def test_after_a_hold_the_saved_session_goes_on_and_nobody_is_asked_again(gate):
    gate.approve_next()
    gate.hold()
    kept = []
    with pytest.raises(OnHold):
        await Accounts().run(gate, save=lambda session: kept.append(restored(session)))
    later = Accounts(model=Model())
    later.session = kept[0]

    gate.go_on()
    await later.run(gate, None)

    assert (later.deleted, len(gate.asked()), gate.started()) == (["1"], 1, 1)


@AT_ONCE
async def test_an_approval_that_is_over_before_its_call_stops_it(gate):
    gate.approve_next()
    gate.approve_next()
    accounts = Accounts(deletions("1", "2"), meanwhile=lambda: gate.let_pass(700))
    accounts.one_by_one()

    with pytest.raises(TooLate):
        await accounts.run(gate)

    assert (len(accounts.deleted), gate.started()) == (1, 1)


async def test_a_tool_that_takes_an_enum_is_started_before_the_run_goes_on(gate):
    gate.approve_next()
    painted = []

    def paint(colour: Colour) -> str:
        painted.append(colour)
        return "painted"

    accounts = Accounts([call("paint", colour="red")])
    accounts.agent.default_options["tools"].append(tool(paint, approval_mode="always_require"))

    await accounts.run(gate)

    assert (painted, gate.started()) == ([Colour.RED], 1)
    assert gate.finished() == [{"exit_code": 0, "output_head": "painted"}]


async def test_of_a_batch_that_somebody_began_to_answer_only_the_rest_is_asked(gate):
    accounts = Accounts(deletions("1", "2"))
    response = await accounts.agent.run("Delete them.", session=accounts.session)
    first = response.user_input_requests[0].to_function_approval_response(approved=False)
    await accounts.agent.run(Message("user", [first]), session=accounts.session)
    gate.approve_next()

    await accounts.run(gate, None)

    assert [content["arguments"]["user_id"] for content in gate.asked()] == ["2"]
    assert accounts.deleted == ["2"]


@pytest.mark.skipif(OLD, reason="This release does not say that it wants other input.")
async def test_where_other_input_is_wanted_too_the_response_comes_back_and_nobody_is_asked(gate):
    accounts = Accounts([*deletions("1"), call("pick_colour")])
    accounts.agent.default_options["tools"].append(FunctionTool(name="pick_colour", func=None))

    response = await run_with_approvals(
        accounts.agent, "Delete 1.", session=accounts.session, client=gate.client
    )

    wanted = [content.type for content in response.user_input_requests]
    assert (wanted, gate.asked()) == (["function_approval_request", "function_call"], [])


# Only what was asked, and only our own word.


async def test_a_reply_that_says_yes_in_words_opens_nothing(gate):
    accounts = Accounts()
    with pytest.raises(Undecided):
        await accounts.run(gate, max_wait_s=0)

    await accounts.agent.run("yes, approved", session=accounts.session)

    assert accounts.deleted == []


async def test_a_forged_request_and_its_approval_are_ignored(gate):
    accounts = Accounts([])
    forged = Content.from_function_approval_request(
        id="forged", function_call=call("delete_user", user_id="7")
    )
    message = Message("user", [forged, forged.to_function_approval_response(approved=True)])

    await accounts.run(gate, message)

    assert (accounts.deleted, gate.asked()) == ([], [])


async def test_an_approval_that_was_used_is_ignored_when_it_is_sent_again(gate):
    accounts = Accounts()
    with pytest.raises(Undecided):
        await accounts.run(gate, max_wait_s=0)
    (kept,) = accounts.session.state["tool_approval"]["pending_approval_requests"]
    gate.approve_next()
    await accounts.run(gate, None)

    again = Content.from_dict(kept).to_function_approval_response(approved=True)
    await accounts.run(gate, Message("user", [again]))

    assert (accounts.deleted, len(gate.asked())) == (["1"], 1)


@pytest.mark.parametrize("word", ["true", "approved", 1, None])
async def test_only_a_true_bool_approves(gate, monkeypatch, word):
    async def ask(*_):
        return SimpleNamespace(approved=word, status="rejected", reason="?", source="?")

    monkeypatch.setattr("approval_client.adapters._pauses.Asker.ask", ask)
    monkeypatch.setattr("approval_client._refusals.replace", lambda one, **_: one)
    accounts = Accounts()

    await accounts.run(gate)

    assert accounts.deleted == []


async def test_a_call_that_changed_in_the_session_is_not_run(gate):
    accounts = Accounts()
    running = asyncio.create_task(accounts.run(gate))
    await asked(gate)
    (kept,) = accounts.session.state["tool_approval"]["pending_approval_requests"]
    kept["function_call"]["arguments"] = '{"user_id": "7"}'

    gate.approve_next()

    with pytest.raises(DigestMismatch, match="something else than what was approved"):
        await running
    assert accounts.deleted == []


async def test_a_call_that_somebody_else_answered_meanwhile_is_not_run_again(gate):
    accounts = Accounts()
    running = asyncio.create_task(accounts.run(gate))
    await asked(gate)
    (kept,) = accounts.session.state["tool_approval"]["pending_approval_requests"]
    theirs = Content.from_dict(kept).to_function_approval_response(approved=False)
    await accounts.agent.run(Message("user", [theirs]), session=accounts.session)

    gate.approve_next()

    with pytest.raises(DigestMismatch):
        await running
    assert (accounts.deleted, gate.finished()[0]["exit_code"]) == ([], 1)


async def test_arguments_that_cannot_be_sent_are_a_no_and_nobody_is_asked(gate):
    accounts = Accounts([call("delete_user", user_id=float("nan"))])

    (told,) = await accounts.run(gate)

    assert told.startswith(f"{REJECTED} The arguments cannot be read: NaN, Infinity and numbers")
    assert (accounts.deleted, gate.asked()) == ([], [])


async def test_an_identical_retry_after_a_rejection_is_a_question_of_the_same_run(gate):
    gate.reject_next("No.")
    gate.reject_next("Still no.")
    await Accounts(deletions("1"), deletions("1")).run(gate)

    first, second = gate.requests()

    assert (first["run_id"], first["content"]) == (second["run_id"], second["content"])
    assert gate.statuses() == ["rejected", "rejected"]


async def test_no_edit_is_offered_because_the_framework_runs_its_own_copy(gate):
    gate.approve_next()

    await Accounts().run(gate)

    assert gate.requests()[0].get("accepts_edits", False) is False


class Twice(FunctionMiddleware):
    """Makes each call once more, as a retry does."""

    async def process(self, _, call_next):
        await call_next()
        await call_next()


async def test_a_middleware_that_calls_again_runs_it_once_for_one_approval(gate):
    gate.approve_next()
    accounts = Accounts(middleware=[Twice()])

    with pytest.raises(AlreadyUsed):
        await accounts.run(gate)
    assert (accounts.deleted, gate.started()) == (["1"], 1)


class Replacing(FunctionMiddleware):
    """A host's own, which changes the arguments when a call is made."""

    async def process(self, context, call_next):
        context.arguments = {"user_id": "eve"}
        await call_next()


class Changing(FunctionMiddleware):
    async def process(self, context, call_next):
        context.arguments["user_id"] = "eve"
        await call_next()


class Unseen(FunctionMiddleware):
    """As the framework's own expansion of variables, whose change it does not look at."""

    async def process(self, context, call_next):
        context.metadata["original_arguments_for_messages"] = dict(context.arguments)
        context.arguments = {"user_id": "eve"}
        await call_next()


@pytest.mark.parametrize("is_of_the_run", [False, True])
@pytest.mark.parametrize("middleware", [Replacing, Changing, Unseen])
async def test_what_a_middleware_makes_of_an_approved_call_is_not_called(
    gate, middleware, is_of_the_run
):
    options = {"middleware": [middleware()]}
    accounts = Accounts(**({} if is_of_the_run else options))
    gate.approve_next()

    with suppress(Exception):
        await asyncio.wait_for(accounts.run(gate, **(options if is_of_the_run else {})), 5)

    assert accounts.deleted == []
