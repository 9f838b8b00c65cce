"""Where Claude Code is, for the tests that run it."""

import os
import shutil
import sys
from pathlib import Path

import pytest

PLACE = f"{Path(sys.prefix) / 'node_modules' / '.bin'}:{os.environ['PATH']}"
CLAUDE = os.environ.get("CLAUDE_CODE") or shutil.which("claude", path=PLACE)


@pytest.fixture(autouse=True)
def claude_code():
    """Skip a test without it; where npm could have installed it, fail."""
    if CLAUDE is None:
        fails = os.environ.get("CI") == "true" and shutil.which("npm")
        why = "Not run: Claude Code is not installed; see tests/frameworks/claude_code/newest.txt"
        (pytest.fail if fails else pytest.skip)(why)
