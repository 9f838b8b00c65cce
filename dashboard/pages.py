"""Whether the files that pages are made of are there: a page without them cannot be decided on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.storage import ManifestFilesMixin, staticfiles_storage

_DRAW = [Path(__file__).parent / room for room in ("web", "notifications")]
_RENDERED = re.compile(r'"([\w./-]+\.html)"')
_INCLUDED = re.compile(r"""{%\s*(?:extends|include)\s+["']([^"']+)["']""")
_LINKED = re.compile(r"""{%\s*static\s+["']([^"']+)["']""")
_IMPORTED = re.compile(r'"\./([\w-]+\.js)"')


def missing() -> Iterator[str]:
    """Say in full sentences which files are missing; nothing when all are there."""
    absent = [path for path in named() if not (settings.PAGES_DIR / path).is_file()]
    if absent:
        yield f"The program lacks {_counted(absent)}: install it again."
    elif lacking := uncollected():
        lacks = f"The data folder lacks {_counted(lacking)} that browsers fetch"
        yield f"{lacks}: start the server again."


def uncollected() -> list[str]:
    """Name the static files whose copy for browsers is not in the data folder."""
    if not isinstance(staticfiles_storage, ManifestFilesMixin):  # nothing is served from there
        return []
    names = [path.removeprefix("static/") for path in named() if path.startswith("static/")]
    stored = [staticfiles_storage.stored_name(name) for name in names]
    return [name for name in stored if not Path(staticfiles_storage.path(name)).is_file()]


@cache
def named() -> list[str]:
    """Return every template and static file that code, or another one, names."""
    templates, static = settings.PAGES_DIR / "templates", settings.PAGES_DIR / "static"
    names = {f"templates/{name}" for room in _DRAW for name in _in(room, "*.py", _RENDERED)}
    names |= {f"templates/{name}" for name in _in(templates, "*.html", _INCLUDED)}
    names |= {f"static/{name}" for name in _in(templates, "*.html", _LINKED)}
    names |= {f"static/js/{name}" for name in _in(static / "js", "*.js", _IMPORTED)}
    return sorted(names)


def _in(folder: Path, pattern: str, name: re.Pattern[str]) -> Iterator[str]:
    for path in folder.rglob(pattern):
        yield from name.findall(path.read_text(encoding="utf-8"))


def _counted(names: list[str]) -> str:
    return f"{len(names)} files ({names[0]}, …)" if names[1:] else f"the file {names[0]}"
