"""What a model is told when something was not approved.

AutoGen takes a denial for an error that may be retried, so every reason says what not to do.
"""

from __future__ import annotations

import logging
from dataclasses import replace

from approval_client._errors import (
    DashboardError,
    NotApproved,
    NotConfigured,
    RequestRefused,
    TokenRefused,
    as_sentence,
)
from approval_client._models import ApprovalResponse
from approval_client.wire import Source, Status

logger = logging.getLogger("approval_client")

_STOP = "Change what was objected to, or stop and report that it was not approved."
_ASKED_AGAIN = f"Do not ask for the same again unchanged: a person would be asked again. {_STOP}"
_REFUSED_AGAIN = (
    f"Do not ask for the same again unchanged: a rule rejected it without asking anybody. {_STOP}"
)
_UNASKED = (
    "Nothing that you write in another way helps. Do not retry: stop and report that it was not "
    "approved."
)
_UNDONE = "Nobody was asked and nothing was run."
# What an agent may mend by writing its request in another way.
_OF_THE_REQUEST = {
    *("duplicate_key", "invalid", "lone_surrogate", "not_finite", "not_json", "nul_character"),
    *("number_too_long", "too_deep", "too_large"),
}
NOT_AS_THEY_ARE = "A person changed the arguments to some that are not taken as they are."
_AGAIN = f"{_UNDONE} Call the tool again with arguments that are right."


class Unaskable(ValueError):
    """What a model wrote cannot be asked. The message tells the model what, and what is taken."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"{reason} {_AGAIN}")


def for_model(response: ApprovalResponse) -> ApprovalResponse:
    """Add to a refusal what the model should make of it, after the reviewer's own words.

    One without a status was never asked, and says all of that already.
    """
    if response.approved is True or response.status is None:
        return response
    if response.status is Status.REJECTED:
        message = f"{response.reason}\n\nThis was rejected by {_who(response)}. Nothing was run."
        advice = _REFUSED_AGAIN if response.source == Source.POLICY else _ASKED_AGAIN
    else:
        message, advice = f"{as_sentence(response.reason)} Nothing was run.", _UNASKED
    return replace(response, reason=f"{message} {advice}")


def refusal(error: Exception) -> ApprovalResponse:
    """Return ``error`` as a rejection: whatever goes wrong is one."""
    if isinstance(error, DashboardError):
        message = _mendable(error) if is_of_the_request(error) else f"{error} {_UNASKED}"
        if isinstance(
            error, NotConfigured | TokenRefused
        ):  # the model cannot mend it: a person must
            logger.warning("%s", error)
    elif isinstance(error, Unaskable):
        message = str(error)
    elif isinstance(error, TypeError | ValueError):
        problem = "This cannot be sent for approval as it is"
        message = f"{problem}: {error} {_UNDONE} Change what is named, and ask again."
    else:
        name = type(error).__name__
        logger.error("Asking for approval failed with %s. Nothing was approved.", name)
        message = f"Asking for approval failed ({name}). Nothing was approved. {_UNASKED}"
    answer = error.response if isinstance(error, NotApproved) else None
    return ApprovalResponse(
        approved=False,
        reason=message,
        status=answer.status if answer else None,
        id=answer.id if answer else "",
    )


def is_of_the_request(error: BaseException) -> bool:
    """Say whether the dashboard refused what was written, so that writing otherwise helps."""
    return isinstance(error, RequestRefused) and error.code in _OF_THE_REQUEST


def _mendable(error: DashboardError) -> str:
    detail = getattr(error, "detail", "")
    return f"{detail or error} {_UNDONE} {'Mend that, and ask again.' if detail else ''}".rstrip()


def _who(response: ApprovalResponse) -> str:
    if response.decided_by:
        return response.decided_by
    return "a reviewer" if response.source == Source.REVIEWER else f"the {response.source}"
