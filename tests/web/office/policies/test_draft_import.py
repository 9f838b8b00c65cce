"""Drafts from YAML and from starter policies; what they mean is read before anything happens."""

from dataclasses import replace

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from dashboard.policies.evaluate import EVERYTHING_TO_A_PERSON, Policy, parse_rule
from dashboard.policies.formats.policy_yaml import to_yaml
from dashboard.policies.models import PolicyDraft
from dashboard.policies.starters import STARTERS, add
from tests import make
from tests.web.office.drafting import (
    NO_PLANS,
    begin,
    filled,
    in_force,
    new_rule,
    publish,
    stamp,
)

IMPORT = "/policies/draft/import"
OURS = Policy(EVERYTHING_TO_A_PERSON.modes, rules=(parse_rule(NO_PLANS),))
OSPREY = """
approval:
  global_mode: selective
  capabilities:
    python_execution: {enabled: true, mode: epics_writes}
    memory: {enabled: false}
agents: {}
"""


def drafted():
    return Policy.from_json(PolicyDraft.objects.get().document)


def read_yaml(client, text, **more):
    return client.post(IMPORT, {"text": text, "stamp": stamp(client), **more})


def take(client, reply):
    """Press the button that makes the draft of what was read."""
    return client.post(IMPORT, {**filled(reply, IMPORT), "take": "yes"})


# --- YAML ---------------------------------------------------------------------------------------


def test_yaml_is_explained_before_anything_happens(admin, read):
    reply = read_yaml(admin, to_yaml(OURS))

    assert "Rule 'No plans' was added as number 1." in read(reply, "main")
    assert not PolicyDraft.objects.exists()


def test_what_was_read_becomes_the_draft(admin):
    take(admin, read_yaml(admin, to_yaml(OURS)))

    assert drafted() == OURS
    assert in_force() == EVERYTHING_TO_A_PERSON


def test_a_file_is_read_like_a_text(admin, read):
    file = SimpleUploadedFile("policy.yaml", to_yaml(OURS).encode())

    reply = read_yaml(admin, "", file=file)

    assert "Rule 'No plans' was added as number 1." in read(reply, "main")


def test_ospreys_section_is_mapped_with_a_report(admin, read):
    reply = read_yaml(admin, OSPREY)

    page = read(reply, "main")
    assert "Mapped" in page
    assert "agents: not about approval." in page
    assert "This loosens the policy" in page


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "Paste a policy, or choose a file."),
        ("a: [", "This is not YAML"),
        ("!!python/object/apply:os.system [id]", "are not allowed"),
        ("- 1", "A policy must be a mapping"),
        ("global_mode: all_capabilities\nrules:\n- name: x\n  effect: allow", "rules.0.effect"),
        ("global_mode: all_capabilities\nrules: yes", "without quotes is read differently"),
    ],
)
def test_what_cannot_be_read_is_refused_with_a_reason(admin, read, text, said):
    reply = read_yaml(admin, text)

    assert reply.status_code == 422
    page = read(reply, "main")
    assert said in page
    assert "Nothing was imported." in page


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"\xff\xfe", "is not UTF-8 text"), (b"#" * (256 * 1024 + 1), "the most are 262,144")],
)
def test_a_file_that_is_no_policy_is_refused(admin, read, content, said):
    reply = read_yaml(admin, "", file=SimpleUploadedFile("policy.yaml", content))

    assert reply.status_code == 422
    assert said in read(reply, "main")


def test_an_import_does_not_replace_a_draft_that_was_begun_since(admin):
    reply = read_yaml(admin, to_yaml(OURS))
    begin(admin)

    assert take(admin, reply).status_code == 409
    assert drafted() == EVERYTHING_TO_A_PERSON


# --- starters -----------------------------------------------------------------------------------


def start(client, key, how):
    form = {"starter": key, "how": how, "stamp": stamp(client)}
    return client.post("/policies/draft/starter", form)


def test_every_starter_is_offered(admin, read):
    begin(admin)

    page = read(admin.get("/policies/draft"), "rules")
    assert [starter.title for starter in STARTERS if starter.title not in page] == []


@pytest.mark.parametrize("starter", STARTERS, ids=lambda starter: starter.key)
def test_a_starter_replaces_the_draft(admin, starter):
    begin(admin)
    start(admin, starter.key, "replace")

    assert drafted() == starter.policy


@pytest.mark.parametrize("starter", STARTERS, ids=lambda starter: starter.key)
def test_the_rules_of_a_starter_are_added_to_the_draft(admin, starter):
    begin(admin)
    new_rule(admin, name="No plans", effect="reject", kinds=["plan"])
    before = drafted()

    start(admin, starter.key, "add")

    assert drafted() == add(before, starter)


def test_a_draft_that_is_full_takes_no_starter_and_says_why(admin):
    begin(admin)
    rules = tuple(parse_rule({**NO_PLANS, "name": f"{n}"}) for n in range(200))
    before = replace(OURS, rules=rules)
    PolicyDraft.objects.update(document=before.to_json())

    refused = start(admin, STARTERS[1].key, "add")

    assert refused.status_code == 422
    assert "at most 200 are allowed. Nothing was added." in refused.content.decode()
    assert drafted() == before


def test_a_draft_with_added_rules_goes_on_from_where_it_began(admin, read):
    begin(admin)
    make.in_force(NO_PLANS)
    start(admin, STARTERS[1].key, "add")

    page = read(admin.get("/policies/draft"), "main")

    assert "Started from revision 1" in page
    assert "Publishing this draft undoes what changed after revision 1" in page


def test_a_starter_holds_nothing_before_it_is_published(admin):
    start(admin, "read-only-python", "replace")

    assert in_force() == EVERYTHING_TO_A_PERSON


@pytest.mark.parametrize("starter", STARTERS[1:], ids=lambda starter: starter.key)
def test_a_starter_does_what_its_examples_say_and_is_published(admin, starter):
    begin(admin)
    start(admin, starter.key, "replace")
    publish(admin, confirm="loosen")

    assert in_force() == starter.policy


def test_there_is_no_other_starter(admin):
    begin(admin)

    assert start(admin, "trust-everybody", "replace").status_code == 404


def test_a_starter_does_not_overwrite_what_another_tab_did(admin):
    make.in_force(NO_PLANS)
    begin(admin)
    old = stamp(admin)
    new_rule(admin, name="Second", effect="reject", tools="x")

    form = {"starter": "everything", "how": "replace", "stamp": old}
    assert admin.post("/policies/draft/starter", form).status_code == 409
    assert [rule.name for rule in drafted().rules] == ["No plans", "Second"]
