"""The modes through the server: the same answers as the evaluators that agents can use."""

from itertools import product

import pytest

from approval_client.capabilities import ApprovalManager
from approval_client.wire import Kind, Status
from tests import make

pytestmark = pytest.mark.django_db

GLOBAL_MODES = ["disabled", "selective", "all_capabilities"]
MODES = ["disabled", "epics_writes", "control_writes", "all_code"]
CODE = {
    "writes": "import epics\nepics.caput('SR:C01-MG', 1.5)",
    "reads": "import epics\nprint(epics.caget('SR:C01-MG'))",
    "neither": "print(sum(range(10)))",
}
MEMORY = {"operation": "create", "user_id": "u1", "content": "likes tea", "existing": ""}


def modes(global_mode, python=None, memory=None):
    capabilities = {"python_execution": python or {}, "memory": memory or {}}
    return {"global_mode": global_mode, "capabilities": capabilities}


@pytest.mark.parametrize("does", CODE)
@pytest.mark.parametrize(("mode", "enabled"), list(product(MODES, [True, False])))
@pytest.mark.parametrize("global_mode", GLOBAL_MODES)
def test_code_is_asked_about_when_the_evaluator_says_so(token, global_mode, mode, enabled, does):
    config = modes(global_mode, python={"enabled": enabled, "mode": mode})
    make.in_force(modes=config)

    approval = make.pending(token, content={"code": CODE[does], "language": "python"})

    said = (
        ApprovalManager(config)
        .get_python_execution_evaluator()
        .evaluate(has_epics_writes=does == "writes", has_epics_reads=does == "reads")
    )
    assert (approval.status == Status.PENDING) is said.needs_approval


@pytest.mark.parametrize("enabled", [True, False])
@pytest.mark.parametrize("global_mode", GLOBAL_MODES)
def test_memory_is_asked_about_when_the_evaluator_says_so(token, global_mode, enabled):
    config = modes(global_mode, memory={"enabled": enabled})
    make.in_force(modes=config)

    approval = make.pending(token, kind=Kind.MEMORY, capability="memory", content=MEMORY)

    said = ApprovalManager(config).get_memory_evaluator().evaluate("create")
    assert (approval.status == Status.PENDING) is said.needs_approval


@pytest.mark.parametrize("language", ["bash", "julia", None])
def test_what_writes_cannot_be_known_of_counts_as_writing(token, language):
    make.in_force(modes=modes("selective", python={"enabled": True, "mode": "epics_writes"}))
    content = {"code": "echo 1"} | ({"language": language} if language else {})

    assert make.pending(token, content=content).status == Status.PENDING
