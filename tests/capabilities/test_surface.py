"""What stands in for ``framework.approval`` and ``osprey.approval``, and what it needs."""

import subprocess
import sys

import pytest

import approval_client.capabilities

OSPREYS = (
    "ApprovalManager GlobalApprovalConfig PythonExecutionApprovalConfig MemoryApprovalConfig "
    "ApprovalMode PythonExecutionApprovalEvaluator MemoryApprovalEvaluator ApprovalDecision "
    "create_approval_type create_code_approval_interrupt create_plan_approval_interrupt "
    "create_memory_approval_interrupt get_approval_resume_data clear_approval_state "
    "get_approved_payload_from_state handle_service_with_interrupts "
    "get_approval_manager create_step_approval_interrupt create_channel_write_approval_interrupt"
)


def test_every_name_is_there_and_one_more():
    assert set(approval_client.capabilities.__all__) == {*OSPREYS.split(), "configure_approval"}


@pytest.mark.parametrize("name", approval_client.capabilities.__all__)
def test_everything_exported_exists(name):
    assert getattr(approval_client.capabilities, name).__doc__


@pytest.mark.parametrize("name", ["forget_approval", "forget_approval_types", "forget_warnings"])
def test_what_tests_need_is_not_exported(name):
    assert not hasattr(approval_client.capabilities, name)


def test_it_needs_the_standard_library_alone():
    code = (
        "import sys; before = set(sys.modules); import approval_client.capabilities; "
        "print({name.split('.')[0] for name in set(sys.modules) - before} "
        "- sys.stdlib_module_names)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "{'approval_client'}"
