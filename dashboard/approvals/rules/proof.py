"""Whether the tables say what the audit log says of them. Reads only.

The chain proves that nobody changed the log. What pages show and agents are told is read from
the tables, so the tables are compared with it: each row that an entry describes has to be there
and say the same, and no row may be there that no entry describes.

Databases that are older than a fingerprint have entries without it: those are compared by what
they do say.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Model, QuerySet

from approval_client.wire import Source, Status, digest, parse_json
from dashboard.accounts.models import Agent, AgentToken, Group, User
from dashboard.accounts.services import passkeys
from dashboard.accounts.tokens import token_fingerprint
from dashboard.approvals.models import (
    FINAL,
    ApprovalRequest,
    Assignment,
    Decision,
    Edit,
    Grant,
    Hold,
    Inspection,
    Judgement,
    Notebook,
    NotebookPin,
    Outcome,
    Recall,
    RequestHeadline,
    Tool,
    Vote,
)
from dashboard.approvals.rules.fingerprint import fingerprint_of, fits, tool_fingerprint
from dashboard.approvals.rules.signature import why_wrong
from dashboard.audit.actions import Action
from dashboard.audit.models import AuditEntry
from dashboard.audit.names import agent_name, user_name
from dashboard.audit.services import OPERATOR, Actor
from dashboard.inspection.findings import Report
from dashboard.policies.evaluate import EVERYTHING_TO_A_PERSON, Effect
from dashboard.policies.models import PolicyProposal, PolicyRevision
from dashboard.policies.rules.demands import Required

_LOG_PAGE, _ROWS = 20_000, 50
_CLOSED = {Action(f"approval.{status}") for status in FINAL}


class Disagreement(NamedTuple):
    """Something that the tables and the log say differently.

    Attributes:
        key: Which row or entry, for ``Part.check``.
        said: A sentence without its full stop.
    """

    key: Any
    said: str


class ProofPart(NamedTuple):
    """One kind of rows, compared some at a time.

    Attributes:
        name: What a place begins with.
        rows: What is compared; None for the entries of the log.
        read: Given where to go on, returns keys and where to go on after them, or None.
        check: Given keys, yields what they say differently.
    """

    name: str
    rows: Callable[[], QuerySet[Any]] | None
    read: Callable[[str], tuple[list[Any], str | None]]
    check: Callable[[Sequence[Any]], Iterator[Disagreement]]


class LoggedEntry(NamedTuple):
    """One entry of the log, as far as a comparison needs it."""

    seq: int
    actor: str
    auth: str
    action: str
    subject: str
    digest: str
    details: dict[str, Any]


class LogStory:
    """What the log says of one subject, in order."""

    def __init__(self, entries: Iterable[LoggedEntry]) -> None:
        self.entries = list(entries)

    def of(self, *actions: str) -> list[LoggedEntry]:
        """The entries of these kinds."""
        return [entry for entry in self.entries if entry.action in actions]

    def last(self, *actions: str) -> LoggedEntry | None:
        """The last entry of these kinds."""
        return next(iter(reversed(self.of(*actions))), None)


def _stories(subjects: Iterable[str], *actions: str) -> Mapping[str, LogStory]:
    # The chain begins with entry 1, so what stands before that is proof of nothing.
    entries = AuditEntry.objects.filter(subject__in=list(subjects), seq__gte=1).order_by("seq")
    if actions:
        entries = entries.filter(action__in=actions)
    entries_by_subject = defaultdict[str, list[LoggedEntry]](list)
    for row in entries.values_list(*LoggedEntry._fields):
        entry = LoggedEntry(*row)
        entries_by_subject[entry.subject].append(entry._replace(details=json.loads(row[-1])))
    return defaultdict(
        lambda: LogStory([]),
        {name: LogStory(all_of) for name, all_of in entries_by_subject.items()},
    )


# --- requests, with everything that hangs on them ------------------------------------------------


class _Rows:
    """The rows of some requests, a statement a table."""

    def __init__(self, ids: Sequence[UUID]) -> None:
        requests = ApprovalRequest.objects.select_related(
            "agent",
            "token",
            "tool",
            "decision__decided_by",
            "decision__judgement__inspection",
            "decision__judgement__revision",
            "decision__edit",
            "decision__repeats",
            "closing",
            "recall__person",
            "assignment",
        )
        self.requests = requests.in_bulk(list(ids))
        self.stories = _stories(str(pk) for pk in ids)
        of_these = {"approval__in": list(ids)}
        judgements = Judgement.objects.select_related("inspection", "grounds").filter(**of_these)
        self.judgements = self._by_request(judgements)
        for judgement in chain.from_iterable(self.judgements.values()):
            judgement.inspection.approval = judgement.approval
        headlines = RequestHeadline.objects.filter(approval__in=list(ids))
        self.headlines = {row.approval_id: row for row in headlines}
        of_edits = RequestHeadline.objects.filter(edit__approval__in=list(ids))
        self.headlines_of_edits = {row.edit_id: row for row in of_edits.select_related("edit")}
        inspections = Inspection.objects.filter(**of_these)
        self.inspections = set(inspections.values_list("approval", "pk"))
        self.edits = self._by_request(
            Edit.objects.select_related("edited_by", "grounds").filter(**of_these)
        )
        votes = Vote.objects.select_related(
            "person",
            "judgement__inspection",
            "judgement__revision",
            "edit",
            "signature__passkey__confirmation",
            "signature__passkey__removal",
        )
        self.votes = self._by_request(votes.filter(**of_these))
        self.outcomes = self._by_request(Outcome.objects.filter(**of_these))
        pins = NotebookPin.objects.filter(**of_these)
        self.pins = dict(pins.values_list("approval", "notebook"))

    def _by_request(self, rows: QuerySet[Any]) -> Mapping[UUID, list[Any]]:
        rows_by_request = defaultdict[UUID, list[Any]](list)
        for row in rows.order_by("id"):
            row.approval = self.requests[row.approval_id]
            rows_by_request[row.approval_id].append(row)
        return rows_by_request


def _check_requests(ids: Sequence[UUID]) -> Iterator[Disagreement]:
    rows = _Rows(ids)
    for pk, approval in rows.requests.items():
        try:
            differences = list(_Request(approval, rows).differences())
        except (AttributeError, KeyError, TypeError, ValueError):
            differences = ["what is stored of it cannot be read"]
        for difference in differences:
            yield Disagreement(pk, f"request {pk}: {difference}")


class _Request:
    """One request, its rows, and what the log says of it."""

    def __init__(self, approval: ApprovalRequest, rows: _Rows) -> None:
        self.approval, self.rows = approval, rows
        self.story = rows.stories[str(approval.pk)]

    @cached_property
    def decision(self) -> Decision | None:
        return getattr(self.approval, "decision", None)

    def differences(self) -> Iterator[str]:
        submitted = self.story.of(Action.APPROVAL_SUBMITTED)
        if len(submitted) != 1:
            yield "no entry of the log says that it was asked"
            return
        yield from self._asked(submitted[0])
        yield from self._judged()
        yield from self._edited()
        yield from self._closed()
        yield from self._voted()
        yield from self._signed()
        yield from self._reported()
        yield from self._recalled()
        yield from self._handed_over()
        yield from self._time(submitted[0])

    def _asked(self, entry: LoggedEntry) -> Iterator[str]:
        approval = self.approval
        if _digest(approval.kind, approval.content) != approval.digest:
            yield "its content is not the one that its digest names"
        if approval.digest != entry.digest:
            yield "its digest is not the one in the log"
        asked_by = Actor.of_agent(approval.agent.name, approval.token.prefix)
        if asked_by != (entry.actor, entry.auth):
            yield f"it is of {asked_by[0]}, and the log says {entry.actor}"
        if _differs(entry, approval):
            yield "what was asked is not what the log says"
        tool = approval.tool
        if entry.details.get("tool_schema") != (tool and tool.schema_digest):
            yield "the schema of its tool is not the one in the log"
        if tool and (tool.agent_id, tool.name) != (approval.agent_id, _tool_in(approval)):
            yield "its tool is another one than its content names"
        if self._is_another_headline(entry, self.rows.headlines.get(approval.pk)):
            yield "its headline is not what the log says"
        yield from self._notebook(entry)

    def _is_another_headline(self, entry: LoggedEntry, headline: RequestHeadline | None) -> bool:
        """Whether it is gone or another one. One that was made later is named in no entry."""
        if "headline" not in entry.details:
            return False
        if headline is None:
            return True
        if headline.edit:
            headline.edit.approval = self.approval
        else:
            headline.approval = self.approval
        return _differs(entry, headline, "headline")

    def _notebook(self, entry: LoggedEntry) -> Iterator[str]:
        pinned = self.rows.pins.get(self.approval.pk)
        digest = entry.details.get("notebook")
        if pinned is None:
            if digest:
                yield "its notebook is gone"
            return
        notebook = Notebook.objects.get(pk=pinned)
        if notebook.digest != digest or _sha256(notebook.body) != digest:
            yield "its notebook is not the one in the log"

    def _judged(self) -> Iterator[str]:
        entries = self.story.of(Action.APPROVAL_JUDGED)
        judgements = self.rows.judgements[self.approval.pk]
        if len(entries) != len(judgements):
            yield f"it has {len(judgements)} judgements, and the log has {len(entries)}"
            return
        inspection_ids = {judgement.inspection_id for judgement in judgements}
        if {pk for of, pk in self.rows.inspections if of == self.approval.pk} != inspection_ids:
            yield "it has an inspection that no judgement rests on"
        for entry, judgement in zip(entries, judgements, strict=True):
            # A judgement that a grant answered at once is recorded under the grant's name.
            policy = entry.actor if entry.actor.startswith("policy:") else entry.auth
            report = judgement.inspection.report
            columns = {
                "effect": judgement.effect,
                "demands": judgement.demands,
                "trace": json.loads(judgement.trace),
                "findings": sorted(Report.from_json(report).names),
            }
            if policy != f"policy:{judgement.revision_id}" or _detailed(entry, columns):
                yield "what the policy said of it is not what the log says"
            elif _differs(entry, judgement) or _differs(entry, judgement.inspection, "inspection"):
                yield "what was found in it is not what the log says"
            elif _has_other_grounds(entry, judgement):
                yield "what a judgement of it rests on is not what the log says"

    def _edited(self) -> Iterator[str]:
        entries, edits = self.story.of(Action.APPROVAL_EDITED), self.rows.edits[self.approval.pk]
        if len(entries) != len(edits):
            yield f"it has {len(edits)} edits, and the log has {len(entries)}"
            return
        for entry, edit in zip(entries, edits, strict=True):
            by = user_name(edit.edited_by.username)
            is_named = _digest(self.approval.kind, edit.content) == edit.digest
            is_said = (edit.digest, by) == (entry.digest, entry.actor)
            if not (is_named and is_said) or _differs(entry, edit):
                yield "an edit of it is not what the log says"
            elif _has_other_grounds(entry, edit):
                yield "what the judgement of an edit rests on is not what the log says"
            elif self._is_another_headline(entry, self.rows.headlines_of_edits.get(edit.pk)):
                yield "the headline of an edit is not what the log says"

    def _closed(self) -> Iterator[str]:
        entries = [entry for entry in self.story.entries if entry.action in _CLOSED]
        status, decision = self.approval.status, self.decision
        if len(entries) > 1:
            yield "the log says twice that it was closed"
        elif not entries:
            if status != Status.PENDING or decision or hasattr(self.approval, "closing"):
                yield f"it is {status}, and no entry of the log says so"
        else:
            [entry] = entries
            logged_status = entry.action.removeprefix("approval.")
            if status != logged_status:
                yield f"it is {status}, and the log says {logged_status}"
            elif decision is None:
                yield "its decision is gone"
            else:
                yield from self._decided(entry, decision)

    def _decided(self, entry: LoggedEntry, decision: Decision) -> Iterator[str]:
        status = entry.action.removeprefix("approval.")
        if decision.status != status:
            yield f"its decision says {decision.status}, and the log says {status}"
        if decision.digest != entry.digest:
            yield "its decision is about another content than the log says"
        by = user_name(decision.decided_by.username) if decision.decided_by else None
        if decision.source == Source.REVIEWER and by != entry.actor:
            yield f"it was decided by {by}, and the log says {entry.actor}"
        if decision.source != Source.REVIEWER and by:
            yield f"it names {by} as whoever decided, and the log says {entry.actor}"
        if decision.source == Source.GRANT and entry.actor != f"grant:{decision.grant_id}":
            yield f"it was answered by grant:{decision.grant_id}, and the log says {entry.actor}"
        columns = {
            "source": decision.source,
            "reason": decision.reason,
            "approved_by": json.loads(decision.counted),
            "judgement": decision.judgement_id,
            "edit": decision.edit_id,
            "repeats": decision.repeats and str(decision.repeats.approval_id),
        }
        for name in _detailed(entry, columns):
            yield f"the {name} of its decision is not what the log says"
        if _differs(entry, decision):
            yield "its decision is not what the log says"
        closing = getattr(self.approval, "closing", None)
        place = (entry.seq, self.approval.agent_id, decision.decided_at)
        if not closing or (closing.seq, closing.agent_id, closing.decided_at) != place:
            yield "its place among what was closed is not the one in the log"

    def _voted(self) -> Iterator[str]:
        votes = self.rows.votes[self.approval.pk]
        entries = self.story.of(Action.APPROVAL_VOTED)
        rows = [_vote_as_said(vote) for vote in votes]
        logged_votes = [(entry.actor, entry.digest) for entry in entries]
        reasons = [entry.details.get("reason") for entry in entries]
        prints = [entry.details.get("row") for entry in entries]
        closed = self.story.last(Action.APPROVAL_APPROVED)
        if closed and closed.details.get("source") == Source.REVIEWER:
            is_told = "vote" in closed.details
            # Older entries do not say whether a vote came with the decision.
            if is_told or ("row" not in closed.details and len(rows) == len(logged_votes) + 1):
                logged_votes.append((closed.actor, closed.digest))
                reasons.append(closed.details.get("reason"))
                prints.append(closed.details.get("vote"))
        has_other_reason = any(
            logged_votes not in (None, vote.reason)
            for logged_votes, vote in zip(reasons, votes, strict=False)
        )
        if logged_votes != rows or has_other_reason:
            yield "the votes for it are not those in the log"
        elif any(p and not fits(v, p) for p, v in zip(prints, votes, strict=True)):
            yield "a vote for it is not what the log says"

    def _signed(self) -> Iterator[str]:
        """Check each signature again, and that there is one wherever the policy demanded it."""
        votes = self.rows.votes[self.approval.pk]
        logged = Counter(
            entry.details["signature"]
            for entry in self.story.entries
            if "signature" in entry.details
        )
        signed_votes = [vote for vote in votes if hasattr(vote, "signature")]
        if Counter(fingerprint_of(vote.signature) for vote in signed_votes) != logged:
            yield "the signatures under its approvals are not those in the log"
        for vote in votes:
            yield from self._signature_of(vote)
        decision = self.decision
        if decision and decision.status == Status.APPROVED and self._needs_signature(decision):
            yield from self._signed_by_all(decision, signed_votes)

    def _signature_of(self, vote: Vote) -> Iterator[str]:
        if vote.digest != (vote.edit or self.approval).digest:
            yield f"{vote.person.username} approved another content than it has"
        if hasattr(vote, "signature"):
            vote.signature.vote = vote
            if wrong := why_wrong(vote):
                yield f"the signature of {vote.person.username} under it does not count: {wrong}"
        elif self._needs_signature(vote):
            yield f"{vote.person.username} approved it without the signature that was demanded"

    def _signed_by_all(self, decision: Decision, signed_votes: Iterable[Vote]) -> Iterator[str]:
        """See that whose approval counted, and as many as were demanded, signed just this."""
        of_this = (decision.edit_id, decision.digest)
        signers = {
            vote.person.username
            for vote in signed_votes
            if (vote.edit_id, vote.digest) == of_this and not why_wrong(vote)
        }
        names = set(json.loads(decision.counted))
        demanded = max(demands.approvals for demands in self._demands(decision))
        if not names <= signers or len(names) < demanded:
            yield "it was approved without the signatures that the policy demanded"

    def _needs_signature(self, row: Vote | Decision) -> bool:
        """Whether the policy demanded a signature of whoever approved."""
        return any(demands.proof for demands in self._demands(row))

    def _demands(self, row: Vote | Decision) -> list[Required]:
        """What the policy demanded of a person; nothing where it asked nobody."""
        judgement, edit = row.judgement, row.edit
        if judgement is None:
            return []
        judgement.approval = self.approval
        if edit is None:
            is_review = judgement.effect == Effect.REVIEW
            return [Required.from_json(judgement.demands)] if is_review else []
        # Of what was kept. To judge it again would go by the class that its tool has now.
        return [Required.from_json(source.demands) for source in (judgement, edit)]

    def _reported(self) -> Iterator[str]:
        outcomes = self.rows.outcomes[self.approval.pk]
        entries = self.story.of(Action.OUTCOME_STARTED, Action.OUTCOME_FINISHED)
        rows = [(f"outcome.{each.state}", each.digest) for each in outcomes]
        logged_outcomes = [(entry.action, entry.digest) for entry in entries]
        if rows != logged_outcomes or any(map(_differs, entries, outcomes)):
            yield "what its agent reported is not what the log says"

    def _recalled(self) -> Iterator[str]:
        entries = self.story.of(Action.APPROVAL_RECALLED)
        recall: Recall | None = getattr(self.approval, "recall", None)
        if len(entries) > 1:
            yield "the log says twice that it was taken back"
        elif recall is None:
            if entries:
                yield "the log says that it was taken back, and it does not say so"
        elif not entries:
            yield "it was taken back, and no entry of the log says so"
        else:
            [entry] = entries
            place = (entry.seq, entry.actor, self.approval.agent_id)
            by = user_name(recall.person.username)
            if (recall.seq, by, recall.agent_id) != place or _differs(entry, recall):
                yield "who took it back, when or why is not what the log says"

    def _handed_over(self) -> Iterator[str]:
        """Compare who is on it with the entry of the hand-over, as long as that is the last."""
        hand_over = self.story.last(
            Action.APPROVAL_SELF_ASSIGNED, Action.APPROVAL_TAKEN_OVER, Action.APPROVAL_HANDED_OVER
        )
        assignment: Assignment | None = getattr(self.approval, "assignment", None)
        is_last = hand_over is not None and hand_over.action == Action.APPROVAL_HANDED_OVER
        if hand_over and is_last and assignment and _differs(hand_over, assignment):
            yield "whom it was handed over to, or the note, is not what the log says"

    def _time(self, submitted: LoggedEntry) -> Iterator[str]:
        """Follow the time limit through extensions, and through policies that shortened it."""
        if "expires_at" not in submitted.details:
            return
        expires_at = datetime.fromisoformat(submitted.details["expires_at"])
        judgement_count = 0
        for entry in self.story.of(Action.APPROVAL_EXTENDED, Action.APPROVAL_JUDGED):
            if entry.action == Action.APPROVAL_EXTENDED:
                expires_at = datetime.fromisoformat(entry.details["until"])
                continue
            judgement_count += 1
            limit_s = Required.from_json(entry.details["demands"]).time_limit_s
            if judgement_count > 1 and limit_s is not None and entry.details["effect"] != "reject":
                until = self.approval.submitted_at + timedelta(seconds=limit_s)
                expires_at = min(expires_at, until)
        if expires_at != self.approval.expires_at:
            yield "its time limit is not the one in the log"


def _vote_as_said(vote: Vote) -> tuple[str, str]:
    return user_name(vote.person.username), vote.digest


def _differs(entry: LoggedEntry, row: Model, name: str = "row") -> bool:
    return name in entry.details and not fits(row, entry.details[name])


def _has_other_grounds(entry: LoggedEntry, of: Judgement | Edit) -> bool:
    """Whether they are gone or others. What was made later is named in no entry."""
    if "grounds" not in entry.details:
        return False
    return not hasattr(of, "grounds") or _differs(entry, of.grounds, "grounds")


_TEXTS = {"reason", "trace", "run", "tool"}


def _detailed(entry: LoggedEntry, columns: Mapping[str, Any]) -> list[str]:
    """Name what an entry and a row say differently. What is empty stands in no entry.

    Texts stand in old entries only; since then the fingerprint of the row stands for them.
    """
    is_old = "row" not in entry.details
    return [
        name
        for name, value in columns.items()
        if not (name not in entry.details and (is_old or name in _TEXTS))
        and (entry.details.get(name) or None) != (value or None)
    ]


def _digest(kind: str, content: str) -> str:
    try:
        return digest(kind, parse_json(content))
    except ValueError:
        return ""


def _sha256(body: Any) -> str:
    return hashlib.sha256(bytes(body)).hexdigest()


# --- grants --------------------------------------------------------------------------------------


def _check_grants(keys: Sequence[int]) -> Iterator[Disagreement]:
    joined = Grant.objects.select_related("agent", "made_by", "made_from", "ended_by")
    grants = joined.defer("made_from__content", "made_from__evidence").in_bulk(list(keys))
    stories = _stories(f"grant:{pk}" for pk in keys)
    decisions = Decision.objects.filter(grant__in=list(keys)).values_list("grant", flat=True)
    used = Counter(decisions.order_by())
    for pk, grant in grants.items():
        for difference in _of_grant(grant, stories[f"grant:{pk}"], used[pk]):
            yield Disagreement(pk, f"grant {pk}: {difference}")


def _of_grant(grant: Grant, story: LogStory, used: int) -> Iterator[str]:
    making = story.of(Action.GRANT_MADE)
    if len(making) != 1:
        yield "no entry of the log says that it was made"
        return
    [entry] = making
    columns = {
        "agent": grant.agent.name,
        "run": grant.run_id,
        "scope": grant.scope,
        "kind": grant.kind,
        "tool": grant.tool,
        "most_uses": grant.most_uses,
        "made_from": str(grant.made_from_id),
        "edit": grant.edit_id,
    }
    ends = datetime.fromisoformat(entry.details["expires_at"])
    is_same = (grant.digest, grant.expires_at) == (entry.digest, ends)
    if not is_same or _detailed(entry, columns) or _differs(entry, grant):
        yield "its terms are not those in the log"
    ended = story.last(Action.GRANT_ENDED)
    because = ended.details.get("because") if ended else ""
    if bool(grant.ended_at) != bool(ended) or grant.ended_because != because:
        yield (
            "it was ended, and the log does not say so"
            if grant.ended_at
            else ("it is in force, and the log says that it was ended")
        )
    by = grant.ended_by and user_name(grant.ended_by.username)
    # Whom no column names ended it for a policy, an agent or an operator.
    if by and ended and ended.actor != by:
        yield f"it says that {by} ended it, and the log says {ended.actor}"
    if grant.uses != used:
        yield f"it says that it was used {grant.uses} times, and it answered {used} requests"


# --- policies ------------------------------------------------------------------------------------


def _check_revisions(keys: Sequence[int]) -> Iterator[Disagreement]:
    revisions = PolicyRevision.objects.select_related("author", "confirmed_by")
    stories = _stories((f"policy:{number}" for number in keys), Action.POLICY_PUBLISHED)
    for number, revision in revisions.in_bulk(list(keys)).items():
        entry = stories[f"policy:{number}"].last(Action.POLICY_PUBLISHED)
        if number == 1 and entry is None:  # made by itself, and asks a person about everything
            same = _json(revision.document) == _json(EVERYTHING_TO_A_PERSON.to_json())
        else:
            same = entry is not None and not _detailed(entry, _published(revision))
        if not same:
            yield Disagreement(number, f"policy revision {number} is not what the log says")


def _published(revision: PolicyRevision) -> dict[str, Any]:
    author, second = revision.author, revision.confirmed_by
    return {
        "policy": _json(revision.document),
        "note": revision.note,
        "author": author and author.username,
        "loosened": _json(revision.loosened),
        "confirmed_by": second and second.username,
    }


def _check_proposals(keys: Sequence[int]) -> Iterator[Disagreement]:
    stories = _stories((f"policy_proposal:{pk}" for pk in keys), Action.POLICY_PROPOSED)
    proposals = PolicyProposal.objects.select_related("author").in_bulk(list(keys))
    for pk, proposal in proposals.items():
        entry = stories[f"policy_proposal:{pk}"].last(Action.POLICY_PROPOSED)
        by = proposal.author.username
        columns = {"policy": _json(proposal.document), "note": proposal.note, "author": by}
        # `import_policy` is the operator, and older entries of it do not name the author.
        actors = {user_name(by), OPERATOR.name}
        if entry is None or _detailed(entry, columns) or entry.actor not in actors:
            yield Disagreement(pk, f"the proposed policy {pk} is not what the log says")


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


# --- people, agents, holds -----------------------------------------------------------------------


def _check_people(keys: Sequence[int]) -> Iterator[Disagreement]:
    people = User.objects.in_bulk(list(keys))
    changes = (
        Action.PERSON_ADDED,
        Action.PERSON_ROLES_CHANGED,
        Action.PERSON_DEACTIVATED,
        Action.PERSON_REACTIVATED,
    )
    stories = _stories((user_name(person.username) for person in people.values()), *changes)
    for pk, person in people.items():
        story = stories[user_name(person.username)]
        roles_entry = story.last(Action.PERSON_ADDED, Action.PERSON_ROLES_CHANGED)
        active = story.last(Action.PERSON_DEACTIVATED, Action.PERSON_REACTIVATED)
        if roles_entry is None:
            difference = "no entry of the log says that they were added"
        elif roles_entry.details["roles"] != person.roles:
            difference = f"their roles are {_listed(person.roles)}, and the log says "
            difference += _listed(roles_entry.details["roles"])
        elif person.is_active != (active is None or active.action == Action.PERSON_REACTIVATED):
            difference = (
                f"they are {'' if person.is_active else 'not '}active, and the log says otherwise"
            )
        else:
            continue
        yield Disagreement(pk, f"person {person.username}: {difference}")


def _listed(roles: Sequence[str]) -> str:
    return ", ".join(roles) or "none"


def _check_passkeys(keys: Sequence[int]) -> Iterator[Disagreement]:
    people = User.objects.prefetch_related(
        "passkeys__confirmation__confirmed_by", "passkeys__removal__removed_by"
    ).in_bulk(list(keys))
    actions = (Action.PASSKEY_ADDED, Action.PASSKEY_CONFIRMED, Action.PASSKEY_REMOVED)
    stories = _stories((user_name(person.username) for person in people.values()), *actions)
    for pk, person in people.items():
        story = stories[user_name(person.username)]
        logged = [
            (entry.action, entry.details.get("passkey"), entry.actor, entry.details.get("row"))
            for entry in story.entries
        ]
        if Counter(logged) != Counter(_passkey_rows(person)):
            sentence = f"person {person.username}: their passkeys are not those in the log"
            yield Disagreement(pk, sentence)


def _passkey_rows(person: User) -> Iterator[tuple[str, int, str, str]]:
    """What the log has to say of a person's passkeys: action, which, by whom, and the row."""
    name = user_name(person.username)
    for passkey in person.passkeys.all():
        yield Action.PASSKEY_ADDED, passkey.pk, name, passkeys.fingerprint_of(passkey)
        if hasattr(passkey, "confirmation"):
            confirmation = passkey.confirmation
            by = user_name(confirmation.confirmed_by.username)
            yield Action.PASSKEY_CONFIRMED, passkey.pk, by, passkeys.fingerprint_of(confirmation)
        if hasattr(passkey, "removal"):
            removal = passkey.removal
            by = user_name(removal.removed_by.username) if removal.removed_by else OPERATOR.name
            yield Action.PASSKEY_REMOVED, passkey.pk, by, passkeys.fingerprint_of(removal)


