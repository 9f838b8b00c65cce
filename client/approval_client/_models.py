"""What an agent asks, and what it is told."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict

from approval_client._arguments import check_object, check_seconds, check_steps, check_text
from approval_client.wire import (
    MAX_BODY_BYTES,
    MAX_DEPTH,
    MAX_NOTEBOOK_BYTES,
    TOOL_ANNOTATIONS,
    TOOL_HINTS,
    TOOL_SCHEMA,
    JsonError,
    Kind,
    Status,
    canonical_json,
    digest,
    parse_json,
)

if TYPE_CHECKING:
    from typing import Self, Unpack


# --- values that can be sent as they are -------------------------------------------------------

_LONGEST_NAME = 40
_PLACE = 3  # names: content, arguments and which of them


def exact(at: str, value: Any) -> Any:
    """Return a copy of ``value`` as it will be in the body under the name ``at``.

    Raises:
        TypeError: It is not JSON. The message begins with the place.
        JsonError: It is JSON that cannot be sent as it is. The same.
    """
    return parse_json(_text_of({at: value}))[at]


def _text_of(members: Mapping[str, Any]) -> str:
    try:
        return canonical_json(members)
    except JsonError as error:
        raise JsonError(error.code, with_place(members, error)) from None
    except TypeError as error:
        raise TypeError(with_place(members, error)) from None


def with_place(members: Any, error: Exception) -> str:
    """Return why ``members`` cannot be sent, after the names that lead to the place."""
    if isinstance(error, JsonError) and error.code == "too_large":
        return str(error)  # each part of it may be too large, and looking takes its time
    names: list[str] = []
    # How deep something goes is wrong with all of it, so the first names are place enough.
    is_too_deep = isinstance(error, JsonError) and error.code == "too_deep"
    for above in range(_PLACE if is_too_deep else MAX_DEPTH):
        for name, inner in _members(members):
            if not _can_be_sent(inner, above + 1 if is_too_deep else 0):
                names.append(_short(name))
                members = inner
                break
        else:
            break
    message = str(error).removesuffix(".")
    return f"{'.'.join(names)}: {message}." if names else f"{message}."


def _members(value: Any) -> Iterable[tuple[Any, Any]]:
    if isinstance(value, dict):
        return value.items()
    return enumerate(value) if isinstance(value, list | tuple) else ()


def _can_be_sent(value: Any, levels_above: int) -> bool:
    for _ in range(levels_above):
        value = [value]
    try:
        canonical_json(value)
    except (TypeError, JsonError):
        return False
    return True


def _short(name: Any) -> str:
    text = name if isinstance(name, str) else repr(name)
    return text if text.isprintable() and len(text) <= _LONGEST_NAME else f"{text!a:.40}"


# --- a question of another process, known by its digest ----------------------------------------

_DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What another process asked: enough to wait for the answer and to use the approval.

    Stands in ``Pending`` for a request whose content is not at hand. Keep the digest where the
    content is kept: an answer about anything else is refused, and so is an edit, which would
    have another digest. The response names no content.

    Raises:
        TypeError: The digest is no text, or ``max_wait_s`` no number.
        ValueError: The digest is not valid, or ``max_wait_s`` negative, infinite or NaN.
    """

    digest: str
    max_wait_s: int | None = None

    def __post_init__(self) -> None:
        check_text("digest", self.digest)
        check_seconds("max_wait_s", self.max_wait_s)
        if not _DIGEST.fullmatch(self.digest):
            raise ValueError("The digest must be 64 hexadecimal digits. Nothing was asked.")

    @property
    def time_limit_s(self) -> None:
        """The process that asked has set it."""
        return

    @property
    def content(self) -> None:
        """The content is not known here."""
        return

    @property
    def notebook(self) -> None:
        """It was sent with the question, if there was one."""
        return

    def body(self) -> str:
        """Return nothing: this was submitted before."""
        return ""


# --- a notebook that goes with a question ------------------------------------------------------

NotebookSource: TypeAlias = bytes | str | os.PathLike[str]


