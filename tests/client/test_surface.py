"""What the library shows to those who build on it, and what it needs."""

import ast
import inspect
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import approval_client
from approval_client import (
    ApprovalResponse,
    AsyncClient,
    Client,
    Expired,
    ProtocolMismatch,
    RequestRefused,
    approval_func,
)
from approval_client.wire import Status

NAMES = """
    Access AlreadyUsed Answer ApprovalRequest ApprovalResponse Asked AsyncClient Cancelled Client
    DashboardError Decision DigestMismatch Expired NotADashboard NotApproved NotConfigured OnHold
    Pending ProtocolMismatch Rejected RequestRefused TakenBack TokenRefused TooLate Unreachable
    approval_func requires_approval run
"""
NOBODY = ApprovalResponse(approved=False, reason="No.", status=Status.EXPIRED)
IMPORT_ALONE = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {BLOCKED}:
            raise ImportError(f"{name} is not installed here")

sys.meta_path.insert(0, Blocked())
import approval_client
import approval_client.testing
import approval_client.webhooks
import approval_client.adapters.ag2
import approval_client.adapters.autogen
import approval_client.adapters.langgraph
import approval_client.adapters.osprey
print(*sorted(name for name in sys.modules if name.startswith("dashboard")))
"""
BESIDE = """
import approvals, client, dashboard
from approval_client import ApprovalRequest
from approval_client.adapters import autogen, langgraph, mcp
from approval_client.testing import FakeDashboard

asked = FakeDashboard.approving().client().request_approval(ApprovalRequest.code("print(1)"))
print(dashboard.whose, client.whose, approvals.whose, asked.approved)
"""


def test_the_exports_are_exactly_these():
    assert sorted(approval_client.__all__) == NAMES.split()


def test_every_export_is_there():
    assert [name for name in NAMES.split() if not hasattr(approval_client, name)] == []


def test_what_is_imported_late_is_what_type_checkers_see_and_completion_offers():
    source = Path(approval_client.__file__).read_text()
    (checked,) = [n for n in ast.parse(source).body if isinstance(n, ast.If)]
    seen = {alias.name: node.module for node in checked.body for alias in node.names}

    late = {n: f"approval_client.{m}" for n, m in approval_client._MODULES.items()}
    assert late == seen
    assert {*NAMES.split()} == {*late} <= {*dir(approval_client)}


def test_a_name_that_it_does_not_have_is_an_attribute_error():
    with pytest.raises(
        AttributeError, match="module 'approval_client' has no attribute 'aproved'"
    ):
        approval_client.aproved  # noqa: B018 - looking is what fails


@pytest.mark.parametrize(
    "module",
    [
        *("approval_client", "approval_client.wire", "approval_client.capabilities"),
        "dashboard.inspection",
    ],
)
def test_what_both_sides_share_loads_neither_httpx2_nor_django(module):
    code = f"import sys, {module}; print(*sys.modules)"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert module in done.stdout.split()
    assert {"httpx2", "django"} & set(done.stdout.split()) == set()


def test_a_project_with_a_dashboard_a_client_and_approvals_of_its_own_can_use_it(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("DASHBOARD_QUIET", "1")
    for name in ("dashboard", "client", "approvals"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(f"whose = {name!r}\n")

    done = subprocess.run(
        [sys.executable, "-c", BESIDE], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert (done.stdout, done.stderr) == ("dashboard client approvals True\n", "")


def test_whoever_has_the_server_finds_the_same_names_where_they_were():
    code = (
        "import approval_client as new, dashboard.client as old; "
        "print(all(getattr(old, name) is getattr(new, name) for name in new.__all__))"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "True\n"


def test_it_imports_without_django_and_without_any_framework():
    blocked = {"django", "channels", "pydantic", "ninja", "autogen_agentchat", "autogen_core"}
    blocked |= {"ag2", "langgraph", "langchain", "osprey"}
    code = IMPORT_ALONE.replace("{BLOCKED}", repr(blocked))

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.split() == []


def test_its_import_leaves_httpx2_and_every_adapter_for_later():
    code = "import sys, approval_client; print(*sys.modules)"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    late = {"httpx2", "approval_client.adapters", "approval_client.testing"}
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
    errors = vars(approval_client._errors)
    classes = [e for e in errors.values() if inspect.isclass(e) and issubclass(e, Exception)]

    assert all(issubclass(error, approval_client.DashboardError) for error in classes)
    assert [e.__name__ for e in classes if e.__name__ not in errors["__doc__"]] == []


@pytest.mark.parametrize(
    "error",
    [
        RequestRefused("No.", code="invalid", detail="d"),
        Expired("No.", NOBODY),
        ProtocolMismatch("No.", "a1"),
    ],
)
def test_an_error_survives_a_round_trip(error):
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes

    assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))


@pytest.mark.parametrize("make", [Client, AsyncClient])
def test_a_client_never_shows_its_token(make):
    client = make("https://dashboard.example", "dash_secret")

    assert repr(client) == f"{make.__name__}('https://dashboard.example')"
    assert "dash_secret" not in repr(client._settings)
