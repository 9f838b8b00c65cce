"""Reads of requests: for agents that wait, for the queue, for a request's page."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import (
    Exists,
    Max,
    Min,
    Model,
    OuterRef,
    Prefetch,
    QuerySet,
    Subquery,
    Value,
    prefetch_related_objects,
)
from django.db.models.functions import Coalesce, Length

from approval_client.wire import MAX_BODY_BYTES, Kind, Status
from dashboard.accounts.models import Agent, AgentToken, User
from dashboard.approvals.clock import Now, database_now, now_in
from dashboard.approvals.errors import NotFound
from dashboard.approvals.models import (
    ApprovalQuerySet,
    ApprovalRequest,
    Assignment,
    Closing,
    Decision,
    Edit,
    Grant,
    GrantQuerySet,
    Hold,
    Inspection,
    Judgement,
    Outcome,
    RequestHeadline,
    View,
    Vote,
)
from dashboard.audit.queries import last_ended
from dashboard.inspection.findings import Severity
from dashboard.policies.models import PolicyRevision
from dashboard.policies.services import current_revision, published_revision
from dashboard.statements import Many, fetched, rows

_LATELY = 500  # requests
LATEST_ANSWERS = 5
"""How many of the requests that a grant answered are named with it."""


class Answerable(NamedTuple):
    """What an agent is told about: a request, what the policy last said, what was reported."""

    approval: ApprovalRequest
    judgement: Judgement
    outcomes: list[Outcome]


def whole(ids: Iterable[UUID]) -> list[ApprovalRequest]:
    """Return requests with everything that a page needs, in a fixed number of queries.

    Each is read with the moment of the read, ``clock.now_in``; with ``held``, whether approvals
    are on hold; and with ``has_equal``, whether its run asked for the same another time.
    """
    approvals = _whole(list(ids))
    for name, (rows_of, key) in _BESIDE.items():
        having = [approval.pk for approval in approvals if vars(approval)[f"has_{name}"]]
        beside = defaultdict[UUID, list[Model]](list)
        for row in rows_of(having) if having else ():
            beside[getattr(row, key)].append(row)
        for approval in approvals:
            fetched(approval, name, beside[approval.pk])
    return approvals


def with_headlines(approvals: Sequence[ApprovalRequest]) -> Sequence[ApprovalRequest]:
    """Read the headlines of requests that ``whole`` read, in one query.

    By itself: with one table more to join, PostgreSQL compiles the statement of ``whole`` anew
    each time, for a second.
    """
    headlines = {row.approval_id: row for row in _headlines([request.pk for request in approvals])}
    for approval in approvals:
        ApprovalRequest.headline.related.set_cached_value(approval, headlines.get(approval.pk))
    return approvals


@rows(Many(ApprovalRequest.id))
def _headlines(ids: Iterable[UUID]) -> QuerySet[RequestHeadline]:
    return RequestHeadline.objects.filter(approval__id__among=ids).order_by()


@rows(Many(ApprovalRequest.id))
def _whole(ids: Iterable[UUID]) -> QuerySet[ApprovalRequest]:
    this = {"approval": OuterRef("pk")}
    same = {name: OuterRef(name) for name in ("agent", "digest", "run_id")}
    equal = ApprovalRequest.objects.filter(**same)
    joined = ApprovalRequest.objects.select_related(
        "agent__owner",
        "agent__webhook",
        "token__agent",
        "decision__decided_by",
        "decision__grant__made_by",
        "recall__person",
        "poll",
    )
    return joined.filter(pk__among=ids).annotate(
        has_edits=Exists(Edit.objects.filter(**this)),
        has_judgements=Value(value=True),
        has_outcomes=Exists(Outcome.objects.filter(**this)),
        has_votes=Exists(Vote.objects.filter(**this)),
        has_grants_made=Exists(Grant.objects.filter(made_from=OuterRef("pk"))),
        has_equal=Exists(equal.exclude(pk=OuterRef("pk"))),
        held=Exists(Hold.objects.filter(active=True)),
        now=Now(),
    )


@rows(Many(ApprovalRequest.id))
def _edits(ids: Iterable[UUID]) -> QuerySet[Edit]:
    edits = Edit.objects.filter(approval__id__among=ids).select_related("edited_by", "grounds")
    return edits.order_by("id")


def _judgements(ids: Iterable[UUID]) -> list[Judgement]:
    # Judgements share inspections, whose reports may be long.
    judgements = _judgements_alone(ids)
    inspections = {
        inspection.pk: inspection
        for inspection in _inspections({j.inspection_id for j in judgements})
    }
    for judgement in judgements:
        judgement.inspection = inspections[judgement.inspection_id]
    return judgements


@rows(Many(ApprovalRequest.id))
def _judgements_alone(ids: Iterable[UUID]) -> QuerySet[Judgement]:
    judgements = Judgement.objects.filter(approval__id__among=ids).select_related("grounds")
    return judgements.order_by("id")


@rows(Many(Inspection.id))
def _inspections(ids: Iterable[int]) -> QuerySet[Inspection]:
    return Inspection.objects.filter(pk__among=ids).order_by()


@rows(Many(ApprovalRequest.id))
def _outcomes(ids: Iterable[UUID]) -> QuerySet[Outcome]:
    return Outcome.objects.filter(approval__id__among=ids).order_by("id")


@rows(Many(ApprovalRequest.id))
def _votes(ids: Iterable[UUID]) -> QuerySet[Vote]:
    votes = Vote.objects.filter(approval__id__among=ids).select_related("person")
    return votes.order_by("id")


@rows(Many(ApprovalRequest.id))
def _grants_made(ids: Iterable[UUID]) -> QuerySet[Grant]:
    grants = Grant.objects.filter(made_from__id__among=ids).select_related("made_by")
    return grants.order_by("id")


_BESIDE: dict[str, tuple[Callable[[list[UUID]], Sequence[Model]], str]] = {
    "edits": (_edits, "approval_id"),
    "judgements": (_judgements, "approval_id"),
    "outcomes": (_outcomes, "approval_id"),
    "votes": (_votes, "approval_id"),
    "grants_made": (_grants_made, "made_from_id"),
}


@rows(AgentToken.hash, ApprovalRequest.id)
def token_asking(hash_: str, approval_id: UUID) -> QuerySet[AgentToken]:
    """The token with a hash, its agent, and as ``owns`` whether the request is that agent's."""
    owned = ApprovalRequest.objects.filter(pk=approval_id, agent=OuterRef("agent"))
    tokens = AgentToken.objects.select_related("agent").filter(hash=hash_)
    return tokens.annotate(owns=Exists(owned)).order_by()


