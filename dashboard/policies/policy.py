"""One policy, whole. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

from approval_client.capabilities import GlobalApprovalConfig
from approval_client.wire import JsonError, canonical_json
from dashboard.policies import documents
from dashboard.policies.judgements.matcher import Matcher
from dashboard.policies.judgements.modes import Modes
from dashboard.policies.rules.implication import implies
from dashboard.policies.rules.problems import PolicyError, Problem, problems_of
from dashboard.policies.rules.rule import MOST_RULES, Effect, Rule


@dataclass(frozen=True, eq=False)
class Policy:
    """One policy, whole. Two are equal when their documents are.

    Attributes:
        modes: Osprey's approval configuration: ``global_mode`` and ``capabilities``.
        owner_may_approve: Whether an agent's owner may approve what it asks, where no rule says.
        rules: In the order in which they are tried.
    """

    modes: Mapping[str, Any]
    owner_may_approve: bool = False
    rules: tuple[Rule, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what does not hold together.

        Raises:
            PolicyError: Says each problem and where it is.
        """
        # Copies: what the caller does with its own later changes nothing here.
        object.__setattr__(self, "modes", deepcopy(dict(self.modes)))
        object.__setattr__(self, "rules", tuple(self.rules))
        if problems := list(self._problems()):
            raise PolicyError(problems)
        try:
            self.to_json()
        except (TypeError, JsonError) as error:
            raise PolicyError([("", f"This cannot be stored: {error}")]) from None

    @classmethod
    def from_json(cls, document: str) -> Self:
        """Read a stored document.

        Raises:
            ValueError: It is not one, or what it says does not hold together.
        """
        return cls(**documents.read(document))

    def to_json(self) -> str:
        """Write the document that is stored; equal policies have equal texts."""
        return self._text

    def to_data(self) -> dict[str, Any]:
        """Return what the document says: rules without what they leave to its default."""
        return documents.as_data(self.modes, self.rules, owner_may_approve=self.owner_may_approve)

    @property
    def config(self) -> GlobalApprovalConfig:
        """The modes as they are read: what they leave out means to ask."""
        return self.read_modes.config

    @property
    def asks_nobody(self) -> bool:
        """Whether nobody is asked about anything, but where a rule says so."""
        return self.read_modes.asks_nobody

    @cached_property
    def read_modes(self) -> Modes:
        """The modes, ready to be asked."""
        return Modes(self.modes)

    @cached_property
    def matchers(self) -> tuple[Matcher, ...]:
        """The rules, compiled, in their order."""
        return tuple(Matcher(rule) for rule in self.rules)

    @cached_property
    def rejects_classes(self) -> bool:
        """Whether a rule rejects by the class of a tool, so that an unclassed one is a doubt."""
        return any(self.rules[index].when.tool_classes for index in self.rejecting)

    @cached_property
    def rejecting(self) -> tuple[int, ...]:
        """Which rules reject: they are tried before all others."""
        return tuple(i for i, rule in enumerate(self.rules) if rule.effect is Effect.REJECT)

    @cached_property
    def others(self) -> tuple[int, ...]:
        """Which rules approve or review."""
        return tuple(i for i, rule in enumerate(self.rules) if rule.effect is not Effect.REJECT)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Policy) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)

    @cached_property
    def shadowed(self) -> frozenset[int]:
        """Which rules never decide, because a review that decides all of theirs stands before."""
        deciding = [
            index
            for index in self.others
            if self.rules[index].effect is Effect.REVIEW and not self.matchers[index].claims
        ]
        return frozenset(
            index
            for index in self.others
            if any(implies(self.rules[index], self.rules[i]) for i in deciding if i < index)
        )

    @cached_property
    def _text(self) -> str:
        return canonical_json(self.to_data())

    def _problems(self) -> Iterator[Problem]:
        try:
            Modes(self.modes)
        except ValueError as error:
            yield "modes", str(error)
        if not isinstance(self.owner_may_approve, bool):
            yield "owner_may_approve", "This must be true or false."
        if len(self.rules) > MOST_RULES:
            yield "rules", f"There are {len(self.rules)} rules; at most {MOST_RULES} are allowed."
            return
        names: set[str] = set()
        for index, rule in enumerate(self.rules):
            if rule.name in names:
                yield f"rules.{index}.name", f"Another rule is called {rule.name!r} already."
            names.add(rule.name)
            for where, sentence in problems_of(rule):
                yield f"rules.{index}.{where}", sentence
