"""What the page about any framework shows asks first, in three real frameworks."""

import json

import pytest
from haystack import component
from haystack.dataclasses import ChatMessage as HaystackMessage
from haystack.dataclasses import ToolCall
from smolagents import ChatMessage, CodeAgent, MessageRole, tool
from smolagents import Model as SmolModel
from smolagents.models import ChatMessageToolCall, ChatMessageToolCallFunction
from strands.models import Model as StrandsModel

from approval_client import requires_approval
from approval_client.testing import FakeDashboard
from tests.frameworks.examples import imported

FRAMEWORKS = ("smolagents", "strands", "haystack")


class Smol(SmolModel):
    """Calls the tool once with these arguments, and then ends."""

    def __init__(self, arguments):
        super().__init__()
        self.calls = [("set_field", arguments), ("final_answer", {"answer": "Done."})]
        self.read = ""

    def generate(self, messages, **_):
        self.read = str(messages[-1].content)
        name, arguments = self.calls.pop(0)
        function = ChatMessageToolCallFunction(name=name, arguments=arguments)
        call = ChatMessageToolCall(id=name, type="function", function=function)
        return ChatMessage(role=MessageRole.ASSISTANT, content="", tool_calls=[call])


class Strands(StrandsModel):
    """The same for Strands."""

    def __init__(self, arguments):
        self.calls = [json.dumps(arguments), None]
        self.read = ""

    def update_config(self, **_):
        pass

    def get_config(self):
        return {}

    async def structured_output(self, *_, **__):
        raise NotImplementedError

    async def stream(self, messages, *_, **__):
        self.read = str(messages[-1]["content"])
        arguments = self.calls.pop(0)
        called = {"toolUse": {"name": "set_current", "toolUseId": "1"}}
        delta = {"toolUse": {"input": arguments}} if arguments else {"text": "Done."}
        yield {"messageStart": {"role": "assistant"}}
        yield {"contentBlockStart": {"start": called if arguments else {}}}
        yield {"contentBlockDelta": {"delta": delta}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use" if arguments else "end_turn"}}


@component
class Haystack:
    """The same for Haystack."""

    def __init__(self, arguments):
        call = ToolCall("set_voltage", arguments)
        self.turns = [
            HaystackMessage.from_assistant(tool_calls=[call]),
            HaystackMessage.from_assistant("Done."),
        ]
        self.read = ""

    @component.output_types(replies=list[HaystackMessage])
    def run(self, messages: list[HaystackMessage], tools: list | None = None):
        del tools
        last = messages[-1].tool_call_result
        self.read = last.result if last else ""
        return {"replies": [self.turns.pop(0)]}


MODELS = {"smolagents": Smol, "strands": Strands, "haystack": Haystack}
ARGUMENTS = {"smolagents": "tesla", "strands": "ampere", "haystack": "volt"}


@pytest.fixture(params=FRAMEWORKS)
def work(request, tmp_path):
    """Run what the page shows of one framework; gives what the model read last, and the answer."""
    name = request.param
    run = imported("any", f"run_{name}", tmp_path)

    async def work(fake, value=3.0):
        model = MODELS[name]({ARGUMENTS[name]: value})
        with fake.installed():
            answer = getattr(run, f"run_{name}")(model, "Go.")
            answer = await answer if hasattr(answer, "__await__") else answer
        assert answer.strip() == "Done."
        return model.read

    work.argument = ARGUMENTS[name]
    return work


async def test_what_was_shown_is_called(work):
    fake = FakeDashboard.approving()

    read = await work(fake)

    assert [one.content["arguments"] for one in fake.approvals] == [{work.argument: 3.0}]
    assert "set to 3.0" in read
    assert fake.approvals[0].finished["exit_code"] == 0


async def test_a_rejection_is_read_by_the_model_and_nothing_is_called(work):
    fake = FakeDashboard.rejecting("Not on a Sunday.")

    read = await work(fake)

    assert "Not on a Sunday." in read
    assert "set to" not in read
    assert fake.approvals[0].started == 0


async def test_a_dashboard_that_cannot_be_reached_approves_nothing(work):
    read = await work(FakeDashboard.unreachable())

    assert "Nothing was approved" in read
    assert "set to" not in read


def test_a_code_agent_of_smolagents_asks_too(tmp_path):
    class Coder(SmolModel):
        turns = ["set_field(tesla=3.0)", "final_answer('Done.')"]

        def generate(self, *_, **__):
            code = f"Thought: go.\n<code>\n{self.turns.pop(0)}\n</code>"
            return ChatMessage(role=MessageRole.ASSISTANT, content=code)

    page = imported("any", "run_smolagents", tmp_path)
    fake = FakeDashboard.rejecting("No.")
    with fake.installed():
        CodeAgent(tools=[page.set_field], model=Coder(), verbosity_level=0).run("Go.")

    assert [one.content["arguments"] for one in fake.approvals] == [{"tesla": 3.0}]
    assert fake.approvals[0].started == 0


def test_smolagents_does_not_write_the_tool_down_without_its_gate(tmp_path):
    page = imported("any", "run_smolagents", tmp_path)

    with pytest.raises(ValueError, match="Name 'apply_field' is undefined"):
        page.set_field.to_dict()


def act(number: int) -> str:
    """Act.

    Args:
        number: How.
    """
    return f"ran with {number}"


def test_a_tool_that_is_decorated_itself_would_run_there_unasked():
    """The trap that the page warns of: if this fails, the page can say so no longer."""
    found = {}
    exec(tool(requires_approval(act)).to_dict()["code"], found)  # noqa: S102 - as a remote executor does

    assert found["SimpleTool"]().forward(1) == "ran with 1"
