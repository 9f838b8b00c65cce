"""Everything that can go wrong between an agent and its answer, as one tree.

* DashboardError
  x NotConfigured      no usable address or token; nothing was asked
  x Unreachable        no usable answer in time
    + NotADashboard    what answers at the address is something else
  x TokenRefused       the dashboard does not know the token, or it was revoked
  x ProtocolMismatch   the dashboard speaks another version of the protocol
  x RequestRefused     the dashboard refused what was sent; ``code`` says why
  x NotApproved        there is an answer, and it is not an approval
    + Rejected         a person or a policy rejected it
    + Expired          nobody decided in time
    + Cancelled        the request was withdrawn
      - TakenBack      it was approved, and a person took the approval back
    + DigestMismatch   the answer is about different content
    + AlreadyUsed      the approval was used already
    + TooLate          the time to use the approval is over
    + OnHold           an admin has put everything on hold

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


class NotADashboard(Unreachable):
    """What answers at the address is something else. The message names the address."""


class TokenRefused(DashboardError):
    """The dashboard did not accept the agent's token."""


class ProtocolMismatch(DashboardError):
    """The dashboard speaks another version of the protocol. The message says what to upgrade.

    Attributes:
        approval_id: The request, if it was submitted nevertheless; else empty.
    """

    def __init__(self, message: str, approval_id: str = "") -> None:
        super().__init__(message)
        self.approval_id = approval_id

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle it with what was submitted."""
        return type(self), (*self.args, self.approval_id)


class RequestRefused(DashboardError):
    """The dashboard refused what was sent. Sending it again would not help.

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
    """There is an answer, and it is not an approval.

    Attributes:
        response: The answer, where there is one that can be trusted.
    """

    def __init__(self, message: str, response: ApprovalResponse | None = None) -> None:
        super().__init__(message)
        self.response = response


class Rejected(NotApproved):
    """A person or a policy rejected it."""


class Expired(NotApproved):
    """Nobody decided in time."""


class Cancelled(NotApproved):
    """The request was withdrawn before anybody decided."""


class TakenBack(Cancelled):
    """It was approved, and a person took the approval back before it was used."""


class DigestMismatch(NotApproved):
    """The answer is about different content from what this agent wants to run."""


class AlreadyUsed(NotApproved):
    """An approval works once, and this one was used already."""


class TooLate(NotApproved):
    """It was approved, but the time to use the approval is over."""


class OnHold(NotApproved):
    """An admin has put everything on hold, also what was approved."""


_BY_STATUS: dict[Status | None, type[NotApproved]] = {
    Status.REJECTED: Rejected,
    Status.EXPIRED: Expired,
    Status.CANCELLED: Cancelled,
}


def as_sentence(text: str) -> str:
    """Return what a person wrote with a full stop, so that the next sentence begins after it."""
    text = text.rstrip()
    return text if not text or text[-1] in ".!?…。؟" else f"{text}."


def not_approved(response: ApprovalResponse) -> NotApproved:
    """Return ``response`` as an error, for callers who prefer to raise."""
    reason = as_sentence(response.reason) or "No reason was given."
    if getattr(response, "taken_back", False) is True:
        return TakenBack(f"Not approved: {reason} Nothing was run.", response)
    if response.status is Status.APPROVED:
        sentence = "It was approved, and the approval was not started. Nothing was run."
        return NotApproved(sentence, response)
    message = f"Not approved ({response.status or 'no status'}): {reason} Nothing was run."
    if response.status is Status.REJECTED:  # where a tool raises, a model reads this
        message += " Do not ask for the same again unchanged."
    return _BY_STATUS.get(response.status, NotApproved)(message, response)
