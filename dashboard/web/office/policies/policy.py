"""Policies as pages show them: sentences, and what is different between two of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dashboard.accounts import queries as accounts
from dashboard.accounts.services.passkeys import signers
from dashboard.approvals.queries.request import seen_tools, waiting_for
from dashboard.policies.evaluate import Effect, Evaluation, Policy
from dashboard.policies.judgements.matcher import Step
from dashboard.policies.loosenings import loosenings
from dashboard.policies.models import PolicyProposal, PolicyRevision
from dashboard.policies.rules.rule import Rule
from dashboard.policies.rules.wording import duration
from dashboard.policies.services import word_for
from dashboard.policies.warnings import KnownNames, warnings
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


class PathBox(NamedTuple):
    """One place on the way of a request through a policy.

    Attributes:
        note: What is there, or what it said. It may hold names of rules, so it is drawn.
        state: ``decides``, ``speaks``, ``silent``, ``skipped``, or ``still`` without a request.
    """

    name: str
    note: str
    state: str


@dataclass(frozen=True)
class PolicySummary:
    """A policy in plain words."""

    path: Sequence[PathBox]
    modes: Sequence[Sentence]
    rules: Sequence[RuleLine]
    cautions: int


@dataclass(frozen=True)
class Comparison:
    """What publishing a policy would change.

    Attributes:
        loosened: What would be asked less about.
        word: What has to be typed for that; empty if nothing.
        expiring: What would happen to requests that wait; empty if nothing.
    """

    changes: Sequence[str]
    loosened: Sequence[str]
    word: str
    expiring: str


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


def known_names() -> KnownNames:
    """Return the names that rules may mean, and who has what they demand."""
    return KnownNames(
        groups=known_groups(),
        agents=list(accounts.agents().prefetch_related(None).values_list("name", flat=True)),
        tools=seen_tools(),
        signers=signers(),
    )


def read_policy(document: str) -> Policy | None:
    """Return the policy of a document, None if this version of the program cannot read it."""
    try:
        return Policy.from_json(document)
    except ValueError:
        return None


def policy_summary(policy: Policy, known: KnownNames) -> PolicySummary:
    """Say what a policy does."""
    lines, cautions = sentences(policy), warnings(policy, known)
    return PolicySummary(
        path=still_path(policy),
        modes=lines[: len(lines) - len(policy.rules)],
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


REQUEST, REJECTING, OTHERS, MODES, ANSWER = (
    "Request",
    "Rules that reject",
    "Other rules",
    "Modes",
    "Answer",
)

_ANSWERS = {
    Effect.APPROVE: "Approved at once",
    Effect.REVIEW: "A person is asked",
    Effect.REJECT: "Rejected at once",
}

_DO = {Effect.APPROVE: "approves", Effect.REVIEW: "asks a person", Effect.REJECT: "rejects"}


def still_path(policy: Policy) -> list[PathBox]:
    """Draw the way of any request through a policy."""
    rejecting = sum(rule.effect is Effect.REJECT for rule in policy.rules)
    other_count = len(policy.rules) - rejecting
    return [
        PathBox(REQUEST, "From an agent", "still"),
        PathBox(REJECTING, _rules(rejecting, "A match rejects at once"), "still"),
        PathBox(OTHERS, _rules(other_count, "In order; the first match applies"), "still"),
        PathBox(MODES, "Apply as well as the rules", "still"),
        PathBox(ANSWER, "The stricter wins; by default a person is asked", "still"),
    ]


def _rules(count: int, what: str) -> str:
    return f"{count} rule{'s' * (count != 1)}. {what}" if count else "None"


def path_taken(policy: Policy, answer: Evaluation, question: str) -> list[PathBox]:
    """Draw the way of one request through a policy, with what decided.

    Args:
        policy: What was tried.
        answer: What it answered.
        question: What was asked for, in a word or two.
    """
    *steps, modes = answer.steps
    tried = list(zip(policy.rules, steps, strict=True))
    rejecting = [pair for pair in tried if pair[0].effect is Effect.REJECT]
    other_pairs = [pair for pair in tried if pair[0].effect is not Effect.REJECT]
    is_rejected = answer.effect is Effect.REJECT
    return [
        PathBox(REQUEST, question, "speaks"),
        _of_rules(REJECTING, rejecting, answer, is_reached=True),
        _of_rules(OTHERS, other_pairs, answer, is_reached=not is_rejected),
        _of_modes(modes, answer),
        _answer_box(answer),
    ]


def _of_rules(
    name: str, tried: Sequence[tuple[Rule, Step]], answer: Evaluation, *, is_reached: bool
) -> PathBox:
    if not is_reached:
        return PathBox(name, "Not reached", "skipped")
    deciding = [rule for rule, _ in tried if rule.name in answer.deciding]
    matching = deciding or [rule for rule, step in tried if step.matches]
    if not matching:
        return PathBox(name, "None matches" if tried else "There are none", "silent")
    text = ", ".join(f"“{rule.name}” {_DO[rule.effect]}" for rule in matching)
    return PathBox(name, text, "decides" if deciding else "speaks")


def _of_modes(step: Step, answer: Evaluation) -> PathBox:
    if step.outcome == "not reached":
        return PathBox(MODES, "Not reached", "skipped")
    if answer.grounds and answer.grounds.by_modes:
        return PathBox(MODES, step.why, "decides")
    return PathBox(MODES, step.why, "speaks" if step.matches else "silent")


def _answer_box(answer: Evaluation) -> PathBox:
    verdict = _ANSWERS[answer.effect]
    grounds = answer.grounds
    if grounds and grounds.doubts:
        return PathBox(ANSWER, f"{verdict}: not all of it could be inspected", "decides")
    if not answer.deciding and not (grounds and grounds.by_modes):
        return PathBox(ANSWER, f"{verdict}: nothing else applies", "decides")
    return PathBox(ANSWER, verdict, "speaks")


def compare(old: Policy, new: Policy) -> Comparison:
    """Say what ``new`` would change."""
    loosened = loosenings(old, new)
    return Comparison(
        changes(old, new), loosened, word_for(old, new, loosened), _expiring(old, new)
    )


def _expiring(old: Policy, new: Policy) -> str:
    """Say how many requests wait for longer than a time limit that they may get."""
    limits = [
        rule.demands.time_limit_s
        for rule in new.rules
        if rule.demands and rule.demands.time_limit_s
    ]
    if not limits or [_deciding(rule) for rule in new.rules] == [_deciding(r) for r in old.rules]:
        return ""
    count = waiting_for(min(limits))
    if not count:
        return ""
    requests = "One request waits" if count == 1 else f"{count:,} requests wait"
    return (
        f"{requests} for longer than {duration(min(limits))}. Those to which this policy "
        "gives such a time limit expire at once when it is published."
    )


def _deciding(rule: Rule) -> tuple[object, ...]:
    """What of a rule tells which requests it gives a time limit."""
    return rule.when, rule.effect, rule.demands


def proposal_view(proposal: PolicyProposal, present: Policy, number: int) -> ProposalView:
    """Say what a proposal would change; ``number`` is that of the revision in force."""
    policy = read_policy(proposal.document)
    comparison = compare(present, policy) if policy else None
    return ProposalView(proposal, comparison, is_outdated=proposal.based_on != number)


def revision_rows(newest_first: Sequence[PolicyRevision]) -> list[RevisionRow]:
    """Say what each revision changed; of the last one only if it is the first of all."""
    policies = [read_policy(revision.document) for revision in newest_first]
    earlier_policies = [*policies[1:], None]  # one too many where there is no revision
    return [
        RevisionRow(revision, _changes(revision, earlier, policy), json.loads(revision.loosened))
        for revision, policy, earlier in zip(
            newest_first, policies, earlier_policies, strict=False
        )
    ]


def _changes(revision: PolicyRevision, old: Policy | None, new: Policy | None) -> Sequence[str]:
    if new is None or (old is None and revision.number > 1):
        return [_CANNOT_BE_READ]
    return changes(old, new)


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
