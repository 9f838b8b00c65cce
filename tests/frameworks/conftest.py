"""Tests against the real agent frameworks, each installed in a virtual environment of its own.

    python -m venv /tmp/venv-autogen
    /tmp/venv-autogen/bin/pip install -e . -r tests/frameworks/autogen.txt
    /tmp/venv-autogen/bin/pytest tests/frameworks

and so with every other ``.txt`` here; ``osprey.txt`` says what it takes besides.

A test file whose framework is not installed is skipped, with one line. With ``CI=true`` in the
environment it fails instead, so that a broken installation does not pass for a success; there,
``FRAMEWORKS=0`` says that the frameworks are left out on purpose.

``gate`` stands for a dashboard and a person. Tests use nothing but what ``Gate`` has, so that a
live server can take the place of the fake.
"""

import importlib.util
import os
from contextlib import contextmanager

import pytest

from dashboard.client.testing import FakeDashboard, approve, reject

AUTOGEN = ("autogen_agentchat", "autogen_ext")
LANGGRAPH = ("langgraph", "langchain", "langgraph.checkpoint.sqlite")
NEEDS = {
    "test_autogen.py": AUTOGEN,
    "test_autogen_live.py": AUTOGEN,
    "test_ag2.py": ("ag2",),
    "test_ag2_live.py": ("ag2",),
    "test_langgraph.py": LANGGRAPH,
    "test_langgraph_live.py": LANGGRAPH,
    "test_openai_agents.py": ("agents",),
    "test_openai_agents_example.py": ("agents",),
    "test_openai_agents_live.py": ("agents",),
    "test_openai_agents_pauses.py": ("agents",),
    "test_osprey.py": ("osprey", "langgraph"),
    "test_pydantic_ai.py": ("pydantic_ai",),
    "test_pydantic_ai_example.py": ("pydantic_ai",),
    "test_pydantic_ai_live.py": ("pydantic_ai",),
    "test_pydantic_ai_pauses.py": ("pydantic_ai",),
}


class Missing(pytest.Module):
    """A test file whose framework is not installed."""

    def collect(self):
        missing = _missing(self.path)
        reason = f"{', '.join(missing)} not installed; see tests/frameworks/conftest.py"
        if os.environ.get("CI") == "true" and os.environ.get("FRAMEWORKS") != "0":
            raise self.CollectError(reason)
        pytest.skip(reason, allow_module_level=True)


def pytest_pycollect_makemodule(module_path, parent):
    if _missing(module_path):
        return Missing.from_parent(parent, path=module_path)
    return None


def _missing(path):
    return [name for name in NEEDS.get(path.name, ()) if not _installed(name)]


def _installed(name):
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # of a parent
        return False


class Gate:
    """A dashboard in memory, and a person who decides what comes next.

    Attributes:
        client: An ``AsyncClient`` of the dashboard.
        blocking: A ``Client`` of the dashboard.
    """

    def __init__(self):
        self._fake = FakeDashboard.manual()
        self.client = self._fake.async_client()
        self.blocking = self._fake.client()

    def approve_next(self, reason=""):
        self._fake.approve_next(reason)

    def reject_next(self, reason):
        self._fake.reject_next(reason)

    def edit_next(self, content):
        """Approve what comes next, but with this content."""
        self._fake.decide_next(approve(content=content))

    def decide(self, content, reason=""):
        """Approve what asks for this content, or reject it with a reason, whatever came first."""
        (approval,) = (one for one in self._fake.approvals if one.content == content)
        approval.verdict = reject(reason) if reason else approve()

    def run_out(self):
        """Let so much time pass that nobody can decide any more."""
        self._fake.advance(100_000)

    def unplug(self):
        """From now on the dashboard refuses connections."""
        self._fake.reachable = False

    def asked(self):
        """Return the content of every request, oldest first."""
        return [approval.content for approval in self._fake.approvals]

    def evidence(self):
        """Return the evidence of every request, oldest first."""
        return [approval.evidence for approval in self._fake.approvals]

    def statuses(self):
        """Return where every request stands, oldest first."""
        return [str(approval.status) for approval in self._fake.approvals]

    def finished(self):
        """Return how everything ended, as it was reported, without how long it took."""
        ends = [dict(approval.finished) for approval in self._fake.approvals]
        return [{name: end[name] for name in end if name != "duration_s"} for end in ends]

    def requests(self):
        """Return everything that was submitted, oldest first."""
        return [approval.body for approval in self._fake.approvals]

    def started(self):
        """Return how many approvals were used."""
        return sum(approval.started for approval in self._fake.approvals)

    @contextmanager
    def environment(self):
        """Be the dashboard that the environment names, for the module's ``approval_func``."""
        with self._fake.installed():
            yield


@pytest.fixture
def gate():
    return Gate()
