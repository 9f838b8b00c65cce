"""What every template, style sheet and script keeps to."""

import re

import pytest
from django.conf import settings

ROOT = settings.BASE_DIR
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
SCRIPTS = sorted((ROOT / "static/js").glob("*.js"))
STYLES = sorted((ROOT / "static/css").glob("*.css"))
COLOUR = re.compile(r"#[0-9a-fA-F]{3,8}\b|\brgba?\(|\bhsla?\(")
FORBIDDEN = re.compile(
    r"<style|<script(?![^>]* src=)|\sstyle=|\son[a-z]+=|\|\s*safe|autoescape|mark_safe|https?://"
)


def name(path):
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("template", TEMPLATES, ids=name)
def test_no_template_holds_script_style_or_unescaped_text(template):
    assert FORBIDDEN.findall(template.read_text()) == []


@pytest.mark.parametrize("template", TEMPLATES, ids=name)
def test_every_template_says_what_it_is(template):
    assert template.read_text().startswith("{# ")


@pytest.mark.parametrize("fragment", [t for t in TEMPLATES if t.name.startswith("_")], ids=name)
def test_a_fragment_fits_on_a_screen(fragment):
    assert len(fragment.read_text().splitlines()) <= 40


@pytest.mark.parametrize("script", SCRIPTS, ids=name)
def test_a_script_is_short_and_builds_no_html(script):
    text = script.read_text()

    assert len(text.splitlines()) <= 100
    assert re.findall(r"innerHTML|insertAdjacentHTML|document\.write|\beval\(", text) == []


@pytest.mark.parametrize(
    "style", [s for s in STYLES if s.name not in ("tokens.css", "code.css")], ids=name
)
def test_only_the_tokens_name_colours(style):
    assert COLOUR.findall(style.read_text()) == []
