"""EPICS and its kin: which libraries speak to a machine, and which of their words write to it.

Whoever moves a magnet by mistake cannot take it back, so this side is strict: what a library of
a control system is called for counts as a write unless its name says that it reads.
"""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet

from dashboard.inspection.findings import Severity
from dashboard.inspection.python.effects import Deed, rows, words

WRITES = Deed("control-system-write", Severity.HIGH)
READS = Deed("control-system-read", Severity.INFO)

LIBRARIES = words("""
    epics p4p pvaccess pvapy cothread aioca caproto ophyd ophyd_async bluesky apstools tango taurus
    sardana fandango doocs4py pydoocs doocs osprey alpha_berkeley opcua asyncua pymodbus
    minimalmodbus pyModbusTCP umodbus snap7 pycomm3 pylogix pyads pyvisa visa serial serial_asyncio
    pymeasure qcodes nidaqmx labjack pytac aphla pyjapc japc pcaspy softioc pythonSoftIOC CaChannel
    ca pyca psp PyCAFE mml pyscada py4syn edmx lume_epics lcls_tools can minicps bacpypes pysnmp
    gpib usbtmc
""")
"""The roots of their modules. An object of theirs that does something unknown is a write."""

_INSTRUMENTS = words("caproto pyvisa visa serial serial_asyncio gpib usbtmc can pymeasure")
"""Those that are written to with ``write``, which elsewhere means a file."""

_ATTRIBUTE_WRITERS = words("tango taurus sardana ophyd pydoocs doocs4py pymeasure")
"""Those where setting any attribute of a device writes to it."""

ALIASES = {
    "PyTango": "tango",
    "pyepics": "epics",
    "epics.pv": "epics",
    "epics.motor": "epics",
    "epics.device": "epics",
    "caproto.threading.pyepics_compat": "epics",
}

AMBIENT = {
    **{name: f"epics.{name}" for name in words("caput caput_many caget caget_many camonitor PV")},
    **{
        name: f"osprey.runtime.{name}"
        for name in words("""
            write_channel write_channels channel_write read_channel read_channels channel_read
        """)
    },
    "epics": "epics",
    "setpv": "mml.setpv",
    "getpv": "mml.getpv",
    "RE": "bluesky.RunEngine()",
    "bps": "bluesky.plan_stubs",
}
"""Names that a kernel may hold from an earlier cell, so that no import is seen."""

METHODS = rows("""
control-system-write high:
    caput caput_many caputq pvput write_attribute write_attributes write_attribute_asynch
    write_attributes_asynch write_read_attribute write_attribute_reply command_inout
    command_inout_asynch write_channel write_channels channel_write write_register write_registers
    write_coil write_coils mask_write_register write_single_register write_single_coil
    write_multiple_registers write_multiple_coils write_attribute_value setpv set_pv put_value
    put_pv_value ca_put put_many set_setpoint setSetpoint writeChannel write_pv set_pv_value setPV
    putPV write_float write_bit write_long write_by_name SetControlValue set_control_value
""")
"""Names that mean this and nothing else, whosever methods or functions they are."""

_WEAK = words("""
    put set move move_to mv mvr set_value setValue write_value putAsync aput home tweak rpc
    set_position set_current_position trigger kickoff stage set_and_wait put_complete
""")
_READING = re.compile(
    r"(?:a?ca|pv|a)?(?:get|info|monitor|read|is|has|wait|connect|disconnect|subscribe|"
    r"unsubscribe|poll|close|ping|state|status|list|describe|summary|add_callback|"
    r"remove_callback|clear_callback|query|rd|rdbk|print|show|find|search|value|name|sleep|"
    r"null|count|timeout|warning|alarm|unit|precision|limit|host|type|as_|to_)s?(?:_|many$|$|"
    r"(?=[A-Z0-9]))|camonitor\w*|attribute_\w+query\w*|command_\w*query\w*|__(?:enter|exit)__|"
    r"(?:lower|upper|strip|split|format|startswith|endswith|items|keys|values|append|mean|tolist)$"
)
_READING_COMMAND = re.compile(r"(?:Get|Read|Is|Has|State|Status|Info|Query|Wait)(?![a-z])")
"""A device's own commands are written with a capital letter; the most of them do something."""

