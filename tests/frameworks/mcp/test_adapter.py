"""The SDK's own client, mcp 2.3.0, calls the tools of ``approvals mcp``."""

import asyncio
import json

import pytest
from mcp import Client

from approval_client.adapters.mcp import Desk
from approval_client.command.mcp_server import server
from approval_client.wire import parse_json

DEPLOY = {"kind": "code", "content": {"code": "deploy()", "language": "python"}}
BASH = {"tool_name": "Bash", "input": {"command": "make", "timeout": 5}, "tool_use_id": "t1"}


class Host:
    """A host of one server, which it connects to for every call."""

    def __init__(self, server):
        self.server = server

    async def call(self, tool, **arguments):
        """Return what a tool says, and whether it is an error."""
        async with Client(self.server) as client:
            result = await client.call_tool(tool, arguments)
        (text,) = result.content
        return json.loads(text.text), result.is_error

    async def asks(self, **more):
        told, _ = await self.call("request_approval", **DEPLOY | more)
        return told

    async def checks(self, asked, **more):
        told, _ = await self.call("check_approval", id=asked["id"], digest=asked["digest"], **more)
        return told

    async def prompts(self, **more):
        told, is_error = await self.call("permission_prompt", **BASH | more)
        assert is_error is False
        return told


@pytest.fixture
def host(gate):
    return hosting(gate, run_id="run-1", wait_s=20, prompt_s=60)


def hosting(gate, **options):
    return Host(server(Desk(gate.client, **options)))


async def asked(gate, times=1):
    while len(gate.asked()) < times:
        await asyncio.sleep(0.001)


async def open_question(host, **more):
    """Ask, and be told that nobody has decided."""
    told = await host.asks(wait_s=0.02, **more)
    assert told["status"] == "pending"
    return told


# What the server says about itself.


async def test_the_tools_are_named_with_what_they_take(host):
    async with Client(host.server) as client:
        tools = (await client.list_tools()).tools

    assert {tool.name: tool.input_schema["required"] for tool in tools} == {
        "request_approval": ["kind", "content"],
        "check_approval": ["id", "digest"],
        "report_finished": ["id"],
        "permission_prompt": ["tool_name", "input"],
    }


async def test_the_model_is_told_that_anything_else_is_a_no(host):
    async with Client(host.server) as client:
        assert client.instructions.endswith("Anything else, including an error, means no.")


# Asking.


async def test_a_yes_says_so_and_was_started(host, gate):
    gate.approve_next("Go on.")

    told = await host.asks()

    assert (told["approved"], told["status"], told["reason"]) == (True, "approved", "Go on.")
    assert (gate.asked(), gate.started()) == ([DEPLOY["content"]], 1)


async def test_the_time_that_asking_took_is_not_waited_again(host, gate, monkeypatch):
    submit = gate.client.submit

    async def slow(request):
        pending = await submit(request)
        await asyncio.sleep(1)
        return pending

    monkeypatch.setattr(gate.client, "submit", slow)
    clock = asyncio.get_running_loop().time
    began = clock()

    told = await host.asks(wait_s=1)

    assert told["status"] == "pending"
    assert clock() - began < 1.9  # seconds: one, and not two


async def test_everything_that_is_said_about_it_is_asked(host, gate):
    gate.approve_next()

    await host.asks(objective="Roll out.", evidence={"analysis_details": "small"}, time_limit_s=60)

    (body,) = gate.requests()
    assert body == {
        **DEPLOY,
        "capability": "python_execution",
        "objective": "Roll out.",
        "evidence": {"analysis_details": "small"},
        "run_id": "run-1",
        "time_limit_s": 60,
        "accepts_grants": True,
    }


async def test_a_no_carries_its_reason_and_is_no_error(host, gate):
    gate.reject_next("Not on a Sunday.")

    told, is_error = await host.call("request_approval", **DEPLOY)

    assert (told["approved"], told["status"], is_error) == (False, "rejected", False)
    assert told["reason"].startswith("Not on a Sunday.\n\nThis was rejected by reviewer.")


async def test_an_edit_comes_back_as_the_content_to_do(host, gate):
    gate.edit_next({"code": "deploy(dry=True)", "language": "python"})

    told = await host.asks(accepts_edits=True)

    assert (told["approved"], told["edited"]) == (True, True)
    assert told["content"] == {"code": "deploy(dry=True)", "language": "python"}
    assert told["next"].startswith("A person changed this before approving it.")
    assert "not your own" in told["next"]


