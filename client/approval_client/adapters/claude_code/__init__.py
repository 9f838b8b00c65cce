"""For Claude Code: what its hook reads and writes, and ``can_use_tool`` of its Agent SDK."""

from __future__ import annotations

from approval_client.adapters.claude_code._agent_sdk import can_use_tool
from approval_client.adapters.claude_code._calls import (
    EVENT,
    MARGIN_S,
    Progress,
    Unreadable,
    answer,
    check_numbers,
    deny,
    edit_told,
    key,
    late,
    people_have_s,
    to_request,
)

__all__ = [
    "EVENT",
    "MARGIN_S",
    "Progress",
    "Unreadable",
    "answer",
    "can_use_tool",
    "check_numbers",
    "deny",
    "edit_told",
    "key",
    "late",
    "people_have_s",
    "to_request",
]
