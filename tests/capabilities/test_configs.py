import re
from dataclasses import FrozenInstanceError

import pytest

from approval_client.capabilities import (
    ApprovalMode,
    GlobalApprovalConfig,
    MemoryApprovalConfig,
    PythonExecutionApprovalConfig,
)

DEFAULT = "{} does not say '{}', so the secure default {} holds."
PYTHON_ASKS = DEFAULT.format("Python execution approval", "enabled", True)
ALL_CODE = DEFAULT.format("Python execution approval", "mode", "'all_code'")
MEMORY_ASKS = DEFAULT.format("Memory approval", "enabled", True)
GLOBAL_SELECTIVE = DEFAULT.format("Approval config", "global_mode", "'selective'")


def fails_with(message):
    return pytest.raises(ValueError, match=f"^{re.escape(message)}$")


def test_what_is_left_out_means_that_a_person_is_asked():
    assert PythonExecutionApprovalConfig.from_dict({}) == PythonExecutionApprovalConfig(
        enabled=True, mode=ApprovalMode.ALL_CODE
    )
    assert MemoryApprovalConfig.from_dict({}) == MemoryApprovalConfig(enabled=True)


def test_a_configuration_that_says_nothing_is_selective_and_asks():
    config = GlobalApprovalConfig.from_dict({})
    assert config.global_mode == "selective"
    assert config.python_execution == PythonExecutionApprovalConfig.from_dict({})
    assert config.memory == MemoryApprovalConfig.from_dict({})


@pytest.mark.parametrize("mode", list(ApprovalMode))
def test_every_mode_is_read_by_its_value(mode):
    config = PythonExecutionApprovalConfig.from_dict({"enabled": False, "mode": mode.value})
    assert config == PythonExecutionApprovalConfig(enabled=False, mode=mode)


def test_control_writes_is_another_spelling_of_epics_writes():
    config = PythonExecutionApprovalConfig.from_dict({"mode": "control_writes"})
    assert config.mode is ApprovalMode.EPICS_WRITES


def test_there_are_three_modes_with_ospreys_values():
    assert [mode.value for mode in ApprovalMode] == ["disabled", "epics_writes", "all_code"]


def test_unknown_keys_are_ignored():
    config = GlobalApprovalConfig.from_dict({"x": 1, "capabilities": {"y": 2, "memory": {"z": 3}}})
    assert config == GlobalApprovalConfig.from_dict({})


@pytest.mark.parametrize("value", ["epics_writes", "control_writes", ApprovalMode.CONTROL_WRITES])
def test_the_mode_of_writes_has_two_names(value):
    assert ApprovalMode(value) is ApprovalMode.EPICS_WRITES
    assert (
        ApprovalMode["CONTROL_WRITES"] is ApprovalMode.CONTROL_WRITES is ApprovalMode.EPICS_WRITES
    )


@pytest.mark.parametrize("value", ["Control_Writes", "CONTROL_WRITES", "control_writes ", None])
def test_a_mode_is_spelled_exactly(value):
    with pytest.raises(ValueError, match="is not a valid ApprovalMode"):
        ApprovalMode(value)


@pytest.mark.parametrize(
    ("read", "said"),
    [
        (lambda: PythonExecutionApprovalConfig.from_dict({"enabled": True}), [ALL_CODE]),
        (lambda: PythonExecutionApprovalConfig.from_dict({}), [PYTHON_ASKS, ALL_CODE]),
        (lambda: MemoryApprovalConfig.from_dict({}), [MEMORY_ASKS]),
        (lambda: MemoryApprovalConfig.from_dict(True), []),
        (
            lambda: GlobalApprovalConfig.from_dict({}),
            [GLOBAL_SELECTIVE, PYTHON_ASKS, ALL_CODE, MEMORY_ASKS],
        ),
    ],
)
def test_a_secure_default_is_warned_about(read, said, caplog):
    read()
    assert [(r.levelname, r.getMessage()) for r in caplog.records] == [
        ("WARNING", sentence) for sentence in said
    ]


