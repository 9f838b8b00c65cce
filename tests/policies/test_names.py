"""Names of findings and languages that do not exist are refused where a rule is written."""

import pytest

from dashboard.inspection.languages import LANGUAGES
from dashboard.inspection.notes import FINDINGS
from dashboard.policies.formats.policy_yaml import from_yaml
from dashboard.policies.rules.names import misspelt
from dashboard.policies.rules.problems import PolicyError
from tests.policies.ask import rule


def slipped(name):
    """Each name without one of its letters."""
    return [name[:at] + name[at + 1 :] for at in range(len(name))]


def problems(names=None, languages=()):
    findings = {"findings": {"names": names}} if names else {}
    return [sentence for _, sentence in misspelt(rule("reject", languages=languages, **findings))]


@pytest.mark.parametrize("name", sorted(FINDINGS))
def test_each_finding_is_taken_and_each_slip_of_it_is_refused_with_its_name(name):
    assert problems([name]) == []

    for slip in set(slipped(name)) - FINDINGS:
        (sentence,) = problems([slip])
        assert f"There is no finding {slip!r}. Did you mean " in sentence


@pytest.mark.parametrize("name", sorted(LANGUAGES))
def test_each_language_is_taken(name):
    assert problems(languages=[name]) == []


@pytest.mark.parametrize("names", [["*"], ["sql-*"], ["*-delete", "file-?????"], ["[df]*"]])
def test_a_glob_that_fits_a_finding_is_taken(names):
    assert problems(names) == []


@pytest.mark.parametrize("name", ["shell-*", "x?", "Recursive-Delete", "recursive_delete"])
def test_what_fits_no_finding_is_refused(name):
    assert problems([name])


def test_a_spelling_of_a_language_that_agents_use_is_no_slip():
    assert problems(languages=["py", "shell"]) == []
    assert problems(languages=["pyhton"]) == [
        "There is no language 'pyhton' here. Did you mean 'python'?"
    ]


def test_yaml_with_a_slip_is_refused_and_says_where():
    text = """
global_mode: all_capabilities
rules:
  - name: Never
    effect: reject
    when:
      findings: {names: [file-delete, recursiv-delete]}
"""
    with pytest.raises(PolicyError) as refused:
        from_yaml(text)

    assert refused.value.problems == [
        (
            "rules.0.when.findings.names.1",
            "There is no finding 'recursiv-delete'. Did you mean 'recursive-delete'?",
        )
    ]
