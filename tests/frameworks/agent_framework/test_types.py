"""What the docs show, Agent Framework's page too, passes two type checkers."""

from tests.frameworks.typed import problems, shown, write

PROMISED = """
from typing import Any, assert_type

from agent_framework import (
    Agent,
    AgentResponse,
    AgentSession,
    ChatMiddleware,
    FunctionMiddleware,
    ToolApprovalMiddleware,
    Workflow,
    WorkflowRunResult,
)

from approval_client.adapters.agent_framework import (
    approval_rule,
    gate,
    reasons,
    resume_workflow,
    run_with_approvals,
)


async def run(agent: Agent, session: AgentSession) -> None:
    assert_type(await run_with_approvals(agent, "Go.", session=session), AgentResponse[Any])
    assert_type(await run_with_approvals(agent, session=session), AgentResponse[Any] | None)


async def flow(workflow: Workflow, result: WorkflowRunResult) -> None:
    assert_type(await resume_workflow(workflow, result), WorkflowRunResult)


assert_type(gate(), FunctionMiddleware)
assert_type(reasons(), ChatMiddleware)
ToolApprovalMiddleware(auto_approval_rules=[approval_rule()])
"""


def test_what_the_docs_show_is_typed(tmp_path):
    files = shown(tmp_path, "agent_framework")

    assert problems(tmp_path, files) == []


def test_what_is_returned_has_the_types_of_the_framework(tmp_path):
    assert problems(tmp_path, [write(tmp_path / "promised.py", PROMISED)]) == []
