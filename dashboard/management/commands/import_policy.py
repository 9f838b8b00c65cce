"""``approval-dashboard import_policy FILE --as ADMIN``: publish a policy that is kept as YAML."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from dashboard.accounts.errors import NotPermitted
from dashboard.accounts.models import User
from dashboard.audit.services import OPERATOR
from dashboard.management.operator import OperatorCommand
from dashboard.policies.errors import NotConfirmed, PolicyRefusal
from dashboard.policies.evaluate import Policy
from dashboard.policies.formats.policy_yaml import Import, YamlError, from_yaml
from dashboard.policies.loosenings import loosenings
from dashboard.policies.models import PolicyProposal, PolicyRevision
from dashboard.policies.rules.problems import PolicyError
from dashboard.policies.services import current_revision, publish
from dashboard.policies.wording import changes

LARGEST = 256 * 1024
LONGEST_NOTE = 500
_NOTHING = "Nothing was published."


class Command(OperatorCommand):
    """Publish a policy from a file: one that export_policy wrote, or Osprey's approval section.

    Says first what was mapped to what, what it changes and what it loosens. What loosens needs
    --confirm with the word that is named then.
    """

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the file, whose policy it is to be, and why."""
        parser.add_argument("file", help="YAML; - reads standard input")
        parser.add_argument("--as", dest="author", metavar="ADMIN", help="the admin who publishes")
        parser.add_argument("--note", default="", help="why, for the record")
        parser.add_argument(
            "--confirm", default="", metavar="WORD", help="the word that confirms a looser policy"
        )
        parser.add_argument(
            "--based-on", type=int, metavar="N", help=("refuse if another revision is in force")
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="say what would change, and publish nothing"
        )

    def handle(self, *_: Any, file: str, dry_run: bool, **options: Any) -> None:
        """Read, say what it means, publish."""
        if len(options["note"]) > LONGEST_NOTE:
            raise CommandError(f"The note is longer than {LONGEST_NOTE} characters. {_NOTHING}")
        imported = _read(_text_of(file))
        present = current_revision()
        self._say("Mapped", imported.mapped)
        self._say("Ignored", imported.ignored)
        old_policy = Policy.from_json(present.document)
        self._say(
            f"Changes against revision {present.number}", changes(old_policy, imported.policy)
        )
        self._say("This LOOSENS the policy", loosenings(old_policy, imported.policy))
        if dry_run:
            self.stdout.write(_NOTHING)
        else:
            self.stdout.write(_publish(imported.policy, present, options))

    def _say(self, title: str, lines: Iterable[str]) -> None:
        for number, line in enumerate(lines):
            if number == 0:
                self.stdout.write(f"{title}:")
            self.stdout.write(f"  {line}")


def _text_of(file: str) -> str:
    try:
        raw = sys.stdin.buffer.read(LARGEST + 1) if file == "-" else _start_of(Path(file))
        text = raw.decode()
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{file} cannot be read: {error}. {_NOTHING}") from None
    if len(raw) > LARGEST:
        raise CommandError(f"{file} has more than {LARGEST:,} bytes. {_NOTHING}")
    return text


def _start_of(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(LARGEST + 1)


def _read(text: str) -> Import:
    try:
        return from_yaml(text)
    except (PolicyError, YamlError) as error:
        raise CommandError(f"{error}\n{_NOTHING}") from None


def _publish(policy: Policy, present: PolicyRevision, options: dict[str, Any]) -> str:
    try:
        published = publish(
            policy,
            author=_admin(options["author"]),
            note=options["note"],
            by=OPERATOR,
            based_on=options["based_on"],
            confirmed=options["confirm"],
        )
    except NotConfirmed as error:
        raise CommandError(
            f"{_NOTHING} Add --confirm {error.word} if this is what you want."
        ) from None
    except NotPermitted:
        raise CommandError(f"{options['author']} is not an admin. {_NOTHING}") from None
    except PolicyRefusal as error:
        raise CommandError(str(error)) from None
    if isinstance(published, PolicyProposal):
        return "It is proposed. Another admin has to publish it, in the pages."
    if published.number == present.number:
        return f"That is the policy in force already. {_NOTHING}"
    return f"Revision {published.number} is in force."


def _admin(name: str | None) -> User:
    person = User.objects.filter(username=name or "").first()
    if person is None:
        raise CommandError(f"Say with --as which admin publishes it. {_NOTHING}")
    return person
