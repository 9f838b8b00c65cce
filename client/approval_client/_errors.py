"""Everything that can go wrong between an agent and its answer, as one tree.

* DashboardError
  x NotConfigured      no usable address or token; nothing was asked
  x Unreachable        no usable answer in time
  x TokenRefused       the dashboard does not know the token, or it was revoked
  x ProtocolMismatch   the dashboard and this library are of versions that do not fit
  x RequestRefused     the dashboard will not take what was sent; ``code`` says why
  x NotApproved        there is an answer, and it does not open
    + Rejected         a person or a policy said no
    + Expired          nobody decided in time
    + Cancelled        the request was withdrawn
    + DigestMismatch   the answer is about other content
    + AlreadyUsed      the approval was used by somebody else
    + TooLate          the approval was good for a time, and that is over
    + OnHold           an operator holds everything at the moment

Whatever is raised, nothing was approved and nothing must run.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from approval_client.wire import Status

if TYPE_CHECKING:
    from approval_client._models import ApprovalResponse


class DashboardError(Exception):
    """There is no approval. The message says what happened and what to do."""


class NotConfigured(DashboardError):
    """The client lacks a usable address or token, so nothing was asked."""


class Unreachable(DashboardError):
    """The dashboard gave no usable answer in time."""


class TokenRefused(DashboardError):
    """The dashboard did not accept the agent's token."""


class ProtocolMismatch(DashboardError):
    """The dashboard speaks another version of the protocol. The message says what to upgrade.

    Attributes:
        approval_id: What was submitted all the same; empty for nothing.
    """

    def __init__(self, message: str, approval_id: str = "") -> None:
        super().__init__(message)
        self.approval_id = approval_id

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle it with what was submitted."""
        return type(self), (*self.args, self.approval_id)


class RequestRefused(DashboardError):
    """The dashboard will not take what was sent. Sending it again would not help.

    Attributes:
        code: A stable name for the reason, such as ``"invalid"`` or ``"too_large"``.
        detail: The dashboard's own words.
    """

    def __init__(self, message: str, *, code: str, detail: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.detail = detail

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle it with its code, which an exception does not do by itself."""
        return partial(type(self), code=self.code, detail=self.detail), self.args


class NotApproved(DashboardError):
    """There is an answer, and it does not open.

    Attributes:
        response: The answer, where there is one that can be trusted.
    """

    def __init__(self, message: str, response: ApprovalResponse | None = None) -> None:
        super().__init__(message)
        self.response = response


class Rejected(NotApproved):
    """A person or a policy said no."""


class Expired(NotApproved):
    """Nobody decided in time."""


class Cancelled(NotApproved):
    """The request was withdrawn before anybody decided."""


class DigestMismatch(NotApproved):
    """The answer is about other content than what this agent wants to run."""


class AlreadyUsed(NotApproved):
    """An approval is used once, and this one was."""


class TooLate(NotApproved):
    """It was approved, but the time in which it could be used is over."""


class OnHold(NotApproved):
    """An operator holds everything at the moment, approved or not."""


_BY_STATUS: dict[Status | None, type[NotApproved]] = {
    Status.REJECTED: Rejected,
    Status.EXPIRED: Expired,
    Status.CANCELLED: Cancelled,
}


def not_approved(response: ApprovalResponse) -> NotApproved:
    """Return the error that stands for ``response``, for callers who would rather raise."""
    reason = response.reason or "No reason was given."
    message = f"Not approved ({response.status or 'no status'}): {reason} Nothing was run."
    return _BY_STATUS.get(response.status, NotApproved)(message, response)
