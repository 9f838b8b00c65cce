"""What would happen, drawn by its kind. Titles and remarks are our words; all else the agent's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from approval_client.wire import Kind, parse_json
from dashboard.inspection.fences import Block, looks_fenced, parse_fences
from dashboard.inspection.languages import is_known
from dashboard.web.rendering.blocks import ContentBlock, Draft, rendered
from dashboard.web.rendering.calls import CallView, is_call, render_call
from dashboard.web.rendering.memories import Approved, MemoryView, is_memory, render_memory
from dashboard.web.rendering.plans import PlanView, is_plan, render_plan
from dashboard.web.rendering.prettyjson import pretty_json
from dashboard.web.rendering.windows import is_dense

SEVERAL_BLOCKS = (
    "The agent sent one text. We read it as {count} blocks; its fences could also be part of the "
    "code of one block."
)
AMBIGUOUS_FENCES = (
    "This looks like fenced blocks of code, but the fences can be read in more than one way. "
    "It is shown as the one text that it is."
)
FENCES_AND_LANGUAGE = (
    "This has fences like several blocks of code, but the agent named one language for all of it. "
    "It is shown as the one text that it is."
)
UNKNOWN_LANGUAGE = "We do not know the language that the agent named, so this is not coloured."
TOO_MANY_BLOCKS = "This holds more than {count} fenced blocks. It is shown as one text."
DENSE_BLOCKS = (
    "So much is hidden in these fenced blocks that they are shown as the one text that they are."
)
_MOST_BLOCKS = 50
_WHOLE = PlanView([])


@dataclass(frozen=True, slots=True)
class Content:
    """What would happen, ready for the page, every member of it.

    Attributes:
        blocks: Every text, by its number; findings are marked there.
        call: How a tool call is read; of another kind it is None, as the next ones are.
    """

    blocks: list[ContentBlock]
    call: CallView | None = None
    plan: PlanView | None = None
    memory: MemoryView | None = None

    @property
    def is_plain(self) -> bool:
        """Whether the blocks are shown one below the other, and nothing else."""
        return not (self.call or self.plan or self.memory)

    @property
    def lines(self) -> int:
        """How many lines there are, of what is not there for the second time."""
        return sum(block.code.line_count for block in self.blocks if not block.is_raw)

    @property
    def secrets(self) -> frozenset[str]:
        """What is masked in it."""
        return frozenset[str]().union(*(block.secrets for block in self.blocks))

    @property
    def masked(self) -> int:
        """How many places are masked, without what is there for the second time."""
        return sum(len(block.code.masked) for block in self.blocks if not block.is_raw)

    @property
    def to_be_read(self) -> list[ContentBlock]:
        """The blocks that are all of the content, each text once."""
        is_whole = (self.call or self.plan or _WHOLE).is_whole
        before = self.memory.approved if self.memory else 0
        blocks = [b for b in self.blocks if not b.is_raw and b.number != (before or -1)]
        return blocks if is_whole else self.blocks

    @property
    def warnings(self) -> list[str]:
        """What is hidden in it, and what else a reader was warned about, in our words."""
        found = [w for block in self.blocks if not block.is_raw for w in block.code.warnings]
        members = self.call.arguments if self.call else []
        members = [m for step in self.plan.steps for m in step.members] if self.plan else members
        found += [warning for member in members for warning in member.all_warnings()]
        return found + ([self.memory.standing] if self.memory and self.memory.is_warning else [])


def render_content(
    kind: str, content_text: str, approved: Approved | None = None, *, masks: bool = False
) -> Content:
    """Render the canonical JSON text of a request's content, every member of it.

    Args:
        approved: The memory that was approved before, for a request about memory.
        masks: Whether secrets are masked; never where something grave was found.

    Raises:
        JsonError: The text is not what the server stores.
    """
    content = parse_json(content_text)
    if kind == Kind.TOOL_CALL and is_call(content):
        call, blocks = render_call(content, masks=masks)
        return Content(blocks, call=call)
    if kind == Kind.PLAN and is_plan(content):
        plan, blocks = render_plan(content, masks=masks)
        return Content(blocks, plan=plan)
    if kind == Kind.MEMORY and is_memory(content):
        memory, blocks = render_memory(content, approved, masks=masks)
        return Content(blocks, memory=memory)
    return Content(rendered(_drafts(kind, content), masks=masks))


def _drafts(kind: str, content: Any) -> Iterator[Draft]:
    rest = content
    if kind == Kind.CODE and isinstance(content, dict) and isinstance(content.get("code"), str):
        rest = dict(content)
        named = isinstance(content.get("language"), str)
        yield from _code(rest.pop("code"), rest.pop("language") if named else "")
        if not rest:
            return
    title = "Content" if rest is content else "Also part of the content"
    yield Draft(title, pretty_json(rest), "json")


def _code(code: str, language: str) -> Iterator[Draft]:
    blocks = None if language else parse_fences(code)
    if blocks is None or len(blocks) > _MOST_BLOCKS or (len(blocks) > 1 and is_dense(code)):
        remarks = _remarks(code, language, blocks)
        yield Draft("Code", code, language, remarks, language, is_inspected=blocks is None)
        return
    for number, block in enumerate(blocks, 1):
        title = f"Code, block {number} of {len(blocks)}" if len(blocks) > 1 else "Code"
        said = _unknown(block.language)
        if number == 1 and len(blocks) > 1:
            said.append(SEVERAL_BLOCKS.format(count=len(blocks)))
        named = block.language
        yield Draft(title, block.code, named, tuple(said), named, is_inspected=True)


def _remarks(code: str, language: str, blocks: list[Block] | None) -> tuple[str, ...]:
    """Say what a reader of one undivided text should know about it."""
    remarks = _unknown(language)
    if blocks is not None:
        too_many = TOO_MANY_BLOCKS.format(count=_MOST_BLOCKS)
        remarks.append(too_many if len(blocks) > _MOST_BLOCKS else DENSE_BLOCKS)
    elif looks_fenced(code):
        remarks.append(FENCES_AND_LANGUAGE if language else AMBIGUOUS_FENCES)
    return tuple(remarks)


def _unknown(language: str) -> list[str]:
    return [UNKNOWN_LANGUAGE] if language and not is_known(language) else []
