"""What is served as a picture was encoded here, and a bomb is none."""

from io import BytesIO

import pytest
from PIL import Image

from dashboard.web.drawing import pictures
from dashboard.web.drawing.pictures import drawn_anew
from tests.notebooks import png


@pytest.fixture(autouse=True)
def _unhurried(monkeypatch):
    monkeypatch.setattr(pictures, "DEADLINE_S", 20.0)


def test_a_picture_is_drawn_anew_with_its_pixels_alone():
    drawn = drawn_anew(png(40, 30))

    with Image.open(BytesIO(drawn)) as image:
        assert (image.size, image.mode) == ((40, 30), "RGBA")
        assert image.getpixel((0, 0)) == (128, 128, 128, 255)
        assert image.info == {}
    assert b"<script>" in png()
    assert b"<script>" not in drawn


def test_a_large_picture_becomes_smaller():
    drawn = drawn_anew(png(2_500, 10))

    with Image.open(BytesIO(drawn)) as image:
        assert image.size == (1_200, 5)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"<svg onload=alert(1)>",
        b"GIF89a" + b"\0" * 100,
        png()[:40],
        png(4, 3)[:-26],
        png(claims=(50_000, 50_000)),
        png(claims=(4_000, 4_000)),
        png(claims=(20_000, 1)),
        png(rows=b""),
    ],
)
def test_what_cannot_be_drawn_safely_is_not_drawn(raw):
    assert drawn_anew(raw) is None


def test_rows_beyond_what_the_head_says_cost_nothing():
    drawn = drawn_anew(png(4, 3, rows=b"\0" * 200_000_000))

    assert drawn is None or len(drawn) < 1_000


def test_a_picture_that_takes_too_long_is_not_drawn(monkeypatch):
    monkeypatch.setattr(pictures, "DEADLINE_S", 0.0001)

    assert drawn_anew(png(2_000, 2_001)) is None
