"""What a page may weigh."""

import gzip
from pathlib import Path

import django_htmx
from django.conf import settings

from dashboard.web.desk import queue

MOST = 60_000


def test_all_scripts_of_a_page_are_small_when_compressed():
    ours = sorted((settings.BASE_DIR / "static" / "js").glob("*.js"))
    htmx = Path(django_htmx.__file__).parent / "static" / "django_htmx" / "htmx-2.min.js"

    assert sum(len(gzip.compress(file.read_bytes())) for file in [*ours, htmx]) <= MOST


def test_a_list_has_at_most_200_rows():
    assert queue.MOST_ROWS <= 200
