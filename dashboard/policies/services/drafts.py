"""What an admin is working on. Nothing of it holds, and nothing of it is recorded.

A page names the draft that it showed by its stamp, so that two tabs do not overwrite each other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from django.db import transaction
from django.utils import timezone

from dashboard.accounts.models import User
from dashboard.audit.services import Actor
from dashboard.policies.errors import DraftMoved, DraftUnreadable
from dashboard.policies.evaluate import Policy
from dashboard.policies.models import PolicyDraft, PolicyProposal, PolicyRevision
from dashboard.policies.rules.names import refuse_misspelt
from dashboard.policies.rules.rule import Rule
from dashboard.policies.services.checking import check_examples
from dashboard.policies.services.publish import publish
from dashboard.policies.services.revisions import current_revision
from dashboard.policies.starters import Starter, add

_MOVED = (
    "The draft was changed, published or discarded since this page was shown, in another tab "
    "or window. Nothing was saved. Open the draft again and repeat what is missing."
)
_NO_RULE = "There is no such rule in the draft. Nothing was saved. Open the draft again."


def stamp_of(draft: PolicyDraft | None) -> str:
    """Name one state of a draft; empty if there is none."""
    return f"{draft.pk}.{draft.version}" if draft else ""


def begin_draft(author: User) -> PolicyDraft:
    """Return the author's draft; a new one holds what the policy in force says."""
    present = current_revision()
    fresh = {
        "document": present.document,
        "based_on": present.number,
        "updated_at": timezone.now(),
    }
    return PolicyDraft.objects.get_or_create(author=author, defaults=fresh)[0]


@transaction.atomic
def replace_draft(
    author: User, policy: Policy, *, stamp: str, based_on: int | None = None
) -> PolicyDraft:
    """Make ``policy`` the author's draft, from a revision, a starter or an import.

    Args:
        based_on: The number of the revision that it was taken from; None if from none, so that
            it is compared with the one in force.

    Raises:
        DraftMoved: The draft that it would replace is not the one that was shown.
    """
    draft = PolicyDraft.objects.select_for_update().filter(author=author).first()
    if stamp_of(draft) != stamp:
        raise DraftMoved(_MOVED)
    draft = draft or begin_draft(author)
    draft.based_on = current_revision().number if based_on is None else based_on
    return _save(draft, policy)


def save_modes(author: User, policy: Policy, *, stamp: str) -> PolicyDraft:
    """Take everything but the rules from ``policy``."""
    return _change(author, stamp, lambda draft: replace(policy, rules=draft.rules))


def add_starter(author: User, starter: Starter, *, stamp: str) -> PolicyDraft:
    """Add the rules of a starter. What the draft goes on from stays: it may undo what is newer."""
    return _change(author, stamp, lambda draft: add(draft, starter))


def add_rule(author: User, rule: Rule, *, stamp: str) -> PolicyDraft:
    """Put a rule after the others.

    Raises:
        ExamplesFail: The rule does not do what its examples say.
        DraftMoved: The draft is not the one that was shown.
        DraftUnreadable: It is of another version of the program.
        PolicyError: The draft does not hold together with this rule, or the rule names a finding
            or a language that does not exist.
    """
    refuse_misspelt([rule])
    check_examples([rule], not_done="Nothing was saved")
    return _change(author, stamp, lambda draft: replace(draft, rules=(*draft.rules, rule)))


def change_rule(author: User, index: int, rule: Rule, *, stamp: str) -> PolicyDraft:
    """Put ``rule`` in the place of the one at ``index``; raises what ``add_rule`` does."""
    refuse_misspelt([rule])
    check_examples([rule], not_done="Nothing was saved")

    def change(rules: list[Rule]) -> None:
        rules[index] = rule

    return _change_rules(author, stamp, index, change)


def move_rule(author: User, index: int, *, up: bool, stamp: str) -> PolicyDraft:
    """Exchange a rule with its neighbour; at the end of the list nothing happens."""

    def change(rules: list[Rule]) -> None:
        target = index - 1 if up else index + 1
        if 0 <= target < len(rules):
            rules[index], rules[target] = rules[target], rules[index]

    return _change_rules(author, stamp, index, change)


def remove_rule(author: User, index: int, *, stamp: str) -> PolicyDraft:
    """Take a rule out."""
    return _change_rules(author, stamp, index, lambda rules: rules.__delitem__(index))


@transaction.atomic
def discard_draft(author: User, *, stamp: str) -> None:
    """Throw the draft away.

    Raises:
        DraftMoved: The draft is not the one that was shown.
    """
    _locked(author, stamp).delete()


def publish_draft(
    author: User, *, stamp: str, based_on: int, note: str, confirmed: str, by: Actor
) -> PolicyRevision | PolicyProposal:
    """Publish the draft that was shown, and end it; raises what ``publish`` does.

    Raises:
        DraftMoved: The draft is not the one that was shown.
        DraftUnreadable: It is of another version of the program.
    """
    draft = PolicyDraft.objects.filter(author=author).first()
    if draft is None or stamp_of(draft) != stamp:
        raise DraftMoved(_MOVED)
    published = publish(
        _policy_of(draft),
        author=author,
        note=note,
        by=by,
        based_on=based_on,
        confirmed=confirmed,
    )
    PolicyDraft.objects.filter(pk=draft.pk, version=draft.version).delete()
    return published


def _change_rules(
    author: User, stamp: str, index: int, change: Callable[[list[Rule]], None]
) -> PolicyDraft:
    def changed(draft: Policy) -> Policy:
        rules = list(draft.rules)
        if not 0 <= index < len(rules):
            raise DraftMoved(_NO_RULE)
        change(rules)
        return replace(draft, rules=tuple(rules))

    return _change(author, stamp, changed)


@transaction.atomic
def _change(author: User, stamp: str, change: Callable[[Policy], Policy]) -> PolicyDraft:
    draft = _locked(author, stamp)
    return _save(draft, change(_policy_of(draft)))


def _policy_of(draft: PolicyDraft) -> Policy:
    try:
        return Policy.from_json(draft.document)
    except ValueError:
        raise DraftUnreadable from None


def _locked(author: User, stamp: str) -> PolicyDraft:
    draft = PolicyDraft.objects.select_for_update().filter(author=author).first()
    if draft is None or stamp_of(draft) != stamp:
        raise DraftMoved(_MOVED)
    return draft


def _save(draft: PolicyDraft, policy: Policy) -> PolicyDraft:
    draft.document = policy.to_json()
    draft.version += 1
    draft.updated_at = timezone.now()
    draft.save()
    return draft
