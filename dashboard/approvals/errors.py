"""Why a verb was refused. Each message says what happened and what was not done.

Every class has a stable ``code`` that the API gives to agents.
"""

from __future__ import annotations

from datetime import datetime

from approval_client.wire import MAX_BODY_BYTES, MAX_NOTEBOOK_BYTES, Status
from dashboard.approvals.models import ApprovalRequest, Assignment, Recall


def _clock_time(at: datetime) -> str:
    return at.strftime("%H:%M:%S UTC")


def ended(words: str) -> str:
    """Return a person's words as a sentence that others can follow."""
    words = words.strip()
    return words if words.endswith((".", "!", "?")) else f"{words}."


class Refused(Exception):
    """Base of the refusals of this room."""

    code = "refused"


class NotFound(Refused):
    """There is no such request, or it is another agent's. The message does not say which."""

    code = "not_found"

    def __init__(self) -> None:
        super().__init__("There is no such approval request. Nothing was done.")


class IdempotencyConflict(Refused):
    """The key was used for something else."""

    code = "idempotency_conflict"

    def __init__(self, key: str) -> None:
        super().__init__(
            f"Idempotency key {key!r} was already used for something else. Nothing was done. "
            "Use a new key for a new question."
        )


class TooManyPending(Refused):
    """The token has as many open questions as it may."""

    code = "too_many_pending"
    retry_after_s = 10

    def __init__(self, limit: int) -> None:
        super().__init__(
            f"This token has {limit} pending requests, the most it may have. Nothing was "
            "submitted. Try again when some are answered."
        )


class InspectionBusy(Refused):
    """Everybody who could inspect a content is busy with others."""

    code = "unavailable"
    retry_after_s = 1

    def __init__(self) -> None:
        super().__init__(
            "Other long contents are being inspected. Nothing was stored. Send the same again."
        )


class AlreadyClosed(Refused):
    """Somebody or something answered first."""

    code = "already_closed"

    def __init__(self, approval: ApprovalRequest) -> None:
        decision = approval.decision
        sentence = f"This request was {decision.status} already"
        if decision.status == Status.EXPIRED:
            sentence = "This request has expired already"
        super().__init__(
            f"{sentence}, at {_clock_time(decision.decided_at)}. What you sent was not recorded."
        )


class TimeOver(Refused):
    """The request has expired, but its status has not been updated yet."""

    code = "already_closed"

    def __init__(self) -> None:
        super().__init__("The time limit of this request has passed. Nothing was changed.")


class AssignedToAnother(Refused):
    """It is assigned to somebody else, and the reviewer did not confirm that they know this."""

    code = "assigned_to_another"

    def __init__(self, assignment: Assignment) -> None:
        self.name, since = assignment.person.username, _clock_time(assignment.assigned_at)
        super().__init__(
            f"This has been assigned to {self.name} since {since}. Nothing was recorded. Press "
            "again to approve it anyway."
        )


class StaleBasis(Refused):
    """The page showed something else than what is asked now."""

    code = "stale_basis"

    def __init__(self) -> None:
        super().__init__(
            "This request changed after the page was shown. Nothing was recorded. Read it "
            "again, then decide."
        )


class NotAllowed(Refused):
    """The person may not do this, or not to this request."""

    code = "not_permitted"


class GrantRefused(NotAllowed):
    """This approval cannot be remembered, or not like this."""

    code = "grant_refused"

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"{reason} Nothing was recorded. Approve it without remembering, or change what is "
            "remembered."
        )


class EditRefused(NotAllowed):
    """The content cannot be edited like this."""

    code = "edit_refused"

    def __init__(self, reason: str) -> None:
        super().__init__(f"{reason} Nothing was recorded, and the request is as it was.")


class StepsRefused(Refused):
    """These answers do not fit the steps of the plan."""

    code = "steps_refused"

    def __init__(self, reason: str) -> None:
        super().__init__(f"{reason} Nothing was recorded.")


class StepsUncounted(StepsRefused):
    """The approval of a plan does not say how many steps it approves, or names another number."""

    code = "steps_uncounted"

    def __init__(self, approves: int, total: int) -> None:
        super().__init__(
            f"{approves} of {total} steps would be approved, and the button that was pressed did "
            "not say so. Look at the steps and press again."
        )


class ReasonMissing(Refused):
    """The policy wants to know why."""

    code = "reason_missing"

    def __init__(self) -> None:
        super().__init__(
            "The policy requires a reason for this approval. Nothing was recorded. Give a reason."
        )


class SignatureMissing(Refused):
    """The policy requires the person's device to sign the approval.

    Args:
        nonce: What the page chose, so that nothing is signed twice alike.
        challenge: What has to be signed.
        judgement_id: The judgement that this rests on; a newer one may say the same as the page's.
    """

    code = "signature_missing"

    def __init__(self, nonce: str, challenge: bytes, judgement_id: int) -> None:
        self.nonce, self.challenge, self.judgement_id = nonce, challenge, judgement_id
        super().__init__(
            "The policy requires your passkey to sign this approval. Nothing was recorded yet."
        )


class SignatureRefused(NotAllowed):
    """What the device signed does not count."""

    code = "signature_refused"

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"{reason} Your approval was not recorded. Press Approve again.")


