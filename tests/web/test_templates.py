"""No template or script can run what an agent wrote; the lint step checks their form."""

import re

from django.conf import settings

ROOT = settings.BASE_DIR
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
SCRIPTS = sorted((ROOT / "static/js").glob("*.js"))
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