def read_notebook(source: NotebookSource | None) -> tuple[bytes | None, dict[str, str]]:
    """Return the bytes of a notebook, if there are any to send, and what the evidence says of it.

    The evidence names the notebook by its digest, or says why there is none.

    Raises:
        TypeError: The notebook is neither bytes nor a path.
    """
    if source is None:
        return None, {}
    if not isinstance(source, bytes):
        return _read_file(Path(source))
    if len(source) > MAX_NOTEBOOK_BYTES:
        return None, {"notebook": _too_large()}
    return source, {"notebook": hashlib.sha256(source).hexdigest()}


def _read_file(path: Path) -> tuple[bytes | None, dict[str, str]]:
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):  # a pipe has no end
            return None, {"notebook": "Not sent: it is not a regular file."}
        with path.open("rb") as file:
            content = file.read(MAX_NOTEBOOK_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = f"Not sent: the file could not be read ({type(error).__name__})."
        return None, {"notebook": reason}
    return read_notebook(content)


def _too_large() -> str:
    return f"Not sent: the notebook has more than {MAX_NOTEBOOK_BYTES:,} bytes."


# --- questions and answers ---------------------------------------------------------------------


class Options(TypedDict, total=False):
    """Options of every kind of request."""

    capability: str
    objective: str
    evidence: Mapping[str, Any]
    run_id: str
    time_limit_s: int | None
    max_wait_s: int | None
    accepts_edits: bool
    accepts_grants: bool
    notebook: NotebookSource | None


@dataclass(frozen=True, kw_only=True)
class ApprovalRequest:
    """A question: may I do this?

    ``content`` is copied as it is, so a list that changes afterwards does not change the
    question. Use ``code``, ``tool_call``, ``plan`` or ``memory`` to make one.

    Times are whole seconds from 5 to 2,592,000 (30 days).

    Attributes:
        kind: What the agent wants to do.
        content: What will run, and nothing else. ``digest`` is of this.
        capability: What is gated: ``python_execution``, ``memory``, ``plan`` or a tool's name.
        objective: What this is for, in a sentence.
        evidence: What the agent says about it; shown to reviewers as its claim.
        run_id: Groups the questions of one run.
        time_limit_s: How long reviewers have, in seconds; the server's default if None.
        max_wait_s: How long this agent waits at most, in seconds; as long as reviewers have
            if None.
        accepts_edits: This agent runs ``ApprovalResponse.content`` and not its own copy.
        notebook: The notebook behind this, as the bytes of an ``.ipynb`` or as its path, which is
            read now. It is sent before the question, whose evidence names it. If it cannot be read
            or is refused, the question is asked without it, and its page says so.
        accepts_grants: A remembered approval may answer. Set it to False to have a person decide
            this very question.

    Raises:
        TypeError: The content or the evidence is not JSON, which the message names with its place,
            or something else is of a wrong type.
        ValueError: It is JSON that cannot be sent as it is (NaN, NUL, half a surrogate pair,
            too deep), which the message names with its place, the kind is unknown, or a time is
            negative, infinite or NaN.
    """

    kind: Kind
    content: Mapping[str, Any] = field(repr=False)  # code does not belong in logs
    capability: str = ""
    objective: str = ""
    evidence: Mapping[str, Any] = field(default_factory=dict, repr=False)
    run_id: str = ""
    time_limit_s: int | None = None
    max_wait_s: int | None = None
    accepts_edits: bool = False
    accepts_grants: bool = True
    notebook: NotebookSource | None = field(default=None, repr=False)
    digest: str = field(init=False)

    def __post_init__(self) -> None:
        for name in ("content", "evidence"):
            check_object(name, getattr(self, name))
        for name in ("time_limit_s", "max_wait_s"):
            check_seconds(name, getattr(self, name))
        for name in ("capability", "objective", "run_id"):
            check_text(name, getattr(self, name), optional=True)
        content = exact("content", dict(self.content))
        notebook, note = read_notebook(self.notebook)
        evidence = exact("evidence", {**self.evidence, **note})
        kind = Kind(self.kind)
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "content", content)
        object.__setattr__(self, "evidence", evidence)
        object.__setattr__(self, "notebook", notebook)
        object.__setattr__(self, "capability", self.capability or _capability(kind, content))
        object.__setattr__(self, "digest", digest(kind, content))

    @classmethod
    def code(cls, code: str, language: str | None = None, **options: Unpack[Options]) -> Self:
        """Ask to run ``code``, exactly as it is."""
        check_text("code", code)
        check_text("language", language, optional=True)
        content = {"code": code} if language is None else {"code": code, "language": language}
        return cls(kind=Kind.CODE, content=content, **options)

    @classmethod
    def tool_call(
        cls, tool: str, arguments: Mapping[str, Any], **options: Unpack[Options]
    ) -> Self:
        """Ask to call ``tool`` with ``arguments``."""
        check_text("tool", tool)
        check_object("arguments", arguments)
        content = {"tool": tool, "arguments": dict(arguments)}
        return cls(kind=Kind.TOOL_CALL, content=content, **options)

    @classmethod
    def plan(cls, steps: Sequence[Mapping[str, Any]], **options: Unpack[Options]) -> Self:
        """Ask to follow a plan."""
        return cls(kind=Kind.PLAN, content={"steps": check_steps(steps)}, **options)

    @classmethod
    def memory(
        cls,
        operation: str,
        user_id: str,
        content: str,
        existing: str | None = None,
        **options: Unpack[Options],
    ) -> Self:
        """Ask to change what is remembered about ``user_id``, which is ``existing`` so far."""
        fields = {
            "operation": operation,
            "user_id": user_id,
            "content": content,
            "existing": existing,
        }
        for name, value in fields.items():
            check_text(name, value, optional=name == "existing")
        return cls(kind=Kind.MEMORY, content=fields, **options)

    def body(self) -> str:
        """Return the JSON text to submit; the server hashes the same content."""
        payload: dict[str, Any] = {
            "kind": self.kind,
            "capability": self.capability,
            "content": self.content,
        }
        texts = {"objective": self.objective, "evidence": self.evidence, "run_id": self.run_id}
        times = {"time_limit_s": self.time_limit_s, "max_wait_s": self.max_wait_s}
        flags = {"accepts_edits": self.accepts_edits, "accepts_grants": self.accepts_grants}
        payload |= {name: value for name, value in texts.items() if value}
        payload |= {name: value for name, value in times.items() if value is not None}
        payload |= {name: True for name, value in flags.items() if value is True}
        return _text_of(payload)


