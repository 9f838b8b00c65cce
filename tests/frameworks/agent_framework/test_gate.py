"""Microsoft Agent Framework: the gate before every tool, and the rule, inside a run."""

import asyncio
from datetime import datetime

import pytest
from agent_framework import (
    FunctionMiddleware,
    Message,
    MiddlewareFailure,
    ToolApprovalMiddleware,
    tool,
)
from pydantic import SecretStr

from approval_client import DigestMismatch, Expired, TooLate, Unreachable
from approval_client.adapters.agent_framework import approval_rule
from approval_client.adapters.agent_framework import gate as dashboard_gate
from tests.frameworks.agent_framework.kit import OLD, Accounts, asked, call, deletions


def gated(gate, *turns, more=(), **options):
    """Accounts whose tools have no approval mode, behind a gate."""
    stand = dashboard_gate(client=gate.client, **options)
    return Accounts(*turns, mode="never_require", middleware=[*more, stand])


async def told(accounts, **options):
    """Run the agent, and return what the model read in place of the tools' results."""
    await asyncio.wait_for(accounts.agent.run("Delete them.", **options), 20)
    return accounts.model.told()


# The gate.


async def test_a_tool_is_called_after_a_yes(gate):
    gate.approve_next()

    assert await told(gated(gate)) == ["deleted 1"]
    assert gate.asked() == [{"tool": "delete_user", "arguments": {"user_id": "1"}}]


async def test_a_tool_is_not_called_after_a_no_and_the_model_reads_the_reason(gate):
    gate.reject_next("Keep it.")
    accounts = gated(gate)

    (reason,) = await told(accounts)

    assert reason.startswith(
        "Error: Tool call invocation was rejected. Keep it.\n\nThis was rejected by "
    )
    assert (accounts.deleted, gate.started()) == ([], 0)


async def test_edited_arguments_are_what_the_tool_gets(gate):
    gate.edit_next({"tool": "delete_user", "arguments": {"user_id": "2"}})
    accounts = gated(gate)

    (read,) = await told(accounts)

    assert read.startswith("deleted 2\nA person changed the arguments of this call before")
    assert '{"user_id":"2"} and not with yours. Do not make your own call again.' in read
    assert accounts.deleted == ["2"]


async def test_an_edit_cannot_change_which_tool_is_called(gate):
    gate.edit_next({"tool": "find_user", "arguments": {"user_id": "1"}})
    accounts = gated(gate)

    with pytest.raises(MiddlewareFailure) as raised:
        await told(accounts)

    assert isinstance(raised.value.__cause__, DigestMismatch)
    assert accounts.deleted == []


async def test_an_edit_that_the_tool_does_not_take_calls_nothing_and_is_reported(gate):
    gate.edit_next({"tool": "delete_user", "arguments": {"user": "2"}})
    accounts = gated(gate)

    await told(accounts)

    assert accounts.deleted == []
    assert [end["exit_code"] for end in gate.finished()] == [1]


async def test_nobody_answering_ends_the_run(gate):
    accounts = gated(gate)
    running = asyncio.create_task(told(accounts))
    await asked(gate)
    gate.run_out()

    with pytest.raises(MiddlewareFailure, match="was not called") as raised:
        await running
    assert isinstance(raised.value.__cause__, Expired)
    assert accounts.deleted == []


async def test_a_dashboard_that_is_down_ends_the_run(gate):
    gate.unplug()
    accounts = gated(gate)

    with pytest.raises(MiddlewareFailure) as raised:
        await told(accounts)

    assert isinstance(raised.value.__cause__, Unreachable)
    assert accounts.deleted == []


async def test_a_late_yes_does_not_call_the_tool(gate):
    accounts = gated(gate, [*deletions("1"), call("find_user", user_id="2")], time_limit_s=5)
    running = asyncio.create_task(told(accounts))
    await asked(gate, 2)
    gate.run_out()
    gate.decide(0, "approve")
    gate.decide(1, "approve")

    with pytest.raises(MiddlewareFailure):
        await running
    assert (accounts.deleted, gate.started()) == ([], 0)


async def test_a_cancelled_run_takes_its_question_back(gate):
    running = asyncio.create_task(told(gated(gate)))
    await asked(gate)

    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    assert gate.statuses() == ["cancelled"]


async def test_two_calls_are_asked_at_once_and_each_gets_its_own_answer(gate):
    accounts = gated(gate, deletions("1", "2"))
    running = asyncio.create_task(told(accounts))
    await asked(gate, 2)
    users = [content["arguments"]["user_id"] for content in gate.asked()]

    gate.decide(1, "approve")
    gate.decide(0, "No.")

    await running
    assert accounts.deleted == [users[1]]


