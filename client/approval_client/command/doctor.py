"""``approvals doctor``: are the address, the token, the protocol, the clock and the policy right?

It needs no extra, because what is wrong may be the installation. Without ``--ask`` nobody is asked
anything and nothing is stored.
"""

from __future__ import annotations

import argparse
import json
import logging
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import NoReturn

from approval_client import (
    Access,
    ApprovalRequest,
    Client,
    DashboardError,
    NotADashboard,
    NotConfigured,
    ProtocolMismatch,
    TokenRefused,
    Unreachable,
)
from approval_client._defaults import default_client
from approval_client.command.codes import USAGE, Code, code_of_error, code_of_status
from approval_client.wire import PROTOCOL

PARTS = ("address", "token", "protocol", "clock", "policy")
CLOCK_S = 30.0  # apart; from then on what a program says of the time left is misleading
SOON = timedelta(days=7)
WITHIN_S = 10.0
_FAILS: dict[type[DashboardError], str] = {
    NotADashboard: "address",
    Unreachable: "address",
    TokenRefused: "token",
    ProtocolMismatch: "protocol",
}
_TEST = "A test question of approvals doctor. Nothing runs, whatever you answer."


@dataclass(frozen=True)
class Diagnosis:
    """What was found about one part. ``is_right`` is None where it could not be looked at."""

    part: str
    is_right: bool | None
    says: str

    def __str__(self) -> str:
        mark = {True: "ok", False: "WRONG", None: "-"}[self.is_right]
        return f"{self.part:<8}  {mark:<5}  {self.says}"


def main(arguments: Sequence[str]) -> NoReturn:
    """Tell what was found, and end with 0 if all of it is right, else with a ``Code``."""
    options = _options(arguments)
    logging.getLogger("approval_client").addHandler(logging.NullHandler())  # five lines say it
    try:
        code, findings = examine()
        tell = _as_json if options.json else _in_words
        tell(findings)
        if options.ask and code == 0:
            code = ask(default_client())
    except KeyboardInterrupt:
        code = Code.INTERRUPTED
    sys.exit(code)


def examine(
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> tuple[int, list[Diagnosis]]:
    """Look at every part, and return the exit code with what was found."""
    address = ""
    try:
        client = default_client()
        address = client.contact.address
        sent_at = now()
        access = client.check(within_s=WITHIN_S)
        apart_s = (sent_at + (now() - sent_at) / 2 - access.now).total_seconds()
    except DashboardError as error:
        return code_of_error(error), _failed(error, address)
    findings = [
        _address(address),
        _token(access),
        Diagnosis("protocol", is_right=True, says=f"Both sides speak version {PROTOCOL}."),
        _clock(apart_s),
        _policy(access),
    ]
    wrong_parts = {finding.part for finding in findings if not finding.is_right}
    if not wrong_parts:
        return 0, findings
    return Code.NOT_USABLE if wrong_parts == {"policy"} else Code.NOT_CONFIGURED, findings


def ask(client: Client) -> int:
    """Ask a person a harmless question, wait, and return the code of the answer, as ``ask``."""
    request = ApprovalRequest.tool_call(
        "approvals_doctor", {"note": _TEST}, objective=_TEST, accepts_grants=False
    )
    try:
        response = client.request_approval(request)
        if response.approved is True:
            client.report_finished(response, exit_code=0)
    except DashboardError as error:
        print(f"approvals: {error}", file=sys.stderr)  # noqa: T201 - a command's own words
        return code_of_error(error)
    print(_plain(f"question  ok     It was answered: {response}"))  # noqa: T201 - the same
    return 0 if response.approved is True else code_of_status(response.status)


def _failed(error: DashboardError, address: str) -> list[Diagnosis]:
    findings_by_part = {
        part: Diagnosis(part, is_right=None, says="Not checked.") for part in PARTS
    }
    if isinstance(error, TokenRefused | ProtocolMismatch):
        findings_by_part["address"] = _address(address)
    wrong = _part(error)
    findings_by_part[wrong] = Diagnosis(wrong, is_right=False, says=str(error))
    return list(findings_by_part.values())


def _part(error: DashboardError) -> str:
    for kind, part in _FAILS.items():
        if isinstance(error, kind):
            return part
    says = str(error)
    is_token = "DASHBOARD_TOKEN" in says and "DASHBOARD_URL" not in says
    return "token" if isinstance(error, NotConfigured) and is_token else "address"


def _address(address: str) -> Diagnosis:
    return Diagnosis("address", is_right=True, says=f"A dashboard answers at {address}.")


def _token(access: Access) -> Diagnosis:
    says = f"It is that of the agent {access.agent!r}."
    ends_at = access.token_expires_at
    if ends_at is not None and ends_at - access.now < SOON:
        says += f" It ends on {ends_at:%Y-%m-%d at %H:%M} UTC. Ask an admin for a new one."
    return Diagnosis("token", is_right=True, says=says)


def _clock(apart_s: float) -> Diagnosis:
    if abs(apart_s) <= CLOCK_S:
        says = f"It is {abs(apart_s):.1f} s from the dashboard's."
        return Diagnosis("clock", is_right=True, says=says)
    side = "ahead of" if apart_s > 0 else "behind"
    says = (
        f"It is {abs(apart_s):.0f} s {side} the dashboard's. Webhooks are refused from 300 s on. "
        "Set the clock of this machine, or that of the server."
    )
    return Diagnosis("clock", is_right=False, says=says)


def _policy(access: Access) -> Diagnosis:
    says = f"Revision {access.policy_revision} holds."
    if access.on_hold:
        says += " A person has put everything on hold: nothing is approved until it is lifted."
    elif not access.has_approvers:
        says += (
            " Nobody may approve what this agent asks. Have an admin make somebody a reviewer who "
            "neither owns the agent nor made its token, or let the policy take the owner."
        )
    else:
        return Diagnosis("policy", is_right=True, says=f"{says} Reviewers can approve.")
    return Diagnosis("policy", is_right=False, says=says)


def _in_words(findings: Sequence[Diagnosis]) -> None:
    for finding in findings:
        print(_plain(str(finding)), flush=True)  # noqa: T201 - a command's own words


def _as_json(findings: Sequence[Diagnosis]) -> None:
    print(json.dumps([asdict(finding) for finding in findings]), flush=True)  # noqa: T201


def _plain(text: str) -> str:
    return "".join(c if c.isprintable() else "\ufffd" for c in text)


class _Parser(argparse.ArgumentParser):
    """Ends with a usage error after its help too, which says nothing of the setup."""

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        super().exit(status or USAGE, message)


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = _Parser(
        prog="approvals doctor",
        description="Check the address, the token, the protocol, the clock and the policy.",
        epilog="DASHBOARD_URL and DASHBOARD_TOKEN say where the dashboard is and who asks.",
    )
    parser.add_argument("--ask", action="store_true", help="ask people a test question, and wait")
    parser.add_argument("--json", action="store_true", help="print what was found as JSON")
    return parser.parse_args(arguments)
