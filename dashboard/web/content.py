"""What would happen, drawn by its kind. Titles and remarks are ours; the rest is the agent's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from approval_client.wire import Kind, parse_json
from dashboard.approvals.models import ApprovalRequest
from dashboard.inspection.fences import Block, looks_fenced, parse_fences
from dashboard.inspection.findings import Report, Severity
from dashboard.inspection.headline import STEP_CAPABILITY, STEP_OBJECTIVE
from dashboard.inspection.languages import is_known
from dashboard.inspection.memories import MemoryEffect, memory_effect
from dashboard.inspection.parts import Part, parts_of_call, parts_of_texts
from dashboard.web.drawing.blocks import BlockDraft, ContentBlock, of_part, raw, rendered
from dashboard.web.drawing.diff import ChangedLine, LineChange, is_drawn_whole, line_changes
from dashboard.web.drawing.prettyjson import pretty_json
from dashboard.web.drawing.tree import Member, Members, fit_on_a_page
from dashboard.web.drawing.windows import is_dense


@dataclass(frozen=True, slots=True)
class CallView:
    """How a tool call is shown.

    Attributes:
        tool: The number of the block that holds the name of the tool.
        arguments: What it is called with.
        is_whole: Whether all arguments are here. If not, the list is empty and JSON is shown.
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
    content: Mapping[str, Any], *, redacts: bool = False
) -> tuple[CallView, list[ContentBlock]]:
    """Draw a tool call: all of it as JSON first, then each text, then the name of the tool."""
    tool, arguments = content["tool"], content["arguments"]
    tool_draft = BlockDraft("Tool", tool)
    if not fit_on_a_page(arguments):
        return CallView(1, [], is_whole=False), rendered([raw(content), tool_draft])
    parts = parts_of_call(tool, arguments)
    blocks = rendered([raw(content), *map(of_part, parts), tool_draft], redacts=redacts)
    return CallView(len(parts) + 1, Members(parts).of(arguments)), blocks


_LONGEST_LEAD = 500  # characters; what is longer is a row like others


@dataclass(frozen=True, slots=True)
class PlanStep:
    """One step.

    Attributes:
        capability: The number of the block that says who does it, 0 if nothing says so.
        objective: The number of the block that says what is done, 0 if nothing says so.
        members: Everything else.
    """

    number: int
    capability: int
    objective: int
    members: list[Member]


@dataclass(frozen=True, slots=True)
class PlanView:
    """How a plan is shown. If it is not ``is_whole``, JSON stands for all steps."""

    steps: list[PlanStep]
    is_whole: bool = True


def is_plan(content: Any) -> bool:
    """Say whether ``content`` is a plan of the shape that the door lets in."""
    return (
        isinstance(content, dict)
        and content.keys() == {"steps"}
        and isinstance(content["steps"], list)
        and all(isinstance(step, dict) for step in content["steps"])
    )


def render_plan(
    content: Mapping[str, Any], *, redacts: bool = False
) -> tuple[PlanView, list[ContentBlock]]:
    """Draw a plan: all of it as JSON first, then each text."""
    steps = content["steps"]
    if not fit_on_a_page(steps):
        return PlanView([], is_whole=False), rendered([raw(content)])
    parts = parts_of_texts(content)
    members = Members(parts)
    view = PlanView([_plan_step(number, step, members) for number, step in enumerate(steps, 1)])
    return view, rendered([raw(content), *map(of_part, parts)], redacts=redacts)


def _plan_step(number: int, step: dict[str, Any], members: Members) -> PlanStep:
    capability = _leading_member(step, STEP_CAPABILITY)
    objective = _leading_member(step, STEP_OBJECTIVE)
    rest = {key: value for key, value in step.items() if key not in (capability, objective)}
    place = ("steps", number - 1)
    return PlanStep(
        number,
        members.block_at(*place, capability) if capability else 0,
        members.block_at(*place, objective) if objective else 0,
        members.of(rest, place),
    )


def _leading_member(step: Mapping[str, Any], names: tuple[str, ...]) -> str:
    """Return the first of these members that is a line of text, ``""`` if none is."""
    return next((name for name in names if _is_line(step.get(name))), "")


def _is_line(value: Any) -> bool:
    return (
        isinstance(value, str)
        and bool(value.strip())
        and "\n" not in value
        and len(value) <= _LONGEST_LEAD
    )


STORED = "The agent says this is stored now"

NEW = "This would be stored"

GONE = "This would be deleted"

APPROVED = "This was approved here last"