def _check_groups(keys: Sequence[int]) -> Iterator[Disagreement]:
    groups = Group.objects.prefetch_related("members").in_bulk(list(keys))
    stories = _stories(f"group:{group.name}" for group in groups.values())
    for pk, group in groups.items():
        latest = stories[f"group:{group.name}"].last(
            Action.GROUP_ADDED, Action.GROUP_MEMBERS_CHANGED, Action.GROUP_DELETED
        )
        members = sorted(member.username for member in group.members.all())
        if latest is None or latest.action == Action.GROUP_DELETED:
            yield Disagreement(pk, f"no entry of the log says that group {group.name} was added")
        elif members != latest.details.get("members", []):
            yield Disagreement(pk, f"who is in group {group.name} is not what the log says")


def _check_agents(keys: Sequence[int]) -> Iterator[Disagreement]:
    agents = Agent.objects.select_related("owner").prefetch_related("tokens").in_bulk(list(keys))
    stories = _stories(agent_name(agent.name) for agent in agents.values())
    for pk, agent in agents.items():
        for difference in _of_agent(agent, stories[agent_name(agent.name)]):
            yield Disagreement(pk, f"agent {agent.name}: {difference}")


def _of_agent(agent: Agent, story: LogStory) -> Iterator[str]:
    added = story.last(Action.AGENT_ADDED)
    if added is None:
        yield "no entry of the log says that it was added"
        return
    if added.details.get("owner") != (agent.owner and agent.owner.username):
        yield "its owner is not the one in the log"
    active = story.last(Action.AGENT_DEACTIVATED, Action.AGENT_REACTIVATED)
    if agent.is_active != (active is None or active.action == Action.AGENT_REACTIVATED):
        yield f"it is {'' if agent.is_active else 'not '}active, and the log says otherwise"
    revoked = Counter(entry.details["token"] for entry in story.of(Action.TOKEN_REVOKED))
    tokens = list(agent.tokens.all())
    if Counter(token.prefix for token in tokens if token.revoked_at) != revoked:
        yield "which of its tokens were revoked is not what the log says"
    issued = story.of(Action.TOKEN_ISSUED)
    if Counter(map(_token, tokens)) != Counter(map(_issued, issued)):
        yield "its tokens are not those in the log"
    prints = {entry.details["row"] for entry in issued if "row" in entry.details}
    if not prints <= {token_fingerprint(token) for token in tokens}:
        yield "a token of it is not the one in the log"