@rows(ApprovalRequest.id, Agent.id)
def _as_told(approval_id: UUID, agent_id: int) -> QuerySet[Judgement]:
    # From the judgement, which every request has: so the request and its decision come with it.
    judgements = Judgement.objects.filter(approval_id=approval_id, approval__agent_id=agent_id)
    whole = judgements.select_related(
        "approval__decision__decided_by", "approval__decision__edit", "approval__recall__person"
    )
    untold = ("demands", "approval__content", "approval__evidence", "approval__objective")
    return whole.annotate(now=Now()).defer(*untold).order_by("-id")[:1]


def told(approval_id: UUID, agent_id: int) -> tuple[Answerable, datetime] | None:
    """Return how an agent's own request stands, and when that was read; None if it has none."""
    judgement = _as_told.first(approval_id, agent_id)
    if judgement is None:
        return None
    approved = judgement.approval.status == Status.APPROVED
    outcomes = outcomes_of(approval_id) if approved else []
    return Answerable(judgement.approval, judgement, outcomes), now_in(judgement)


def answerable(approval: ApprovalRequest) -> Answerable:
    """Return the state of a request that was just read, as agents are told it."""
    judgement = Judgement.objects.filter(approval=approval).latest("id")
    approved = approval.status == Status.APPROVED
    return Answerable(approval, judgement, outcomes_of(approval.pk) if approved else [])


