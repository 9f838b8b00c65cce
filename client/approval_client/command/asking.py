"""What is asked: content from a file, standard input or the command line, of any kind."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from approval_client import ApprovalRequest
from approval_client.command.files import NamedFile
from approval_client.command.standard_input import StandardInput
from approval_client.wire import MAX_BODY_BYTES, JsonError, Kind, parse_json

RUN = "run_program"  # the tool that ``approvals run`` is


class Unusable(ValueError):
    """What was given cannot be asked. The message says what to give."""


def read(source: str, text: str | None) -> str:
    """Return what was given: ``text``, or what stands in the file ``source`` (``-``: input).

    Raises:
        Unusable: It cannot be read, is not UTF-8, or is too large.
    """
    if text is not None:
        return text
    try:
        if source == "-":
            raw = sys.stdin.buffer.read(MAX_BODY_BYTES + 1)
        else:
            with Path(source).open("rb") as file:
                raw = file.read(MAX_BODY_BYTES + 1)
    except OSError as error:
        raise Unusable(f"{source} cannot be read ({error.strerror}).") from None
    if len(raw) > MAX_BODY_BYTES:
        raise Unusable(f"{source} is larger than the limit of {MAX_BODY_BYTES:,} bytes.")
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise Unusable(f"{source} is not UTF-8 text.") from None


def content(kind: Kind, given: str, *, language: str | None, tool: str | None) -> dict[str, Any]:
    """Return the content of a request, and nothing that was not given.

    Raises:
        Unusable: It does not fit this kind.
    """
    if (tool is not None) != (kind is Kind.TOOL_CALL):
        raise Unusable("Use --tool with --kind tool_call, and only there.")
    if language is not None and kind is not Kind.CODE:
        raise Unusable("Use --language with --kind code only.")
    if kind is Kind.CODE:
        return {"code": given} if language is None else {"code": given, "language": language}
    payload = _json(given, "The content")
    if kind is Kind.TOOL_CALL:
        return {"tool": tool, "arguments": _object(payload, "The arguments of a tool")}
    if kind is Kind.PLAN and isinstance(payload, list):
        return {"steps": payload}
    return _object(payload, f"The content of a {kind}")


def evidence(source: str | None) -> dict[str, Any]:
    """Return the JSON object in a file, or nothing."""
    if source is None:
        return {}
    return _object(_json(read(source, None), "The evidence"), "The evidence")


def to_run(
    words: Sequence[str],
    executable: str,
    files: Sequence[NamedFile],
    *,
    folder: str,
    standard_input: StandardInput,
    shown: bool,
    **options: Any,
) -> ApprovalRequest:
    """Return the question whether a command may be run.

    All of it is content, so an approval, also a remembered one, is for this very program, folder,
    input and files. ``command`` is quoted so that a shell reads the same words.
    """
    arguments = {
        "command": shlex.join(words),
        "executable": executable,
        "working_directory": folder,
        "standard_input": standard_input.told(executable),
        "files": [file.told(shown=shown) for file in files],
    }
    return ApprovalRequest.tool_call(RUN, arguments, **options)


def _json(text: str, what: str) -> Any:
    try:
        return parse_json(text)
    except JsonError as error:
        raise Unusable(f"{what} must be JSON. {error}") from None


def _object(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Unusable(f"{what} must be a JSON object.")
    return value