class Stopped(Refused):
    """Nothing is approved or started now, whatever it is.

    Attributes:
        why: The reason in one sentence, for whoever looks at a request.
    """

    why = ""


class OnHold(Stopped):
    """An admin has stopped all approving."""

    code = "on_hold"
    why = "Approvals are on hold until an admin lifts that."

    def __init__(self) -> None:
        super().__init__(
            "An admin has put everything on hold, so nothing is approved or started until it is "
            "lifted. Nothing was recorded."
        )


class DatabaseInDoubt(Stopped):
    """The database is not as this server knew it: it is an older one, or lacks guards."""

    code = "database_in_doubt"
    why = "The database is not as this server knew it, so nothing can be approved."

    def __init__(self) -> None:
        super().__init__(
            "The server's database is not as it was: it is an older one, or lacks guards. Nothing "
            "is approved or started until whoever runs the server has put it right. Nothing was "
            "recorded."
        )


class ClockBehind(Stopped):
    """The server's clock was set back: the log has entries of moments that are yet to come.

    Args:
        until: The latest of them, after which it is right again by itself.
    """

    code = "clock_behind"

    def __init__(self, until: datetime) -> None:
        self.until = until
        day = until.strftime("%Y-%m-%d %H:%M:%S UTC")
        self.why = f"The server's clock was set back, so nothing can be approved until {day}."
        super().__init__(
            f"The server's clock was set back: it stands before {day}, when something was "
            "recorded already. Until then nobody can tell how long an approval is valid, so "
            "nothing is approved or started. Nothing was recorded. Whoever runs the server sets "
            "the clock right, or accepts the new time."
        )


class NotConfirmed(Refused):
    """A hold after a restore was lifted without a look at what is old."""

    code = "not_confirmed"

    def __init__(self) -> None:
        super().__init__(
            "The database was restored, so its tokens, roles, policy and channels are as old as "
            "the backup. The hold was not lifted. Look through each of them, and tick it."
        )


class NotApproved(Refused):
    """Only something approved can be started."""

    code = "not_approved"

    def __init__(self) -> None:
        super().__init__("This request is not approved. Nothing may run and nothing was recorded.")


class TakenBack(Refused):
    """A person took the approval back."""

    code = "taken_back"

    def __init__(self, recall: Recall) -> None:
        super().__init__(
            f"This approval was taken back by {recall.person.username} at "
            f"{_clock_time(recall.taken_back_at)}: {ended(recall.reason)} Nothing may run."
        )


class RecallRefused(Refused):
    """This approval cannot be taken back."""

    code = "recall_refused"

    def __init__(self, reason: str) -> None:
        super().__init__(f"{reason} Nothing was changed.")


class RecallReasonMissing(RecallRefused):
    """Nobody said why."""

    def __init__(self) -> None:
        super().__init__("Say why you take it back: the agent is told your reason.")


class AlreadyStarted(Refused):
    """An approval is used once."""

    code = "already_started"

    def __init__(self, at: datetime) -> None:
        super().__init__(
            f"This approval was used already, at {_clock_time(at)}. An approval works once, so "
            "nothing may run. Ask again."
        )


class AlreadyFinished(Refused):
    """The end was reported before."""

    code = "already_finished"

    def __init__(self, at: datetime) -> None:
        super().__init__(
            f"The end of this was reported already, at {_clock_time(at)}. What you sent was not "
            "recorded."
        )


class NotStarted(Refused):
    """What was not started cannot be finished."""

    code = "not_started"

    def __init__(self) -> None:
        super().__init__("Nothing was started under this approval, so no end was recorded.")


class ApprovalExpired(Refused):
    """The approval was not used in time."""

    code = "approval_expired"

    def __init__(self, at: datetime) -> None:
        super().__init__(
            f"This approval was valid until {_clock_time(at)} and was not used. Nothing may "
            "run. Ask again."
        )


class DigestMismatch(Refused):
    """The report is about different content from what was approved."""

    code = "digest_mismatch"

    def __init__(self) -> None:
        super().__init__(
            "The report names different content from the decision. Nothing may run and nothing "
            "was recorded."
        )


class BodyTooLarge(Refused):
    """What an agent sends has more bytes than a request may have."""

    code = "too_large"

    def __init__(self) -> None:
        super().__init__(
            f"The body is larger than {MAX_BODY_BYTES:,} bytes. Nothing was done. Send less."
        )


class NotebookTooLarge(Refused):
    """It has more bytes than a notebook may have."""

    code = "too_large"

    def __init__(self) -> None:
        super().__init__(
            f"A notebook may have at most {MAX_NOTEBOOK_BYTES:,} bytes. This one was not kept. "
            "Clear its outputs, or ask without it."
        )


class NotebookRefused(Refused):
    """The bytes are not a notebook, or not the announced one. ``code`` says which."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(f"{reason} The notebook was not kept.")
        self.code = code
        self.retry_after_s = 2 if code == "unavailable" else None


class NotebooksFull(Refused):
    """The agent has as many notebooks here as it may."""

    code = "notebooks_full"

    def __init__(self, mebibytes: int) -> None:
        super().__init__(
            f"The notebooks of this agent have reached the limit of {mebibytes:,} MiB (each "
            "counts as at least 4 KiB). This one was not kept. Ask without it, and tell "
            "whoever runs the server."
        )
