"""``import_policy`` publishes a policy that is kept as YAML, and says first what it means."""

import io

import pytest
from django.core.management import CommandError

from dashboard.approvals import guards
from dashboard.approvals.services import compare
from dashboard.audit.models import AuditEntry
from dashboard.policies.evaluate import EVERYTHING_TO_A_PERSON, Policy, parse_rule
from dashboard.policies.formats.policy_yaml import to_yaml
from dashboard.policies.models import PolicyProposal
from dashboard.policies.queries import policy_in_force
from dashboard.policies.services import current_revision

MODES = EVERYTHING_TO_A_PERSON.modes
PLAN = {"kind": "plan", "content": {"steps": []}}
NO_PLANS = {"name": "No plans", "effect": "reject", "when": {"kinds": ["plan"]}}
STRICTER = Policy(MODES, rules=(parse_rule(NO_PLANS),))
LOOSER = Policy(MODES, owner_may_approve=True)
OSPREY = """
approval:
  global_mode: selective
  capabilities:
    python_execution: {enabled: true, mode: all_code}
    memory: {enabled: false}
llm: {}
"""


@pytest.fixture
def file(tmp_path):
    """Writes a file and returns its path."""

    def write(text):
        path = tmp_path / "policy.yaml"
        path.write_text(to_yaml(text) if isinstance(text, Policy) else text)
        return str(path)

    return write


@pytest.fixture
def run(command, ada):
    """Imports a file as ada."""

    def import_file(path, **options):
        return command("import_policy", path, **{"author": "ada", **options})

    return import_file


@pytest.fixture
def refused(run):
    """Imports a file that is not taken; returns why. Nothing is published."""

    def why(path, **options):
        before = current_revision().number
        with pytest.raises(CommandError) as error:
            run(path, **options)
        assert current_revision().number == before
        return str(error.value)

    return why


def test_a_file_is_published_as_the_admin_who_is_named(run, file, ada):
    said = run(file(STRICTER), note="from git")

    assert said.endswith("Revision 2 is in force.\n")
    assert policy_in_force() == STRICTER
    assert (current_revision().author, current_revision().note) == (ada, "from git")


def test_the_record_says_that_a_command_did_it(run, file):
    run(file(STRICTER))

    entry = AuditEntry.objects.filter(action="policy.published").get()
    assert (entry.actor, entry.auth) == ("operator", "command")


def test_it_says_first_what_changes(run, file):
    said = run(file(STRICTER), dry_run=True)

    assert "Changes against revision 1:\n  Rule 'No plans' was added as number 1." in said


def test_a_dry_run_publishes_nothing(run, file):
    assert run(file(STRICTER), dry_run=True).endswith("Nothing was published.\n")
    assert current_revision().number == 1


def test_a_dry_run_needs_no_admin(command, file):
    assert "Nothing was published." in command("import_policy", file(STRICTER), dry_run=True)


def test_ospreys_section_is_mapped_with_a_report(run, file):
    said = run(file(OSPREY), dry_run=True)

    assert "Mapped:\n" in said
    assert "Ignored:\n  llm: not about approval.\n" in said


def test_standard_input_is_read_where_the_file_is_a_hyphen(run, monkeypatch):
    given = io.TextIOWrapper(io.BytesIO(to_yaml(STRICTER).encode()))
    monkeypatch.setattr("sys.stdin", given)

    run("-")

    assert policy_in_force() == STRICTER


def test_what_holds_already_is_not_published_again(run, file):
    said = run(file(EVERYTHING_TO_A_PERSON))

    assert said == "That is the policy in force already. Nothing was published.\n"
    assert current_revision().number == 1


@pytest.mark.parametrize("word", ["", "yes", "disabled"])
def test_what_loosens_needs_the_word(refused, file, word):
    assert refused(file(LOOSER), confirm=word) == (
        "Nothing was published. Add --confirm loosen if this is what you want."
    )


def test_with_the_word_it_is_published(run, file):
    said = run(file(LOOSER), confirm="loosen")

    assert "This LOOSENS the policy:\n  Owners may approve" in said
    assert policy_in_force() == LOOSER


def test_where_two_people_are_needed_it_is_proposed(run, file, settings):
    settings.POLICY_TWO_PEOPLE = True

    said = run(file(LOOSER), confirm="loosen")

    assert said.endswith("It is proposed. Another admin has to publish it, in the pages.\n")
    assert (PolicyProposal.objects.count(), current_revision().number) == (1, 1)


@pytest.mark.parametrize("details", ["of today", "without the author"])
def test_what_was_proposed_so_agrees_with_the_log(run, file, settings, details):
    settings.POLICY_TWO_PEOPLE = True
    run(file(LOOSER), confirm="loosen")
    if details != "of today":  # as it was recorded before the author stood in it
        guards.remove()
        entry = AuditEntry.objects.get(action="policy.proposed")
        AuditEntry.objects.filter(seq=entry.seq).update(
            details=entry.details.replace('"author":"ada",', "")
        )

    assert [one.said for _, found in compare() for one in found] == []


def test_a_proposal_that_was_given_to_another_admin_is_found(run, file, settings, alice):
    settings.POLICY_TWO_PEOPLE = True
    run(file(LOOSER), confirm="loosen")
    guards.remove()
    PolicyProposal.objects.update(author=alice)
    [sentence] = [one.said for _, found in compare() for one in found]

    assert sentence.startswith("the proposed policy")


def test_a_file_that_was_written_against_another_revision_is_refused(run, refused, file):
    run(file(STRICTER))

    said = refused(file(EVERYTHING_TO_A_PERSON), based_on=1, confirm="loosen")

    assert "Revision 2 was published since" in said


def test_a_failing_example_is_named_with_its_rule(refused, file):
    rule = parse_rule(NO_PLANS | {"not_match": [PLAN]})

    said = refused(file(Policy(MODES, rules=(rule,))))

    assert "Rule 'No plans': example 1 of what it must not match does match." in said
    assert "Nothing was published" in said


@pytest.mark.parametrize("author", [None, "", "nobody"])
def test_somebody_has_to_answer_for_it(refused, file, author):
    said = refused(file(STRICTER), author=author)

    assert said == "Say with --as which admin publishes it. Nothing was published."


def test_who_is_no_admin_does_not_publish(refused, file, alice):
    assert refused(file(STRICTER), author="alice") == (
        "alice is not an admin. Nothing was published."
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: [", "This is not YAML"),
        ("- 1", "A policy must be a mapping"),
        ("global_mode: all_capabilities\nrules: [{name: x, effect: allow}]", "rules.0.effect: "),
        ("#" * 262_145, "has more than 262,144 bytes"),
    ],
)
def test_what_is_no_policy_is_refused_with_a_reason(refused, file, text, said):
    why = refused(file(text))

    assert said in why
    assert why.endswith("Nothing was published.")


def test_a_file_that_is_not_there_is_said(refused, tmp_path):
    why = refused(str(tmp_path / "none.yaml"))

    assert "none.yaml cannot be read" in why


def test_a_note_that_is_too_long_is_refused(refused, file):
    assert "The note is longer than 500 characters." in refused(file(STRICTER), note="x" * 501)
