"""What a tool of Claude Code would change in a file, as a difference of lines."""

from __future__ import annotations

import stat
from collections.abc import Mapping
from difflib import unified_diff
from pathlib import Path
from typing import Any

MAX_CHARACTERS, MAX_LINES = 200_000, 3_000  # the time that a difference takes grows with both
TOO_LARGE = "Left out: the file is too large for a difference."


def difference(tool: str, arguments: Mapping[str, Any], folder: object = None) -> str:
    """Return what ``Write``, ``Edit`` or ``MultiEdit`` would change; nothing if it cannot tell.

    Args:
        tool: The tool.
        arguments: What it is called with.
        folder: Where Claude Code works, if that is known: relative paths begin there.
    """
    name = arguments.get("file_path")
    if tool not in {"Write", "Edit", "MultiEdit"} or not isinstance(name, str):
        return ""
    try:
        old_text = _read(_path(name, folder))
        new_text = _after(tool, arguments, old_text)
        old, new = _lines(old_text), _lines(new_text)
        lines = unified_diff(old, new, f"{name} (now)", f"{name} (then)", lineterm="")
        return "\n".join(lines)
    except _TooLarge:
        return TOO_LARGE
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RuntimeError, MemoryError):
        return ""


class _TooLarge(Exception):
    """Comparing it would take too long."""


def _check_size(size: int, limit: int) -> None:
    if size > limit:
        raise _TooLarge


def _path(name: str, folder: object) -> Path:
    """Return the file that Claude Code means.

    Raises:
        ValueError: That cannot be told, and another file must not be shown in its place.
        RuntimeError: Nobody knows the home folder.
    """
    is_at_home = name == "~" or name.startswith("~/")
    if name != name.strip() or (name.startswith("~") and not is_at_home):
        raise ValueError("not known how it is read")
    base = folder if isinstance(folder, str) else ""
    path = Path(name).expanduser() if is_at_home else Path(base, name)
    if not path.is_absolute():
        raise ValueError("not known where it begins")
    return path


def _lines(text: str) -> list[str]:
    """Split at line feeds alone, and mark a last line without one as ``diff`` does."""
    *lines, rest = text.split("\n")
    _check_size(len(lines) + bool(rest), MAX_LINES)
    return [*lines, f"{rest}\n\\ No newline at end of file"] if rest else lines


def _read(path: Path) -> str:
    try:
        file_stat = path.stat()
    except FileNotFoundError:
        return ""
    if not stat.S_ISREG(file_stat.st_mode):  # reading a pipe would wait
        raise ValueError("not an ordinary file")
    with path.open(encoding="utf-8", newline="") as file:
        text = file.read(MAX_CHARACTERS + 1)
    _check_size(len(text), MAX_CHARACTERS)
    return text


def _after(tool: str, arguments: Mapping[str, Any], text: str) -> str:
    if tool == "Write":
        content = str(arguments["content"])
        _check_size(len(content), MAX_CHARACTERS)
        return content
    for edit in arguments["edits"] if tool == "MultiEdit" else [arguments]:
        old, new = edit["old_string"], edit["new_string"]
        count = text.count(old) if edit.get("replace_all") is True else int(old in text)
        # Before it is built, for it may be as large as the product of two sizes.
        _check_size(len(text) + count * (len(new) - len(old)), MAX_CHARACTERS)
        text = text.replace(old, new, count)
    return text
