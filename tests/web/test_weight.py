"""What a page may weigh."""

import gzip
import re
from pathlib import Path

import django_htmx
import pytest
from django.conf import settings

from dashboard.web.desk import queue

MOST = 60_000
SCRIPTS = settings.BASE_DIR / "static" / "js"
HTMX = Path(django_htmx.__file__).parent / "static" / "django_htmx" / "htmx-2.min.js"


def scripts_of_templates():
    """Every script that a template names, beside main.js, which all pages have."""
    texts = [file.read_text() for file in (settings.BASE_DIR / "templates").rglob("*.html")]
    return {name for text in texts for name in re.findall(r"{% static 'js/(.+?)' %}", text)}


def loaded_with(*names):
    """Those scripts and all that they import."""
    files, rest = set(), [SCRIPTS / name for name in names]
    while rest:
        file = rest.pop()
        if file not in files:
            files.add(file)
            imported = re.findall(r'^import .*?"\./(.+?)";$', file.read_text(), re.MULTILINE)
            rest.extend(SCRIPTS / name for name in imported)
    return files


@pytest.mark.parametrize("name", sorted(scripts_of_templates()))
def test_all_scripts_of_a_page_are_small_when_compressed(name):
    files = [*loaded_with("main.js", name), HTMX]

    assert sum(len(gzip.compress(file.read_bytes())) for file in files) <= MOST


def test_no_script_is_left_unused():
    assert loaded_with(*scripts_of_templates()) == set(SCRIPTS.glob("*.js"))


def test_a_list_has_at_most_200_rows():
    assert queue.MOST_ROWS <= 200
