"""Microsoft Agent Framework: accounts are deleted only after somebody approved.

    python examples/with_agent_framework.py

DASHBOARD_URL and DASHBOARD_TOKEN say where the dashboard is and who asks; no account with a
provider of models is needed.
"""

import asyncio
import json
from typing import Any

from agent_framework import (
    Agent,
    AgentSession,
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    Content,
    FunctionInvocationLayer,
    Message,
    tool,
)

from approval_client.adapters.agent_framework import run_with_approvals


class FakeModel(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):
    """Wants to delete two accounts, and then has nothing left to say."""

    users = iter(["48213", "48214"])

    async def _inner_get_response(self, *, messages: Any, **_: Any) -> ChatResponse:
        for content in messages[-1].contents:
            if content.type == "function_result":
                print("The model reads:", content.result.partition("\n")[0])
        user = next(self.users, None)
        if user is None:
            return ChatResponse(messages=[Message("assistant", ["I did what I was allowed to."])])
        call = Content.from_function_call(f"call_{user}", "delete_user", arguments={"user": user})
        return ChatResponse(messages=[Message("assistant", [call])])


@tool(approval_mode="always_require")
def delete_user(user: str) -> str:
    """Delete an account."""
    print("Deleting", user)
    return f"deleted {user}"


def keep(session: AgentSession) -> None:
    """Keep the session, so that another process can go on if this one ends while it waits."""
    text = json.dumps(session.to_dict())  # goes into a file or a database of yours
    print("Asking, and the session can be kept:", text[:18])


async def main() -> None:
    """Run the agent until nothing is pending."""
    agent = Agent(FakeModel(), "Do what you are told.", name="janitor", tools=[delete_user])
    task = "Delete the accounts 48213 and 48214."
    response = await run_with_approvals(agent, task, session=agent.create_session(), save=keep)
    print("The agent says:", response.text)


asyncio.run(main())