_ORDINARY = {name for kind in (str, list, dict, set, float) for name in dir(kind)} - {
    "clear"
} | words("""
    reshape astype round mean median std var min max sum cumsum diff dot flatten ravel squeeze
    transpose clip argmin argmax argsort all any nonzero fill groupby agg aggregate apply
    reset_index set_index dropna fillna interpolate merge join rolling resample describe head tail
    corr quantile nunique unique isna notna isnull notnull astimezone isoformat strftime timestamp
    total_seconds date time plot scatter bar barh hist errorbar imshow contour contourf pcolormesh
    colorbar legend grid twinx twiny annotate text axhline axvline axvspan fill_between add_subplot
    subplots_adjust tight_layout set_title set_xlabel set_ylabel set_xlim set_ylim set_xscale
    set_yscale set_label set_xticks set_yticks set_xticklabels set_yticklabels suptitle sel isel
    group groups match span
""")
"""What arrays, tables, figures and Python's own values are asked for, whatever they are called."""

_COMMANDED = words("tango taurus sardana fandango")
"""Those whose devices have commands of their own, such as ``Off`` and ``LimitCurrent``."""

_DEVICES = words("tango taurus sardana ophyd ophyd_async bluesky apstools")
"""Those whose objects are shutters and valves, so that ``close`` closes no connection."""

_HARMLESS_ATTRIBUTES = words("""
    timeout connection_timeout verbose auto_monitor name parent kind form defaults
""")
_VALUES = words("value VAL setpoint Value val wvalue position setpoint_value")
COMMANDS = words("caput caputq pvput pvcall doocsput tango_write")
"""Programs that write to a control system."""


def is_library(path: str) -> bool:
    """Say whether a dotted path begins in one of the libraries."""
    return path.partition(".")[0].removesuffix("()") in LIBRARIES


def called(path: str) -> Deed:
    """Say what calling something of a library does.

    A class, known by its capital letter, is only made: it reads at most. An object's method is a
    command of the device however it is written, and a server lets others write.
    """
    parent, _, last = path.rpartition(".")
    if ".server." in f"{path}.":
        return WRITES
    if last[:1].isupper():
        reads = "(" not in parent or _READING_COMMAND.match(last) is not None
    elif last == "close":
        reads = path.partition(".")[0].removesuffix("()") not in _DEVICES
    else:
        reads = _READING.match(last) is not None
    return READS if reads else WRITES


def may_command(method: str) -> bool:
    """Say whether a method of an unknown object, where a library is in use, may be a command."""
    if method in _ORDINARY:
        return False
    return method[:1].isupper() or not _READING.match(method)


def may_write(method: str, libraries: AbstractSet[str]) -> bool:
    """Say whether a method of an unknown object may write, given the libraries in use."""
    if method[:1].isupper():
        is_command = method.isidentifier() and not _READING_COMMAND.match(method)
        return is_command and not _COMMANDED.isdisjoint(libraries)
    return method in _WEAK or (method == "write" and not _INSTRUMENTS.isdisjoint(libraries))


def setting_writes(attribute: str, libraries: AbstractSet[str], *, certain: bool) -> bool:
    """Say whether setting an attribute writes.

    Args:
        certain: Whether the object is known to be a library's.
    """
    if certain:
        return attribute not in _HARMLESS_ATTRIBUTES
    if attribute in _VALUES or (attribute.isupper() and "epics" in libraries):
        return True
    return attribute not in _HARMLESS_ATTRIBUTES and not _ATTRIBUTE_WRITERS.isdisjoint(libraries)
