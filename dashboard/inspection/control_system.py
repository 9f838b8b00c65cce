"""EPICS and its kin: which libraries speak to a machine, and which of their words write to it.

Whoever moves a magnet by mistake cannot take it back, so this side is strict: what a library of
a control system is called for counts as a write unless its name says that it reads.
"""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet

from dashboard.inspection.findings import Severity
from dashboard.inspection.knowledge import CONTROL_SYSTEM
from dashboard.inspection.knowledge.loading import Deed

WRITES = Deed("control-system-write", Severity.HIGH)
SERVES = Deed("control-system-write", Severity.HIGH, code="serves-control")
READS = Deed("control-system-read", Severity.INFO)
_READING = re.compile(
    r"(?:a?ca|pv|a)?(?:get|info|monitor|read|is|has|wait|connect|disconnect|subscribe|"
    r"unsubscribe|poll|close|ping|state|status|list|describe|summary|add_callback|"
    r"remove_callback|clear_callback|query|rd|rdbk|print|show|find|search|value|name|sleep|"
    r"null|count|timeout|warning|alarm|unit|precision|limit|host|type|as_|to_)s?(?:_|many$|$|"
    r"(?=[A-Z0-9]))|camonitor\w*|attribute_\w+query\w*|command_\w*query\w*|__(?:enter|exit)__|"
    r"as_\w+$|(?:lower|upper|strip|split|format|startswith|endswith|items|keys|values|append|mean|tolist)$"
)
_ACTS = re.compile(
    r"(?:^|_)(?:write|put|set|reset|scan|move|home|clear|on|off|start|stop|open|enable|disable|valve|"
    r"shutter|beam|hv|reference|ready)(?:_|$)"
)
"""Words after the first of a name that does more than read, as in ``read_write_read``."""

_OF_DEVICES = re.compile(
    r"(?:close|disconnect|connect|find|search|limit|alarm|timeout|name|poll|list|get_ready)_\w+"
)
"""What a device's own commands may be called, where another library's would be questions."""

_ACTS_IN_CAPITALS = re.compile(
    r"(?:Reset|Clear|Move|On|Off|Set|Write|Put|Start|Stop|Ready)(?![a-z])"
)
_READING_COMMAND = re.compile(r"(?:Get|Read|Is|Has|State|Status|Info|Query|Wait)(?![a-z])")
"""A device's own commands begin with a capital letter; most of them do something."""

_ORDINARY = {name for kind in (str, list, dict, set, float) for name in dir(kind)} - {
    "clear"
} | CONTROL_SYSTEM.ordinary
"""Methods of Python's own values, of arrays, tables and figures: none commands a device."""


def is_library(path: str) -> bool:
    """Whether a dotted path begins in one of the libraries."""
    root = path.partition(".")[0].removesuffix("()")
    return root in CONTROL_SYSTEM.libraries and not path.startswith(CONTROL_SYSTEM.layouts)


def called(path: str) -> Deed:
    """Return what calling something of a library does.

    A class, known by its capital letter, is only made: it reads at most. An object's method is a
    command of the device however it is written, unless it is one of a value that was read. A
    server lets others write once it runs.
    """
    parent, _, member = path.rpartition(".")
    if ".server." in f"{path}." and _serves(parent, member):
        return SERVES
    if (
        _keeps_house(path)
        or _defines(parent, member)
        or (member in CONTROL_SYSTEM.of_values and _is_value(parent))
    ):
        return READS
    root = path.partition(".")[0].removesuffix("()")
    if member[:1].isupper():
        reads = "(" not in parent or (
            _READING_COMMAND.match(member) is not None and _ACTS_IN_CAPITALS.search(member) is None
        )
    elif member == "close":
        reads = root not in CONTROL_SYSTEM.devices
    else:
        reads = _READING.match(member) is not None and not _acts(root, parent, member)
    return READS if reads else WRITES


def _acts(root: str, parent: str, member: str) -> bool:
    """Whether a name that begins as a question goes on as a command."""
    first_word, _, rest = member.partition("_")
    about_news = any(word in member for word in ("monitor", "callback", "subscri", "history"))
    if about_news or first_word in ("is", "has", "add", "remove", "as"):
        return False
    if _ACTS.search(f"_{rest}") is not None and not rest.startswith(("set_", "setpoint")):
        return True
    is_device = "(" in parent and root in CONTROL_SYSTEM.commanded
    return is_device and _OF_DEVICES.fullmatch(member) is not None


def _is_value(path: str) -> bool:
    """Whether a path goes through a call that reads."""
    calls = (part.removesuffix("()") for part in path.split(".") if part.endswith("()"))
    return any(name[:1].islower() and _READING.match(name) for name in calls)


def _serves(parent: str, member: str) -> bool:
    """Whether something of a server's module starts a server, or may."""
    if member in CONTROL_SYSTEM.serves:
        return True
    if "(" in parent:
        return False
    return member.islower() and member not in CONTROL_SYSTEM.defines


def _defines(parent: str, member: str) -> bool:
    """Whether something says what a server would hold, as a decorator does."""
    owner = parent.removesuffix("()").rpartition(".")[2]
    return ".server." in f"{parent}." and (
        member in CONTROL_SYSTEM.defines
        or (owner in CONTROL_SYSTEM.defines and member in CONTROL_SYSTEM.hooks)
    )


def _keeps_house(path: str) -> bool:
    root, _, rest = path.replace("()", "").partition(".")
    return rest in CONTROL_SYSTEM.housekeeping.get(root, ())


def may_command(method: str) -> bool:
    """Whether a method of an unknown object, where a library is in use, may be a command."""
    if method in _ORDINARY:
        return False
    return method[:1].isupper() or not _READING.match(method)


def may_write(method: str, libraries: AbstractSet[str]) -> bool:
    """Whether a method of an unknown object may write, given the libraries in use."""
    if method[:1].isupper():
        is_command = method.isidentifier() and not _READING_COMMAND.match(method)
        return is_command and not CONTROL_SYSTEM.commanded.isdisjoint(libraries)
    return method in CONTROL_SYSTEM.weak or (
        method == "write" and not CONTROL_SYSTEM.instruments.isdisjoint(libraries)
    )


def setting_writes(attribute: str, libraries: AbstractSet[str], *, certain: bool) -> bool:
    """Whether setting an attribute writes.

    Args:
        certain: Whether the object is known to be a library's.
    """
    if certain:
        return attribute not in CONTROL_SYSTEM.harmless_attributes
    if attribute in CONTROL_SYSTEM.values or (attribute.isupper() and "epics" in libraries):
        return True
    return (
        attribute not in CONTROL_SYSTEM.harmless_attributes
        and not CONTROL_SYSTEM.attribute_writers.isdisjoint(libraries)
    )
