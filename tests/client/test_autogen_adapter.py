"""AutoGen's request as ours: the code as it is, the evidence as far as it can be sent."""

import asyncio
import sys
from types import ModuleType, SimpleNamespace

import pytest

from approval_client import ApprovalRequest
from approval_client.adapters.autogen import Gate, Guard, to_request
from approval_client.testing import FakeDashboard
from approval_client.wire import MAX_BODY_BYTES

MESSAGE = {"type": "UserMessage", "content": "Say hello.", "source": "user"}


class Event:
    """A stand-in for AutoGen's pydantic model."""

    def __init__(self, code="x", context=(), dump=None):
        self.code, self.context, self._dump = code, list(context), dump

    def model_dump(self, *, mode):
        assert mode == "json"
        if isinstance(self._dump, Exception):
            raise self._dump
        return self._dump or {"code": self.code, "context": self.context}


def test_the_frameworks_own_request_is_kept_whole():
    request = to_request(Event(context=[MESSAGE]))

    assert request.evidence == {
        "context": [MESSAGE],
        "source_event": {"code": "x", "context": [MESSAGE]},
    }


def test_an_empty_context_is_left_out():
    assert to_request(Event()).evidence == {"source_event": {"code": "x", "context": []}}


def test_a_dump_that_fails_does_not_stop_the_question():
    request = to_request(Event(context=[MESSAGE], dump=TypeError("Expected Image")))

    assert request.content == {"code": "x"}
    assert request.evidence == {
        "context": [MESSAGE],
        "source_event": "Left out: the request could not be written as JSON (TypeError).",
    }


def test_evidence_that_is_not_json_is_replaced_by_a_sentence():
    dump = {"code": "x", "context": ["\ud800"]}

    assert to_request(Event(dump=dump)).evidence == {
        "context": "Left out: this could not be sent as JSON.",
        "source_event": "Left out: this could not be sent as JSON.",
    }


def test_evidence_that_is_too_large_is_replaced_and_the_code_is_not():
    code, image = "y" * 300_000, {"data": "z" * 600_000}

    request = to_request(Event(code=code, context=[image]))

    assert request.content == {"code": code}
    assert request.evidence["context"] == [image]
    assert request.evidence["source_event"].startswith("Left out: this was too large")
    assert len(request.body()) <= MAX_BODY_BYTES


def test_everything_is_left_out_before_the_code_is_touched():
    request = to_request(Event(code="y" * 1_048_000, context=[MESSAGE]))

    assert request.content == {"code": "y" * 1_048_000}
    assert len(request.body().encode()) <= MAX_BODY_BYTES


def test_a_request_without_a_dump_still_gives_its_context():
    class Plain:
        code = "x"
        context = ("said",)

    assert to_request(Plain()).evidence == {"context": ["said"]}


def test_a_request_of_ours_stays_as_it_is():
    request = ApprovalRequest.code("x", evidence={"context": "c"})

    assert to_request(request) == request


def test_a_request_without_code_is_a_type_error():
    with pytest.raises(TypeError, match="object holds no code"):
        to_request(object())


@pytest.mark.parametrize(
    "code", ["```", "```sh\na\n```\n", "```sh\na\n```\n```sh\nb\n```", "```a b\nc\n```"]
)
def test_fences_that_autogen_does_not_write_around_plain_code_are_refused(code):
    with pytest.raises(ValueError, match="could be read as"):
        to_request(Event(code=code))


async def test_tasks_that_share_an_approval_run_the_code_once(monkeypatch):
    module = ModuleType("autogen_core.code_executor")
    module.CodeResult = SimpleNamespace
    monkeypatch.setitem(sys.modules, "autogen_core", ModuleType("autogen_core"))
    monkeypatch.setitem(sys.modules, "autogen_core.code_executor", module)
    runs = []

    class Executor:
        async def execute_code_blocks(self, blocks, cancellation_token):
            runs.append((blocks, cancellation_token))
            await asyncio.sleep(0)
            return SimpleNamespace(exit_code=0, output="paid")

    gate = Gate("payer", client=FakeDashboard.approving().async_client())
    guard = Guard(Executor(), gate)
    block = SimpleNamespace(language="python", code="pay()")
    await gate.ask(Event("```python\npay()\n```"))

    results = await asyncio.gather(*(guard.execute_code_blocks([block], None) for _ in "abc"))

    assert len(runs) == 1
    assert sorted(result.exit_code for result in results) == [0, 1, 1]
