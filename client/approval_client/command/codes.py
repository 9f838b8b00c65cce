"""The exit codes of ``approvals``. Only 0 means that something may run."""

from __future__ import annotations

from enum import IntEnum

from approval_client import (
    Cancelled,
    DashboardError,
    Expired,
    NotApproved,
    NotConfigured,
    ProtocolMismatch,
    Rejected,
    RequestRefused,
    TokenRefused,
    Unreachable,
)
from approval_client.wire import Status

USAGE = 2  # as with most programs: the command line is wrong, or asks for help


class Code(IntEnum):
    """The exit codes. They keep away from those that shells and most programs use."""

    APPROVED = 0
    REJECTED = 90
    EXPIRED = 91
    CANCELLED = 92
    PENDING = 93
    NOT_USABLE = 94
    UNREACHABLE = 95
    REFUSED = 96
    TOKEN_REFUSED = 97
    NOT_CONFIGURED = 98
    CHANGED = 99
    CANNOT_RUN = 126
    NOT_FOUND = 127
    INTERRUPTED = 130


_OF_STATUS = {
    Status.PENDING: Code.PENDING,
    Status.REJECTED: Code.REJECTED,
    Status.EXPIRED: Code.EXPIRED,
    Status.CANCELLED: Code.CANCELLED,
}
_OF_ERROR: dict[type[DashboardError], Code] = {
    NotConfigured: Code.NOT_CONFIGURED,
    Unreachable: Code.UNREACHABLE,
    TokenRefused: Code.TOKEN_REFUSED,
    RequestRefused: Code.REFUSED,
    ProtocolMismatch: Code.REFUSED,
    Rejected: Code.REJECTED,
    Expired: Code.EXPIRED,
    Cancelled: Code.CANCELLED,
    NotApproved: Code.NOT_USABLE,  # last, because the others are kinds of it
}


def code_of_status(status: Status | None) -> Code:
    """Return the code for a request that was only looked at, or not approved."""
    return Code.NOT_USABLE if status is None else _OF_STATUS.get(status, Code.NOT_USABLE)


def code_of_error(error: Exception) -> Code:
    """Return the code for what was raised instead of an answer; 0 for nothing."""
    codes = (code for kind, code in _OF_ERROR.items() if isinstance(error, kind))
    return next(codes, Code.REFUSED)