async def test_what_has_no_answer_takes_the_questions_beside_it_back(gate):
    accounts = gated(gate, [*deletions("1"), call("find_user", user_id="2")])
    running = asyncio.create_task(told(accounts))
    await asked(gate, 2)

    gate.withdraw(0)
    with pytest.raises(MiddlewareFailure):
        await running

    assert (accounts.deleted, gate.statuses()) == ([], ["cancelled", "cancelled"])


async def test_how_it_ended_is_reported(gate):
    gate.approve_next()

    await told(gated(gate))

    assert gate.finished() == [{"exit_code": 0, "output_head": "deleted 1"}]


async def test_a_tool_that_fails_is_reported_with_its_error(gate):
    gate.approve_next()

    await told(gated(gate, deletions("root")))

    assert gate.finished() == [{"exit_code": 1, "error": "ValueError: Not that one!"}]


async def test_arguments_that_change_while_it_waits_are_not_used(gate):
    seen = []

    class Keep(FunctionMiddleware):
        async def process(self, context, call_next):
            seen.append(context)
            await call_next()

    accounts = gated(gate, more=[Keep()])
    running = asyncio.create_task(told(accounts))
    await asked(gate)
    seen[0].arguments["user_id"] = "7"
    gate.approve_next()

    with pytest.raises(MiddlewareFailure, match="arguments changed while people decided"):
        await running
    assert accounts.deleted == []


@pytest.mark.skipif(OLD, reason="This release calls no tool that takes a date.")
async def test_arguments_that_the_framework_converts_are_shown_as_the_json_they_are_read_from(
    gate,
):
    gate.approve_next()
    days = []

    def book(day: datetime) -> str:
        """Book a day."""
        days.append(day)
        return "booked"

    accounts = gated(gate, [call("book", day="2026-11-22T08:00:00")])
    await accounts.agent.run("Book it.", tools=[tool(book)])

    assert gate.asked()[0]["arguments"] == {"day": "2026-11-22T08:00:00"}
    assert gate.requests()[0]["accepts_edits"] is True
    assert days == [datetime(2026, 11, 22, 8)]  # noqa: DTZ001 - as the model wrote it


async def test_an_argument_that_is_masked_is_a_no_and_nobody_is_asked(gate):
    ran = []

    def shell(command: SecretStr) -> str:
        """Run a command."""
        ran.append(command)
        return "ran"

    accounts = gated(gate, [call("shell", command="rm -rf /")])
    await asyncio.wait_for(accounts.agent.run("Run it.", tools=[tool(shell)]), 20)

    assert (ran, gate.asked()) == ([], [])


async def test_an_edit_with_a_name_that_the_tool_does_not_take_runs_nothing_and_is_told(gate):
    gate.edit_next({"tool": "delete_user", "arguments": {"user_id": "1", "dry_run": True}})
    accounts = gated(gate)

    (read,) = await told(accounts)

    assert "does not take 'dry_run'" in read
    assert accounts.deleted == []
    assert "does not take the changed call" in gate.finished()[0]["error"]


async def test_arguments_that_cannot_be_sent_are_a_no_and_nobody_is_asked(gate):
    accounts = gated(gate, [call("delete_user", user_id="a\0b")])

    (reason,) = await told(accounts)

    assert "a text holds a NUL character. Nobody was asked and nothing was run." in reason
    assert (accounts.deleted, gate.asked()) == ([], [])


async def test_the_session_is_the_run_so_an_identical_retry_belongs_to_it(gate):
    gate.reject_next("No.")
    gate.reject_next("Still no.")
    accounts = gated(gate, deletions("1"), deletions("1"))

    await told(accounts, session=accounts.session)

    assert [request["run_id"] for request in gate.requests()] == ["s1", "s1"]
    assert gate.asked()[0] == gate.asked()[1]


@pytest.mark.parametrize("allowed", [True, False])
async def test_a_remembered_yes_may_answer_only_where_always_is_allowed(gate, allowed):
    gate.approve_next()

    await told(gated(gate, accepts_grants=allowed))

    assert gate.requests()[0].get("accepts_grants", False) is allowed


def test_a_client_that_blocks_is_refused_at_once(gate):
    with pytest.raises(TypeError, match="AsyncClient"):
        dashboard_gate(client=gate.blocking)


# The gate together with the loop.


def both(gate, *turns):
    """Accounts whose tool requires approval, behind a gate."""
    return Accounts(*turns, middleware=[dashboard_gate(client=gate.client)])


async def test_what_the_loop_got_approved_is_not_asked_again(gate):
    gate.approve_next()

    assert await both(gate).run(gate) == ["deleted 1"]
    assert gate.finished() == [{"exit_code": 0, "output_head": "deleted 1"}]


