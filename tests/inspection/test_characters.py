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


HIDDEN = [
    "\U0001f600" + "\ufe0f\ufe0e",
    "\U0001f600" + "\ufe0f\ufe0e" * 40,
    "call 1" + "\ufe0f\ufe0e" * 40,
    "call 1\ufe0f\ufe0e",
    "call 1\ufe0e",
    "\U0001f600\u200d\u200d\U0001f600",
    "\U0001f600" + "\u200d\u200c" * 40,
    "\U0001f600\ufe0f\u200d\ufe0f\u200d",
    "\u0645\u06cc\u200c\u200d\u062e",
    "\u0915\u094d\u200d\u200d\u0937",
    "\ufe0f",
    "\u200d\ufe0f",
]


@pytest.mark.parametrize("text", HIDDEN, ids=ascii)
def test_more_styles_and_joiners_than_an_emoji_has_are_hidden_text(text):
    assert ("invisible-characters", Severity.HIGH, 1) in found(text)


EMOJI = [
    "\U0001f600",
    "\u2764\ufe0f\u200d\U0001f525",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466",
    "\U0001f3f3\ufe0f\u200d\U0001f308",
    "\U0001f3f3\ufe0f\u200d\u26a7\ufe0f",
    "\U0001f575\U0001f3fd\u200d\u2642\ufe0f",
    "\U0001f1e9\U0001f1ea",
    "1\ufe0f\u20e3 #\ufe0f\u20e3 *\ufe0f\u20e3",
    "\xa9\ufe0f \u2122\ufe0f \u203c\ufe0f \u2194\ufe0f \u2139\ufe0f \u3030\ufe0f \u2660\ufe0e",
    "\u0915\u094d\u200d\u0937 \u0dc1\u0dca\u200d\u0dbb\u0dd3",
]


@pytest.mark.parametrize("text", EMOJI, ids=ascii)
def test_emoji_and_scripts_that_join_letters_are_left_alone(text):
    assert found(text) == []


@pytest.mark.parametrize("mark", "\u0334\u0335\u0336\u0337\u0338\u20d2\u20e5\u20eb", ids=ascii)
def test_letters_that_are_crossed_out_are_found(mark):
    assert found(f"Do n{mark}o{mark}t{mark} delete the backups") == [
        ("hidden-text", Severity.MEDIUM, 1)
    ]


@pytest.mark.parametrize(
    "text",
    [
        "p\u0338 + m, \u2202\u0338",
        "a =\u0338 b, \u2208\u0338 \u2203\u0338",
        "v\u20d7 a\u20d7b\u20d7",
        "l\u0334 velarised",
        "Vie\u0323\u0302t Nam, cafe\u0301",
    ],
    ids=ascii,
)
def test_marks_of_physics_mathematics_and_languages_are_left_alone(text):
    assert found(text) == []


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
