import logging
import re
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from approval_client.capabilities import ApprovalManager, configure_approval, get_approval_manager
from approval_client.capabilities.singleton import forget_approval

REMEDY = "Nothing can be approved: call configure_approval() with it when the program starts."
MISSING = f"❌ CRITICAL: Approval configuration is missing from system configuration. {REMEDY}"
DIFFERENT = (
    "Approval is configured already, with other content. That configuration still holds: "
    "configure approval once, when the program starts."
)


def config(global_mode="selective", mode="all_code"):
    capabilities = {"python_execution": {"enabled": True, "mode": mode}, "memory": True}
    return {"global_mode": global_mode, "capabilities": capabilities}


def outcome(act):
    try:
        return act()
    except ValueError as refused:
        return str(refused)


def fails_with(message):
    return pytest.raises(ValueError, match=f"^{re.escape(message)}$")


def test_nothing_configured_fails_loudly():
    with fails_with(MISSING):
        get_approval_manager()


def test_it_still_fails_after_a_configuration_was_refused():
    with pytest.raises(ValueError, match="Missing required"):
        configure_approval({"global_mode": "selective"})
    with fails_with(MISSING):
        get_approval_manager()


def test_everybody_gets_the_manager_that_was_configured():
    manager = configure_approval(config())
    assert isinstance(manager, ApprovalManager)
    assert get_approval_manager() is get_approval_manager() is manager


@pytest.mark.parametrize("missing", [None, {}, [], ""])
def test_a_configuration_that_is_empty_is_missing(missing):
    with fails_with(MISSING):
        configure_approval(missing)


@pytest.mark.parametrize(("wrong", "name"), [([1], "list"), ("x", "str"), (True, "bool")])
def test_a_configuration_must_be_a_dictionary(wrong, name):
    with fails_with(f"❌ CRITICAL: Approval configuration must be a dictionary, got {name}"):
        configure_approval(wrong)


@pytest.mark.parametrize(
    ("key", "what"),
    [("global_mode", "'global_mode'"), ("capabilities", "'capabilities' section")],
)
def test_a_required_part_is_missed(key, what):
    wrong = config()
    del wrong[key]
    message = f"❌ CRITICAL: Missing required {what} in approval configuration. {REMEDY}"
    with fails_with(message):
        configure_approval(wrong)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            config(mode="nope"),
            "Invalid approval mode 'nope'. Valid modes: ['disabled', 'epics_writes', 'all_code']",
        ),
        (
            config("nope"),
            (
                "Invalid global_mode 'nope'. Valid modes: "
                "['disabled', 'selective', 'all_capabilities']"
            ),
        ),
        (
            {"global_mode": "selective", "capabilities": None},
            "Approval capabilities must be dict, got <class 'NoneType'>",
        ),
    ],
)
def test_a_malformed_configuration_says_what_is_wrong(wrong, message):
    with fails_with(f"Invalid approval configuration structure: {message}"):
        configure_approval(wrong)


def test_sections_of_capabilities_may_be_left_out():
    manager = configure_approval({"global_mode": "selective", "capabilities": {}})
    assert manager.get_config_summary()["python_execution"] == {
        "enabled": True,
        "mode": "all_code",
    }


def test_equal_content_gives_the_same_manager():
    assert configure_approval(config()) is configure_approval(config())


def test_other_content_is_refused_and_changes_nothing():
    manager = configure_approval(config())
    with fails_with(DIFFERENT):
        configure_approval(config("disabled"))
    assert get_approval_manager() is manager
    assert manager.config.global_mode == "selective"


def test_a_malformed_second_configuration_is_told_so():
    configure_approval(config())
    with pytest.raises(ValueError, match=r"^Invalid approval configuration structure: "):
        configure_approval(config(mode="nope"))


def test_a_dictionary_that_changes_afterwards_changes_nothing():
    given = config()
    manager = configure_approval(given)
    given["capabilities"]["python_execution"]["enabled"] = False
    assert manager.get_python_execution_config().enabled is True
    assert configure_approval(config()) is manager


def test_of_threads_that_configure_at_once_all_get_one_manager():
    start = Barrier(8)

    def configure(_):
        start.wait()
        return configure_approval(config())

    with ThreadPoolExecutor(8) as pool:
        managers = set(pool.map(configure, range(8)))
    assert managers == {get_approval_manager()}


def test_of_threads_that_disagree_one_wins_and_the_others_are_told():
    start = Barrier(2)

    def configure(global_mode):
        start.wait()
        return outcome(lambda: configure_approval(config(global_mode)).config.global_mode)

    with ThreadPoolExecutor(2) as pool:
        answers = set(pool.map(configure, ["selective", "all_capabilities"]))
    assert answers == {DIFFERENT, get_approval_manager().config.global_mode}


def test_what_holds_is_written_into_the_log_once(caplog):
    caplog.set_level(logging.INFO, "approval_client.capabilities")
    configure_approval(config("all_capabilities", "epics_writes"))
    configure_approval(config("all_capabilities", "epics_writes"))
    said = (
        "Approval is configured: {'global_mode': 'all_capabilities', 'python_execution': "
        "{'enabled': True, 'mode': 'epics_writes'}, 'memory': {'enabled': True}}."
    )
    assert [(r.levelname, r.getMessage()) for r in caplog.records] == [("INFO", said)]


def test_a_refused_configuration_is_not_logged_as_one_that_holds(caplog):
    caplog.set_level(logging.INFO, "approval_client.capabilities")
    with pytest.raises(ValueError, match="Invalid global_mode"):
        configure_approval(config("nope"))
    assert caplog.messages == []


def test_a_handler_of_the_log_may_ask_for_the_manager(caplog, monkeypatch):
    caplog.set_level(logging.INFO, "approval_client.capabilities")
    asked = []
    monkeypatch.setattr(caplog.handler, "emit", lambda _: asked.append(get_approval_manager()))
    manager = configure_approval(config())
    assert asked == [manager]


def test_tests_can_forget():
    configure_approval(config())
    forget_approval()
    assert configure_approval(config("disabled")).config.global_mode == "disabled"