async def test_what_was_approved_elsewhere_is_asked_all_the_same(gate):
    gate.reject_next("Not from there.")
    accounts = both(gate)
    response = await accounts.agent.run("Delete 1.", session=accounts.session)
    (request,) = response.user_input_requests

    answer = request.to_function_approval_response(approved=True)
    await accounts.agent.run(answer_message(answer), session=accounts.session)

    assert (accounts.deleted, gate.statuses()) == ([], ["rejected"])
    assert gate.requests()[0].get("accepts_edits", False) is False


def answer_message(*contents):
    return Message("user", list(contents))


async def test_a_tool_beside_it_that_needs_no_approval_is_asked_by_the_gate(gate):
    gate.approve_next()
    gate.approve_next()
    turn = [*deletions("1"), call("find_user", user_id="2")]

    assert await both(gate, turn).run(gate) == ["deleted 1", "found 2"]
    assert [content["tool"] for content in gate.asked()] == ["delete_user", "find_user"]


# The rule.


def ruled(gate, *turns):
    rule = approval_rule(client=gate.client)
    middleware = [ToolApprovalMiddleware(auto_approval_rules=[rule])]
    return Accounts(*turns, middleware=middleware)


async def test_the_rule_says_yes_inside_the_run(gate):
    gate.approve_next()
    accounts = ruled(gate)

    assert await told(accounts, session=accounts.session) == ["deleted 1"]


async def test_the_rules_no_leaves_the_request_to_the_caller(gate):
    gate.reject_next("No.")
    accounts = ruled(gate)

    response = await accounts.agent.run("Delete 1.", session=accounts.session)

    assert [request.type for request in response.user_input_requests] == [
        "function_approval_request"
    ]
    assert accounts.deleted == []


async def test_the_rules_no_is_told_to_the_model_by_the_loop_and_nobody_is_asked_again(gate):
    gate.reject_next("Keep it.")
    accounts = ruled(gate)

    (reason,) = await accounts.run(gate)

    assert reason.split("\n")[0].endswith("Keep it.")
    assert (accounts.deleted, len(gate.asked())) == ([], 1)


async def test_the_end_of_what_the_rule_approved_is_reported_by_the_loop(gate):
    gate.approve_next()

    await ruled(gate).run(gate)

    assert gate.finished() == [{"exit_code": 0, "output_head": "deleted 1"}]


async def test_what_the_rule_approved_stays_unused_when_the_rest_is_not_answered(gate):
    gate.approve_next()
    accounts = ruled(gate, deletions("1", "2"))
    running = asyncio.create_task(accounts.run(gate))
    await asked(gate, 2)
    gate.run_out()

    with pytest.raises(Expired):
        await running
    assert (accounts.deleted, gate.started()) == ([], 0)


async def test_what_the_rule_approved_too_early_for_the_rest_of_its_batch_runs_nothing(gate):
    gate.approve_next()
    accounts = ruled(gate, deletions("1", "2"))
    running = asyncio.create_task(accounts.run(gate))
    await asked(gate, 2)
    gate.let_pass(700)
    gate.decide(1, "approve")

    with pytest.raises(TooLate):
        await running
    assert (accounts.deleted, gate.started()) == ([], 0)


def only_one(rule):
    """Have the rule asked about the deletion of the user 1 only."""

    async def some(wanted):
        return '"1"' in str(wanted.arguments) and await rule(wanted)

    return ToolApprovalMiddleware(auto_approval_rules=[some])


async def test_what_a_rule_for_some_approved_stays_unused_when_the_loop_gets_no_answer(gate):
    gate.approve_next()
    accounts = Accounts(deletions("1", "2"), middleware=[only_one(approval_rule())])
    running = asyncio.create_task(accounts.run(gate))
    await asked(gate, 2)
    gate.run_out()

    with pytest.raises(Expired):
        await running
    assert (accounts.deleted, gate.started()) == ([], 0)


async def test_the_rules_dashboard_that_is_down_ends_the_run(gate):
    gate.unplug()
    accounts = ruled(gate)

    with pytest.raises(Unreachable):
        await told(accounts, session=accounts.session)

    assert accounts.deleted == []


@pytest.mark.parametrize("answers", [("approve", "No."), ("No.", "approve")])
async def test_with_requests_shown_one_at_a_time_all_are_asked_at_once(gate, answers):
    accounts = Accounts(deletions("1", "2"), middleware=[ToolApprovalMiddleware()])
    running = asyncio.create_task(accounts.run(gate))
    await asked(gate, 2)
    users = [content["arguments"]["user_id"] for content in gate.asked()]

    for number in range(2):
        gate.decide(number, answers[number])

    await running
    assert accounts.deleted == [users[answers.index("approve")]]
