"""Pictures that agents sent, decoded and drawn anew: what is served was made here.

Decoding runs in the sandbox: a picture of a few bytes may claim gigabytes. What comes out holds
pixels and nothing else, no comment, no profile, no second frame.
"""

from __future__ import annotations

import hashlib
from io import BytesIO

from django.core.cache import cache

from dashboard import sandbox
from dashboard.inspection.notebook_outputs import LONGEST_SIDE, MOST_PIXELS

DEADLINE_S = 3.0
LONGEST_DRAWN = 2_000  # pixels; a larger picture is made smaller
CACHED_S = 600
_CACHED_BYTES = 300_000
_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def drawn_anew(png: bytes) -> bytes | None:
    """Return a PNG that shows the same, or None if it cannot be drawn."""
    key = f"picture:{hashlib.sha256(png).hexdigest()}"
    known: bytes | None = cache.get(key)
    if known is not None:
        return known
    try:
        drawn = sandbox.call(f"{__name__}.redraw", png, DEADLINE_S)
    except sandbox.SandboxError:
        return None
    if not drawn.startswith(_SIGNATURE):
        return None
    if len(drawn) <= _CACHED_BYTES:
        cache.set(key, drawn, CACHED_S)
    return drawn


def redraw(payload: bytes) -> bytes:
    """In the sandbox: decode a PNG and encode its pixels again."""
    from PIL import Image  # noqa: PLC0415 - its decoders are for the sandbox alone

    with Image.open(BytesIO(payload), formats=["PNG"]) as given:
        width, height = given.size
        if width * height > MOST_PIXELS or max(given.size) > LONGEST_SIDE:
            raise ValueError("The picture is too large.")
        given.thumbnail((LONGEST_DRAWN, LONGEST_DRAWN))
        pixels = given.convert("RGBA")
    out = BytesIO()
    Image.frombytes("RGBA", pixels.size, pixels.tobytes()).save(out, "PNG", compress_level=3)
    return out.getvalue()