@dataclass(frozen=True, kw_only=True)
class ApprovalResponse:
    """An answer. Run something only if it is ``approved``.

    In a condition it stands for ``approved``, so ``if response:`` is enough.

    Attributes:
        approved: True only if this agent may run it, once, now. Always a bool. It is False beside
            the status ``approved`` as long as the approval was not started: see
            ``Client.decided``.
        reason: Why, in the reviewer's own words where a reviewer decided.
        status: ``approved``, ``rejected``, ``expired`` or ``cancelled``; None if there is no
            answer at all.
        decided_by: Who decided, if it was a person.
        decided_at: When, by the dashboard's clock; None if nobody did.
        content: What may run: what was asked, or what a reviewer made of it for an agent that
            accepts edits. None if nothing may.
        digest: The digest of ``content``.
        edited: A reviewer changed the content.
        steps: What became of each step of a plan, where a reviewer said so: ``index``, from 0,
            ``answer`` (``allowed``, ``held`` or ``refused``) and perhaps a ``note``.
        grant: The number of the remembered approval that answered, or None.
        taken_back: It was approved, and ``decided_by`` took the approval back before it was used.
    """

    approved: bool
    reason: str
    status: Status | None = None
    id: str = ""
    source: str = ""
    decided_by: str = ""
    decided_at: datetime | None = None
    digest: str = ""
    valid_until: datetime | None = None
    review_url: str = ""
    content: Any = field(default=None, repr=False)
    edited: bool = False
    steps: tuple[Mapping[str, Any], ...] = ()
    grant: int | None = None
    taken_back: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.approved, bool):
            raise TypeError(f"approved must be True or False, not {self.approved!r}.")
        if self.approved and self.status not in {None, Status.APPROVED}:
            raise ValueError(f"approved is True, but status is {self.status}.")

    def __bool__(self) -> bool:
        return self.approved

    def __str__(self) -> str:
        """Return one line to print: ``rejected by ana: Too broad.``."""
        if self.taken_back:
            return self.reason  # which says by whom
        status = self.status or ("approved" if self.approved else "not approved")
        decider = self.decided_by or self.source
        by = f" by {decider}" if decider else ""
        return f"{status}{by}{f': {self.reason}' if self.reason else ''}"


