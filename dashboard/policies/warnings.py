"""What is allowed in a policy and probably not meant, and examples that do not hold. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time
from typing import Any

from approval_client.wire import Kind
from dashboard.inspection.findings import UNSEEN, Report, Severity
from dashboard.inspection.languages import is_known, lexer_alias
from dashboard.policies.judgements.matcher import Matcher, Step
from dashboard.policies.policy import Policy
from dashboard.policies.rules.facts import Facts, Question
from dashboard.policies.rules.implication import implies, kinds_of, kinds_that_fit
from dashboard.policies.rules.names import did_you_mean, misspelt, unheard_of
from dashboard.policies.rules.patterns import is_literal, pattern
from dashboard.policies.rules.rule import Effect, Example, Rule, When

Inspect = Callable[[Kind, Mapping[str, Any]], Report]
LARGE_PATTERN = 1500
_WILD = re.compile(r"\*+")
_HOSTS = ("*.", "www.")
_ROOTS = ("/", "~", "C:", "D:", "./")
_NAMES_ONLY = frozenset({"agents", "tools", "kinds"})
_ANY_TIME = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Caution:
    """One thing that is probably not meant.

    Attributes:
        rule: The name of the rule it is about.
    """

    rule: str
    sentence: str


@dataclass(frozen=True, kw_only=True)
class KnownNames:
    """Names that there are now; others may come later. None: nobody knows.

    Attributes:
        tools: Those that agents asked to call lately.
        signers: Of each group, and of "" for all, the reviewers who have a passkey that counts.
    """

    groups: Collection[str] | None = None
    agents: Collection[str] = ()
    tools: Collection[str] = ()
    signers: Mapping[str, Collection[str]] | None = None


_NOTHING_KNOWN = KnownNames()


def warnings(policy: Policy, known: KnownNames = _NOTHING_KNOWN) -> list[Caution]:
    """Return what is probably not meant."""
    cautions: list[Caution] = []
    for place, rule in enumerate(policy.rules):
        sentences = [
            *_about_kinds(rule.when),
            *_about_hours(rule.when),
            *_about_reach(rule, policy.rules[:place], policy.rules),
            *_about_approving(rule, policy),
            *_about_calls(rule),
            *_about_wide_names(rule),
            *_about_globs(rule),
            *(sentence for _, sentence in misspelt(rule)),
            *_about_names(rule.when, known),
            *_about_languages(rule.when),
            *_about_unseen(rule),
            *_about_pattern(rule.when),
            *_about_groups(rule, known.groups),
            *_about_proof(rule, known.signers),
        ]
        cautions += [Caution(rule.name, sentence) for sentence in sentences]
    return cautions


def failing_examples(target: Policy | Rule, inspect: Inspect) -> list[str]:
    """Say which examples do not hold: what a rule must match and does not, and the other way."""
    rules = target.rules if isinstance(target, Policy) else (target,)
    return [sentence for rule in rules for sentence in _failing(rule, inspect)]


def _about_kinds(when: When) -> Iterator[str]:
    """Warn of conditions that no request can fit at once, such as code that names a tool."""
    if not kinds_that_fit(when):
        yield (
            "It never matches: its conditions are about requests of another kind than those that "
            "it names. Leave out one of both."
        )


def _about_hours(when: When) -> Iterator[str]:
    # Not refused: a policy that is in force may have it, and has to stay readable.
    if when.hours and when.hours.from_ == when.hours.until != time(0, 0):
        yield (
            "Its hours end when they begin, so they last a whole day. Leave them out, or enter "
            "another end."
        )


def _about_reach(
    rule: Rule, earlier: tuple[Rule, ...], everything: tuple[Rule, ...]
) -> Iterator[str]:
    rejects = rule.effect is Effect.REJECT
    for another in earlier if rejects else everything:
        if another.effect is Effect.REJECT and another is not rule and implies(rule, another):
            yield _moot(rule, another, everything)
            return
    for another in () if rejects else earlier:
        if another.effect is Effect.REJECT or another.when.rests_on_claims:
            continue
        if implies(rule, another):
            yield _unreachable(rule, another)
            return


def _moot(rule: Rule, other: Rule, everything: tuple[Rule, ...]) -> str:
    rejecting = [each for each in everything if each.effect is Effect.REJECT]
    if [each for each in rejecting if each.when.tool_classes] == [rule]:
        return (
            f"It rejects nothing: rule '{other.name}' rejects all of it before. Still a person is "
            "asked about tools that nobody has classed, because this is the only rule that "
            "rejects by class."
        )
    return f"It makes no difference: rule '{other.name}' rejects all of it before."


def _unreachable(rule: Rule, other: Rule) -> str:
    verb = "decides all of it" if _given(other.when) else "matches everything and stands"
    if rule.effect is Effect.REVIEW and other.effect is Effect.APPROVE:
        return (
            f"It never has anything reviewed: rule '{other.name}' {verb} before. It only says "
            "who reviews what is in doubt."
        )
    return f"It is never reached: rule '{other.name}' {verb} before."


def _about_approving(rule: Rule, policy: Policy) -> Iterator[str]:
    if rule.effect is not Effect.APPROVE:
        return
    if _is_always_reviewed(rule, policy):
        yield "It never approves anything: the modes have all of it reviewed."
        return
    kinds, conditions = kinds_of(rule), _given(rule.when)
    if not conditions - {"kinds"}:
        yield "It approves everything of its kind, whatever it does."
    elif conditions <= _NAMES_ONLY:
        yield "It rests on names alone: whatever is asked for under them is approved."
    if Kind.CODE in kinds and rule.when.no_findings_above in (None, Severity.HIGH):
        yield (
            "It approves code whatever was found in it. Set the highest severity that it may "
            "approve, below high."
        )
    if kinds & {Kind.CODE, Kind.TOOL_CALL} and rule.when.no_findings_above is Severity.MEDIUM:
        yield (
            "It approves what writes files, uses the network or reads credentials: such findings "
            "are of medium severity. Choose 'low' or 'info' to ask a person about them."
        )


def _is_always_reviewed(rule: Rule, policy: Policy) -> bool:
    """Whether the modes have a person asked about all that a rule is about."""
    kinds, always_asked = kinds_of(rule), frozenset({Effect.REVIEW})
    return bool(kinds) and all(policy.read_modes.effects(kind) == always_asked for kind in kinds)


def _about_calls(rule: Rule) -> Iterator[str]:
    """Warn of rules that approve no call of a tool and look as if they did."""
    when = rule.when
    is_of_others = when.memory_operations or when.memory_users or when.languages
    if not rule.takes_no_calls or is_of_others or Kind.TOOL_CALL not in (when.kinds or Kind):
        return
    yield "It approves no call of a tool: only a rule that names the tool does. Name the tools."


def _about_wide_names(rule: Rule) -> Iterator[str]:
    """Warn of patterns among the tools of an approving rule that name none."""
    for name in rule.when.tools if rule.tools else ():
        if name not in rule.tools:
            yield f"'{name}' names no tool, so calls that only fit this are not approved."


def _about_globs(rule: Rule) -> Iterator[str]:
    """Warn of globs on paths and addresses, which stand for more than they seem to."""
    for argument in rule.when.arguments if rule.effect is Effect.APPROVE else ():
        if argument.test != "glob" or not _WILD.search(argument.value):
            continue
        if "://" in argument.value or argument.value.startswith(_HOSTS):
            yield (
                f"'{argument.value}' also fits addresses of other hosts, such as "
                f"'{_filled(argument.value, '.evil.example/')}'. Use the test 'leads to the host'."
            )
        elif argument.value.startswith(_ROOTS):
            yield (
                f"'{argument.value}' also fits paths that lead out of the folder, such as "
                f"'{_filled(argument.value, '../../etc/passwd')}'. Use the test 'lies in the "
                "folder'."
            )


def _filled(text: str, filling: str) -> str:
    return _WILD.sub(lambda _: filling, text, count=1)


def _about_names(when: When, known: KnownNames) -> Iterator[str]:
    """Warn of names that are nearly those of agents and tools that there are."""
    for kind, globs, names in (
        ("agent", when.agents, known.agents),
        ("tool", when.tools, known.tools),
    ):
        for name, near in unheard_of(globs, names):
            yield f"No {kind} is called '{name}' yet. Did you mean '{near}'?"


def _about_languages(when: When) -> Iterator[str]:
    for name in when.languages:
        ours = lexer_alias(name)
        if is_literal(name) and is_known(name) and ours != name:
            yield f"It never matches the language '{name}', which is called '{ours}' here."


def _about_unseen(rule: Rule) -> Iterator[str]:
    if rule.also_if_not_followed and not rule.looks_at_findings:
        yield (
            "Rejecting what could not be followed changes nothing: none of its conditions is "
            "about findings or languages."
        )
    if rule.effect is not Effect.APPROVE or rule.when.findings is None:
        return
    for name in rule.when.findings.names:
        if name in UNSEEN:
            yield (
                f"It never approves what has the finding '{name}': a condition on findings holds "
                "only where all was seen."
            )


def _about_pattern(when: When) -> Iterator[str]:
    size = pattern(when.content_matches).size if when.content_matches else 0
    if size > LARGE_PATTERN:
        yield f"Its pattern is large ({size} steps), so looking at much content can take seconds."


def _about_groups(rule: Rule, group_names: Collection[str] | None) -> Iterator[str]:
    demands = rule.demands
    if demands.escalate_to and not demands.groups:
        yield (
            f"Letting '{demands.escalate_to}' approve from half time on changes nothing: "
            "without groups every reviewer counts from the beginning."
        )
    elif demands.escalate_to in demands.groups:
        yield f"Letting '{demands.escalate_to}' approve from half time on changes nothing."
    groups = (*demands.groups, *([demands.escalate_to] if demands.escalate_to else ()))
    unknown = [
        name
        for name in dict.fromkeys(groups)
        if group_names is not None and name not in group_names
    ]
    for name in unknown:
        yield (
            f"There is no group '{name}', so nobody can vote as its member."
            f"{did_you_mean(name, group_names or ())}"
        )
    if demands.groups and group_names is not None and set(groups) <= set(unknown):
        yield "Nobody can approve what it asks about."


def _about_proof(rule: Rule, signers: Mapping[str, Collection[str]] | None) -> Iterator[str]:
    demands = rule.demands
    if signers is None or not demands.proof:
        return
    escalation = (demands.escalate_to,) if demands.escalate_to else ()
    groups = (*demands.groups, *escalation) if demands.groups else ("",)
    names = {name for group in groups for name in signers.get(group, ())}
    if not names:
        yield (
            "Nothing it asks about can be approved: nobody who may approve has a passkey that "
            "counts. People add theirs in their account."
        )
    elif len(names) < demands.approvals:
        yield (
            f"It needs {demands.approvals} approvals, and only {len(names)} of those who may "
            f"approve {'has' if len(names) == 1 else 'have'} a passkey that counts."
        )


def _given(when: When) -> frozenset[str]:
    return frozenset(
        name for name in When.model_fields if getattr(when, name) not in ((), None, ("*",))
    )


def _failing(rule: Rule, inspect: Inspect) -> Iterator[str]:
    for must_match, examples in ((True, rule.match), (False, rule.not_match)):
        for number, example in enumerate(examples, 1):
            step = _judged(rule, example, inspect)
            if step.matches == must_match:
                continue
            which = f"Rule '{rule.name}': example {number} of what it must"
            if must_match:
                yield f"{which} match does not match. {step.why}"
            else:
                yield f"{which} not match does match. {step.why}"


def _judged(rule: Rule, example: Example, inspect: Inspect) -> Step:
    if example.asked_at is None and rule.when.hours:
        without_hours = rule.when.model_copy(update={"hours": None})
        rule = rule.model_copy(update={"when": without_hours})
    question = Question(
        kind=example.kind,
        content=example.content,
        report=inspect(example.kind, example.content),
        agent=example.agent,
        asked_at=example.asked_at or _ANY_TIME,
        capability=example.capability,
        execution_mode=example.execution_mode,
        run_id=example.run_id,
        repeated=example.repeated,
        tool_class=example.tool_class,
    )
    return Matcher(rule).judge(Facts(question))
