"""What commands do, in our words: the effects that code and the tables of commands both name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from dashboard.inspection.findings import Severity
from dashboard.inspection.notes import FindingKind, doubt

HIGH, MEDIUM, LOW, INFO = Severity.HIGH, Severity.MEDIUM, Severity.LOW, Severity.INFO

UNKNOWN_DESTROYS = FindingKind("unknown-call", MEDIUM, "unknown-destroys")
UNKNOWN_COMMAND = FindingKind("unknown-call", LOW, "unknown-command")
RUNS_PROGRAM = FindingKind("process-execution", MEDIUM, "runs-program")
RUNS_TESTS = FindingKind("process-execution", LOW, "runs-tests")
RUNS_COMMAND = FindingKind("process-execution", HIGH, "runs-command")
WRITES_FILE = FindingKind("file-write", MEDIUM, "writes-file")
DELETES_FILES = FindingKind("file-delete", HIGH, "deletes-files")
DELETES_FOLDERS = FindingKind("recursive-delete", HIGH, "deletes-folders")
DELETES_FOUND_FILES = FindingKind("recursive-delete", HIGH, "deletes-found-files")
WRITES_DISK = FindingKind("disk-write", HIGH, "writes-disk")
CHANGES_SYSTEM = FindingKind("system-change", HIGH, "changes-system")
STOPS_PROCESSES = FindingKind("system-change", MEDIUM, "stops-processes")
GAINS_RIGHTS = FindingKind("privilege-change", HIGH, "gains-rights")
CHANGES_RIGHTS = FindingKind("privilege-change", MEDIUM, "changes-rights")
OPENS_RIGHTS = FindingKind("privilege-change", HIGH, "opens-rights")
STAYS_BEHIND = FindingKind("background-job", MEDIUM, "stays-behind")
USES_NETWORK = FindingKind("network", MEDIUM, "uses-network")
INSTALLS = FindingKind("process-execution", MEDIUM, "installs")
PIPES_TO_SHELL = FindingKind("pipe-to-shell", HIGH, "pipes-to-shell")
DYNAMIC_CODE = FindingKind("dynamic-code", MEDIUM, "runs-text")
HIDES_TRACES = FindingKind("system-change", MEDIUM, "hides-traces")
LOADS_CODE = FindingKind("process-execution", HIGH, "loads-code")
CHANGES_PATH = FindingKind("process-execution", MEDIUM, "changes-path")
WRITES_CONTROL = FindingKind("control-system-write", HIGH, "writes-control")
READS_CONTROL = FindingKind("control-system-read", INFO, "reads-control")
READS_SECRETS = FindingKind("credentials", MEDIUM, "reads-secrets")
SHOWS_SECRETS = FindingKind("credentials", MEDIUM, "shows-secrets")
SETTINGS_ELSEWHERE = FindingKind("process-execution", LOW, "settings-elsewhere")
DELETES_SERVICES = FindingKind("system-change", HIGH, "deletes-services")
WITHOUT_PROTECTION = FindingKind("privilege-change", HIGH, "without-protection")
LEAVES_CONTAINER = FindingKind("privilege-change", HIGH, "privileged-container")
DROPS_DATABASE = FindingKind("sql-drop", HIGH, "drops-database")
KEYWORD = doubt("parsed-in-part", "keyword")
NOT_INSPECTED = doubt("not-inspected", "not-inspected")

NAMED: Mapping[str, FindingKind] = MappingProxyType(
    {
        name.lower().replace("_", "-"): effect
        for name, effect in [*globals().items()]
        if isinstance(effect, FindingKind)
    }
)
"""All of the above as the tables name them: ``WRITES_FILE`` is ``writes-file`` there."""
