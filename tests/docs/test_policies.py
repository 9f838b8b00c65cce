"""The page about policies: its YAML works, and nothing that can be written is missing."""

import re
from pathlib import Path

import pytest
from pydantic import BaseModel

from dashboard.inspection.findings import UNSEEN, Finding, Severity, Unseen
from dashboard.inspection.notes import FINDINGS
from dashboard.inspection.sentences import SENTENCES
from dashboard.policies.evaluate import evaluate
from dashboard.policies.formats.policy_yaml import from_yaml, to_yaml
from dashboard.policies.inspections import inspect
from dashboard.policies.rules.rule import (
    Argument,
    Demands,
    Effect,
    FindingsMatch,
    Hours,
    Rule,
    When,
)
from dashboard.policies.starters import STARTERS
from dashboard.policies.warnings import KnownNames, failing_examples, warnings
from tests.docs.reading import ROOT, rows
from tests.policies.ask import question, rule, silent

PAGE = ROOT / "docs" / "policies.md"
POLICIES = re.findall(r"^```yaml\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)
OURS, *OSPREYS = POLICIES


def names(shape: type[BaseModel]) -> set[str]:
    return {field.alias or name for name, field in shape.model_fields.items()}


def first_cells():
    return {name for row in rows(PAGE) for name in re.findall(r"`([^`]+)`", row[0])}


@pytest.mark.parametrize("text", POLICIES)
def test_every_policy_is_read_and_written_as_the_same(text):
    policy = from_yaml(text).policy

    assert from_yaml(to_yaml(policy)).policy == policy


def test_our_policy_does_what_its_examples_say_and_gives_no_warning():
    policy = from_yaml(OURS).policy

    assert {rule.effect for rule in policy.rules} == set(Effect)
    assert failing_examples(policy, inspect) == []
    assert warnings(policy, KnownNames(groups=["managers", "directors", "shift"])) == []


@pytest.mark.parametrize("text", OSPREYS)
def test_ospreys_section_is_mapped(text):
    found = from_yaml(text)

    assert found.mapped != []
    assert found.ignored == []


@pytest.mark.parametrize("shape", [When, Demands])
def test_every_condition_and_every_demand_has_a_line(shape):
    assert names(shape) - first_cells() == set()


def test_every_test_of_an_argument_has_a_line():
    tests = set(Argument.model_fields["test"].annotation.__args__)

    assert tests - first_cells() == set()


@pytest.mark.parametrize("shape", [Rule, FindingsMatch, Hours, Argument])
def test_every_other_key_is_named(shape):
    named = set(re.findall(r"`([^`]+)`", PAGE.read_text())) | set(re.findall(r"\w+(?=:)", OURS))

    assert names(shape) - named == set()


UNSEEN_WORDS = {
    "Not read": Unseen.NOT_READ,
    "Not followed": Unseen.NOT_FOLLOWED,
    "Not known": Unseen.UNKNOWN,
}
UNSEEN_RULES = {
    "approve": {"effect": "approve"},
    "review": {"effect": "review", "demands": {"approvals": 2}},
    "reject": {"effect": "reject"},
    "reject with also_if_not_followed": {"effect": "reject", "also_if_not_followed": True},
}


def unseen_tables():
    """Return the rows of the two tables on what was not seen."""
    part = PAGE.read_text().partition("#### What was not seen")[2].partition("### Effects")[0]
    lines = [line.split("|")[1:-1] for line in part.splitlines() if line.startswith("| ")]
    found = [[cell.strip() for cell in line] for line in lines]
    return [row for row in found if len(row) == 3], [row for row in found if len(row) == 5]


def test_the_table_says_of_every_doubt_what_was_not_seen():
    said = {
        name: UNSEEN_WORDS[row[1]]
        for row in unseen_tables()[0][1:]
        for name in re.findall(r"`([a-z-]+)`", row[0])
    }

    assert said == UNSEEN


@pytest.mark.parametrize("name", sorted(UNSEEN))
@pytest.mark.parametrize("column", UNSEEN_RULES)
def test_the_table_says_what_a_rule_does_where_something_was_not_seen(name, column):
    head, *lines = unseen_tables()[1]
    at = [cell.replace("`", "") for cell in head].index(column)
    said = next(line[at] for line in lines if UNSEEN_WORDS[line[0]] is UNSEEN[name])
    when = {"findings": {"names": ["control-system-write"]}}
    held = rule(name="held", examples=UNSEEN_RULES[column], **when)
    later = rule("review", "later")
    asked = question(findings=[Finding(name, Severity.HIGH, 0, 0, "x")])

    answer = evaluate(silent(held, later), asked)

    assert answer.steps[0].matches is said.startswith("holds")
    assert (answer.demands.approvals == 2) is ("demands" in said)
    assert answer.steps[1].matches or answer.effect is Effect.REJECT


def findings():
    table = PAGE.read_text().partition("### Findings")[2].partition("### Effects")[0]
    lines = [line for line in table.splitlines() if line.startswith("| `")]
    return {name for line in lines for name in re.findall(r"`([a-z-]+)`", line.split("|")[1])}


def test_every_finding_that_is_listed_is_one_that_is_made():
    sources = [
        *ROOT.glob("dashboard/inspection/**/*.py"),
        *ROOT.glob("dashboard/inspection/knowledge/*.toml"),
        ROOT / "dashboard/policies/inspections.py",
    ]
    made = set(re.findall(r'"([a-z]+(?:-[a-z]+)*)"', "".join(map(Path.read_text, sources))))

    assert findings() - made == set()


def test_every_finding_that_the_inspectors_know_is_listed():
    assert findings() == FINDINGS


def test_every_finding_about_python_and_every_one_of_a_starter_is_listed():
    matches = (rule.when.findings for starter in STARTERS for rule in starter.policy.rules)
    named = {name for match in matches if match for name in match.names}

    assert (named | (FINDINGS & SENTENCES.keys())) - findings() == set()


def test_every_effect_has_a_line():
    assert {str(effect) for effect in Effect} <= first_cells()


def test_every_starter_has_a_line():
    assert {starter.title for starter in STARTERS} <= {row[0] for row in rows(PAGE)}