async def test_an_edit_comes_back_with_the_digits_that_people_saw(host, gate):
    gate.edit_next({"tool": "caput", "arguments": parse_json('{"x": 1.10}')})
    asks = {"kind": "tool_call", "content": {"tool": "caput", "arguments": {"x": 1}}}

    async with Client(host.server) as client:
        result = await client.call_tool("request_approval", asks | {"accepts_edits": True})

    assert '"arguments":{"x":1.10}' in result.content[0].text


async def test_an_edit_with_a_number_that_is_rounded_opens_nothing(host, gate):
    gate.edit_next({"tool": "caput", "arguments": parse_json('{"x": 9007199254740993.0}')})
    asks = {"kind": "tool_call", "content": {"tool": "caput", "arguments": {"x": 1}}}

    told, is_error = await host.call("request_approval", **asks, accepts_edits=True)

    assert (told["approved"], is_error) == (False, True)
    assert "which Python reads as another one" in told["reason"]


async def test_an_edit_that_nobody_asked_for_opens_nothing(host, gate):
    gate.edit_next({"code": "deploy(dry=True)", "language": "python"})

    told = await host.asks()

    assert (told["approved"], gate.started()) == (False, 0)


async def test_nobody_answering_in_time_is_expired(host, gate):
    answer = asyncio.create_task(host.asks())
    await asked(gate)

    gate.run_out()

    told = await answer
    assert (told["approved"], told["status"]) == (False, "expired")


async def test_a_dashboard_that_is_down_is_an_error_that_says_so(host, gate):
    gate.unplug()

    told, is_error = await host.call("request_approval", **DEPLOY)

    assert (told["approved"], told["status"], is_error) == (False, None, True)
    assert told["reason"].startswith("The dashboard at 'http://localhost:8765' gave no usable")


async def test_two_calls_are_decided_in_the_other_order(host, gate):
    first = asyncio.create_task(host.asks())
    await asked(gate)
    second = asyncio.create_task(host.asks(content={"code": "two()"}))
    await asked(gate, 2)

    gate.decide(1, "approve")
    assert (await second)["approved"] is True
    gate.decide(0, "No.")

    assert (await first)["approved"] is False


async def test_the_same_after_a_no_has_the_same_run_and_content(host, gate):
    gate.reject_next("No.")
    gate.reject_next("Still no.")

    told = [await host.asks() for _ in range(2)]

    assert [one["approved"] for one in told] == [False, False]
    first, second = gate.requests()
    assert first == second


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "dance"},
        {"content": "deploy()"},
        {"time_limit_s": True},
        {"accepts_edits": "yes"},
        {"wait_s": -1},
        {"approved": True},
    ],
)
async def test_what_cannot_be_asked_is_an_error_and_asks_nobody(host, gate, wrong):
    told, is_error = await host.call("request_approval", **DEPLOY | wrong)

    assert (told["approved"], is_error, gate.asked()) == (False, True, [])
    assert told["reason"].endswith("Correct the arguments and call it again.")


async def test_a_host_that_sends_nested_arguments_as_text_is_told_to_send_the_object(host, gate):
    wrong = DEPLOY | {"content": '{"code": "deploy()"}'}

    told, _ = await host.call("request_approval", **wrong)

    assert (
        "content must be of type object. It was a text: pass the value itself." in told["reason"]
    )
    assert "Do not retry" not in told["reason"]
    assert gate.asked() == []


async def test_a_field_that_the_dashboard_does_not_take_is_named_and_what_was_meant(host, gate):
    wrong = DEPLOY | {"content": {"code": "deploy()", "lang": "python"}}

    told, _ = await host.call("request_approval", **wrong)

    assert "body.content.lang" in told["reason"]
    assert "Mend that, and ask again." in told["reason"]
    assert gate.asked() == []


async def test_a_tool_that_is_not_there_is_an_error(host):
    told, is_error = await host.call("approve_everything")

    assert (told["approved"], is_error) == (False, True)


# Asking first and waiting later.


