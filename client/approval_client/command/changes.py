"""What a tool of Claude Code would change in a file, as a difference of lines."""

from __future__ import annotations

import stat
from collections.abc import Mapping
from difflib import unified_diff
from pathlib import Path
from typing import Any

MAX_CHARACTERS, MAX_LINES = 200_000, 3_000  # the time that a difference takes grows with both
TOO_LARGE = "Left out: the file is too large for a difference."


def difference(tool: str, arguments: Mapping[str, Any]) -> str:
    """Return what ``Write``, ``Edit`` or ``MultiEdit`` would change; nothing if it cannot tell."""
    name = arguments.get("file_path")
    if tool not in {"Write", "Edit", "MultiEdit"} or not isinstance(name, str):
        return ""
    try:
        old_text = _read(Path(name))
        new_text = _after(tool, arguments, old_text)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return ""
    if max(len(old_text), len(new_text)) > MAX_CHARACTERS:
        return TOO_LARGE
    old, new = old_text.splitlines(), new_text.splitlines()
    if max(len(old), len(new)) > MAX_LINES:
        return TOO_LARGE
    lines = unified_diff(old, new, f"{name} (now)", f"{name} (then)", lineterm="")
    return "\n".join(lines)


def _read(path: Path) -> str:
    try:
        file_stat = path.stat()
    except FileNotFoundError:
        return ""
    if not stat.S_ISREG(file_stat.st_mode):  # reading a pipe would wait
        raise ValueError("not an ordinary file")
    with path.open(encoding="utf-8", newline="") as file:
        return file.read(MAX_CHARACTERS + 1)


def _after(tool: str, arguments: Mapping[str, Any], text: str) -> str:
    if tool == "Write":
        return str(arguments["content"])
    for edit in arguments["edits"] if tool == "MultiEdit" else [arguments]:
        times = -1 if edit.get("replace_all") is True else 1
        text = text.replace(edit["old_string"], edit["new_string"], times)
    return text
