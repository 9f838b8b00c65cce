"""What a model is told when something was not approved.

AutoGen takes a denial for an error that may be retried, so every reason says what not to do.
"""

from __future__ import annotations

import logging
from dataclasses import replace

from approval_client._errors import DashboardError, NotApproved
from approval_client._models import ApprovalResponse
from approval_client.wire import Source, Status

logger = logging.getLogger("approval_client")

_UNCHANGED = (
    "Do not submit the same again unchanged: it would be refused again. Change what was "
    "objected to, or stop and report that it was not approved."
)
NOT_AS_THEY_ARE = "A person changed the arguments to some that are not taken as they are."
_AGAIN = "Nobody was asked and nothing was run. Call the tool again with arguments that are right."
_UNASKED = (
    "This is not a mistake in the code, so changing it does not help. Do not retry: stop and "
    "report that it was not approved."
)


class Unaskable(ValueError):
    """What a model wrote cannot be asked. The message tells the model what, and what is taken."""

    def __init__(self, why: str) -> None:
        super().__init__(f"{why} {_AGAIN}")


def for_model(response: ApprovalResponse) -> ApprovalResponse:
    """Add to a refusal what the model should make of it, after the reviewer's own words."""
    if response.approved is True:
        return response
    if response.status is Status.REJECTED:
        told = f"{response.reason}\n\nThis was rejected by {_who(response)}. Nothing was run."
        advice = _UNCHANGED
    else:
        told, advice = f"{response.reason} Nothing was run.", _UNASKED
    return replace(response, reason=f"{told} {advice}")


def refusal(error: Exception) -> ApprovalResponse:
    """Return ``error`` as a rejection: whatever goes wrong is one."""
    if isinstance(error, Unaskable):
        return ApprovalResponse(approved=False, reason=str(error))
    if isinstance(error, DashboardError):
        what = str(error)
    elif isinstance(error, TypeError | ValueError):
        what = f"The code cannot be sent for approval as it is: {error} Nothing was approved."
    else:
        name = type(error).__name__
        logger.error("Asking for approval failed with %s. Nothing was approved.", name)
        what = f"Asking for approval failed ({name}). Nothing was approved."
    answer = error.response if isinstance(error, NotApproved) else None
    return ApprovalResponse(
        approved=False,
        reason=f"{what} {_UNASKED}",
        status=answer.status if answer else None,
        id=answer.id if answer else "",
    )


def _who(response: ApprovalResponse) -> str:
    if response.decided_by:
        return response.decided_by
    return "a reviewer" if response.source == Source.REVIEWER else f"the {response.source}"