@rows(ApprovalRequest.id)
def outcomes_of(approval_id: UUID) -> QuerySet[Outcome]:
    """What was reported about a request, in order."""
    return Outcome.objects.filter(approval_id=approval_id).order_by("id")


def closed(ids: Iterable[UUID]) -> dict[UUID, ApprovalRequest]:
    """Which of many requests are closed, in one query."""
    return light().exclude(status=Status.PENDING).order_by().in_bulk(list(ids))


def light() -> ApprovalQuerySet:
    """Requests as agents are told of them: an answer never repeats what was asked."""
    relations = ("decision__decided_by", "decision__edit", "recall__person")
    return ApprovalRequest.objects.select_related(*relations).defer(
        "content", "evidence", "objective"
    )


def last_closing() -> int:
    """Return the place of the request that was closed last; 0 if none ever was."""
    return _last_closing.first() or 0


@rows()
def _last_closing() -> QuerySet[Closing, int]:
    return Closing.objects.order_by("-seq").values_list("seq", flat=True)[:1]


@rows(Closing.seq)
def closed_since(seq: int) -> QuerySet[Closing, tuple[int, UUID]]:
    """What was closed after that place, with its own place, in the order of the log."""
    return Closing.objects.filter(seq__gt=seq).order_by("seq").values_list("seq", "approval")


def queue(at: datetime | None = None) -> ApprovalQuerySet:
    """Requests that wait for a person, the one with the least time left first."""
    waiting = ApprovalRequest.objects.open(at or database_now())
    return waiting.select_related("agent", "poll").order_by("expires_at", "pk")


def gravest_rank() -> Coalesce:
    """The rank of the gravest severity that was found in a request, or -1.

    High where nothing was kept of it: nobody knows.
    """
    return Coalesce("headline__severity", Value(Severity.HIGH.rank))


def last_demands() -> Subquery:
    """What the judgement that counts asks of the people who approve, as it is stored."""
    newest = Judgement.objects.filter(approval=OuterRef("pk")).order_by("-id")
    return Subquery(newest.values("demands")[:1])


def votes_for_open(at: datetime) -> dict[UUID, list[Vote]]:
    """Return all that says whose votes count for what waits, by request."""
    votes = _votes_for_open(at)
    prefetch_related_objects(votes, "person__groups")
    votes_by_request = defaultdict[UUID, list[Vote]](list)
    for vote in votes:
        votes_by_request[vote.approval_id].append(vote)
    return dict(votes_by_request)


def has_votes_for_open(at: datetime) -> Exists:
    """Whether anybody approved anything of what waits."""
    return Exists(Vote.objects.filter(approval__in=_open_ids(at)))


@rows(ApprovalRequest.expires_at)
def _votes_for_open(at: datetime) -> QuerySet[Vote]:
    votes = Vote.objects.select_related("person").filter(approval__in=_open_ids(at))
    return votes.defer("shown").order_by("id")


def _open_ids(at: datetime) -> QuerySet[ApprovalRequest, Any]:
    return ApprovalRequest.objects.open(at).order_by().values("pk")


def lately_closed(limit: int = 50, among: ApprovalQuerySet | None = None) -> ApprovalQuerySet:
    """Requests that were closed last, the newest first; of all, or of those given."""
    requests = among_the_latest(limit) if among is None else among
    # Their ids are read first: of all that is sorted, a page's columns would be made.
    newest = requests.exclude(status=Status.PENDING).order_by("-decision__decided_at")[:limit]
    closed = ApprovalRequest.objects.filter(pk__in=list(newest.values_list("pk", flat=True)))
    closed = closed.select_related("agent", "decision__decided_by", "recall__person")
    return closed.order_by("-decision__decided_at")


def among_the_latest(count: int) -> ApprovalQuerySet:
    """The requests that were decided last, for filters that cannot look through all."""
    latest = Decision.objects.order_by("-decided_at").values_list("approval", flat=True)[:count]
    return ApprovalRequest.objects.filter(pk__in=list(latest))


