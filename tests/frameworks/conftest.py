"""Tests against the real agent frameworks, each installed in a virtual environment of its own.

    python -m venv /tmp/venv-autogen
    /tmp/venv-autogen/bin/pip install -e ./client -r tests/frameworks/autogen/newest.txt
    /tmp/venv-autogen/bin/pytest tests/frameworks/autogen

and so with every other folder here; ``oldest.txt`` is the oldest release that is supported, for
the same tests. The lists of Osprey and Claude Code say what they take besides.

A new framework is a folder here, one of the same name in ``approval_client/adapters``, a page, an
example, and a line in ``NEEDS``.

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

from approval_client import AsyncClient
from approval_client.testing import FakeDashboard, Verdict, approve, reject, remember
from approval_client.wire import Status
from tests.frameworks.live import Person, live_house, missing

pytest.register_assert_rewrite("tests.frameworks.examples", "tests.frameworks.pausing")

LANGGRAPH = ("langgraph", "langchain", "langgraph.checkpoint.sqlite")
NEEDS = {  # the folders here, and what has to be installed for the tests in them
    "ag2": ("ag2",),
    "agent_framework": ("agent_framework",),
    "any": ("smolagents", "strands", "haystack"),
    "autogen": ("autogen_agentchat", "autogen_ext"),
    "claude_code": ("mcp", "claude_agent_sdk"),
    "langchain": LANGGRAPH,
    "langgraph": LANGGRAPH,
    "mcp": ("mcp",),
    "openai_agents": ("agents",),
    "osprey": ("osprey", "langgraph.checkpoint.sqlite"),
    "pydantic_ai": ("pydantic_ai",),
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
    return [name for name in NEEDS.get(path.parent.name, ()) if not _installed(name)]


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

    def remembered_next(self):
        """Have a yes that was given before answer what comes next."""
        self._fake.decide_next(remember())

    def edit_next(self, content):
        """Approve what comes next, but with this content."""
        self._fake.decide_next(approve(content=content))

    def decide(self, number, verdict):
        """Decide the request of that number, from 0: "approve", or a rejection's reason."""
        given = approve() if verdict == "approve" else reject(verdict)
        self._fake.approvals[number].verdict = given

    def withdraw(self, number):
        """Have an admin end the request of that number, from 0."""
        self._fake.approvals[number].verdict = Verdict(Status.CANCELLED, "Ended.")

    def let_pass(self, seconds):
        """Let so much time pass."""
        self._fake.advance(seconds)

    def decide_about(self, content, reason=""):
        """Approve what asks for this content, or reject it with a reason, whatever came first."""
        (approval,) = (one for one in self._fake.approvals if one.content == content)
        approval.verdict = reject(reason) if reason else approve()

    def run_out(self):
        """Let so much time pass that nobody can decide any more."""
        self._fake.advance(100_000)

    def hold(self):
        """Have an admin put everything on hold."""
        self._fake.on_hold = True

    def go_on(self):
        """End the hold."""
        self._fake.on_hold = False

    def take_back(self, reason):
        """Have a person take back the newest approval that was not started."""
        self._fake.take_back(reason)

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

    def notebooks(self):
        """Return the bytes of every notebook that was sent, oldest first."""
        return list(self._fake.notebooks.values())

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


# A real dashboard, a person at its pages, and an agent's client of it.


@pytest.fixture(scope="module")
def house():
    if why := missing():
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(f"Not run: {why}")
    with live_house() as house:
        yield house


@pytest.fixture
def person(house):
    with Person(house) as person:
        yield person


@pytest.fixture
def client(house):
    return AsyncClient(house.url, house.tokens[0])
