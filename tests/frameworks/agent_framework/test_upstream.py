"""What Agent Framework's own tests assert of approvals, as users of the dashboard meet it.

``docs/frameworks/agent_framework.md`` says which test stands for which of theirs.
"""

import json

import pytest
from agent_framework import (
    AgentSession,
    Content,
    FunctionMiddleware,
    Message,
    MiddlewareTermination,
    ToolApprovalMiddleware,
    create_always_approve_tool_response,
)

from approval_client.adapters.agent_framework import Undecided, approval_rule
from approval_client.adapters.agent_framework import gate as dashboard_gate
from tests.frameworks.agent_framework.kit import OLD, Accounts, call, deletions


def mixed():
    """A turn with a call that requires approval, and one that does not."""
    return [*deletions("1"), call("find_user", user_id="2")]


async def paused(gate, *turns, **options):
    """Accounts with a question on the desk and nobody who waits."""
    accounts = Accounts(*turns, **options)
    with pytest.raises(Undecided):
        await accounts.run(gate, max_wait_s=0)
    return accounts


def moved(accounts):
    """Move the session to another process, as JSON."""
    text = json.dumps(accounts.session.to_dict())
    accounts.session = AgentSession.from_dict(json.loads(text))


async def test_the_callers_message_is_not_changed(gate):
    gate.approve_next()
    message = Message("user", ["Delete 1."])

    await Accounts().run(gate, message)

    assert [content.text for content in message.contents] == ["Delete 1."]


async def test_later_turns_read_the_call_and_its_result_once_and_no_approval(gate):
    gate.approve_next()
    accounts = Accounts()
    await accounts.run(gate)
    moved(accounts)

    await accounts.run(gate, "And now?")

    read = [text for _, texts in accounts.model.read[-1] for text in texts]
    assert read == ["Delete them.", "delete_user", "deleted 1", "done", "And now?"]


async def test_an_unrelated_turn_keeps_what_is_pending(gate):
    accounts = await paused(gate)
    await accounts.agent.run("What time is it?", session=accounts.session)
    gate.approve_next()

    await accounts.run(gate, None)

    assert (accounts.deleted, len(gate.asked())) == (["1"], 1)


async def test_of_a_mixed_batch_only_what_requires_approval_is_asked(gate):
    gate.approve_next()

    assert await Accounts(mixed()).run(gate) == ["deleted 1", "found 2"]
    assert [content["tool"] for content in gate.asked()] == ["delete_user"]


async def test_a_mixed_batch_survives_a_restart(gate):
    accounts = await paused(gate, mixed())
    moved(accounts)
    gate.approve_next()

    assert await accounts.run(gate, None) == ["deleted 1", "found 2"]


async def test_the_rest_of_a_mixed_batch_waits_for_its_approval(gate):
    accounts = await paused(gate, mixed())

    await accounts.agent.run("What time is it?", session=accounts.session)

    assert accounts.model.told() == []


async def test_the_rest_of_a_mixed_batch_runs_once(gate):
    accounts = await paused(gate, mixed())
    gate.approve_next()
    await accounts.run(gate, None)
    found = accounts.model.told()

    await accounts.run(gate, "And now?")

    assert accounts.model.told() == found == ["deleted 1", "found 2"]


async def test_the_rule_asks_about_the_call_as_the_model_made_it(gate):
    gate.approve_next()
    rule = approval_rule(client=gate.client)
    accounts = Accounts(middleware=[ToolApprovalMiddleware(auto_approval_rules=[rule])])

    await accounts.agent.run("Delete 1.", session=accounts.session)

    assert gate.asked() == [{"tool": "delete_user", "arguments": {"user_id": "1"}}]


async def standing(gate, **options):
    """Accounts whose session holds a standing yes of the framework's own."""
    accounts = Accounts(middleware=[ToolApprovalMiddleware(), *options.pop("more", ())])
    response = await accounts.agent.run("Delete 1.", session=accounts.session)
    (request,) = response.user_input_requests
    always = Message("user", [create_always_approve_tool_response(request)])
    accounts.model.turns = ["done", deletions("2"), "done"]
    await accounts.agent.run(always, session=accounts.session)
    return accounts


async def test_a_standing_yes_of_the_frameworks_own_does_not_reach_the_desk(gate):
    accounts = await standing(gate)

    await accounts.run(gate)

    assert (accounts.deleted, gate.asked()) == (["1", "2"], [])


async def test_a_gate_asks_all_the_same_where_there_is_a_standing_yes(gate):
    for _ in range(2):
        gate.reject_next("Ask us.")

    accounts = await standing(gate, more=[dashboard_gate(client=gate.client)])
    await accounts.run(gate)

    assert (accounts.deleted, gate.statuses()) == ([], ["rejected", "rejected"])


@pytest.mark.skipif(OLD, reason="Until 1.20 the framework believes an answer without a session.")
async def test_an_answer_without_a_session_opens_nothing(gate):
    accounts = Accounts()
    response = await accounts.agent.run("Delete 1.")
    (request,) = response.user_input_requests

    answer = Message("user", [request.to_function_approval_response(approved=True)])
    await accounts.agent.run([*response.messages, answer])

    assert accounts.deleted == []


async def test_a_call_that_only_informs_is_not_asked(gate):
    informs = call("delete_user", user_id="1")
    informs.informational_only = True
    accounts = Accounts([informs])

    await accounts.run(gate)

    assert (accounts.deleted, gate.asked()) == ([], [])


async def test_a_call_that_the_provider_makes_is_asked_and_the_answer_passed_on(gate):
    gate.approve_next()
    where = {"additional_properties": {"server_label": "docs"}} if OLD else {"hosted": True}
    theirs = Content.from_function_call(call_id="mcp_1", name="search", arguments="{}", **where)
    request = Content.from_function_approval_request(id="mcp_1", function_call=theirs)
    accounts = Accounts([request])

    await accounts.run(gate)

    assert gate.asked() == [{"tool": "search", "arguments": {}}]
    assert accounts.model.read[-1][-1] == ("user", ["function_approval_response True"])
    (end,) = gate.finished()
    assert end == {"output_head": "Handed on to the model's provider, which runs it."}


class Stop(FunctionMiddleware):
    """Ends the run in place of a call."""

    async def process(self, context, _call_next):
        context.result = "stopped"
        raise MiddlewareTermination


async def test_a_middleware_that_ends_the_run_is_heard_after_an_approval(gate):
    gate.approve_next()
    accounts = Accounts(middleware=[Stop()])

    await accounts.run(gate)

    assert (accounts.deleted, len(accounts.model.read)) == ([], 1)


async def test_the_gate_tells_what_a_middleware_behind_it_put_in_place_of_the_result(gate):
    gate.approve_next()
    accounts = Accounts(middleware=[dashboard_gate(client=gate.client), Stop()])

    await accounts.run(gate)

    assert [end["error"].split(":")[0] for end in gate.finished()] == ["MiddlewareTermination"]


async def test_a_tool_that_is_gone_after_the_approval_is_not_called(gate):
    accounts = await paused(gate)
    gate.approve_next()
    accounts.agent.default_options["tools"] = []

    await accounts.run(gate, None)

    assert accounts.deleted == []
    assert [end["exit_code"] for end in gate.finished()] == [1]
