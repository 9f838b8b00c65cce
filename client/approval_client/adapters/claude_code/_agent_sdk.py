"""The Claude Agent SDK's ``can_use_tool``. Checked against claude-agent-sdk 0.2.189.

Claude Code asks it where it would ask somebody at the terminal, like its permission prompt.
"""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

from approval_client._arguments import check_seconds
from approval_client._async_client import AsyncClient
from approval_client._errors import DigestMismatch
from approval_client._models import ApprovalRequest, ApprovalResponse
from approval_client._refusals import for_model, refusal
from approval_client._telling import Listener
from approval_client.adapters import _core
from approval_client.adapters.claude_code import _calls as calls

if TYPE_CHECKING:
    from claude_agent_sdk import PermissionResult, ToolPermissionContext

    CanUseTool: TypeAlias = Callable[
        [str, dict[str, Any], ToolPermissionContext], Awaitable[PermissionResult]
    ]


def can_use_tool(
    *,
    client: AsyncClient | None = None,
    run_id: str = "",
    time_limit_s: int | None = None,
    on_pending: Listener | None = None,
    on_decided: Listener | None = None,
) -> CanUseTool:
    """Return what answers for ``ClaudeAgentOptions(can_use_tool=…)``. It allows or denies.

    Edits are not accepted, and no end is reported: the SDK has no place for either here.

    Args:
        client: Who asks; configured by the environment if None.
        run_id: Groups the questions; a new one if empty.
        time_limit_s: How long people have, in seconds; what the dashboard gives if None.
        on_pending: Called with the answer when a person has to decide; see ``Client.telling``.
        on_decided: Called with the answer when it was decided, with who did and when.

    Raises:
        TypeError: The client blocks, or ``time_limit_s`` is no number.
    """
    check_seconds("time_limit_s", time_limit_s)
    asking = _core.asking(client, "The Claude Agent SDK", on_pending, on_decided)
    sdk = import_module("claude_agent_sdk")
    session = run_id or str(uuid.uuid4())

    async def answer(tool: str, arguments: dict[str, Any], _: Any) -> Any:
        def question() -> ApprovalRequest:
            calls.check_numbers(arguments)
            event = {"hook_event_name": calls.EVENT, "tool_name": tool, "tool_input": arguments}
            return calls.to_request({**event, "session_id": session}, wait_s=time_limit_s)

        try:
            response = await asking.request_approval(question())
            if response.approved is True:
                _make_sure(tool, question(), response)
        except Exception as error:  # noqa: BLE001 - whatever goes wrong is a denial
            response = refusal(error)
        if response.approved is True:
            return sdk.PermissionResultAllow()
        return sdk.PermissionResultDeny(message=for_model(response).reason)

    return answer


def _make_sure(tool: str, now: ApprovalRequest, response: ApprovalResponse) -> None:
    if now.digest != response.digest:
        raise DigestMismatch(
            f"The input of {tool} changed while it waited for approval. It was not called."
        )
