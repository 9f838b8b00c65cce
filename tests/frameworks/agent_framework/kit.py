"""A model of Microsoft Agent Framework that says what it is told to, and agents that have it."""

import asyncio
import itertools
import json
from importlib.metadata import version

from agent_framework import (
    Agent,
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationLayer,
    Message,
    ResponseStream,
    tool,
)

from approval_client.adapters.agent_framework import run_with_approvals

OLD = tuple(map(int, version("agent-framework-core").split(".")[:2])) < (1, 23)
_ids = itertools.count(1)


class Model(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):
    """Takes its turns in order, each a text or a list of calls, and keeps what it read."""

    def __init__(self, *turns):
        super().__init__()
        self.turns = list(turns)
        self.read = []

    def _inner_get_response(self, *, messages, stream, **_):
        def next_turn():
            self.read.append([(m.role, [_shown(c) for c in m.contents]) for m in messages])
            return _said(self.turns.pop(0) if self.turns else "done")

        async def respond():
            return ChatResponse(messages=[Message("assistant", next_turn())])

        async def updates():
            for said in next_turn():
                content = Content.from_text(said) if isinstance(said, str) else said
                yield ChatResponseUpdate(role="assistant", contents=[content])

        if stream:
            return ResponseStream(updates(), finalizer=ChatResponse.from_updates)
        return respond()

    def told(self):
        """Return what it read last in place of the tools' results."""
        return [text for role, texts in self.read[-1] if role == "tool" for text in texts]


def call(name, **arguments):
    """Return a call that the model makes."""
    return Content.from_function_call(
        call_id=f"call_{next(_ids)}", name=name, arguments=json.dumps(arguments)
    )


class Accounts:
    """An agent that deletes accounts, and which it has deleted.

    Args:
        meanwhile: Called while it deletes one.
    """

    def __init__(self, *turns, mode="always_require", model=None, meanwhile=lambda: None, **agent):
        self.deleted = []
        self.meanwhile = meanwhile
        self.model = model or Model(*turns or ([call("delete_user", user_id="1")],))
        tools = [tool(self.delete_user, approval_mode=mode), tool(self.find_user)]
        self.agent = Agent(self.model, "Delete.", name="deleter", tools=tools, **agent)
        self.session = self.agent.create_session(session_id="s1")

    def one_by_one(self):
        """Have the framework make one call after the other."""
        self.model.function_invocation_configuration["allow_concurrent_invocation"] = False

    def delete_user(self, user_id: str) -> str:
        """Delete a user."""
        self.deleted.append(user_id)
        self.meanwhile()
        if user_id == "root":
            raise ValueError("Not that one!")
        return f"deleted {user_id}"

    def find_user(self, user_id: str) -> str:
        """Find a user."""
        return f"found {user_id}"

    async def run(self, gate, message="Delete them.", **options):
        """Run the agent with approvals, and return what the model read last of its calls."""
        options = {"session": self.session, "client": gate.client, **options}
        # A live server may have to start again meanwhile, on a machine that has much to do.
        await asyncio.wait_for(run_with_approvals(self.agent, message, **options), 90)
        return self.model.told()


def deletions(*users):
    """Return a turn that deletes all of them."""
    return [call("delete_user", user_id=user) for user in users]


async def asked(gate, times=1):
    """Return once so many questions are on the desk and waited for."""
    while len(gate.asked()) < times:
        await asyncio.sleep(0.001)
    await asyncio.sleep(0.01)


def _said(turn):
    return [turn] if isinstance(turn, str) else turn


def _shown(content):
    if content.type == "function_result":
        return content.result
    return content.text or content.name or f"{content.type} {content.approved}"