def _token(token: AgentToken) -> tuple[str, datetime | None]:
    return token.prefix, token.expires_at


def _issued(entry: LoggedEntry) -> tuple[str, datetime | None]:
    ends = entry.details.get("expires_at")
    return entry.details["token"], datetime.fromisoformat(ends) if ends else None


def _check_tools(keys: Sequence[int]) -> Iterator[Disagreement]:
    tools = Tool.objects.select_related("classed_by", "agent").in_bulk(list(keys))
    stories = _stories(f"tool:{pk}" for pk in tools)
    for pk, tool in tools.items():
        latest = stories[f"tool:{pk}"].last(Action.TOOL_CLASSED)
        if latest and not _is_same_tool(latest, tool):
            yield Disagreement(pk, f"tool {pk} is not the one that was classed, by the log")
        by = tool.classed_by and user_name(tool.classed_by.username)
        logged = (latest.details["class"], latest.actor) if latest else ("", None)
        if (tool.tool_class, by) != logged:
            yield Disagreement(pk, f"how tool {pk} is classed is not what the log says")


def _is_same_tool(entry: LoggedEntry, tool: Tool) -> bool:
    logged = (entry.details["agent"], entry.details["schema"])
    if logged != (agent_name(tool.agent.name), tool.schema_digest):
        return False
    row = tool_fingerprint(tool)
    return bool(entry.details.get("row", row) == row)


