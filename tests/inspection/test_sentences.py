"""What findings say is made from their facts, and what was kept as a sentence stays one."""

import re

import pytest

from approval_client.wire import Kind
from dashboard.inspection import characters, code, inspector
from dashboard.inspection.findings import Finding, Report, Severity, Unseen
from dashboard.inspection.knowledge import SECRETS
from dashboard.inspection.notes import FindingKind
from dashboard.inspection.python import notes
from dashboard.inspection.sentences import SENTENCES, plain_sentence, sentence, why_unseen

DELETES = Finding("file-delete", Severity.HIGH, 2, 2, "file-delete", about="os.remove")
KEPT = (
    '{"findings":[{"block":0,"end_line":2,"line":2,"name":"file-delete",'
    '"sentence":"Removes files: os.remove.","severity":"high"}],"inspector":"4","languages":[]}'
)


@pytest.mark.parametrize("text", SENTENCES.values())
def test_a_sentence_begins_with_a_capital_and_holds_no_markup(text):
    assert re.fullmatch(r"[A-Z][ -;=?-~]+", text)


def test_what_a_finding_is_about_stands_behind_our_words():
    ours = SENTENCES["file-delete"]

    assert sentence(DELETES) == f"{ours}: os.remove."
    assert plain_sentence(DELETES) == f"{ours}."


def test_facts_are_stored_and_no_sentence():
    report = Report((DELETES,), ("python",))

    assert Report.from_json(report.to_json()) == report
    assert not any(text in report.to_json() for text in SENTENCES.values())


def test_a_sentence_that_was_kept_is_said_as_it_was():
    (finding,) = Report.from_json(KEPT).findings

    assert sentence(finding) == "Removes files: os.remove."
    assert plain_sentence(finding) == "Removes files."
    assert (finding.name, finding.severity, finding.line) == ("file-delete", Severity.HIGH, 2)


def test_two_findings_differ_by_what_they_are_about():
    other = Finding("file-delete", Severity.HIGH, 2, 2, "file-delete", about="os.unlink")

    assert len({DELETES, other, Finding(**vars_of(DELETES))}) == 2


def vars_of(finding):
    return {name: getattr(finding, name) for name in finding.__slots__}


def test_no_effect_is_without_a_sentence():
    with pytest.raises(ValueError, match="has no sentence for 'beams'"):
        FindingKind("network", Severity.LOW, "beams")


def test_every_kind_of_secret_that_is_shipped_has_a_sentence_of_its_own():
    assert {secret.name for secret in SECRETS.secrets} <= SENTENCES.keys()


@pytest.mark.parametrize(
    ("code_of_limit", "limit"),
    [
        ("too-large-searched", code.MAX_BYTES >> 20),
        ("too-many-blocks", inspector.MAX_BLOCKS),
        ("more-findings", inspector.MAX_FINDINGS),
        ("more-findings-of-python", notes.MAX_FINDINGS),
        ("row-of-blanks", characters.MANY_BLANKS),
    ],
)
def test_a_sentence_names_the_limit_that_holds(code_of_limit, limit):
    assert f" {limit} " in SENTENCES[code_of_limit]


def test_of_what_was_not_seen_nothing_of_the_agents_is_said():
    called = Finding("unknown-call", Severity.LOW, 1, 1, "unknown-call", about="evil")

    said = why_unseen(Report((called,)), frozenset({Unseen.UNKNOWN}))

    assert said.startswith("Not known: ")
    assert "evil" not in said


def test_a_real_finding_keeps_its_code_and_what_is_called():
    report = inspector.inspect_content(
        Kind.CODE, {"code": "import os\nos.remove('x')", "language": "python"}
    )

    (finding,) = report.findings
    assert (finding.name, finding.code, finding.about) == (
        "file-delete",
        "file-delete",
        "os.remove",
    )