def grants_in_force(at: datetime) -> GrantQuerySet:
    """Grants in force, the newest first."""
    return _told(Grant.objects.in_force(at)).order_by("-made_at")


def grants_over(at: datetime, limit: int = 50) -> GrantQuerySet:
    """Grants that were ended, ran out or are used up, the newest first."""
    in_force = Grant.objects.in_force(at).values("pk")
    # By their numbers, which are in the order of their making, so that none has to be sorted.
    return _told(Grant.objects.exclude(pk__in=in_force)).order_by("-pk")[:limit]


def _told(grants: GrantQuerySet) -> GrantQuerySet:
    decisions = Decision.objects.order_by("-decided_at").only("approval_id", "decided_at", "grant")
    return grants.select_related("agent", "made_by", "ended_by").prefetch_related(
        Prefetch("answered", queryset=decisions[:LATEST_ANSWERS], to_attr="latest")
    )


def active_hold() -> Hold | None:
    """The active hold, with the person who placed it, or None."""
    return _active_hold.first()


@rows()
def _active_hold() -> QuerySet[Hold]:
    return Hold.objects.select_related("placed_by").filter(active=True).order_by("id")[:1]


class Present(NamedTuple):
    """What every page says of the whole dashboard.

    Attributes:
        document: The policy in force.
        log_problem: What the last verification of the log found wrong; empty if nothing.
    """

    document: str
    log_problem: str


@rows()
def _present() -> QuerySet[PolicyRevision]:
    # One statement, as the policy alone needs: this is read for each page.
    newest = PolicyRevision.objects.only("number", "published_at").order_by("-number")
    problem = Subquery(last_ended().values("problem"))
    return newest.annotate(log_problem=Coalesce(problem, Value("")))[:1]


def present() -> Present:
    """Read what every page says of the whole dashboard."""
    newest = _present.first()
    if newest is None:
        return Present(current_revision().document, log_problem())
    revision = published_revision(newest.number, newest.published_at)
    return Present(revision.document, vars(newest)["log_problem"])


def log_problem() -> str:
    """Return what the last verification of the log found wrong; empty if nothing."""
    return last_ended().values_list("problem", flat=True).first() or ""


class DecidedPage(NamedTuple):
    """Some decisions, the oldest first.

    Attributes:
        last: Where to read on: the last request that was read, also where it is not among these.
            None for an agent of whose requests none was ever decided.
        more: There are more now.
    """

    answers: list[Answerable]
    last: UUID | None
    more: bool


def decided(
    agent_id: int, *, after: UUID | None = None, since: datetime | None = None, limit: int = 50
) -> DecidedPage:
    """Return an agent's own decided requests, in the order of the audit log.

    A transaction that commits late comes late in that order, whatever its clock said, so reading
    on after the last one misses nothing and repeats nothing. A page ends early where reviewers
    changed so much that their texts would be longer together than one body may be.

    Args:
        agent_id: Whose requests.
        after: The last request that was read before; ``since`` does not count then.
        since: Begin with the first that was decided at this moment or later. One that was decided
            a little before and recorded later may be among them.
        limit: How many at the most.

    Raises:
        NotFound: ``after`` is not a request of this agent that was decided.
    """
    closings = Closing.objects.filter(agent=agent_id)
    # Where it stands is read first: what commits in between comes after it, or is among the rows.
    last_closing = closings.order_by("seq").last()
    if after is not None:
        last_closing = closings.filter(approval=after).first()
        if last_closing is None:
            raise NotFound
        closings = closings.filter(seq__gt=last_closing.seq)
    elif since is not None:
        first_seq = closings.filter(decided_at__gte=since).aggregate(seq=Min("seq"))["seq"]
        closings = closings.filter(seq__gte=first_seq) if first_seq else closings.none()
    lengths = Coalesce(Length("approval__decision__edit__content"), Value(0))
    rows = list(closings.order_by("seq").values_list("approval", lengths)[: limit + 1])
    fitting = _fitting(rows[:limit])
    last_id = last_closing.approval_id if last_closing else None
    more = len(rows) > len(fitting)
    return DecidedPage(_answerables(fitting), fitting[-1] if fitting else last_id, more)