NO_CLAIM = "The agent does not say what is stored now, so every line is shown as new."

SAME = "This was approved here last, so nothing would change."

SAID_TO_BE_STORED = (
    "The agent says that this very text is stored already. That is its word alone, so every line "
    "is shown as new."
)

NOT_COMPARED = (
    "These texts are too long, or too much unlike, to be compared line by line. Both are complete."
)

UNCLEAR = "The text that the operation came with"

NOT_KNOWN = (
    "What this operation does to what is stored cannot be told from its name. It may add, replace "
    "or delete."
)

MAY_ADD = (
    "By its name, the operation adds this to what is stored: lines that are marked as removed "
    "may stay."
)

NOTHING_STORED = "The agent says that nothing is stored now."

UNSAID = "The agent sent no text, so nobody can see here what would be deleted."

DIFFERS = "The agent says that something else is stored now than what was approved here last."

SILENT = "A value was approved here before, and the agent does not say that it is stored now."

PARTLY = (
    "What was approved here last is part of what the agent says is stored now. For the other {} "
    "there is only the agent's word."
)

AGREES = "What the agent says is stored now is what was approved here last."

NEVER = (
    "No memory of this user was approved here for this agent before. Only the agent says what is "
    "stored now."
)

_MEMBERS = {"operation", "user_id", "content", "existing"}


class ApprovedMemory(NamedTuple):
    """The memory that was approved before: its operation and text; None if nothing was."""

    operation: str = ""
    content: str | None = None

    @property
    def effect(self) -> MemoryEffect:
        """What its operation did."""
        return memory_effect(self.operation)

    def left_exactly(self, text: str) -> bool:
        """Whether this text is all that was stored afterwards."""
        return self.effect is MemoryEffect.REPLACES and self.content == text


@dataclass(frozen=True, slots=True)
class MemoryView:
    """How a change of memory is shown. Numbers are those of blocks, 0 where there is none.

    Attributes:
        compared: Every line and what becomes of it; None if both texts stand side by side.
        note: What there is to know about the comparison, in a sentence of ours; perhaps empty.
        approved: The text that was approved last, where it is not on the page already.
        standing: What was approved here last, against what the agent says; empty if not asked.
        is_warning: Whether ``standing`` is a reason to be careful.
    """

    operation: int
    user: int
    content: int
    existing: int
    compared: list[ChangedLine] | None
    note: str
    effect: MemoryEffect
    approved: int
    standing: str
    is_warning: bool

    @property
    def is_deletion(self) -> bool:
        """Whether the text would be deleted."""
        return self.effect is MemoryEffect.DELETES

    @property
    def counts(self) -> list[tuple[int, str]]:
        """How many lines are added and removed, where there are any."""
        kinds = [changed.change for changed in self.compared or []]
        both = (
            (kinds.count(change), str(change)) for change in (LineChange.ADDED, LineChange.REMOVED)
        )
        return [(count, word) for count, word in both if count]


def is_memory(content: Any) -> bool:
    """Say whether ``content`` is a change of memory of the shape that the door lets in."""
    return (
        isinstance(content, dict)
        and content.keys() | {"existing"} == _MEMBERS
        and isinstance(content.get("existing"), str | None)
        and all(isinstance(content[name], str) for name in _MEMBERS - {"existing"})
    )


def render_memory(
    content: Mapping[str, Any], approved: ApprovedMemory | None = None, *, redacts: bool = False
) -> tuple[MemoryView, list[ContentBlock]]:
    """Draw a change of memory: all of it as JSON first, then each text.

    Args:
        approved: What was approved last for the same memory; None if that was not looked up.
        redacts: Whether secrets are redacted.
    """
    parts = parts_of_texts(content)
    numbers = {part.place[0]: part.number for part in parts}
    effect = memory_effect(content["operation"])
    drafts = [raw(content), *_memory_drafts(parts, effect)]
    standing, is_warning = _against_what_was_approved(content.get("existing"), effect, approved)
    texts = (content["content"], content.get("existing"))
    if approved and approved.content is not None and approved.content not in texts:
        drafts.append(BlockDraft(APPROVED, approved.content, named_value=""))
    compared, note = _compared(content, effect, approved)
    view = MemoryView(
        operation=numbers["operation"],
        user=numbers["user_id"],
        content=numbers["content"],
        existing=numbers.get("existing", 0),
        compared=compared,
        note=note,
        effect=effect,
        approved=len(drafts) - 1 if len(drafts) > len(parts) + 1 else 0,
        standing=standing,
        is_warning=is_warning,
    )
    return view, rendered(drafts, redacts=redacts)


