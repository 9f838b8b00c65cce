"""What commands do, in our words: the effects that code and the tables of commands both name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from dashboard.inspection.findings import Severity
from dashboard.inspection.notes import Effect, doubt

HIGH, MEDIUM, LOW, INFO = Severity.HIGH, Severity.MEDIUM, Severity.LOW, Severity.INFO

UNKNOWN_COMMAND = Effect("unknown-call", LOW, "unknown-command")
RUNS_PROGRAM = Effect("process-execution", MEDIUM, "runs-program")
RUNS_TESTS = Effect("process-execution", LOW, "runs-tests")
RUNS_COMMAND = Effect("process-execution", HIGH, "runs-command")
WRITES_FILE = Effect("file-write", MEDIUM, "writes-file")
DELETES_FILES = Effect("file-delete", HIGH, "deletes-files")
DELETES_FOLDERS = Effect("recursive-delete", HIGH, "deletes-folders")
WRITES_DISK = Effect("disk-write", HIGH, "writes-disk")
CHANGES_SYSTEM = Effect("system-change", HIGH, "changes-system")
STOPS_PROCESSES = Effect("system-change", MEDIUM, "stops-processes")
GAINS_RIGHTS = Effect("privilege-change", HIGH, "gains-rights")
CHANGES_RIGHTS = Effect("privilege-change", MEDIUM, "changes-rights")
OPENS_RIGHTS = Effect("privilege-change", HIGH, "opens-rights")
STAYS_BEHIND = Effect("background-job", MEDIUM, "stays-behind")
USES_NETWORK = Effect("network", MEDIUM, "uses-network")
INSTALLS = Effect("process-execution", MEDIUM, "installs")
PIPES_TO_SHELL = Effect("pipe-to-shell", HIGH, "pipes-to-shell")
DYNAMIC_CODE = Effect("dynamic-code", MEDIUM, "runs-text")
HIDES_TRACES = Effect("system-change", MEDIUM, "hides-traces")
LOADS_CODE = Effect("process-execution", HIGH, "loads-code")
CHANGES_PATH = Effect("process-execution", MEDIUM, "changes-path")
WRITES_CONTROL = Effect("control-system-write", HIGH, "writes-control")
READS_CONTROL = Effect("control-system-read", INFO, "reads-control")
READS_SECRETS = Effect("credentials", MEDIUM, "reads-secrets")
DROPS_DATABASE = Effect("sql-drop", HIGH, "drops-database")
KEYWORD = doubt("parsed-in-part", "keyword")
NOT_INSPECTED = doubt("not-inspected", "not-inspected")

NAMED: Mapping[str, Effect] = MappingProxyType(
    {
        name.lower().replace("_", "-"): effect
        for name, effect in [*globals().items()]
        if isinstance(effect, Effect)
    }
)
"""All of the above as the tables name them: ``WRITES_FILE`` is ``writes-file`` there."""
