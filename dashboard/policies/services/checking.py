"""What has to hold before a policy is published or a rule is kept."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dashboard.accounts import roles
from dashboard.accounts.errors import NotPermitted
from dashboard.accounts.models import User
from dashboard.policies.errors import ExamplesFail, NotConfirmed
from dashboard.policies.evaluate import Policy
from dashboard.policies.inspections import inspect
from dashboard.policies.loosenings import loosenings
from dashboard.policies.models import PolicyRevision
from dashboard.policies.rules.rule import Rule
from dashboard.policies.warnings import failing_examples

LOOSEN, DISABLED = "loosen", "disabled"


def check_admin(person: User) -> None:
    """Refuse whoever is not an admin.

    Raises:
        NotPermitted: They are not.
    """
    if not roles.may_administer(User.objects.get(pk=person.pk)):
        raise NotPermitted("Only admins can publish. Nothing was published.")


def check_examples(rules: Iterable[Rule], *, not_done: str) -> None:
    """Refuse rules that do not do what their own examples say.

    Inspects the content of each example, so it must not run inside a transaction.

    Raises:
        ExamplesFail: Names every such rule and example, and says why.
    """
    failures = [failure for rule in rules for failure in failing_examples(rule, inspect)]
    if failures:
        raise ExamplesFail(failures, not_done=not_done)


def word_for(old_policy: Policy, new_policy: Policy, loosened: Sequence[str]) -> str:
    """Return what has to be typed before the new policy is published; empty if not looser."""
    if new_policy.asks_nobody and not old_policy.asks_nobody:
        return DISABLED
    return LOOSEN if loosened else ""


def check_confirmed(present: PolicyRevision, policy: Policy, confirmed: str) -> list[str]:
    """Return the sentences that say what ``policy`` loosens, if that was confirmed.

    Raises:
        NotConfirmed: It loosens something, and ``confirmed`` is not the word for that.
    """
    old_policy = Policy.from_json(present.document)
    loosened = loosenings(old_policy, policy)
    word = word_for(old_policy, policy, loosened)
    if word and confirmed.strip() != word:
        raise NotConfirmed(word, loosened)
    return loosened