def _tool_in(approval: ApprovalRequest) -> str:
    try:
        return str(parse_json(approval.content)["tool"])
    except (ValueError, TypeError, KeyError):  # it was changed, which is said already
        return ""


def _check_holds(_: Sequence[int]) -> Iterator[Disagreement]:
    holds = Hold.objects.select_related("placed_by", "lifted_by").order_by("id")
    rows = [_hold(hold) for hold in holds]
    logged_holds: list[tuple[str, str, str | None]] = []
    for entry in _stories([""], Action.HOLD_PLACED, Action.HOLD_LIFTED)[""].entries:
        if entry.action == Action.HOLD_PLACED:
            logged_holds.append((entry.actor, entry.details["reason"], None))
        else:
            logged_holds[-1:] = [(*logged_holds[-1][:2], entry.actor)]
    if rows != logged_holds:
        yield Disagreement(0, "when everything was on hold is not what the log says")


def _hold(hold: Hold) -> tuple[str, str, str | None]:
    lifted = None if hold.active else user_name(str(hold.lifted_by and hold.lifted_by.username))
    return user_name(hold.placed_by.username), hold.reason, lifted


# --- what the log says was made ------------------------------------------------------------------


def _check_log(keys: Sequence[int]) -> Iterator[Disagreement]:
    """Look for what entries say was made, and is not there."""
    entries_by_action: dict[str, list[LoggedEntry]] = defaultdict(list)
    for row in AuditEntry.objects.filter(pk__in=list(keys)).values_list(*LoggedEntry._fields):
        entry = LoggedEntry(*row)
        entries_by_action[entry.action].append(entry)
    for action, entries in entries_by_action.items():
        present = _PRESENT[action](
            [entry.subject.partition(":")[2] or entry.subject for entry in entries]
        )
        for entry in entries:
            name = entry.subject.partition(":")[2] or entry.subject
            if name not in present:
                sentence = (
                    f"entry {entry.seq} of the log says that {entry.subject} was made: it is gone"
                )
                yield Disagreement(entry.seq, sentence)


