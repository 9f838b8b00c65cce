"""Names in the conditions of a rule that can never match, and what was probably meant. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from difflib import get_close_matches

from dashboard.inspection.languages import LANGUAGES, is_known
from dashboard.inspection.notes import FINDINGS
from dashboard.policies.rules.patterns import glob, is_literal
from dashboard.policies.rules.problems import PolicyError, Problem
from dashboard.policies.rules.rule import Rule

_NEAR = 0.75
"""How alike two names have to be, from 0 to 1, for one to be a slip of the other."""


def refuse_misspelt(rules: Iterable[Rule]) -> None:
    """Refuse rules that name a finding or a language that does not exist.

    A policy that is stored may name one that existed when it was published, and is still read.

    Raises:
        PolicyError: Says which names, and what was probably meant.
    """
    problems = [
        (f"rules.{index}.{where}", sentence)
        for index, rule in enumerate(rules)
        for where, sentence in misspelt(rule)
    ]
    if problems:
        raise PolicyError(problems)


def misspelt(rule: Rule) -> Iterator[Problem]:
    """Return the names of findings and languages that no inspection can ever give."""
    for index, name in enumerate(rule.when.findings.names if rule.when.findings else ()):
        if not _fits_any(name, FINDINGS):
            yield (
                f"when.findings.names.{index}",
                f"There is no finding {name!r}.{did_you_mean(name, FINDINGS)}",
            )
    for index, name in enumerate(rule.when.languages):
        if not is_known(name) and not _fits_any(name, LANGUAGES):
            yield (
                f"when.languages.{index}",
                f"There is no language {name!r} here.{did_you_mean(name, LANGUAGES)}",
            )


def unheard_of(globs: Iterable[str], known_names: Collection[str]) -> Iterator[tuple[str, str]]:
    """Return each name that is nearly one of those known, with that one. A glob is no name."""
    for name in globs:
        if is_literal(name) and name not in known_names:
            for near in get_close_matches(name, known_names, n=1, cutoff=_NEAR):
                yield name, near


def did_you_mean(name: str, known_names: Collection[str]) -> str:
    """Return a sentence with the nearest of the known names, after a blank; empty if none is."""
    near = get_close_matches(name, sorted(known_names), n=1, cutoff=0.6)
    return f" Did you mean {near[0]!r}?" if near else ""


def _fits_any(name: str, known_names: Collection[str]) -> bool:
    fits = glob(name)
    return any(map(fits, known_names))
