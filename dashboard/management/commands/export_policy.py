"""``approval-dashboard export_policy [--revision N]``: a policy as YAML, on stdout."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from dashboard.management.operator import OperatorCommand
from dashboard.policies.evaluate import Policy
from dashboard.policies.formats.policy_yaml import to_yaml
from dashboard.policies.models import PolicyRevision
from dashboard.policies.services import current_revision


class Command(OperatorCommand):
    """Print the policy in force, or that of an old revision, the way import_policy reads it."""

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the number of a revision."""
        parser.add_argument("--revision", type=int, metavar="N", help="the one in force if unset")

    def handle(self, *_: Any, revision: int | None, **__: Any) -> None:
        """Print YAML and nothing else."""
        chosen = current_revision()
        if revision is not None:
            chosen = _revision(revision)
        try:
            policy = Policy.from_json(chosen.document)
        except ValueError as error:
            raise CommandError(
                f"This version of the program cannot read revision {chosen.number}. Nothing was "
                f"exported. {error}"
            ) from None
        self.stdout.write(to_yaml(policy), ending="")


def _revision(number: int) -> PolicyRevision:
    revision = PolicyRevision.objects.filter(pk=number).first()
    if revision is None:
        raise CommandError(f"There is no revision {number}. Nothing was exported.")
    return revision
