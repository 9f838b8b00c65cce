import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from approval_client.wire import canonical_json, parse_json
from dashboard.policies.formats.strict_yaml import MOST_BYTES, YamlError, dump, load

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
numbers = st.one_of(
    st.integers().map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr).filter(lambda n: "+" not in n),
    st.sampled_from(["1.50", "1e5", "-0", "0.10", "1E-7", "12345678901234567890123"]),
).map(parse_json)
leaves = st.one_of(st.none(), st.booleans(), numbers, texts)
data = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


@given(data)
def test_what_is_written_is_read_as_the_same_to_the_digit(value):
    assert canonical_json(load(dump(value))) == canonical_json(value)


@pytest.mark.parametrize(
    "text",
    [
        "yes",
        "no",
        "on",
        "off",
        "null",
        "~",
        "true",
        "08:00",
        "10:30",
        "010",
        "0x1F",
        "1e5",
        "1_000",
        ".5",
        "=",
        "<<",
        "2026-03-04",
        "- a",
        "a: b",
        "#a",
        "*a",
        "&a",
        "!a",
        "",
        " a",
        "a ",
        "|",
        "%",
    ],
)
def test_a_text_that_looks_like_something_else_stays_a_text(text):
    assert load(dump({"a": text})) == {"a": text}
    assert load(dump({text: "a"})) == {text: "a"}


def test_lines_are_written_as_lines():
    assert dump({"code": "a = 1\nb = 2\n"}) == "code: |\n  a = 1\n  b = 2\n"


def test_what_cannot_be_seen_is_written_as_an_escape():
    assert dump({"a": "x\u202ey"}) == 'a: "x\\u202Ey"\n'
    assert dump({"a": "Zürich"}) == 'a: "Zürich"\n'


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: true", True),
        ("a: null", None),
        ("a:", None),
        ("a: 1.50", 1.5),
        ("a: 1e3", 1000.0),
        ('a: "10:30"', "10:30"),
        ("a: 'yes'", "yes"),
        ("a: 1.2.3", "1.2.3"),
        ("a: 08:00", "08:00"),
        ("a: y", "y"),
    ],
)
def test_plain_words_mean_what_they_mean_in_json(text, value):
    assert load(text) == {"a": value}


@pytest.mark.parametrize(
    "word", ["yes", "NO", "on", "Off", "10:30", "010", "0o17", "0x1F", "1_000", ".5", "+1", ".inf"]
)
def test_a_bare_word_that_others_read_differently_is_refused(word):
    with pytest.raises(YamlError, match=r"^Line 2: .* is read differently by different programs"):
        load(f"b: 1\na: [{word}]")


def test_keys_in_quotes_are_texts_whatever_they_look_like():
    assert load("'on': 1\n'010': 2\n\"true\": 3") == {"on": 1, "010": 2, "true": 3}


@pytest.mark.parametrize("word", ["on", "yes", "no", "null", "~", "1", "010", "0x1F", "true"])
def test_a_key_that_other_readers_take_for_no_text_is_refused(word):
    with pytest.raises(YamlError, match=r"Line 1: other readers of YAML take the key"):
        load(f"{word}: 1")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: &x 1\nb: *x", "Line 1: anchors and aliases are not allowed"),
        ("a: &x [1]", "Line 1: anchors"),
        ("&x a: 1", "Line 1: anchors"),
        ("a: !!python/object/apply:os.system [ls]", "Line 1: tags such as"),
        ("a: !!str 1", "Line 1: tags such as"),
        ("a: 1\na: 2", "Line 2: the key 'a' is there twice"),
        ("[1]: 2", "Line 1: a key must be a plain word or a text"),
        ("? {a: 1}\n: 2", "Line 1: a key must be"),
        ("a: 1\n---\nb: 2", "more than one YAML document"),
        ("a: [1", "This is not YAML: line 2"),
        ("a: b: c", "This is not YAML: line 1"),
        ("a: \x01", "This is not YAML"),
        ("\ud800", "half of a surrogate pair"),
        (f"a: {'9' * 5000}", "too many digits"),
        (f"a: {'x' * MOST_BYTES}", "at most"),
    ],
)
def test_what_is_not_plain_yaml_is_refused(text, said):
    with pytest.raises(YamlError, match=said):
        load(text)


@pytest.mark.parametrize("opening", ["[", "{a: ", "- ", "? "])
def test_what_is_nested_deeply_is_refused_at_once(opening):
    begin = time.thread_time()
    hostile = opening * (MOST_BYTES // len(opening) - 1)

    with pytest.raises(YamlError):
        load(hostile)
    assert time.thread_time() - begin < 1


def test_nothing_is_nothing():
    assert load("") is None
