"""What the sandbox runs to compare lines: it knows no Django, so a worker starts fast."""

from __future__ import annotations

import json
from difflib import SequenceMatcher


def match(payload: bytes) -> bytes:
    """Turn JSON ``[old lines, new lines]`` into JSON ``[[old, new, count], …]`` of what is shared.

    Quadratic and worse on hostile text, so never to be called outside of the sandbox.
    """
    old, new = json.loads(payload)
    blocks = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
    return json.dumps([list(block) for block in blocks]).encode()
