"""Policies as pages show them: sentences, and what is different between two of them."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from dashboard.accounts import queries as accounts
from dashboard.policies.evaluate import Effect, Policy
from dashboard.policies.linting import warnings
from dashboard.policies.loosening import loosenings
from dashboard.policies.models import PolicyProposal, PolicyRevision
from dashboard.policies.rules import Rule
from dashboard.policies.services import word_for
from dashboard.policies.wording import Sentence, changes, rule_sentence, sentences

_CANNOT_BE_READ = "This version of the program cannot read it."


@dataclass(frozen=True)
class RuleLine:
    """One rule of the list.

    Attributes:
        number: Counts from 1; ``index`` from 0.
        examples: How many it has.
        cautions: What is probably not meant.
    """

    index: int
    number: int
    name: str
    effect: Effect
    sentence: str
    reason: str
    examples: int
    cautions: Sequence[str]


@dataclass(frozen=True)
class Summary:
    """A policy in plain words."""

    modes: Sequence[Sentence]
    rules: Sequence[RuleLine]
    cautions: int


@dataclass(frozen=True)
class Comparison:
    """What publishing a policy would change.

    Attributes:
        loosened: What would be asked less about.
        word: What has to be typed for that; empty if nothing.
    """

    changes: Sequence[str]
    loosened: Sequence[str]
    word: str


@dataclass(frozen=True)
class RevisionRow:
    """One revision of the history, with what it changed."""

    revision: PolicyRevision
    changes: Sequence[str]
    loosened: Sequence[str]


@dataclass(frozen=True)
class ProposalView:
    """A policy that waits for a second admin; no comparison if it cannot be read."""

    proposal: PolicyProposal
    comparison: Comparison | None
    is_outdated: bool


def known_groups() -> list[str]:
    """Return the names of the groups that there are."""
    return [group.name for group in accounts.groups()]


def read_policy(document: str) -> Policy | None:
    """Return the policy of a document, None if this version of the program cannot read it."""
    try:
        return Policy.from_json(document)
    except ValueError:
        return None


def policy_summary(policy: Policy, groups: Collection[str]) -> Summary:
    """Say what a policy does."""
    said, cautions = sentences(policy), warnings(policy, known_groups=groups)
    return Summary(
        modes=said[: len(said) - len(policy.rules)],
        rules=[
            _rule_line(
                index,
                rule,
                [caution.sentence for caution in cautions if caution.rule == rule.name],
            )
            for index, rule in enumerate(policy.rules)
        ],
        cautions=len(cautions),
    )


def compare(before: Policy, after: Policy) -> Comparison:
    """Say what ``after`` would change."""
    loosened = loosenings(before, after)
    return Comparison(changes(before, after), loosened, word_for(before, after, loosened))


def proposal_view(proposal: PolicyProposal, present: Policy, number: int) -> ProposalView:
    """Say what a proposal would change; ``number`` is that of the revision in force."""
    policy = read_policy(proposal.document)
    comparison = compare(present, policy) if policy else None
    return ProposalView(proposal, comparison, is_outdated=proposal.based_on != number)


def revision_rows(newest_first: Sequence[PolicyRevision]) -> list[RevisionRow]:
    """Say what each revision changed; of the last one only if it is the first of all."""
    policies = [read_policy(revision.document) for revision in newest_first]
    before = [*policies[1:], None]
    return [
        RevisionRow(revision, _changes(revision, earlier, policy), json.loads(revision.loosened))
        for revision, policy, earlier in zip(newest_first, policies, before, strict=True)
    ]


def _changes(
    revision: PolicyRevision, before: Policy | None, after: Policy | None
) -> Sequence[str]:
    if after is None or (before is None and revision.number > 1):
        return [_CANNOT_BE_READ]
    return changes(before, after)


def _rule_line(index: int, rule: Rule, cautions: Sequence[str]) -> RuleLine:
    return RuleLine(
        index=index,
        number=index + 1,
        name=rule.name,
        effect=rule.effect,
        sentence=rule_sentence(rule),
        reason=rule.reason,
        examples=len(rule.match) + len(rule.not_match),
        cautions=cautions,
    )
