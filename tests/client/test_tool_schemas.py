"""The schema of a tool goes with the question about its call."""

from typing import Annotated

import pytest

from approval_client import ApprovalRequest, requires_approval
from approval_client._models import about_tool, within_limit
from approval_client.adapters import _core
from approval_client.testing import FakeDashboard
from approval_client.wire import MAX_BODY_BYTES
from dashboard.approvals.rules.tool import claims_of, schema_digest

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}
LARGE_SCHEMA = {"type": "object", "description": "x" * 20_000}


def test_a_schema_is_sent():
    assert about_tool(lambda: SCHEMA) == {"tool_schema": SCHEMA}


def test_of_a_large_schema_the_digest_is_sent_by_which_the_dashboard_knows_it():
    evidence = about_tool(lambda: LARGE_SCHEMA)

    assert evidence["tool_schema"] == schema_digest({"tool_schema": LARGE_SCHEMA})


@pytest.mark.parametrize(
    "schema", [None, [], "object", 5, {}, {"x": float("nan")}, {"x": object()}]
)
def test_what_is_no_schema_is_not_sent(schema):
    assert about_tool(lambda: schema) == {}


def test_a_schema_that_cannot_be_made_is_not_sent():
    assert about_tool(lambda: 1 // 0) == {}


def test_hints_are_sent_as_the_dashboard_reads_them():
    hints = {"readOnlyHint": True, "destructiveHint": "no", "title": "Read", "x": False}

    evidence = about_tool(lambda: None, lambda: hints)

    assert evidence == {"tool_annotations": {"readOnlyHint": True}}
    assert claims_of(evidence) == '{"readOnlyHint":true}'


def test_what_an_adapter_knows_stands_beside_it():
    evidence = _core.of_call({"agent": "ana", "nothing": None}, lambda: SCHEMA)

    assert evidence == {"agent": "ana", "tool_schema": SCHEMA}


def test_a_request_that_is_too_large_keeps_the_digest_of_the_schema():
    schema = {"type": "object", "description": "x" * 9_000}
    evidence = about_tool(lambda: schema) | {"log": "x" * 20_000}
    arguments = {"text": "x" * (MAX_BODY_BYTES - 25_000)}

    fitting = within_limit(ApprovalRequest.tool_call("write", arguments, evidence=evidence))

    assert fitting.evidence == evidence | {"tool_schema": schema_digest({"tool_schema": schema})}


# --- functions that are gated ------------------------------------------------------------------


@pytest.fixture
def approving():
    with FakeDashboard.approving().installed() as fake:
        yield fake


def test_the_parameters_of_a_gated_function_are_its_schema(approving):
    @requires_approval
    def send(to: str, *rest: int, copies: int = 1, plain=False, **more: bool) -> None:
        pass

    send("ana")

    assert approving.approvals[0].body["evidence"]["tool_schema"] == {
        "type": "object",
        "properties": {
            "to": {"annotation": "str"},
            "rest": {"annotation": "int"},
            "copies": {"annotation": "int"},
            "plain": {},
            "more": {"annotation": "bool"},
        },
        "required": ["to"],
    }


def test_a_method_does_not_show_its_object(approving):
    class Mailer:
        @requires_approval
        def send(self, to):
            pass

    Mailer().send("ana")

    assert approving.approvals[0].body["evidence"]["tool_schema"]["properties"] == {"to": {}}


def test_the_schema_names_no_address_in_memory(approving):
    @requires_approval
    def send(to: Annotated[str, object()]):
        pass

    send("ana")

    assert " at 0x" not in str(approving.approvals[0].body["evidence"])


def test_a_schema_of_the_host_stands_for_the_parameters(approving):
    @requires_approval(evidence={"tool_schema": SCHEMA, "ticket": "T-1"})
    def send(to):
        pass

    send("ana")

    assert approving.approvals[0].body["evidence"] == {"tool_schema": SCHEMA, "ticket": "T-1"}
