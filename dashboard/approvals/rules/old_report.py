"""Reports that were kept as sentences, before findings had codes. Only the backfill reads this.

A title says four effects by their code, since the name of their finding says too little.
"""

from __future__ import annotations

from dataclasses import replace

from dashboard.inspection.effects import GAINS_RIGHTS, INSTALLS, RUNS_TESTS, STOPS_PROCESSES
from dashboard.inspection.findings import Report

_CODES = {
    "Runs with the rights of somebody else.": GAINS_RIGHTS.code,
    "Installs code from elsewhere, which may run.": INSTALLS.code,
    "Runs the tests of a project, whose code is not shown here.": RUNS_TESTS.code,
    "Stops processes.": STOPS_PROCESSES.code,
}


def old_report(text: str) -> Report:
    """Read a stored report so that its findings have the codes that titles ask for."""
    report = Report.from_json(text)
    coded = (
        replace(finding, code=_CODES.get(finding.kept, finding.code))
        for finding in report.findings
    )
    return replace(report, findings=tuple(coded))
