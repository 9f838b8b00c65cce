"""What commands do, in our words: the effects that code and the tables of commands both name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from dashboard.inspection.findings import Severity
from dashboard.inspection.notes import Effect, doubt

HIGH, MEDIUM, LOW, INFO = Severity.HIGH, Severity.MEDIUM, Severity.LOW, Severity.INFO

UNKNOWN_COMMAND = Effect("unknown-call", LOW, "Runs a command whose effects are not known.")
RUNS_PROGRAM = Effect("process-execution", MEDIUM, "Runs a program that is not shown here.")
RUNS_TESTS = Effect(
    "process-execution", LOW, "Runs the tests of a project, whose code is not shown here."
)
RUNS_COMMAND = Effect("process-execution", HIGH, "Lets a program run other commands.")
WRITES_FILE = Effect("file-write", MEDIUM, "Writes a file.")
DELETES_FILES = Effect("file-delete", HIGH, "Deletes files for good.")
DELETES_FOLDERS = Effect("recursive-delete", HIGH, "Deletes folders with everything in them.")
WRITES_DISK = Effect("disk-write", HIGH, "Writes to a disk itself, past its files.")
CHANGES_SYSTEM = Effect("system-change", HIGH, "Changes how this machine runs.")
STOPS_PROCESSES = Effect("system-change", MEDIUM, "Stops processes.")
GAINS_RIGHTS = Effect("privilege-change", HIGH, "Runs with the rights of somebody else.")
CHANGES_RIGHTS = Effect("privilege-change", MEDIUM, "Changes who may use files.")
OPENS_RIGHTS = Effect("privilege-change", HIGH, "Gives rights that reach far beyond a file.")
STAYS_BEHIND = Effect("background-job", MEDIUM, "Starts something that goes on in the background.")
USES_NETWORK = Effect("network", MEDIUM, "Talks to other machines.")
INSTALLS = Effect("process-execution", MEDIUM, "Installs code from elsewhere, which may run.")
PIPES_TO_SHELL = Effect(
    "pipe-to-shell", HIGH, "Runs whatever another command prints, without anybody having read it."
)
DYNAMIC_CODE = Effect("dynamic-code", MEDIUM, "Runs text as code.")
HIDES_TRACES = Effect("system-change", MEDIUM, "Hides what was done from the shell's history.")
LOADS_CODE = Effect(
    "process-execution", HIGH, "Changes a variable that makes programs load or run other code."
)
CHANGES_PATH = Effect("process-execution", MEDIUM, "Changes which programs the names stand for.")
WRITES_CONTROL = Effect("control-system-write", HIGH, "Writes to the control system.")
READS_CONTROL = Effect("control-system-read", INFO, "Reads from the control system.")
READS_SECRETS = Effect("credentials", MEDIUM, "Touches files that usually hold credentials.")
DROPS_DATABASE = Effect("sql-drop", HIGH, "Drops a database.")
KEYWORD = doubt("parsed-in-part", "A shell keyword is used as a command name.")
NOT_INSPECTED = doubt("not-inspected", "Holds code in a language that no inspector reads.")

NAMED: Mapping[str, Effect] = MappingProxyType(
    {
        name.lower().replace("_", "-"): effect
        for name, effect in [*globals().items()]
        if isinstance(effect, Effect)
    }
)
"""All of the above as the tables name them: ``WRITES_FILE`` is ``writes-file`` there."""
