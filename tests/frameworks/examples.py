"""Runs a file of ``examples/`` as its page of ``docs/frameworks/`` says, with a person at hand.

The page shows what is printed in its only ``text`` block.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.frameworks.live import Person, live_house

WAITING = re.compile(r"Waiting for a person to decide, for \d+ (s|min|hours) at most: http")
ENDED = re.compile(r"(Approved|Rejected) by alice: http")
ROOT = Path(__file__).parents[2]


def check(name, *answers, noise=(), tells=True):
    """Run ``examples/with_name.py`` on a live dashboard; what it prints is what its page says.

    Args:
        name: Of the example and of its page.
        answers: What the person does with each question in turn: "approve", or the reason of a
            rejection.
        noise: How lines begin that the framework itself may write to standard error.
        tells: Whether a question may write to this process's standard error that it waits, and how
            it ended: once each, and not at all if the person is faster.
    """
    with live_house() as house, Person(house) as person:
        person.answers(*answers)
        ended = subprocess.run(
            [sys.executable, "-W", "error", f"examples/with_{name}.py"],
            cwd=ROOT,
            env=_environment(house),
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
        )
    told = [line for line in ended.stderr.splitlines() if not line.startswith(noise)]
    waiting, ended_ = ([line for line in told if one.match(line)] for one in (WAITING, ENDED))
    assert sorted(told) == sorted(waiting + ended_)
    assert len(waiting) == len(ended_) <= (len(answers) if tells else 0)
    assert ended.returncode == 0
    assert ended.stdout == shown(name)


def shown(name):
    """Return what the page of that name says is printed."""
    page = (ROOT / "docs" / "frameworks" / f"{name}.md").read_text()
    (block,) = re.findall(r"^```text\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    return block


def defined(name, function):
    """Return a function that a code block of the page of that name defines."""
    page = (ROOT / "docs" / "frameworks" / f"{name}.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    (block,) = (one for one in blocks if f"def {function}(" in one)
    found = {}
    exec(block, found)  # noqa: S102 - our own words
    return found[function]


def _environment(house):
    return {
        "PATH": os.environ["PATH"],
        "DASHBOARD_URL": house.url,
        "DASHBOARD_TOKEN": house.tokens[0],
    }
