import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from approval_client.wire import canonical_json, parse_json
from dashboard.web.drawing.prettyjson import pretty_json

characters = st.characters(exclude_characters="\0", exclude_categories=["Cs"])
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(characters) | st.sampled_from('{}[],:"\\'),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(characters), inner),
    max_leaves=20,
)


@given(values)
def test_only_blanks_are_added(value):
    assert canonical_json(parse_json(pretty_json(value))) == canonical_json(value)


@given(values)
def test_it_looks_as_python_would_lay_it_out(value):
    assert pretty_json(value) == json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False)


@pytest.mark.parametrize("number", ["1.10", "1e3", "-0", "12345678901234567890", "0.1e-7"])
def test_a_number_keeps_the_digits_that_its_sender_wrote(number):
    assert pretty_json(parse_json(f'{{"a":{number}}}')) == f'{{\n  "a": {number}\n}}'


def test_marks_inside_strings_are_not_laid_out():
    assert pretty_json({'a"b': '{"x": [1, 2]}\n'}) == '{\n  "a\\"b": "{\\"x\\": [1, 2]}\\n"\n}'


def test_deep_json_is_not_pushed_out_of_sight():
    value = 1
    for _ in range(30):
        value = [value]
    assert max(len(line) - len(line.lstrip()) for line in pretty_json(value).split("\n")) == 30
