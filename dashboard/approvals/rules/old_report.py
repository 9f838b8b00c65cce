"""Reports that were kept as sentences, before findings had codes. Only the backfill reads this.

A title says four effects by their code, since the name of their finding says too little.
"""

from __future__ import annotations

import json

from dashboard.inspection.effects import GAINS_RIGHTS, INSTALLS, RUNS_TESTS, STOPS_PROCESSES

_CODES = {
    "Runs with the rights of somebody else.": GAINS_RIGHTS.code,
    "Installs code from elsewhere, which may run.": INSTALLS.code,
    "Runs the tests of a project, whose code is not shown here.": RUNS_TESTS.code,
    "Stops processes.": STOPS_PROCESSES.code,
}


def with_codes(report: str) -> str:
    """Return a stored report whose findings say the codes that titles ask for."""
    data = json.loads(report)
    for finding in data["findings"]:
        code = _CODES.get(finding.get("sentence", ""))
        if code:
            finding["code"] = code
    return json.dumps(data)
