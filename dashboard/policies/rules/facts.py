"""What a policy judges: a question, and what rules look at in it, worked out once. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from approval_client.wire import Kind, canonical_json
from dashboard.inspection.findings import Finding, Report, Unseen
from dashboard.policies.rules.readings import leaves, without_hidden
from dashboard.policies.rules.rule import ToolClass

PYTHON = "python"
CONTROL_WRITE = "control-system-write"
CONTROL_READ = "control-system-read"


@dataclass(frozen=True, kw_only=True)
class Question:
    """One request as a policy sees it.

    Attributes:
        content: The parsed content, whose numbers keep their digits (``wire.parse_json``).
        report: What our own inspection found.
        agent: The name of the agent, by its token.
        asked_at: When it was submitted, aware.
        capability: A claim, as are the next two and so ``repeated``, which counts within a run.
        repeated: How often the same content was asked for before in the same run.
        tool_class: Of the tool that is called, for this agent and with this schema; None where
            nobody has classed it.
        classed_otherwise: Whether it is not classed, and this agent's tool of this name is, with
            another schema or spelling.
        is_unlisted: Whether the agent has named so many tools that this one is in no list.
    """

    kind: Kind
    content: Mapping[str, Any]
    report: Report
    agent: str
    asked_at: datetime
    capability: str = ""
    execution_mode: str = ""
    run_id: str = ""
    repeated: int = 0
    tool_class: ToolClass | None = None
    classed_otherwise: bool = False
    is_unlisted: bool = False


class Facts:
    """One question, with what can be derived from it.

    Whatever the content is, only looking at what is wrong with it raises something.
    """

    def __init__(self, question: Question) -> None:
        self.question = question

    @cached_property
    def canonical(self) -> bytes:
        """The content as it is hashed."""
        return canonical_json(self.question.content).encode()

    @cached_property
    def whole(self) -> bytes:
        """The text that an approving pattern has to match from end to end.

        Code is taken as it is, anything else as its canonical JSON.
        """
        code = self.question.content.get("code")
        if self.question.kind is Kind.CODE and isinstance(code, str):
            return code.encode()
        return self.canonical

    @cached_property
    def texts(self) -> tuple[bytes, ...]:
        """The texts in which any other pattern has to occur.

        That is what an approving one has to match and, where that is JSON, every string of it
        without escapes, one below the other.
        """
        if self.whole is not self.canonical:
            return (self.whole,)
        return (self.canonical, "\n".join(_strings(self.question.content)).encode())

    @cached_property
    def values(self) -> bytes | None:
        """The texts of a content that is JSON, also those within texts that are JSON, in lines.

        Those that hold hidden characters stand there once more without them; of code nothing
        else does. None where there are too many to look at.
        """
        is_code = self.whole is not self.canonical
        parts = [self.question.content["code"]] if is_code else leaves(self.question.content)
        if parts is None:
            return None
        texts = [part for part in parts if isinstance(part, str)]
        plain = [text for part in texts if (text := without_hidden(part)) != part]
        return "\n".join(plain if is_code else texts + plain).encode(errors="replace")

    @cached_property
    def tool(self) -> Any:
        """The name of the tool that is called, None if it is not a call of one."""
        is_call = self.question.kind is Kind.TOOL_CALL
        return self.question.content.get("tool") if is_call else None

    @cached_property
    def may_be_irreversible(self) -> bool:
        """Whether it calls a tool that is classed as irreversible, or may have been renewed."""
        return (
            self.question.tool_class is ToolClass.IRREVERSIBLE
            or self.is_classed_otherwise
            or self.is_unlisted
        )

    @cached_property
    def is_classed_otherwise(self) -> bool:
        """Whether its tool lost its class by another schema or spelling: the agent's words."""
        return self.is_unclassed and self.question.classed_otherwise

    @cached_property
    def is_unlisted(self) -> bool:
        """Whether it calls a tool that no admin can find among the agent's tools."""
        return self.is_unclassed and self.question.is_unlisted

    @cached_property
    def is_unclassed(self) -> bool:
        """Whether it calls a tool that nobody has classed."""
        return self.question.kind is Kind.TOOL_CALL and self.question.tool_class is None

    def memory(self, key: str) -> Any:
        """What a memory operation says under ``key``, None if it is not one or says nothing."""
        is_memory = self.question.kind is Kind.MEMORY
        return self.question.content.get(key) if is_memory else None

    @cached_property
    def unseen(self) -> frozenset[Unseen]:
        """What the inspection could not see."""
        return self.question.report.unseen

    @cached_property
    def seen(self) -> tuple[Finding, ...]:
        """The findings about what the inspection saw."""
        return tuple(f for f in self.question.report.findings if not f.unseen)

    @cached_property
    def may_write(self) -> bool:
        """Whether code may write to the control system: it does, or nobody can say."""
        report = self.question.report
        only_python = set(report.languages) == {PYTHON}
        return CONTROL_WRITE in report.names or bool(self.unseen) or not only_python

    @cached_property
    def reads(self) -> bool:
        """Whether code was seen to read from the control system."""
        return CONTROL_READ in self.question.report.names


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield key
            yield from _strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _strings(item)
