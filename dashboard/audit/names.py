"""What the audit log calls people and agents, as the actor or the subject of an entry."""

from __future__ import annotations


def user_name(username: str) -> str:
    """Return the name of a person in the log: ``user:alice``."""
    return f"user:{username}"


def agent_name(name: str) -> str:
    """Return the name of an agent in the log: ``agent:planner``."""
    return f"agent:{name}"
