"""What the demo agent asks: every kind of request, the plain and the suspicious."""

from __future__ import annotations

from dataclasses import dataclass

from approval_client import ApprovalRequest
from dashboard.management.demo.analysis import ORBIT_DRIFT
from dashboard.management.demo.notebooks import notebook

NOTEBOOKS = "https://jupyter.accelerator.example/user/operations/lab/tree"


@dataclass(frozen=True, kw_only=True)
class DemoQuestion:
    """One thing to ask, and what comes of it.

    Attributes:
        run: What its run is called.
        instead: What is asked in the same run after a rejection.
        patience_s: After how many seconds the agent withdraws it; None for never.
        takes_s: How long it pretends to run, in seconds.
        exit_code, error, output: What it pretends that came out.
    """

    run: str
    request: ApprovalRequest
    instead: ApprovalRequest | None = None
    patience_s: float | None = None
    takes_s: float = 2.0
    exit_code: int = 0
    error: str = ""
    output: str = ""


_LATE_ORDERS = """```python
import pandas as pd

orders = pd.read_parquet("s3://analytics/orders/2026-03/")
late = orders[orders.shipped_at - orders.paid_at > pd.Timedelta(days=3)]
late.to_csv("/tmp/late.csv", index=False)
print(len(late), "of", len(orders), "orders shipped late")
```

```sh
set -eu
gzip --keep /tmp/late.csv
aws s3 cp /tmp/late.csv.gz s3://reports/late-orders.csv.gz --acl {acl}
```"""


def _late_orders(acl: str, objective: str) -> ApprovalRequest:
    code = _LATE_ORDERS.format(acl=acl)
    messages = [
        {
            "type": "UserMessage",
            "source": "user",
            "content": "Which orders shipped late in March?",
        },
        {"type": "AssistantMessage", "source": "coder", "content": code},
    ]
    return ApprovalRequest.code(code, objective=objective, evidence={"context": messages})


_TRIM = """\
import time

from epics import caget, caput

CORRECTOR = "SR:C01-MG:G02A{{HCor:L2}}Fld-SP"
MONITOR = "SR:C01-BI{{BPM:7}}Pos:X-I"

before = caget(CORRECTOR)
for step in range({steps}):
    caput(CORRECTOR, before + {ampere} * (step + 1), wait=True)
    time.sleep(1.5)
    print(f"{{caget(CORRECTOR):+.3f}} A -> {{caget(MONITOR):+.4f}} mm")
"""


def _trim(*, steps: int, ampere: float, objective: str) -> ApprovalRequest:
    code = _TRIM.format(steps=steps, ampere=ampere)
    return ApprovalRequest.code(
        code,
        "python",
        objective=objective,
        notebook=notebook(code),
        evidence={
            "execution_mode": "write_access",
            "safety_concerns": ["Writes a setpoint of the storage ring", "Moves the beam"],
            "analysis_details": f"{steps} steps of {ampere} A move the orbit by about "
            f"{steps * ampere * 400:.0f} um at monitor 7; the interlock trips at 1 mm.",
            "notebook_path": "/home/operations/notebooks/trim-c01.ipynb",
            "notebook_link": f"{NOTEBOOKS}/trim-c01.ipynb",
        },
    )


_HIDDEN = (
    "def may_enter(user):\n"
    "    level = 'guest\u202e \u2066# only staff\u2069 \u2066'\n"
    "    if level == 'guest':  # harmless\u200b, checked twice\n"
    "        return open_door(user)\n"
    "    return user.is_st\u200baff\n"
)
_PLAIN = "def may_enter(user):\n    return user.is_staff and open_door(user)\n"


_ACCOUNT = {
    "type": "object",
    "properties": {"user": {"type": "object"}, "confirm": {"type": "object"}},
    "required": ["user", "confirm"],
}


def _account(tool: str, objective: str, **changes: object) -> ApprovalRequest:
    arguments = {
        "user": {"id": 1234567890123456789, "email": "j.doe@example.org", "plan": "team"},
        "confirm": {"ticket": "SUP-48213", "requested_by": "customer", "verified": True},
        **changes,
    }
    evidence: dict[str, object] = {"tool_schema": _ACCOUNT}
    if tool == "delete_user":
        evidence["safety_concerns"] = ["Cannot be undone"]
    return ApprovalRequest.tool_call(tool, arguments, objective=objective, evidence=evidence)


