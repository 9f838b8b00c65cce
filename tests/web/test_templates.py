"""No template or script can run what an agent wrote, and all templates can be drawn."""

import re

import pytest
from django.conf import settings
from django.template.loader import get_template

from dashboard.web.urls import urlpatterns

ROOT = settings.BASE_DIR
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
SCRIPTS = sorted((ROOT / "static/js").glob("*.js"))
NAMES = {pattern.name for pattern in urlpatterns}
LINKED = re.compile(r"""["']web:(\w+)["']""")
BUILT_HTML = re.compile(r"innerHTML|insertAdjacentHTML|document\.write|\beval\(")
FORBIDDEN = re.compile(
    r"<style|<script(?![^>]* src=)|\sstyle=|\son[a-z]+=|\|\s*safe|autoescape|mark_safe|https?://"
    r"|<noscript"  # what is in one are controls like any other in a page that htmx fetched
)


def offences(files, pattern):
    """Name each file in which ``pattern`` occurs, with what was found."""
    found = {str(path.relative_to(ROOT)): pattern.findall(path.read_text()) for path in files}
    return {name: matches for name, matches in found.items() if matches}


def test_no_template_holds_script_style_or_unescaped_text():
    assert offences(TEMPLATES, FORBIDDEN) == {}


def test_no_script_builds_html_or_runs_text():
    assert offences(SCRIPTS, BUILT_HTML) == {}


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_every_template_compiles_and_links_to_what_there_is(path):
    text = path.read_text()
    get_template(str(path.relative_to(ROOT / "templates")))

    assert set(LINKED.findall(text)) <= NAMES
