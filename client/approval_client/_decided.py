"""Reading what was decided, page by page, without I/O: both clients share it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TypeAlias
from urllib.parse import urlencode

from approval_client._answers import Answer, Page, read_page
from approval_client._asked import Asked
from approval_client._calls import Call, Flow, Reply, Timing, insist_on
from approval_client._errors import DigestMismatch
from approval_client._fields import ID, Malformed
from approval_client._flow import SHORT_S, make_sure
from approval_client._models import ApprovalRequest

DECISIONS = "/api/v1/decisions"
Since: TypeAlias = datetime | str | None
About: TypeAlias = Callable[[str], ApprovalRequest | Asked | None]


class Reading:
    """Where somebody stands in what was decided.

    Attributes:
        over: There was nothing more when the last page was read.
    """

    def __init__(self, since: Since, about: About | None) -> None:
        self.over = False
        self._since = _asked_for(since)
        self._about = about or (lambda _: None)

    def page(self, timing: Timing) -> Flow[tuple[Answer, ...]]:
        """Read the next page."""
        call = Call(method="GET", path=f"{DECISIONS}?{urlencode(self._since)}")
        until = timing.clock() + SHORT_S
        found = yield from insist_on(call, self._understand, until=until, timing=timing)
        self.over = not found.more
        self._since = {"after": found.last} if found.last else self._since
        return found.answers

    def checked(self, answer: Answer) -> Answer:
        """Return an answer that is about what it should be about.

        Raises:
            DigestMismatch: It is not.
        """
        try:
            make_sure(answer, self._about(answer.id))
        except DigestMismatch as error:
            raise DigestMismatch(
                f"{error} This is about {answer.id}; since={answer.id!r} goes on after it."
            ) from error
        return answer

    def _understand(self, reply: Reply) -> Page:
        found = read_page(reply.body)
        if self._since.get("after") in {answer.id for answer in found.answers}:
            raise Malformed("it repeats what was read before")
        return found


def _asked_for(since: Since) -> dict[str, str]:
    if since is None:
        return {}
    if isinstance(since, datetime):
        if since.utcoffset() is None:
            raise ValueError("The moment has no time zone. Nothing was read.")
        return {"since": since.astimezone(UTC).isoformat()}
    if not ID.fullmatch(since):
        raise ValueError("since must be a moment or the id of an answer. Nothing was read.")
    return {"after": since}