async def test_who_does_not_wait_long_is_told_how_to_go_on(host, gate):
    told = await open_question(host)

    assert told["approved"] is False
    assert told["next"].startswith("Nothing was approved, so do not do it.")
    assert gate.statuses() == ["pending"]


async def test_a_yes_that_came_meanwhile_is_found_and_used(host, gate):
    question = await open_question(host)
    gate.approve_next()

    assert (await host.checks(question))["approved"] is True
    assert gate.started() == 1


async def test_a_no_that_came_meanwhile_is_found(host, gate):
    question = await open_question(host)
    gate.reject_next("No.")

    told = await host.checks(question)

    assert (told["approved"], told["status"]) == (False, "rejected")


@pytest.mark.parametrize("wait_s", [0, 0.001])
async def test_who_does_not_wait_at_all_is_told_what_was_decided(host, gate, wait_s):
    question = await open_question(host)
    gate.approve_next()

    assert (await host.checks(question, wait_s=wait_s))["approved"] is True


async def test_who_does_not_wait_at_all_is_told_that_nobody_has_decided(host, gate):
    question = await open_question(host)

    told = await host.checks(question, wait_s=0)

    assert (told["status"], told["reason"]) == ("pending", "Nobody has decided yet.")


async def test_an_approval_is_returned_once(host, gate):
    question = await open_question(host)
    gate.approve_next()

    told = [await host.checks(question) for _ in range(2)]

    assert [one["approved"] for one in told] == [True, False]
    assert told[1]["reason"].startswith("It was approved, but the approval was used already")


async def test_a_yes_after_the_time_opens_nothing(host, gate):
    question = await open_question(host)
    gate.run_out()

    told = await host.checks(question)
    gate.approve_next()

    assert (told["approved"], told["status"], gate.started()) == (False, "expired", 0)


async def test_asking_the_same_again_finds_the_open_question(host, gate):
    await open_question(host)
    gate.approve_next()

    assert (await host.asks())["approved"] is True
    assert len(gate.asked()) == 1


async def test_a_question_can_be_checked_by_another_server(host, gate):
    question = await open_question(host)
    gate.approve_next()

    assert (await hosting(gate).checks(question))["approved"] is True


async def test_an_answer_about_other_content_opens_nothing(host, gate):
    question = await open_question(host)
    gate.approve_next()

    told = await host.checks(question | {"digest": "0" * 64})

    assert (told["approved"], gate.started()) == (False, 0)


async def test_an_edit_can_be_checked_by_who_asked(host, gate):
    question = await open_question(host, accepts_edits=True)
    gate.edit_next({"code": "deploy(dry=True)", "language": "python"})

    assert (await host.checks(question))["content"]["code"] == "deploy(dry=True)"


async def test_a_digest_that_is_mistyped_is_told_and_loses_no_edit(host, gate):
    question = await open_question(host, accepts_edits=True)
    gate.edit_next({"code": "deploy(dry=True)", "language": "python"})

    told = await host.checks(question | {"digest": "0" * 64})

    assert told["reason"].startswith("This id has another digest. Pass the one that came with it.")
    assert (await host.checks(question))["content"]["code"] == "deploy(dry=True)"


async def test_an_id_in_capitals_is_the_same_question(host, gate):
    question = await open_question(host, accepts_edits=True)
    gate.edit_next({"code": "deploy(dry=True)", "language": "python"})

    told = await host.checks(question | {"id": question["id"].upper()})

    assert told["content"]["code"] == "deploy(dry=True)"


async def test_an_edit_outlasts_a_hold(host, gate):
    question = await open_question(host, accepts_edits=True)
    gate.edit_next({"code": "deploy(dry=True)", "language": "python"})
    gate.hold()
    await host.checks(question)
    gate.go_on()

    assert (await host.checks(question))["content"]["code"] == "deploy(dry=True)"


async def test_asking_the_same_after_an_edit_that_opens_nothing_asks_anew(host, gate):
    gate.edit_next({"code": "deploy(dry=True)", "language": "python"})
    await host.asks()
    gate.approve_next()

    assert (await host.asks())["approved"] is True
    assert len(gate.asked()) == 2


async def test_a_call_that_the_host_cancels_takes_its_question_back(host, gate):
    answer = asyncio.create_task(host.asks())
    await asked(gate)

    answer.cancel()

    while gate.statuses() == ["pending"]:
        await asyncio.sleep(0.001)
    assert gate.statuses() == ["cancelled"]


