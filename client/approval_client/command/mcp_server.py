"""``approvals mcp``: a server of the Model Context Protocol on standard input and output.

Nothing but the protocol reaches standard output: the SDK keeps it and turns what anything else
prints to standard error. The SDK is imported when it is used, because it is an extra.
"""

from __future__ import annotations

import asyncio
import os
import signal
import uuid
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from approval_client import ApprovalResponse
from approval_client.adapters import claude_code
from approval_client.adapters.mcp import INSTRUCTIONS, TOOLS, Desk, Told
from approval_client.command import notes
from approval_client.command.changes import difference

NAME = "approvals"
_SESSION = "CLAUDE_CODE_SESSION_ID"  # Claude Code 2.1.330 tells it to its servers


class NoSdk(Exception):
    """The SDK is not installed, or is too old."""


def serve(*, run_id: str, wait_s: int, prompt_s: int) -> None:
    """Serve until the host closes standard input or sends a signal.

    Raises:
        NoSdk: Nothing was served.
    """
    session = os.environ.get(_SESSION, "")
    desk = Desk(
        run_id=run_id or session or str(uuid.uuid4()),
        wait_s=wait_s,
        prompt_s=prompt_s,
        evidence=_evidence,
        approved=lambda *call: _keep(session, *call),
    )
    asyncio.run(_serve(server(desk), desk))


def server(desk: Desk) -> Any:
    """Return the SDK's server with our tools.

    Raises:
        NoSdk: There is none.
    """
    try:
        types = import_module("mcp_types")
        lowlevel = import_module("mcp.server.lowlevel")
    except ImportError as error:
        raise NoSdk from error

    async def listed(_context: Any, _parameters: Any) -> Any:
        tools = [
            types.Tool(name=tool.name, description=tool.description, input_schema=tool.schema)
            for tool in TOOLS
        ]
        return types.ListToolsResult(tools=tools)

    async def called(_context: Any, parameters: Any) -> Any:
        reply: Told = await desk.call(parameters.name, parameters.arguments)
        text = types.TextContent(text=reply.text)
        return types.CallToolResult(content=[text], is_error=reply.is_error)

    return lowlevel.Server(
        NAME, instructions=INSTRUCTIONS, on_list_tools=listed, on_call_tool=called
    )


async def _serve(serving: Any, desk: Desk) -> None:
    stopping: list[asyncio.Task[None]] = []
    loop = asyncio.get_running_loop()

    def stop(number: int) -> None:
        stopping.append(loop.create_task(_stop(desk, number)))

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, stop, number)
    try:
        async with import_module("mcp.server.stdio").stdio_server() as (incoming, outgoing):
            await serving.run(incoming, outgoing, serving.create_initialization_options())
    finally:
        await desk.close()


async def _stop(desk: Desk, number: int) -> None:
    await desk.close()
    os._exit(128 + number)  # a thread reads standard input, and nobody promises that it ends


def _evidence(tool: str, arguments: Any) -> Mapping[str, Any]:
    evidence = {"project_folder_path": os.environ.get("CLAUDE_PROJECT_DIR", "")}
    if isinstance(arguments, Mapping):
        evidence["difference"] = difference(tool, arguments)
    return {name: value for name, value in evidence.items() if value}


def _keep(session: str, call: str, response: ApprovalResponse, changed: Any) -> None:
    # ``approvals hook --finished`` finds it by what Claude Code calls this call.
    if key := claude_code.key({"session_id": session, "tool_use_id": call}):
        notes.keep(key, response, changed)