@dataclass(frozen=True, kw_only=True)
class Pending:
    """A question that was submitted: hand it to ``wait``.

    To find it again after a restart, keep ``idempotency_key`` and submit the same request
    with it. Or make one from the ``id`` and the same request, or its digest as ``Asked``.
    """

    request: ApprovalRequest | Asked
    id: str
    idempotency_key: str = ""
    review_url: str = ""


def _capability(kind: Kind, content: Mapping[str, Any]) -> str:
    match kind:
        case Kind.CODE:
            return "python_execution"
        case Kind.TOOL_CALL:
            return str(content.get("tool", ""))
        case _:
            return str(kind)


# --- evidence of a tool ------------------------------------------------------------------------

_LARGEST_SCHEMA = 16_384  # bytes of canonical JSON; of a larger one its digest is sent


def about_tool(
    schema: Callable[[], Any], annotations: Callable[[], Any] = lambda: None
) -> dict[str, Any]:
    """Return what the evidence of a call says of its tool, as far as it can be sent.

    A call is asked about without what raises, or is no mapping.

    Args:
        schema: Returns the JSON Schema of the tool's parameters.
        annotations: Returns MCP's hints. The dashboard shows them as claims.
    """
    facts = {
        TOOL_SCHEMA: _made(schema, _schema),
        TOOL_ANNOTATIONS: _made(annotations, _hints),
    }
    return {name: value for name, value in facts.items() if value}


def _made(make: Callable[[], Any], sent: Callable[[Mapping[str, Any]], Any]) -> Any:
    try:
        value = make()
        return sent(value) if isinstance(value, Mapping) else None
    except Exception:  # noqa: BLE001 - what a framework makes of strange types may raise anything
        return None


def _hints(annotations: Mapping[str, Any]) -> dict[str, bool]:
    return {name: annotations[name] for name in TOOL_HINTS if type(annotations.get(name)) is bool}


def _schema(schema: Mapping[str, Any]) -> Any:
    """Return a schema, or the SHA-256 of its canonical JSON where it is large."""
    text = canonical_json(dict(schema))
    return parse_json(text) if len(text.encode()) <= _LARGEST_SCHEMA else _digest_of(text)


def _digest_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


# --- evidence that can be sent -----------------------------------------------------------------

NOT_JSON = "Left out: this could not be sent as JSON."


def sendable(evidence: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``evidence`` with a sentence in place of whatever cannot be sent as JSON."""
    check_object("evidence", evidence)
    return {name: value if _is_json(value) else NOT_JSON for name, value in evidence.items()}


def within_limit(request: ApprovalRequest) -> ApprovalRequest:
    """Return ``request`` with a sentence in place of its largest evidence until it fits.

    In place of a tool's schema stands its digest, by which the dashboard knows it too.

    If the content alone is too large, so is the result, and it will be refused as a whole.
    """
    sizes = {name: _size(value) for name, value in request.evidence.items()}
    for name in sorted(sizes, key=lambda name: (name == TOOL_SCHEMA, sizes[name]), reverse=True):
        if _size_of_body(request) <= MAX_BODY_BYTES:
            break
        value = request.evidence[name]
        if name == TOOL_SCHEMA and isinstance(value, Mapping):
            instead = _digest_of(canonical_json(value))
        else:
            instead = f"Left out: this was too large to be sent ({sizes[name]:,} bytes)."
        request = replace(request, evidence={**request.evidence, name: instead})
    return request


def _is_json(value: Any) -> bool:
    try:
        canonical_json({"evidence": {"": value}})  # as deep as it will be in the body
    except Exception:  # noqa: BLE001 - a strange object may raise anything
        return False
    return True


def _size(value: Any) -> int:
    return len(canonical_json(value).encode())


def _size_of_body(request: ApprovalRequest) -> int:
    return len(request.body().encode())
