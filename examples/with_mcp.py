"""An MCP client starts `approvals mcp` and asks twice: one is approved, the other rejected."""

import asyncio
import json
import os
import sys
from typing import Any

from mcp import Client, StdioServerParameters
from mcp.types import TextContent

# As a host's configuration has it: "command": "approvals", "args": ["mcp"].
SERVER = StdioServerParameters(
    command=sys.executable,
    args=["-m", "approval_client.command", "mcp"],
    env={name: os.environ[name] for name in ("DASHBOARD_URL", "DASHBOARD_TOKEN")},
)


async def ask(client: Client, code: str) -> dict[str, Any]:
    """Ask, and wait until somebody decides, however long one call may take."""
    content = {"code": code, "language": "python"}
    told = await call(client, "request_approval", kind="code", content=content)
    while told["status"] == "pending":
        told = await call(client, "check_approval", id=told["id"], digest=told["digest"])
    return told


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """Return what a tool says, which is JSON."""
    result = await client.call_tool(tool, arguments)
    (said,) = [part.text for part in result.content if isinstance(part, TextContent)]
    told: dict[str, Any] = json.loads(said)
    return told


async def main() -> None:
    """Ask for two things, and do what was approved."""
    async with Client(SERVER) as client:
        for code in ("print(6 * 7)", "shutdown()"):
            told = await ask(client, code)
            if told["approved"] is not True:
                print(f"{code}: not run. {told['reason'].splitlines()[0]}")
                continue
            print(f"{code}: approved by {told['decided_by']}. Running it:")
            exec(code)  # noqa: S102 - what was approved
            await call(client, "report_finished", id=told["id"], exit_code=0)


asyncio.run(main())
