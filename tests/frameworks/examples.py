"""Runs a file of ``examples/`` as its page of ``docs/frameworks/`` says, with a person at hand.

The page shows what is printed in its only ``text`` block.
"""

import os
import re
import subprocess
import sys
import time
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from tests.frameworks.live import Person, live_house

WAITING = re.compile(r"Waiting for a person to decide, for \d+ (s|min|hours) at most: http")
ENDED = re.compile(r"(Approved|Rejected) by alice( \(.+\))?: http")
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


def begins(name, folder, noise=()):
    """Run what a page begins with, in a folder, approve it, and return what it printed.

    Standard error is what the page says that one sees, with this question's own link.
    """
    blocks = re.findall(r"^```(python|console)\n(.*?)^```$", _page(name), re.MULTILINE | re.DOTALL)
    (_, code), (_, seen) = blocks[:2]
    with live_house() as house, Person(house) as person:
        person.approves(after=lambda: time.sleep(2))  # so that it says that it waits
        ended = subprocess.run(
            [sys.executable, "-c", code],
            cwd=folder,
            env=_environment(house) | {"PYTHONPATH": f"{ROOT / 'client'}"},
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
        )
    told = "\n".join(line for line in ended.stderr.splitlines() if not line.startswith(noise))
    assert ended.returncode == 0, ended.stderr
    link = re.escape("http://127.0.0.1:8000/approvals/…")
    expected = re.escape(seen.strip()).replace(link, rf"{re.escape(house.url)}/approvals/\S+")
    assert re.fullmatch(expected, told), told
    return ended.stdout


def shown(name):
    """Return what the page of that name says is printed."""
    (block,) = re.findall(r"^```text\n(.*?)^```$", _page(name), re.MULTILINE | re.DOTALL)
    return block


def defined(name, function):
    """Return a function that a code block of the page of that name defines."""
    found = {}
    exec(_block(name, function), found)  # noqa: S102 - our own words
    return found[function]


def imported(name, function, folder):
    """Return that code block as a module in a file, for what reads the source of its functions."""
    file = folder / f"{function}.py"
    file.write_text(_block(name, function))
    spec = spec_from_file_location(function, file)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _block(name, function):
    blocks = re.findall(r"^```python\n(.*?)^```$", _page(name), re.MULTILINE | re.DOTALL)
    (block,) = (one for one in blocks if f"def {function}(" in one)
    return block


def _page(name):
    # A page names the first person of every dashboard. Another one answers in these tests.
    page = (ROOT / "docs" / "frameworks" / f"{name}.md").read_text()
    return page.replace("by admin", "by alice")


def _environment(house):
    return {
        "PATH": os.environ["PATH"],
        "DASHBOARD_URL": house.url,
        "DASHBOARD_TOKEN": house.tokens[0],
    }
