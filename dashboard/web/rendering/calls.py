"""A tool call, to be read: the tool, and what it is called with, member by member."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dashboard.inspection.parts import parts_of_call
from dashboard.web.rendering.blocks import ContentBlock, Draft, of_part, raw, rendered
from dashboard.web.rendering.members import Member, Members, fit_on_a_page


@dataclass(frozen=True, slots=True)
class CallView:
    """How a tool call is shown.

    Attributes:
        tool: The number of the block that holds the name of the tool.
        arguments: What it is called with.
        is_whole: Whether all arguments are here. If not there are none, and JSON stands for them.
    """

    tool: int
    arguments: list[Member]
    is_whole: bool = True


def is_call(content: Any) -> bool:
    """Say whether ``content`` is a tool call of the shape that the door lets in."""
    return (
        isinstance(content, dict)
        and content.keys() == {"tool", "arguments"}
        and isinstance(content["tool"], str)
        and isinstance(content["arguments"], dict)
    )


def render_call(
    content: Mapping[str, Any], *, masks: bool = False
) -> tuple[CallView, list[ContentBlock]]:
    """Draw a tool call: all of it as JSON first, then each text, then the name of the tool."""
    tool, arguments = content["tool"], content["arguments"]
    named = Draft("Tool", tool)
    if not fit_on_a_page(arguments):
        return CallView(1, [], is_whole=False), rendered([raw(content), named])
    parts = parts_of_call(tool, arguments)
    blocks = rendered([raw(content), *map(of_part, parts), named], masks=masks)
    return CallView(len(parts) + 1, Members(parts).of(arguments)), blocks
