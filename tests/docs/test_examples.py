"""The docs' links lead somewhere, their commands are those that CI calls, their Python runs."""

import re
import subprocess

import pytest

from approval_client.testing import FakeDashboard
from tests.docs.reading import PAGES, README, ROOT, commands, python_blocks

LINK = re.compile(r"\]\(([^)\s]+)\)")
CI = ROOT / ".ci" / "run"
BLOCKS = [(page.name, *block) for page in PAGES for block in python_blocks(page)]
OURS = [(name, code) for name, code, needs in BLOCKS if not needs]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_within_leads_somewhere(page):
    within = [link for link in LINK.findall(page.read_text()) if "://" not in link]

    assert [link for link in within if not leads_somewhere(page, link)] == []


def leads_somewhere(page, link):
    path, _, anchor = link.partition("#")
    target = page.parent / path if path else page
    return target.exists() and (not anchor or anchor in headings(target))


def headings(page):
    lines = [line.lstrip("# ") for line in page.read_text().splitlines() if line.startswith("#")]
    return {re.sub(r"[^\w -]", "", line).lower().replace(" ", "-") for line in lines}


def test_the_readme_has_one_command_to_start_and_one_to_test():
    assert [line for line in commands(README) if line.startswith("python3 ")] == [
        (
            "python3 -m venv .venv && .venv/bin/pip install -c constraints.txt -e ./client -e . "
            "&& .venv/bin/python manage.py start"
        ),
        (
            "python3 -m venv .venv && .venv/bin/pip install -c constraints.txt "
            "-e ./client -e '.[dev]' && .venv/bin/pytest"
        ),
    ]


@pytest.mark.parametrize("name", ["START", "TEST"])
def test_ci_takes_both_commands_from_the_readme(name):
    assignment = re.search(rf"^{name}_COMMAND=\$\(.+\)$", CI.read_text(), re.MULTILINE)[0]
    script = f'{assignment}\nprintf %s "${name}_COMMAND"'

    done = subprocess.run(
        ["bash", "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert done.stdout in commands(README)
    assert done.stdout.endswith({"START": "manage.py start", "TEST": "pytest"}[name])


def test_ci_is_a_script_that_bash_can_read():
    assert CI.stat().st_mode & 0o111
    assert subprocess.run(["bash", "-n", CI], check=False).returncode == 0


def test_there_are_examples_of_each_way_to_ask():
    text = "\n".join(code for _, code, _ in BLOCKS)

    for name in ("approval_func", "requires_approval", "Client()", "AsyncClient()", "MagenticOne"):
        assert name in text


@pytest.mark.parametrize(("page", "code", "needs"), BLOCKS)
def test_every_example_compiles(page, code, needs):
    assert compile(code, page, "exec")


@pytest.mark.parametrize("dashboard", [FakeDashboard.approving(), FakeDashboard.rejecting("No.")])
@pytest.mark.parametrize(("page", "code"), OURS)
def test_every_example_runs_whatever_is_answered(page, code, dashboard, monkeypatch, capsys):
    monkeypatch.setattr("approval_client.Client", dashboard.client)
    monkeypatch.setattr("approval_client.AsyncClient", dashboard.async_client)
    with dashboard.installed():
        exec(compile(code, page, "exec"), {"__name__": "example"})  # noqa: S102 - our own words


def test_the_decorated_example_runs_only_what_was_approved():
    code = next(code for _, code in OURS if "requires_approval" in code)
    results = {}
    for fake in (FakeDashboard.approving(), FakeDashboard.rejecting("Keep it.")):
        with fake.installed():
            exec(code, names := {"__name__": "example"})  # noqa: S102 - the same
        results[names["result"]] = fake.approvals[0].started

    assert results == {"deleted 48213": 1, results_of_refusal(results): 0}


def results_of_refusal(results):
    return next(text for text in results if "Keep it." in text)
