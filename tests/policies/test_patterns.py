import fnmatch
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.policies.rules.patterns import Pattern, PatternRefused, fits_any, glob, is_literal


@given(st.text("*?ab[]^\\.é\n", max_size=10), st.text("ab[]^\\.é\n", max_size=8))
def test_a_glob_means_what_fnmatch_means(text, name):
    assert glob(text)(name) == fnmatch.fnmatchcase(name, text)


@pytest.mark.parametrize(
    "text", ["[a-c]", "[!a-c]", "[c-a]", "[!c-a]", "[]]", "[!]]", "[a-]", "[-a]", "[a"]
)
@pytest.mark.parametrize("name", ["a", "b", "d", "]", "-", "[a", ""])
def test_sets_mean_what_fnmatch_means(text, name):
    assert glob(text)(name) == fnmatch.fnmatchcase(name, text)


def test_a_hostile_name_takes_linear_time():
    begin = time.thread_time()

    assert not glob("*a*a*a*a*a*a*a*a*b")("a" * 100_000)
    assert time.thread_time() - begin < 1


def test_a_hostile_text_takes_linear_time():
    begin = time.thread_time()

    assert not Pattern("(a*)*b").occurs_in(b"a" * 200_000)
    assert time.thread_time() - begin < 1


@pytest.mark.parametrize("text", ["(", "(?=a)", r"(a)\1", "a{5000}", "*", "\ud800"])
def test_what_re2_does_not_take_is_refused_with_a_reason(text):
    with pytest.raises(PatternRefused, match=r"\w"):
        Pattern(text)


def test_a_pattern_knows_characters_of_more_than_a_byte():
    assert Pattern("^.$").fits("ä".encode())


def test_a_name_fits_any_of_several_globs():
    fits = fits_any(("pay", "x*", "[ab]"))

    assert [fits(name) for name in ("pay", "xy", "b", "c", "payx")] == [
        True,
        True,
        True,
        False,
        False,
    ]


def test_a_glob_without_signs_fits_one_name_only():
    assert is_literal("pay.now")
    assert not is_literal("pay*")
