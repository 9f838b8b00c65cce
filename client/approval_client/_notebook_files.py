"""A notebook that goes with a question: its bytes, and what the evidence says of it."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TypeAlias

from approval_client.wire import MAX_NOTEBOOK_BYTES

NotebookSource: TypeAlias = bytes | str | os.PathLike[str]


def read_notebook(source: NotebookSource | None) -> tuple[bytes | None, dict[str, str]]:
    """Return the bytes of a notebook, if there are any to send, and what the evidence says of it.

    It names the notebook by its digest, or says why there is none: never neither.

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
            return None, {"notebook": "Not sent: it is no ordinary file."}
        with path.open("rb") as file:
            found = file.read(MAX_NOTEBOOK_BYTES + 1)
    except (OSError, ValueError) as error:
        why = f"Not sent: the file could not be read ({type(error).__name__})."
        return None, {"notebook": why}
    return read_notebook(found)


def _too_large() -> str:
    return f"Not sent: the notebook has more than {MAX_NOTEBOOK_BYTES:,} bytes."
