"""Characters that hide something, and honest ones that only look unusual."""

import pytest

from dashboard.inspection.characters import inspect_characters
from dashboard.inspection.findings import Severity
from tests.inspection.corpus.characters import DANGEROUS, HARMLESS


def found(text):
    return [(finding.name, finding.severity, finding.line) for finding in inspect_characters(text)]


@pytest.mark.parametrize("snippet", DANGEROUS[:-2], ids=lambda snippet: snippet.title)
def test_what_hides_something_is_found(snippet):
    assert {name for name, _, _ in found(snippet.text)} & snippet.names


@pytest.mark.parametrize("snippet", HARMLESS, ids=lambda snippet: snippet.title)
def test_what_is_only_unusual_is_no_alarm(snippet):
    assert [n for n, severity, _ in found(snippet.text) if severity is not Severity.LOW] == []


def test_each_line_is_told_of_once():
    text = "a = 1\nb\u200bc\u200bd = 2\n\u202e = 3\n"

    assert found(text) == [
        ("invisible-characters", Severity.HIGH, 2),
        ("text-direction", Severity.HIGH, 3),
    ]


def test_joiners_between_letters_of_other_scripts_are_of_little_note():
    assert found("\u0645\u06cc\u200c\u062e") == [("invisible-characters", Severity.LOW, 1)]


def test_a_joiner_between_latin_letters_is_grave():
    assert found("ab\u200ccd") == [("invisible-characters", Severity.HIGH, 1)]


def test_a_word_of_other_letters_that_stands_beside_its_latin_twin_is_grave():
    assert found("cope = 1\n\u0441\u043e\u0440\u0435 = 2") == [
        ("look-alike-characters", Severity.HIGH, 2)
    ]


def test_such_a_word_alone_is_a_word_of_its_language():
    assert found("\u0441\u043e\u0440\u0435 = 2") == []


@pytest.mark.parametrize("word", ["m\u00b2", "5\u00ba", "\u211d", "\u00b5m"])
def test_signs_that_everybody_writes_are_left_alone(word):
    assert found(f"# {word}") == []


def test_blanks_before_nothing_hide_nothing():
    assert found("a = 1" + " " * 100 + "\nb = 2") == []


def test_blanks_before_something_push_it_out_of_sight():
    assert found("a = 1" + " " * 100 + "; b()") == [("row-of-blanks", Severity.MEDIUM, 1)]