def test_it_is_warned_about_once_however_often_it_is_read(caplog):
    MemoryApprovalConfig.from_dict({})
    MemoryApprovalConfig.from_dict({})
    assert caplog.messages == [MEMORY_ASKS]


@pytest.mark.parametrize("data", ["x", None, True, []])
def test_python_configuration_must_be_a_dict(data):
    with fails_with(f"Python execution approval config must be dict, got {type(data)}"):
        PythonExecutionApprovalConfig.from_dict(data)


@pytest.mark.parametrize("enabled", ["true", 1, None])
def test_python_enabled_must_be_a_bool(enabled):
    with fails_with(f"Python execution approval 'enabled' must be bool, got {type(enabled)}"):
        PythonExecutionApprovalConfig.from_dict({"enabled": enabled})


@pytest.mark.parametrize("mode", ["invalid", "ALL_CODE", None, [], 1])
def test_an_unknown_mode_is_refused_with_the_known_ones(mode):
    valid = "['disabled', 'epics_writes', 'all_code']"
    with fails_with(f"Invalid approval mode '{mode}'. Valid modes: {valid}"):
        PythonExecutionApprovalConfig.from_dict({"mode": mode})


@pytest.mark.parametrize("data", [True, {"enabled": True}, {}])
def test_memory_approval_is_switched_on(data):
    assert MemoryApprovalConfig.from_dict(data).enabled is True


@pytest.mark.parametrize("data", [False, {"enabled": False}])
def test_memory_approval_is_switched_off(data):
    assert MemoryApprovalConfig.from_dict(data).enabled is False


@pytest.mark.parametrize("data", [1, None, "x", []])
def test_memory_configuration_must_be_a_bool_or_a_dict(data):
    with fails_with(f"Memory approval config must be bool or dict, got {type(data)}"):
        MemoryApprovalConfig.from_dict(data)


@pytest.mark.parametrize("enabled", ["true", 0, None])
def test_memory_enabled_must_be_a_bool(enabled):
    with fails_with(f"Memory approval 'enabled' must be bool, got {type(enabled)}"):
        MemoryApprovalConfig.from_dict({"enabled": enabled})


@pytest.mark.parametrize("data", ["x", None, True, []])
def test_the_whole_must_be_a_dict(data):
    with fails_with(f"Approval config must be dict, got {type(data)}"):
        GlobalApprovalConfig.from_dict(data)


@pytest.mark.parametrize("mode", ["invalid", "Selective", None, [], True])
def test_an_unknown_global_mode_is_refused(mode):
    valid = "['disabled', 'selective', 'all_capabilities']"
    with fails_with(f"Invalid global_mode '{mode}'. Valid modes: {valid}"):
        GlobalApprovalConfig.from_dict({"global_mode": mode})


@pytest.mark.parametrize("capabilities", [None, [], "x"])
def test_capabilities_must_be_a_dict(capabilities):
    with fails_with(f"Approval capabilities must be dict, got {type(capabilities)}"):
        GlobalApprovalConfig.from_dict({"capabilities": capabilities})


def test_a_bool_is_taken_for_memory_but_not_for_python():
    assert not GlobalApprovalConfig.from_dict({"capabilities": {"memory": False}}).memory.enabled
    with fails_with("Python execution approval config must be dict, got <class 'bool'>"):
        GlobalApprovalConfig.from_dict({"capabilities": {"python_execution": True}})


@pytest.mark.parametrize(
    "config",
    [
        PythonExecutionApprovalConfig.from_dict({}),
        MemoryApprovalConfig.from_dict({}),
        GlobalApprovalConfig.from_dict({}),
    ],
)
def test_a_configuration_never_changes(config):
    name = next(iter(config.__dataclass_fields__))
    with pytest.raises(FrozenInstanceError):
        setattr(config, name, None)
