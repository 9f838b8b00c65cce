import pytest

from approval_client.capabilities import (
    ApprovalDecision,
    ApprovalMode,
    MemoryApprovalConfig,
    MemoryApprovalEvaluator,
    PythonExecutionApprovalConfig,
    PythonExecutionApprovalEvaluator,
)

WRITES = (True, "Code contains EPICS write operations")
NO_WRITES = (False, "Code contains no EPICS writes (read-only or pure Python)")


@pytest.mark.parametrize("reads", [True, False])
@pytest.mark.parametrize(
    ("enabled", "mode", "writes", "decision"),
    [
        (True, ApprovalMode.DISABLED, True, (False, "Approval mode is disabled")),
        (True, ApprovalMode.DISABLED, False, (False, "Approval mode is disabled")),
        (True, ApprovalMode.EPICS_WRITES, True, WRITES),
        (True, ApprovalMode.EPICS_WRITES, False, NO_WRITES),
        (True, ApprovalMode.ALL_CODE, True, (True, "All code requires approval")),
        (True, ApprovalMode.ALL_CODE, False, (True, "All code requires approval")),
        (False, ApprovalMode.ALL_CODE, True, (False, "Python execution approval is disabled")),
        (False, ApprovalMode.EPICS_WRITES, True, (False, "Python execution approval is disabled")),
    ],
)
def test_code_is_judged_by_switch_mode_and_writes(enabled, mode, writes, reads, decision):
    config = PythonExecutionApprovalConfig(enabled=enabled, mode=mode)
    evaluator = PythonExecutionApprovalEvaluator(config)
    assert evaluator.evaluate(has_epics_writes=writes, has_epics_reads=reads) == decision


@pytest.mark.parametrize("mode", ["weird", "disabled", None])
def test_an_unknown_mode_needs_approval(mode):
    evaluator = PythonExecutionApprovalEvaluator(PythonExecutionApprovalConfig(True, mode))
    assert evaluator.evaluate(False, False) == (True, f"Unknown approval mode: {mode}")


@pytest.mark.parametrize("found", [None, 0, "", "no", [], 1])
def test_what_is_not_plainly_no_write_counts_as_one(found):
    config = PythonExecutionApprovalConfig(enabled=True, mode=ApprovalMode.CONTROL_WRITES)
    assert PythonExecutionApprovalEvaluator(config).evaluate(found, False) == WRITES


@pytest.mark.parametrize("enabled", [None, 0, "", "no", 1])
def test_a_switch_that_is_not_plainly_off_is_on(enabled):
    python = PythonExecutionApprovalConfig(enabled, ApprovalMode.ALL_CODE)
    memory = MemoryApprovalConfig(enabled)
    assert PythonExecutionApprovalEvaluator(python).evaluate(False, False).needs_approval is True
    assert MemoryApprovalEvaluator(memory).evaluate().needs_approval is True


@pytest.mark.parametrize("operation", ["general", "create", "delete"])
@pytest.mark.parametrize(
    ("enabled", "reasoning"),
    [
        (True, "Memory operations require approval"),
        (False, "Memory operation approval is disabled"),
    ],
)
def test_memory_is_judged_by_the_switch_alone(enabled, operation, reasoning):
    evaluator = MemoryApprovalEvaluator(MemoryApprovalConfig(enabled))
    assert evaluator.evaluate(operation_type=operation) == ApprovalDecision(enabled, reasoning)


def test_a_decision_can_be_unpacked():
    needs_approval, reasoning = ApprovalDecision(needs_approval=True, reasoning="Because.")
    assert (needs_approval, reasoning) == (True, "Because.")