def _memory_drafts(parts: list[Part], effect: MemoryEffect) -> Iterator[BlockDraft]:
    new_title = {MemoryEffect.DELETES: GONE, MemoryEffect.UNKNOWN: UNCLEAR}.get(effect, NEW)
    titles = {"content": new_title, "existing": STORED}
    titles |= {"operation": "Operation", "user_id": "Whose memory"}
    for part in parts:
        name = str(part.place[0])
        yield BlockDraft(titles[name], part.text, is_inspected=True, place=name, named_value=name)


def _compared(
    content: Mapping[str, Any], effect: MemoryEffect, approved: ApprovedMemory | None
) -> tuple[list[ChangedLine] | None, str]:
    """Say what becomes of every line, and what there is to know about that."""
    new, existing = content["content"], content.get("existing")
    if effect is MemoryEffect.UNKNOWN:
        return None, NOT_KNOWN
    if effect is MemoryEffect.DELETES:
        return _deleted(new, existing)
    if existing and existing != new:
        return _changed(new, existing, effect)
    if existing and effect is MemoryEffect.REPLACES and approved and approved.left_exactly(new):
        return _every_line(LineChange.SAME, new), SAME
    note = {None: NO_CLAIM, "": NOTHING_STORED}.get(existing, SAID_TO_BE_STORED)
    return _every_line(LineChange.ADDED, new), note


def _changed(
    new: str, existing: str, effect: MemoryEffect
) -> tuple[list[ChangedLine] | None, str]:
    changes = line_changes(existing, new)
    if changes is None:
        return None, NOT_COMPARED
    removes = any(changed.change is LineChange.REMOVED for changed in changes)
    return changes, MAY_ADD if removes and effect is MemoryEffect.ADDS else ""


def _deleted(named: str, existing: str | None) -> tuple[list[ChangedLine] | None, str]:
    if named and existing is not None:
        return None, ""
    text = named or existing
    return (_every_line(LineChange.REMOVED, text), "") if text else ([], UNSAID)


def _every_line(change: LineChange, text: str) -> list[ChangedLine] | None:
    """Say the same of each line; None of a text that is drawn in parts, for it is too long."""
    if not is_drawn_whole(text):
        return None
    return [ChangedLine(change, number) for number in range(1, text.count("\n") + 2)]


def _against_what_was_approved(
    existing: str | None, effect: MemoryEffect, approved: ApprovedMemory | None
) -> tuple[str, bool]:
    """Compare what the agent says is stored with what was approved, and say whether to warn."""
    if approved is None:
        return "", False
    if approved.content is None:
        return NEVER if existing else "", False
    is_deleted = approved.effect is MemoryEffect.DELETES
    if not existing:
        return "" if is_deleted else SILENT, False
    store, record = _without_ends(existing), _without_ends(approved.content)
    if store == record and not is_deleted:
        return AGREES, False
    # What only adds was approved without what it was added to.
    is_part = bool(record) and f"\n{record}\n" in f"\n{store}\n"
    if approved.effect is not MemoryEffect.ADDS or not is_part:
        return DIFFERS, True
    count = store.count("\n") - record.count("\n")
    # Adding more does not store the others anew.
    is_warning = effect is not MemoryEffect.ADDS
    return PARTLY.format(f"{count:,} {'line' if count == 1 else 'lines'}"), is_warning


def _without_ends(text: str) -> str:
    """Return a text without what tells nothing of its lines: empty ones around it, and returns."""
    return text.replace("\r\n", "\n").strip("\n")


FENCED = "The agent sent this between fences (```). They are not shown, and were not inspected."

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
    def only(self) -> ContentBlock | None:
        """The one block, where there is nothing else."""
        return self.blocks[0] if self.is_plain and len(self.blocks) == 1 else None

    @property
    def lines(self) -> int:
        """How many lines people count, each text counted once."""
        return sum(block.lines for block in self.blocks if not block.is_raw)

    @property
    def secrets(self) -> frozenset[str]:
        """What is redacted in it."""
        return frozenset[str]().union(*(block.secrets for block in self.blocks))

    @property
    def redacted(self) -> int:
        """How many places are redacted, each text counted once."""
        return sum(len(block.code.redacted) for block in self.blocks if not block.is_raw)

    @property
    def redacted_tokens(self) -> int:
        """How many of these places hold a token of a known form, as ``is_token`` says."""
        return sum(
            block.holds_token(run)
            for block in self.blocks
            if not block.is_raw
            for run in block.code.redacted
        )

    @property
    def to_be_read(self) -> list[ContentBlock]:
        """The blocks that are all of the content, each text once."""
        is_whole = (self.call or self.plan or _WHOLE).is_whole
        approved_number = self.memory.approved if self.memory else 0
        blocks = [b for b in self.blocks if not b.is_raw and b.number != (approved_number or -1)]
        return blocks if is_whole else self.blocks

    @property
    def warnings(self) -> list[str]:
        """What is hidden in it, and what else a reader was warned about, in our words."""
        texts = [w for block in self.blocks if not block.is_raw for w in block.code.warnings]
        members = self.call.arguments if self.call else []
        members = [m for step in self.plan.steps for m in step.members] if self.plan else members
        texts += [warning for member in members for warning in member.all_warnings()]
        return texts + ([self.memory.standing] if self.memory and self.memory.is_warning else [])


