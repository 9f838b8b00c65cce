"""What a person may try: the policy in force, their own draft, a proposal, any revision."""

from __future__ import annotations

from dataclasses import dataclass

from dashboard.accounts.models import User
from dashboard.policies import queries
from dashboard.policies.evaluate import Policy
from dashboard.policies.models import PolicyRevision
from dashboard.policies.services import current_revision

IN_FORCE, DRAFT, PROPOSAL = "in_force", "draft", "proposal-"
_SHOWN = 50
_LONGEST_NUMBER = 18  # digits; what is longer fits no database's integer


@dataclass(frozen=True)
class Candidate:
    """One policy to try.

    Attributes:
        name: What to call it in a sentence.
    """

    name: str
    policy: Policy


def choices(person: User, wanted: str = "") -> list[tuple[str, str]]:
    """List what there is to try, key and label, the likeliest first.

    The revision that is ``wanted`` is among them, however old.
    """
    present = current_revision().number
    draft = queries.draft_of(person)
    numbers = list(queries.revisions()[:_SHOWN].values_list("number", flat=True))
    if _is_number(wanted) and int(wanted) not in numbers:
        numbers += PolicyRevision.objects.filter(number=wanted).values_list("number", flat=True)
    return [
        *([(DRAFT, "Your draft")] if draft else []),
        (IN_FORCE, f"In force: revision {present}"),
        *(
            (f"{PROPOSAL}{proposal.pk}", f"Proposed by {proposal.author.username}")
            for proposal in queries.open_proposals()
        ),
        *((str(number), f"Revision {number}") for number in numbers if number != present),
        *([(wanted, f"Revision {present}")] if wanted == str(present) else []),
    ]


def candidate(person: User, key: str) -> Candidate | None:
    """Return what one key of ``choices`` stands for, None if it is gone.

    Raises:
        ValueError: It was written for a version of this program that read policies differently.
    """
    if key == DRAFT:
        draft = queries.draft_of(person)
        return Candidate("your draft", Policy.from_json(draft.document)) if draft else None
    if key.startswith(PROPOSAL):
        return _proposed(key.removeprefix(PROPOSAL))
    if key == IN_FORCE:
        revision: PolicyRevision | None = current_revision()
    else:
        revision = PolicyRevision.objects.filter(number=key).first()
    if revision is None:
        return None
    return Candidate(f"revision {revision.number}", Policy.from_json(revision.document))


def _proposed(number: str) -> Candidate | None:
    proposal = queries.open_proposals().filter(pk=number).first() if _is_number(number) else None
    if proposal is None:
        return None
    policy = Policy.from_json(proposal.document)
    return Candidate(f"what {proposal.author.username} proposes", policy)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _LONGEST_NUMBER
