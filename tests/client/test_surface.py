"""What the library shows to those who build on it, and what it needs."""

import inspect
import pickle
import subprocess
import sys

import pytest

import dashboard.client
from dashboard.client import (
    ApprovalResponse,
    AsyncClient,
    Client,
    Expired,
    RequestRefused,
    approval_func,
)
from dashboard.wire import Status

NAMES = """
    AlreadyUsed Answer ApprovalRequest ApprovalResponse Asked AsyncClient Cancelled Client
    DashboardError Decision DigestMismatch Expired NotApproved NotConfigured OnHold Pending
    Rejected RequestRefused TokenRefused TooLate Unreachable approval_func requires_approval
"""
NOBODY = ApprovalResponse(approved=False, reason="No.", status=Status.EXPIRED)
IMPORT_ALONE = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {BLOCKED}:
            raise ImportError(f"{name} is not installed here")

sys.meta_path.insert(0, Blocked())
import dashboard.client
import dashboard.client.testing
import dashboard.client.webhooks
import dashboard.client.adapters.ag2
import dashboard.client.adapters.autogen
import dashboard.client.adapters.langgraph
import dashboard.client.adapters.osprey
print(*sorted(name for name in sys.modules if name.startswith("dashboard")))
"""


def test_the_exports_are_exactly_these():
    assert sorted(dashboard.client.__all__) == NAMES.split()


def test_every_export_is_there():
    assert [name for name in NAMES.split() if not hasattr(dashboard.client, name)] == []


def test_it_imports_without_django_and_without_any_framework():
    blocked = {"django", "channels", "pydantic", "ninja", "autogen_agentchat", "autogen_core"}
    blocked |= {"ag2", "langgraph", "langchain", "osprey"}
    code = IMPORT_ALONE.replace("{BLOCKED}", repr(blocked))

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    rooms = {name for name in done.stdout.split() if not name.startswith("dashboard.client")}
    assert rooms == {"dashboard", "dashboard.wire"}


def test_its_import_leaves_httpx2_and_every_adapter_for_later():
    code = "import sys, dashboard.client; print(*sys.modules)"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    late = {"httpx2", "dashboard.client.adapters", "dashboard.client.testing"}
    assert late & set(done.stdout.split()) == set()


def test_approval_func_is_a_real_coroutine_function():
    assert inspect.iscoroutinefunction(approval_func)


def test_the_bound_method_of_the_async_client_is_a_coroutine_function():
    client = AsyncClient("https://dashboard.example", "dash_x")

    assert inspect.iscoroutinefunction(client.approval_func)


def test_the_blocking_twin_is_no_coroutine_function():
    client = Client("https://dashboard.example", "dash_x")

    assert not inspect.iscoroutinefunction(client.approval_func)


def test_every_error_is_a_dashboard_error_and_has_a_line_in_the_tree():
    errors = vars(dashboard.client._errors)
    classes = [e for e in errors.values() if inspect.isclass(e) and issubclass(e, Exception)]

    assert all(issubclass(error, dashboard.client.DashboardError) for error in classes)
    assert [e.__name__ for e in classes if e.__name__ not in errors["__doc__"]] == []


@pytest.mark.parametrize(
    "error", [RequestRefused("No.", code="invalid", detail="d"), Expired("No.", NOBODY)]
)
def test_an_error_survives_a_round_trip(error):
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes

    assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))


@pytest.mark.parametrize("make", [Client, AsyncClient])
def test_a_client_never_shows_its_token(make):
    client = make("https://dashboard.example", "dash_secret")

    assert repr(client) == f"{make.__name__}('https://dashboard.example')"
    assert "dash_secret" not in repr(client._settings)
