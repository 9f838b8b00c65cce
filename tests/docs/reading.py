"""Reads the docs for the tests that hold them to the code."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
AGENTS = ROOT / "docs" / "agents.md"
PAGES = [
    README,
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    ROOT / "client" / "README.md",
    *sorted(ROOT.glob("docs/**/*.md")),
]
_NEEDS = r"^(?:<!-- needs: (?P<needs>[^\n]+) -->\n)?"
_BLOCK = re.compile(_NEEDS + r"```python\n(?P<code>.*?)^```$", re.DOTALL | re.MULTILINE)
_SHELL = re.compile(r"^```sh\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def cells(page, *, column=0):
    """Return what stands in backticks in a column of all tables of a page, in order."""
    rows = [line.split("|")[1:-1] for line in page.read_text().splitlines() if line[:2] == "| "]
    return [name for row in rows for name in re.findall(r"`([^`]+)`", row[column])]


def rows(page):
    """Return every table row of a page as its cells."""
    lines = [line for line in page.read_text().splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]


def python_blocks(page):
    """Return what is to be compiled, with the frameworks that it needs to run."""
    return [(found["code"], found["needs"] or "") for found in _BLOCK.finditer(page.read_text())]


def commands(page):
    """Return every line of every shell block."""
    return [line for block in _SHELL.findall(page.read_text()) for line in block.splitlines()]
