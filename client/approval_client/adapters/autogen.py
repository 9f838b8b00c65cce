"""For AutoGen. Checked against autogen-agentchat 0.7.5, and 0.7.2, the first that can ask.

``gate`` stands before every code executor of an agent or a team that is there already, which
AutoGen restores from a configuration without any; ``for_agent`` makes the function of one agent
that is yet to be made; ``ungated`` looks for what runs code and asks nobody. All of them return
a rejection whatever goes wrong: an exception would end the whole team.
"""

from __future__ import annotations

import warnings
from collections.abc import Awaitable, Callable
from typing import Any, Unpack
from uuid import uuid4

from approval_client._from_autogen import to_request
from approval_client._models import ApprovalResponse
from approval_client.adapters._autogen_agents import executors, loose_tools
from approval_client.adapters._autogen_gate import Gate, Options

__all__ = ["for_agent", "gate", "to_request", "ungated"]


def for_agent(
    name: str, **options: Unpack[Options]
) -> Callable[[Any], Awaitable[ApprovalResponse]]:
    """Return an ``approval_func`` that says who asks: a coroutine function, as AutoGen wants it.

    Args:
        name: Of the agent; shown as its claim.
        options: ``run_id`` groups the questions of one run and links a retry with what was
            rejected; a new one if it is not given. ``context`` is what reviewers see of the
            conversation: JSON, or a function that returns it and is called for each question;
            AutoGen's own if None, which is empty for an agent without a model, such as
            MagenticOne's. ``objective`` says what the run is for, ``time_limit_s`` how long
            reviewers have, in seconds (the server's default if None), ``accepts_grants`` whether
            a yes that a reviewer gave before may answer, and ``client`` who asks (configured by
            the environment if None).

    Raises:
        TypeError: The client is one that blocks, or an option is unknown.
    """
    return Gate(name, **options).ask


def gate(agent: Any, **options: Unpack[Options]) -> list[Any]:
    """Have every ``CodeExecutorAgent`` in ``agent`` ask first, and tell how what it ran ended.

    A gated agent runs exactly the blocks that were approved, once, and nothing without: its code
    executor is guarded too. It shows reviewers what it was told where AutoGen's own context is
    empty. Gate it again to start another run, or with other options.

    Args:
        agent: An agent, or a team with agents and teams in it, also behind AutoGen's agent and
            team tools, its message filter and its society of mind.
        options: Those of ``for_agent``, which all of them share.

    Returns:
        The agents that ask now.

    Raises:
        ValueError: There is none in it.
        TypeError: AutoGen is older than 0.7.2, an option is wrong, or the client blocks.

    Warns:
        UserWarning: A tool in it runs code, and AutoGen asks nobody before a tool.
    """
    found = executors(agent)
    if not found:
        raise ValueError(
            f"There is no CodeExecutorAgent in this {type(agent).__name__}. Nothing was gated. "
            "Pass the agent, or the team that it is in."
        )
    options["run_id"] = options.get("run_id") or uuid4().hex
    gates = [Gate(one.name, **options) for one in found]
    for one, its_gate in zip(found, gates, strict=True):
        its_gate.close(one)
    _warn_about(loose_tools(agent))
    return found


def ungated(*agents: Any) -> list[Any]:
    """Return what in ``agents`` runs code and asks nobody, and warn about each.

    It is a ``CodeExecutorAgent`` without an approval function, whatever function it is, or a tool
    that runs code, which nothing gates.

    Warns:
        UserWarning: One for each.
    """
    found = [one for agent in agents for one in executors(agent) if not one._approval_func]  # noqa: SLF001 - there is no other name
    for one in found:
        warnings.warn(
            f"{one.name!r} runs code and asks nobody. Call gate() with it, or with its team.",
            stacklevel=2,
        )
    tools = [tool for agent in agents for tool in loose_tools(agent)]
    _warn_about(tools)
    return [*found, *tools]


def _warn_about(tools: list[Any]) -> None:
    for tool in tools:
        warnings.warn(
            f"The tool {tool.name!r} runs code and asks nobody: AutoGen has no approval for "
            "tools. Give the code to a CodeExecutorAgent instead.",
            stacklevel=3,
        )
