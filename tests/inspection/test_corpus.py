"""How much the inspectors find of what does harm, and how often they cry wolf."""

import json

import pytest

from approval_client.wire import Kind
from dashboard.inspection.findings import Severity
from dashboard.inspection.inspector import inspect_content
from tests.inspection.corpus import characters, python, shell, sql, tools, windows

DANGEROUS = {
    "python": python.DANGEROUS,
    "shell": shell.DANGEROUS,
    "sql": sql.DANGEROUS,
    "windows": windows.DANGEROUS,
    "tools": tools.DANGEROUS,
    "characters": characters.DANGEROUS,
}
HARMLESS = {
    "python": python.HARMLESS,
    "shell": shell.HARMLESS,
    "sql": sql.HARMLESS,
    "windows": windows.HARMLESS,
    "tools": tools.HARMLESS,
    "characters": characters.HARMLESS,
}
STANDING = {"windows": {"not-inspected"}}  # said of everything in a language that nobody reads


def report_on(snippet):
    if snippet.language == "tool call":
        return inspect_content(Kind.TOOL_CALL, json.loads(snippet.text))
    return inspect_content(Kind.CODE, {"code": snippet.text, "language": snippet.language})


def is_found(snippet):
    return not snippet.names.isdisjoint(report_on(snippet).names)


def false_alarms(snippet, standing):
    return {
        finding.name
        for finding in report_on(snippet).findings
        if finding.severity.rank >= Severity.MEDIUM.rank and finding.name not in standing
    }


def test_the_corpus_is_large_enough():
    sizes = {name: (len(DANGEROUS[name]), len(HARMLESS[name])) for name in DANGEROUS}
    print(f"Snippets, dangerous and harmless: {sizes}")  # noqa: T201 - a figure

    assert sum(map(sum, sizes.values())) >= 150


@pytest.mark.parametrize("name", DANGEROUS)
def test_what_does_harm_is_found(name):
    missed = [snippet.title for snippet in DANGEROUS[name] if not is_found(snippet)]
    recall = 1 - len(missed) / len(DANGEROUS[name])
    print(f"{name}: recall {recall:.3f} of {len(DANGEROUS[name])}, missed {missed}")  # noqa: T201

    assert recall >= 0.95


@pytest.mark.parametrize("name", HARMLESS)
def test_what_does_none_is_left_alone(name):
    standing = STANDING.get(name, set())
    alarms = {s.title: false_alarms(s, standing) for s in HARMLESS[name]}
    alarmed = {title: names for title, names in alarms.items() if names}
    rate = len(alarmed) / len(HARMLESS[name])
    print(f"{name}: false alarms {rate:.3f} of {len(HARMLESS[name])}, {alarmed}")  # noqa: T201

    assert rate <= 0.05


def test_nothing_that_does_harm_is_without_a_grave_finding_or_a_doubt():
    silent = [
        snippet.title
        for snippets in DANGEROUS.values()
        for snippet in snippets
        if not report_on(snippet).has_doubts
        and (report_on(snippet).highest or Severity.INFO).rank < Severity.MEDIUM.rank
    ]

    assert silent == []