def seen_tools() -> list[str]:
    """Name the tools that agents asked to call lately, for people to pick from."""
    calls = ApprovalRequest.objects.filter(kind=Kind.TOOL_CALL).order_by("-submitted_at")
    return sorted(set(calls.values_list("capability", flat=True)[:_LATELY]))


def _fitting(found: Iterable[tuple[UUID, int]]) -> list[UUID]:
    """Return the first requests that fit into one body together; at least one."""
    fitting: list[UUID] = []
    length = 0
    for approval_id, more in found:
        length += more
        if fitting and length > MAX_BODY_BYTES:
            break
        fitting.append(approval_id)
    return fitting


def _answerables(ids: Sequence[UUID]) -> list[Answerable]:
    approvals = light().in_bulk(list(ids))
    newest = (
        Judgement.objects.filter(approval__in=ids).values("approval").annotate(newest=Max("id"))
    )
    judgements = Judgement.objects.filter(pk__in=newest.values("newest"))
    judgement_by_approval = {judgement.approval_id: judgement for judgement in judgements}
    outcomes = defaultdict(list)
    for outcome in Outcome.objects.filter(approval__in=ids).order_by("id"):
        outcomes[outcome.approval_id].append(outcome)
    return [Answerable(approvals[pk], judgement_by_approval[pk], outcomes[pk]) for pk in ids]


def is_held() -> bool:
    """Whether all approving is stopped now. It stays so while ``lock_for_judging`` is held."""
    return Hold.objects.filter(active=True).exists()


class Standing(NamedTuple):
    """What every answer of a person depends on besides the request, at one moment under the lock.

    Attributes:
        revision: The number of the policy's revision that holds.
    """

    person: User
    revision: int
    held: bool
    now: datetime


@rows(User.id)
def _standing(person_id: int) -> QuerySet[User]:
    newest = PolicyRevision.objects.order_by("-number").values("number")[:1]
    on_hold = Exists(Hold.objects.filter(active=True))
    people = User.objects.filter(pk=person_id)
    return people.annotate(revision=Subquery(newest), held=on_hold, now=Now()).order_by()


def standing(person_id: int) -> Standing | None:
    """Read how a person stands now: their rights may be gone. None if there is no such person."""
    person = _standing.first(person_id)
    if person is None:
        return None
    columns = vars(person)
    return Standing(person, columns["revision"], bool(columns["held"]), now_in(person))


class Judged(NamedTuple):
    """The judgement that counts, and what else there is about a request that somebody answers.

    Attributes:
        assigned: Somebody who may decide is on it.
        voted: Somebody approved it, or an edit of it.
        viewed: The person who answers has viewed it before.
    """

    judgement: Judgement
    assigned: bool
    voted: bool
    viewed: bool


@rows(ApprovalRequest.id, User.id)
def _judged(approval_id: UUID, person_id: int) -> QuerySet[Judgement]:
    this = {"approval": OuterRef("approval")}
    return (
        Judgement.objects.filter(approval_id=approval_id)
        .annotate(
            assigned=Exists(Assignment.objects.counting().filter(**this)),
            voted=Exists(Vote.objects.filter(**this)),
            viewed=Exists(View.objects.filter(person=person_id, **this)),
        )
        .order_by("-id")[:1]
    )


def judged(approval_id: UUID, person_id: int) -> Judged:
    """Read what a person's answer to a request is about."""
    [judgement] = _judged(approval_id, person_id)
    columns = vars(judgement)
    return Judged(judgement, *(bool(columns[name]) for name in Judged._fields[1:]))


@rows(ApprovalRequest.id)
def votes_of(approval_id: UUID) -> QuerySet[Vote]:
    """Every vote for a request or an edit of it, in order, with its person."""
    votes = Vote.objects.filter(approval_id=approval_id).select_related("person")
    return votes.defer("shown").order_by("id")
