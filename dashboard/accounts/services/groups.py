"""Make groups of reviewers, and say who is in them. What changes nothing is not recorded."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from django.db import IntegrityError, transaction

from dashboard.accounts.errors import ChangedMeanwhile, NameTaken
from dashboard.accounts.models import Group, User
from dashboard.audit.actions import Action
from dashboard.audit.services import Actor, AuditEvent, record


@transaction.atomic
def create_group(*, name: str, by: Actor) -> Group:
    """Make an empty group.

    Raises:
        NameTaken: There is a group of that name, upper and lower case not told apart.
        ValidationError: The name holds characters that names may not hold.
    """
    group = Group(name=name)
    group.clean_fields()
    if Group.objects.filter(name__iexact=name).exists():
        raise _taken(name)
    try:
        with transaction.atomic():
            group.save(force_insert=True)
    except IntegrityError as error:
        raise _taken(name) from error
    record(by, AuditEvent(Action.GROUP_ADDED, _subject(group)))
    return group


@transaction.atomic
def set_members(
    group: Group, *, members: Iterable[User], by: Actor, shown: Collection[int] | None = None
) -> None:
    """Replace who is in a group; votes are counted by who is in it when they are counted.

    Args:
        shown: The members that whoever replaces them was shown, if a page did.

    Raises:
        ChangedMeanwhile: They are not the ones that were shown.
    """
    locked = Group.objects.select_for_update(no_key=True).get(pk=group.pk)
    members = list(members)
    present = set(locked.members.values_list("pk", flat=True))
    is_sent_again = present == {member.pk for member in members}
    if shown is not None and set(shown) != present and not is_sent_again:
        raise ChangedMeanwhile(
            f"The members of {locked.name} were changed in the meantime. Nothing was saved: look "
            "at them again."
        )
    old_names = _names(locked)
    locked.members.set(members)
    new_names = _names(locked)
    if old_names != new_names:
        details = {"before": old_names, "members": new_names}
        record(by, AuditEvent(Action.GROUP_MEMBERS_CHANGED, _subject(locked), details=details))


@transaction.atomic
def set_membership(group: Group, person: User, *, belongs: bool, by: Actor) -> None:
    """Put one person into a group, or take them out, and leave the others."""
    locked = Group.objects.select_for_update(no_key=True).get(pk=group.pk)
    members = set(locked.members.all()) - {person}
    set_members(locked, members=members | {person} if belongs else members, by=by)


def lock_groups(groups: Iterable[Group]) -> None:
    """Lock several groups before anything is recorded, for a transaction that changes them all."""
    pks = {group.pk for group in groups}
    list(Group.objects.select_for_update(no_key=True).filter(pk__in=pks).order_by("pk"))


@transaction.atomic
def delete_group(group: Group, *, by: Actor) -> None:
    """Delete a group. A policy that still asks for its votes then finds nobody who has one."""
    old_names = _names(group)
    if Group.objects.filter(pk=group.pk).delete()[0]:
        record(
            by, AuditEvent(Action.GROUP_DELETED, _subject(group), details={"before": old_names})
        )


def _names(group: Group) -> list[str]:
    return sorted(group.members.values_list("username", flat=True))


def _subject(group: Group) -> str:
    return f"group:{group.name}"


def _taken(name: str) -> NameTaken:
    return NameTaken(f"A group is called {name!r} already. None was added.")
