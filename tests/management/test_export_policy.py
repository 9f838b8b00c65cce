"""``export_policy`` prints YAML that ``import_policy`` reads as the same policy."""

import pytest
from django.core.management import CommandError
from django.utils import timezone

from dashboard.policies.evaluate import Policy
from dashboard.policies.formats.policy_yaml import from_yaml
from dashboard.policies.models import PolicyRevision
from dashboard.policies.queries import policy_in_force
from dashboard.policies.services import current_revision
from dashboard.policies.starters import STARTERS
from tests import make

NO_PLANS = {"name": "No plans", "effect": "reject", "when": {"kinds": ["plan"]}}


def test_the_policy_in_force_is_printed_and_nothing_else(command):
    make.in_force(NO_PLANS)

    assert from_yaml(command("export_policy")).policy == policy_in_force()


def test_an_old_revision_is_printed_by_its_number(command):
    make.in_force(NO_PLANS)

    first = Policy.from_json(PolicyRevision.objects.get(pk=1).document)
    assert from_yaml(command("export_policy", revision=1)).policy == first


@pytest.mark.parametrize("starter", STARTERS, ids=lambda starter: starter.key)
def test_what_is_exported_is_what_is_in_force_when_it_is_imported(command, ada, tmp_path, starter):
    make.in_force(*starter.policy.to_data().get("rules", ()), modes=starter.policy.modes)
    file = tmp_path / "policy.yaml"
    file.write_text(command("export_policy"))

    said = command("import_policy", str(file), author="ada")

    assert said == "That is the policy in force already. Nothing was published.\n"


def test_a_revision_that_does_not_exist_is_said(command):
    with pytest.raises(CommandError, match=r"There is no revision 7\. Nothing was exported\."):
        command("export_policy", revision=7)


def test_a_revision_of_another_program_is_not_exported(command):
    current_revision()
    PolicyRevision.objects.create(
        number=2, document='{"version": 99}', published_at=timezone.now()
    )

    with pytest.raises(CommandError, match=r"cannot read revision 2\. Nothing was exported\."):
        command("export_policy")