def _report(*steps: tuple[str, str]) -> ApprovalRequest:
    return ApprovalRequest.plan(
        [{"task": task, "capability": capability} for task, capability in steps],
        objective="Prepare the morning report for the shift leader.",
    )


_READ = ("Read the vacuum logs of the last 24 hours", "archiver_read")
_FIND = ("Find pumps whose pressure rose by more than 20 %", "python_execution")
_PLOT = ("Plot the three worst against the tunnel temperature", "python_execution")
_MAIL = ("Send the plots to shift-leader@accelerator.example", "send_mail")

QUESTIONS = (
    DemoQuestion(
        run="late-orders",
        request=_late_orders("public-read", "Find orders that shipped late, for the web page."),
        instead=_late_orders("bucket-owner-full-control", "The same list, for finance only."),
        output="318 of 9204 orders shipped late\n",
    ),
    DemoQuestion(
        run="orbit-drift",
        request=ApprovalRequest.code(
            ORBIT_DRIFT,
            "python",
            objective="Find the beam position monitors that drifted since last week.",
            evidence={
                "execution_mode": "readonly",
                "analysis_details": "Reads a week of archived orbits with one value every ten "
                "minutes, leaves out times without beam, and compares each monitor with the air "
                "temperature of its sector.",
                "expected_results": {
                    "table": "three monitors a sector, the worst first",
                    "rows": 12,
                },
                "safety_concerns": ["Asks the archiver for some 600,000 samples"],
                "execution_folder_path": "/home/operations/runs/orbit-drift",
                "notebook_path": "/home/operations/notebooks/orbit-drift.ipynb",
                "notebook_link": f"{NOTEBOOKS}/orbit-drift.ipynb",
            },
        ),
        takes_s=5.0,
        output="! SR:C02-BI{BPM:3} X   +41.7 um    +6.1 um a day  r=+0.88\n",
    ),
    DemoQuestion(
        run="trim-c01",
        request=_trim(steps=8, ampere=0.1, objective="Centre the beam at monitor 7."),
        instead=_trim(steps=2, ampere=0.02, objective="Centre the beam, in smaller steps."),
        takes_s=4.0,
        output="+0.100 A -> +0.0381 mm\n+0.200 A -> +0.0012 mm\n",
    ),
    DemoQuestion(
        run="door",
        request=ApprovalRequest.code(
            _HIDDEN, "python", objective="Tidy up the function that opens the door."
        ),
        instead=ApprovalRequest.code(
            _PLAIN, "python", objective="The same function, typed anew without copying."
        ),
        exit_code=1,
        error="NameError: name 'open_door' is not defined",
    ),
    DemoQuestion(
        run="support-48213",
        request=_account("delete_user", "The customer asked to be forgotten.", cascade=["orders"]),
        instead=_account("deactivate_user", "Close the account, keep the orders.", days=30),
        output='{"status": "done"}',
    ),
    DemoQuestion(
        run="morning-report",
        request=_report(_READ, _FIND, _PLOT, _MAIL),
        instead=_report(_READ, _FIND, _PLOT, ("Show the plots in the control room", "display")),
        takes_s=6.0,
        output="4 of 4 steps done",
    ),
    DemoQuestion(
        run="preferences",
        request=ApprovalRequest.memory(
            "update",
            "operator-7",
            "Prefers plots in millimetres.\nCall the shift leader before every beam dump.",
            existing="Prefers plots in millimetres.\nLikes to be called Sam.",
            objective="Remember what the operator said this morning.",
        ),
        takes_s=0.5,
    ),
    DemoQuestion(
        run="quick-look",
        request=ApprovalRequest.code(
            "df -h / | tail -1\nuptime\n",
            "sh",
            objective="See why the build is slow, while it is.",
            time_limit_s=360,  # long enough to be met by somebody who reads the page first
        ),
        takes_s=1.0,
        output="/dev/sda1  98G  91G  2.1G  98% /\n up 41 days, load average: 9.71\n",
    ),
    DemoQuestion(
        run="clean-up",
        request=ApprovalRequest.code(
            "DELETE FROM sessions WHERE last_seen < now() - interval '30 days';\n",
            "sql",
            objective="Remove sessions that nobody used for a month.",
        ),
        patience_s=75.0,
        output="DELETE 20318",
    ),
)