def _requests(ids: list[str]) -> set[str]:
    rows = ApprovalRequest.objects.filter(pk__in=[UUID(text) for text in ids])
    return {str(pk) for pk in rows.values_list("pk", flat=True)}


def _by(rows: QuerySet[Any], field: str) -> Callable[[list[str]], set[str]]:
    def present(names: list[str]) -> set[str]:
        present_names = rows.filter(**{f"{field}__in": names}).values_list(field, flat=True)
        return {str(name) for name in present_names}

    return present


def _groups(names: list[str]) -> set[str]:
    """Groups that are there, and those that were deleted, as the log says."""
    stories = _stories((f"group:{name}" for name in names), Action.GROUP_DELETED)
    deleted = {subject.partition(":")[2] for subject, story in stories.items() if story.entries}
    return deleted | _by(Group.objects.all(), "name")(names)


_PRESENT: dict[str, Callable[[list[str]], set[str]]] = {
    Action.APPROVAL_SUBMITTED: _requests,
    Action.GRANT_MADE: _by(Grant.objects.all(), "pk"),
    Action.POLICY_PUBLISHED: _by(PolicyRevision.objects.all(), "number"),
    Action.POLICY_PROPOSED: _by(PolicyProposal.objects.all(), "pk"),
    Action.PERSON_ADDED: _by(User.objects.all(), "username"),
    Action.AGENT_ADDED: _by(Agent.objects.all(), "name"),
    Action.GROUP_ADDED: _groups,
    Action.TOOL_CLASSED: _by(Tool.objects.all(), "pk"),
}


