import re
from pathlib import Path

import pytest
from pygments.token import STANDARD_TYPES

from dashboard.web.drawing.tokens import _NOT_COLOURED

CSS = (Path(__file__).parents[3] / "static/css/code.css").read_text(encoding="utf-8")
LIGHT, DARK = (
    dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", block))
    for block in re.findall(r":root \{(.*?)\}", CSS, re.DOTALL)
)
TOKENS = sorted(name for name in LIGHT if name.startswith("tok-"))
GLYPHS = ["glyph", "glyph-danger", "glyph-quiet"]


def luminance(colour):
    channels = [int(colour[index : index + 2], 16) / 255 for index in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    dark, light = sorted([luminance(one), luminance(other)])
    return (light + 0.05) / (dark + 0.05)


def test_contrast_is_computed_as_wcag_says():
    assert contrast("#000000", "#ffffff") == 21
    assert round(contrast("#777777", "#ffffff"), 2) == 4.48


def test_light_and_dark_name_the_same_colours():
    assert sorted(LIGHT) == sorted(DARK)


@pytest.mark.parametrize("name", [*TOKENS, "code-text", "code-number"])
def test_every_colour_of_code_can_be_read_in_light(name):
    assert contrast(LIGHT[name], LIGHT["code-background"]) >= 4.5
    assert contrast(LIGHT[name], "#ffffff") >= 4.5


@pytest.mark.parametrize("name", [*TOKENS, "code-text", "code-number"])
def test_every_colour_of_code_can_be_read_in_dark(name):
    assert contrast(DARK[name], DARK["code-background"]) >= 4.5


@pytest.mark.parametrize("name", GLYPHS)
@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_every_glyph_can_be_read_and_its_box_be_seen(colours, name):
    assert contrast(colours[f"{name}-text"], colours[f"{name}-background"]) >= 4.5
    if name != "glyph-quiet":
        assert contrast(colours[f"{name}-edge"], colours["code-background"]) >= 3


def test_every_variable_that_is_used_is_declared():
    used = set(re.findall(r"var\(--((?:tok|code|glyph)-[a-z-]+)\)", CSS))
    assert used == set(LIGHT)


def test_every_class_is_one_that_pygments_can_give():
    classes = set(re.findall(r"\.([a-z][a-z0-9]{0,2})(?=[,)\s])", CSS)) - {"css"}
    assert classes <= set(STANDARD_TYPES.values()) - _NOT_COLOURED


@pytest.mark.parametrize(
    "rule",
    [
        "white-space: pre-wrap",
        "overflow-wrap: anywhere",
        "unicode-bidi: isolate-override",
        "direction: ltr",
        "user-select: none",
        "font-variant-ligatures: none",
    ],
)
def test_a_line_always_wraps_and_cannot_be_reordered(rule):
    assert f"{rule};" in CSS
