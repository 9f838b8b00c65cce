import pytest
from hypothesis import given
from hypothesis import strategies as st

from approval_client.wire import JsonError, canonical_json, digest, parse_json

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(JSON)
def test_what_one_side_writes_the_other_reads_and_writes_the_same(value):
    text = canonical_json(value)

    assert canonical_json(parse_json(text)) == text


def test_numbers_keep_the_digits_that_their_sender_wrote():
    text = "[1e2,1.10,-0,12345678901234567890,1E+2,0.1e-7]"

    assert canonical_json(parse_json(text)) == text


def test_keys_are_ordered_by_code_point_and_white_space_is_dropped():
    assert canonical_json(parse_json('{ "b": 1, "a": [ ], "B": {} }')) == '{"B":{},"a":[],"b":1}'


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('{"code": "safe", "code": "rm -rf /"}', "duplicate_key"),
        ('[{"a": {"b": 1, "b": 1}}]', "duplicate_key"),
        ("[NaN]", "not_finite"),
        ("[-Infinity]", "not_finite"),
        ("[1e999]", "not_finite"),
        ('["\\u0000"]', "nul_character"),
        ('{"\\u0000": 1}', "nul_character"),
        ('["\\ud800"]', "lone_surrogate"),
        ("[" * 33 + "]" * 33, "too_deep"),
        ("[" * 100_000, "too_deep"),
        ("9" * 5000, "number_too_long"),
        ("{", "not_json"),
        ("", "not_json"),
        (b"\xff\xfe{\x00", "not_utf8"),
    ],
)
def test_json_that_two_sides_could_read_differently_is_refused(text, code):
    with pytest.raises(JsonError) as refusal:
        parse_json(text)

    assert refusal.value.code == code


def test_thirty_two_levels_are_read():
    assert parse_json("[" * 32 + "]" * 32) == eval("[" * 32 + "]" * 32)  # noqa: S307


@pytest.mark.parametrize("value", [10**309, -(10**400), [10**4000]])
def test_an_integer_beyond_the_range_of_a_double_is_written_with_its_digits(value):
    assert parse_json(canonical_json(value)) == value


def test_an_integer_that_python_itself_does_not_write_is_refused():
    with pytest.raises(JsonError) as refusal:
        canonical_json([10**5000])

    assert refusal.value.code == "number_too_long"


@pytest.mark.parametrize("value", [{1: 2}, {"a": object()}, b"bytes", {"a"}])
def test_what_is_not_json_cannot_be_written(value):
    with pytest.raises(TypeError):
        canonical_json(value)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800", "a\0b"])
def test_what_the_other_side_would_refuse_is_not_written(value):
    with pytest.raises(JsonError):
        canonical_json([value])


def test_a_digest_names_kind_and_content_and_nothing_else():
    found = digest("code", {"code": "print(1)"})

    assert found == digest("code", parse_json('{"code": "print(1)"}'))
    assert found != digest("memory", {"code": "print(1)"})


def test_the_digest_never_changes_between_versions():
    assert digest("code", {"code": "print(1)", "language": "python"}) == (
        "709485def4904beb2632aa2c000fa6594777c9b1d5c297cae34af2b5a5d8dd14"
    )


def test_a_value_of_few_parts_that_is_far_too_large_is_not_written():
    value = "x"
    for _ in range(20):
        value = [value, value]

    with pytest.raises(JsonError, match="far too large") as caught:
        canonical_json(value)
    assert caught.value.code == "too_large"
