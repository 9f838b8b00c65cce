import itertools
import logging

import pytest

from approval_client.capabilities import ApprovalManager, ApprovalMode


def manager(global_mode, *, enabled=True, mode="all_code", memory=True):
    python = {"enabled": enabled, "mode": mode}
    capabilities = {"python_execution": python, "memory": {"enabled": memory}}
    return ApprovalManager({"global_mode": global_mode, "capabilities": capabilities})


def needs_approval(global_mode, enabled, mode, writes):
    evaluator = manager(global_mode, enabled=enabled, mode=mode).get_python_execution_evaluator()
    return evaluator.evaluate(has_epics_writes=writes, has_epics_reads=False).needs_approval


@pytest.mark.parametrize(
    ("global_mode", "enabled", "disabled", "epics_writes", "all_code"),
    [
        ("disabled", True, "no", "no", "no"),
        ("disabled", False, "no", "no", "no"),
        ("selective", True, "no", "if writes", "yes"),
        ("selective", False, "no", "no", "no"),
        ("all_capabilities", True, "no", "if writes", "yes"),
        ("all_capabilities", False, "no", "if writes", "yes"),
    ],
)
def test_the_truth_table_of_python_code(global_mode, enabled, disabled, epics_writes, all_code):
    expected = {"disabled": disabled, "epics_writes": epics_writes, "all_code": all_code}
    for (mode, answer), writes in itertools.product(expected.items(), [True, False]):
        needed = answer == "yes" or (answer == "if writes" and writes)
        assert needs_approval(global_mode, enabled, mode, writes) is needed


@pytest.mark.parametrize(
    ("global_mode", "configured", "needed"),
    [
        ("disabled", True, False),
        ("selective", True, True),
        ("selective", False, False),
        ("all_capabilities", False, True),
    ],
)
def test_the_truth_table_of_memory(global_mode, configured, needed):
    evaluator = manager(global_mode, memory=configured).get_memory_evaluator()
    assert evaluator.evaluate().needs_approval is needed


@pytest.mark.parametrize("global_mode", ["disabled", "selective", "all_capabilities"])
@pytest.mark.parametrize("mode", list(ApprovalMode))
def test_the_global_mode_leaves_the_mode_of_code_alone(global_mode, mode):
    assert manager(global_mode, mode=mode.value).get_python_execution_config().mode is mode


def test_the_summary_says_what_holds_and_not_what_was_written():
    found = manager("all_capabilities", enabled=False, mode="control_writes", memory=False)
    assert found.get_config_summary() == {
        "global_mode": "all_capabilities",
        "python_execution": {"enabled": True, "mode": "epics_writes"},
        "memory": {"enabled": True},
    }


def test_the_manager_keeps_what_was_configured():
    found = manager("all_capabilities", enabled=False)
    assert (found.config.global_mode, found.config.python_execution.enabled) == (
        "all_capabilities",
        False,
    )


def test_a_bad_configuration_is_refused_at_once():
    with pytest.raises(ValueError, match=r"^Invalid global_mode 'invalid'\. Valid modes: "):
        ApprovalManager({"global_mode": "invalid"})


def test_making_one_logs_nothing_because_a_server_makes_many(caplog):
    caplog.set_level(logging.INFO)
    manager("selective")
    assert caplog.messages == []


def test_the_summary_can_be_written_into_the_log(caplog):
    caplog.set_level(logging.INFO, "approval_client.capabilities")
    found = manager("disabled")
    found.log_summary()
    said = f"Approval is configured: {found.get_config_summary()}."
    assert [(r.levelname, r.getMessage()) for r in caplog.records] == [("INFO", said)]
