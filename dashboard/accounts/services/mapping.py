"""What groups at the provider of single sign-on give here."""

from __future__ import annotations

from django.db import IntegrityError, transaction

from dashboard.accounts.errors import NameTaken
from dashboard.accounts.models import Group, GroupMapping
from dashboard.audit.actions import Action
from dashboard.audit.services import Actor, AuditEvent, record


@transaction.atomic
def add_mapping(*, claim: str, role: str = "", group: Group | None = None, by: Actor) -> None:
    """Have a group at the provider give a role here, or put its people into a group.

    Raises:
        NameTaken: It does already.
        ValidationError: The name is empty or too long.
    """
    mapping = GroupMapping(claim=claim, role=role, group=group)
    mapping.clean_fields(exclude=["role", "group"])
    try:
        with transaction.atomic():
            mapping.save(force_insert=True)
    except IntegrityError as error:
        raise NameTaken(f"{claim!r} gives that already. Nothing was added.") from error
    record(by, AuditEvent(Action.GROUP_MAPPING_ADDED, details=_details(mapping)))


@transaction.atomic
def remove_mapping(mapping_id: int, *, by: Actor) -> bool:
    """Have it give nothing any more. Who has it already keeps it: it is then given by hand."""
    mapping = GroupMapping.objects.select_related("group").filter(pk=mapping_id).first()
    if mapping is None:
        return False
    GroupMapping.objects.filter(pk=mapping_id).delete()
    record(by, AuditEvent(Action.GROUP_MAPPING_REMOVED, details=_details(mapping)))
    return True


def _details(mapping: GroupMapping) -> dict[str, str]:
    gives = {"role": mapping.role} if mapping.role else {"group": str(mapping.group)}
    return {"claim": mapping.claim, **gives}