def _read_log(place: str) -> tuple[list[Any], str | None]:
    start = int(place or 0)
    entries = AuditEntry.objects.filter(seq__gt=start, seq__lte=start + _LOG_PAGE)
    of_making = entries.filter(action__in=list(_PRESENT)).order_by("seq")
    last_seq = AuditEntry.objects.order_by("-seq").values_list("seq", flat=True).first() or 0
    more = str(start + _LOG_PAGE) if last_seq > start + _LOG_PAGE else None
    return list(of_making.values_list("seq", flat=True)), more


# --- all of it -----------------------------------------------------------------------------------


def _rows(
    name: str,
    rows: Callable[[], QuerySet[Any]],
    check: Callable[[Sequence[Any]], Iterator[Disagreement]],
) -> ProofPart:
    """A part that goes through a table in the order of its keys."""

    def read(place: str) -> tuple[list[Any], str | None]:
        remaining = rows().order_by("pk").values_list("pk", flat=True)
        keys = list((remaining.filter(pk__gt=place) if place else remaining)[:_ROWS])
        return keys, str(keys[-1]) if len(keys) == _ROWS else None

    return ProofPart(name, rows, read, check)


def _all_holds(_: str) -> tuple[list[Any], None]:
    return [0], None


PARTS = (
    ProofPart("log", None, _read_log, _check_log),
    _rows("requests", ApprovalRequest.objects.all, _check_requests),
    _rows("grants", Grant.objects.all, _check_grants),
    _rows("revisions", PolicyRevision.objects.all, _check_revisions),
    _rows("proposals", PolicyProposal.objects.all, _check_proposals),
    _rows(
        "people", User.objects.all, lambda keys: chain(_check_people(keys), _check_passkeys(keys))
    ),
    _rows("groups", Group.objects.all, _check_groups),
    _rows("agents", Agent.objects.all, _check_agents),
    _rows("tools", Tool.objects.all, _check_tools),
    ProofPart("holds", Hold.objects.all, _all_holds, _check_holds),
)
"""Everything that is compared, in this order."""


class ProofStep(NamedTuple):
    """Some rows to compare.

    Attributes:
        part: Which kind they are.
        keys: Which ones.
        then: The place after them; empty at the end.
    """

    part: ProofPart
    keys: list[Any]
    then: str


def step_at(place: str) -> ProofStep:
    """Read what is compared next. A place is a part's name, a colon and a key."""
    name, _, key = place.partition(":")
    index = next(number for number, part in enumerate(PARTS) if part.name == name)
    keys, more = PARTS[index].read(key)
    if more is not None:
        then = f"{name}:{more}"
    else:
        then = f"{PARTS[index + 1].name}:" if index + 1 < len(PARTS) else ""
    return ProofStep(PARTS[index], keys, then)


def beginning() -> str:
    """The first place."""
    return f"{PARTS[0].name}:"


def rows_to_compare() -> int:
    """About how many rows are compared, for a bar."""
    return sum(part.rows().count() for part in PARTS if part.rows)