async def test_a_check_that_the_host_cancels_leaves_the_question(host, gate):
    question = await open_question(host)
    answer = asyncio.create_task(host.checks(question))
    await asyncio.sleep(0.02)
    answer.cancel()
    await asyncio.wait([answer])

    gate.approve_next()

    assert (await host.checks(question))["approved"] is True


# Telling the end.


async def test_the_end_is_reported_with_what_came_of_it(host, gate):
    gate.approve_next()
    told = await host.asks()

    end = await host.call("report_finished", id=told["id"], exit_code=0, output_head="out")

    assert end == ({"reported": True, "id": told["id"]}, False)
    assert gate.finished() == [{"exit_code": 0, "output_head": "out"}]


async def test_an_end_that_cannot_be_reported_says_so(host, gate):
    gate.approve_next()
    told = await host.asks()
    gate.unplug()

    end, is_error = await host.call("report_finished", id=told["id"], exit_code=0)

    assert (end["reported"], is_error) == (False, True)
    assert end["reason"] == "Its end was not reported (Unreachable). What was done is done."


async def test_the_end_of_what_was_not_approved_is_an_error(host, gate):
    gate.reject_next("No.")
    told = await host.asks()

    _, is_error = await host.call("report_finished", id=told["id"])

    assert is_error is True


# Claude Code's permission prompt.


async def test_a_permission_is_given_after_a_yes_for_the_same_input(host, gate):
    gate.approve_next()

    assert await host.prompts() == {"behavior": "allow", "updatedInput": BASH["input"]}
    assert gate.asked() == [{"code": "make", "language": "bash"}]


async def test_a_permission_is_denied_after_a_no_with_its_reason(host, gate):
    gate.reject_next("Not on a Sunday.")

    told = await host.prompts()

    assert told["behavior"] == "deny"
    assert told["message"].startswith("Not on a Sunday.")


async def test_a_command_that_was_edited_is_what_runs(host, gate):
    gate.edit_next({"code": "make -n", "language": "bash"})

    told = await host.prompts()

    assert told == {"behavior": "allow", "updatedInput": {"command": "make -n", "timeout": 5}}


async def test_arguments_that_were_edited_are_what_the_tool_gets(host, gate):
    gate.edit_next({"tool": "caput", "arguments": {"value": 1}})

    told = await host.prompts(tool_name="caput", input={"value": 2})

    assert told == {"behavior": "allow", "updatedInput": {"value": 1}}


async def test_an_edited_number_that_claude_code_would_read_as_another_is_not_run(host, gate):
    gate.edit_next({"tool": "caput", "arguments": {"value": 2**53 + 1}})

    told = await host.prompts(tool_name="caput", input={"value": 2})

    assert told["behavior"] == "deny"
    assert (
        "A person changed the arguments to some that are not taken as they are." in told["message"]
    )
    assert gate.finished()[0]["error"].startswith("It was not run")


async def test_a_permission_that_nobody_gives_is_denied(host, gate):
    answer = asyncio.create_task(host.prompts())
    await asked(gate)

    gate.run_out()

    assert (await answer)["behavior"] == "deny"


async def test_a_permission_is_denied_before_the_host_gives_up(gate):
    told = await hosting(gate, prompt_s=4.02).prompts()

    assert told["behavior"] == "deny"
    assert told["message"].startswith("Nobody decided within the 4 s")
    assert gate.statuses() == ["cancelled"]


async def test_a_permission_is_denied_where_the_dashboard_is_down(host, gate):
    gate.unplug()

    told = await host.prompts()

    assert told["behavior"] == "deny"
    assert told["message"].startswith("The dashboard at 'http://localhost:8765' gave no usable")


async def test_the_same_call_is_permitted_once(host, gate):
    gate.approve_next()

    told = [await host.prompts() for _ in range(2)]

    assert [one["behavior"] for one in told] == ["allow", "deny"]
    assert len(gate.asked()) == 1


@pytest.mark.parametrize("wrong", [{"tool_name": ""}, {"tool_name": 7}, {"input": "make"}])
async def test_a_permission_for_what_is_no_call_is_denied(host, gate, wrong):
    assert (await host.prompts(**wrong))["behavior"] == "deny"
    assert gate.asked() == []