def render_content(
    kind: str, content_text: str, approved: ApprovedMemory | None = None, *, redacts: bool = False
) -> Content:
    """Render the canonical JSON text of a request's content, every member of it.

    Args:
        approved: The memory that was approved before, for a request about memory.
        redacts: Whether secrets are redacted; never where something grave was found.

    Raises:
        JsonError: The text is not what the server stores.
    """
    content = parse_json(content_text)
    if kind == Kind.TOOL_CALL and is_call(content):
        call, blocks = render_call(content, redacts=redacts)
        return Content(blocks, call=call)
    if kind == Kind.PLAN and is_plan(content):
        plan, blocks = render_plan(content, redacts=redacts)
        return Content(blocks, plan=plan)
    if kind == Kind.MEMORY and is_memory(content):
        memory, blocks = render_memory(content, approved, redacts=redacts)
        return Content(blocks, memory=memory)
    return Content(rendered(_drafts(kind, content), redacts=redacts))


def _drafts(kind: str, content: Any) -> Iterator[BlockDraft]:
    rest = content
    if kind == Kind.CODE and isinstance(content, dict) and isinstance(content.get("code"), str):
        rest = dict(content)
        has_language = isinstance(content.get("language"), str)
        yield from _code(rest.pop("code"), rest.pop("language") if has_language else "")
        if not rest:
            return
    title = "Content" if rest is content else "Also part of the content"
    yield BlockDraft(title, pretty_json(rest), "json")


def _code(code: str, language: str) -> Iterator[BlockDraft]:
    blocks = None if language else parse_fences(code)
    if blocks is None or len(blocks) > _MOST_BLOCKS or (len(blocks) > 1 and is_dense(code)):
        remarks = _remarks(code, language, blocks)
        yield BlockDraft("Code", code, language, remarks, language, is_inspected=blocks is None)
        return
    for number, block in enumerate(blocks, 1):
        title = f"Code, block {number} of {len(blocks)}" if len(blocks) > 1 else "Code"
        notes = _unknown(block.language)
        if number == 1:
            several = SEVERAL_BLOCKS.format(count=len(blocks))
            notes.append(several if len(blocks) > 1 else FENCED)
        tag = block.language
        yield BlockDraft(title, block.code, tag, tuple(notes), tag, is_inspected=True)


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


MOST_LINES = 100_000
"""Longer content is not served and cannot be approved in a browser."""

TOO_LONG = (
    "This has more lines than a page can show, so nobody can read all of it. Reject it and ask "
    "for less at a time."
)

_BREAKS = {Kind.CODE: ("\\n",), Kind.MEMORY: ("\\n",)}

_BREAKS_OF_JSON = ("\\n", ",", "{", "[")


def fits(approval: ApprovalRequest) -> bool:
    """Say whether the content is short enough to be drawn whole, without drawing it."""
    return not too_long(Kind(approval.kind), approval.content)


def too_long(kind: Kind, content: str, most: int = MOST_LINES) -> bool:
    """Say whether canonical content has too many lines, without drawing it."""
    return _breaks(content, _BREAKS.get(kind, _BREAKS_OF_JSON)) >= most


def may_redact(report: Report) -> bool:
    """Say whether secrets may be redacted: not beside a grave finding, which a box could hide."""
    return report.highest is not Severity.HIGH


def _breaks(text: str, marks: tuple[str, ...]) -> int:
    """Count what becomes a line when JSON is laid out: at most that many lines are drawn."""
    return sum(text.count(mark) for mark in marks)


def lines_of_json(text: str) -> int:
    """Count the lines of canonical JSON when it is laid out, without drawing it."""
    return _breaks(text, _BREAKS_OF_JSON)
