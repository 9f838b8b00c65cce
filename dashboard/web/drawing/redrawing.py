"""A PNG decoded and encoded again. Called through the sandbox, and imported there alone."""

from __future__ import annotations

from io import BytesIO

from PIL import Image

from dashboard.inspection.notebooks import LONGEST_SIDE, MOST_PIXELS

LONGEST_DRAWN = 1_200  # pixels; a larger picture is made smaller


def redraw(payload: bytes) -> bytes:
    """In the sandbox: decode a PNG and encode its pixels again."""
    with Image.open(BytesIO(payload), formats=["PNG"]) as picture:
        width, height = picture.size
        if width * height > MOST_PIXELS or max(picture.size) > LONGEST_SIDE:
            raise ValueError("The picture is too large.")
        picture.thumbnail((LONGEST_DRAWN, LONGEST_DRAWN))
        pixels = picture.convert("RGBA")
    out = BytesIO()
    Image.frombytes("RGBA", pixels.size, pixels.tobytes()).save(out, "PNG", compress_level=3)
    return out.getvalue()
