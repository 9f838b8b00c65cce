"""The texts within JSON, by the numbers that findings and pages know them by."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from approval_client.wire import canonical_json, parse_json
from dashboard.inspection.parts import keys, parts_of_call, parts_of_texts

names = st.sampled_from(["a", "cmd", "language", "sql", "\u00e9", "Zz"])
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["x", "select 1", "py"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=4),
    max_leaves=12,
)


def places(parts):
    return [(part.number, part.place, part.text) for part in parts]


def test_texts_are_numbered_in_the_order_of_canonical_json():
    arguments = {"b": ["x", 1, {"c": "y"}], "a": "z"}

    assert places(parts_of_call("t", arguments)) == [
        (1, ("a",), "z"),
        (2, ("b", 0), "x"),
        (3, ("b", 2, "c"), "y"),
    ]


@given(st.dictionaries(names, values, max_size=5))
def test_the_order_in_which_an_agent_writes_its_arguments_changes_nothing(arguments):
    stored = parse_json(canonical_json(arguments))

    assert parts_of_call("run", arguments) == parts_of_call("run", stored)
    assert parts_of_texts(arguments) == parts_of_texts(stored)


def test_words_of_one_command_are_one_part():
    (part,) = parts_of_call("t", {"argv": ["rm", "a b"]})

    assert (part.place, part.text, part.language) == (("argv",), "rm 'a b'", "bash")


@pytest.mark.parametrize(
    ("tool", "arguments", "language"),
    [
        ("t", {"command": "ls"}, "bash"),
        ("powershell", {"command": "ls"}, "powershell"),
        ("t", {"py": "x"}, "python"),
        ("t", {"query": "SELECT 1"}, "sql"),
        ("t", {"lang": "sqlite", "source": "x"}, "sqlite"),
        ("python_repl", {"input": "x"}, "python"),
    ],
)
def test_the_name_the_tool_or_a_neighbour_tells_the_language(tool, arguments, language):
    part = parts_of_call(tool, arguments)[-1]

    assert (part.language, part.is_code) == (language, True)


@pytest.mark.parametrize("arguments", [{"cwd": "/x"}, {"text": "ls"}, {"query": "cats"}])
def test_what_is_said_beside_code_is_no_code(arguments):
    (part,) = parts_of_call("t", arguments)

    assert (part.language, part.is_code) == (None, False)


def test_names_are_found_at_any_depth():
    assert list(keys([{"b": {"c": [{"d": 1}]}, "a": 2}])) == ["a", "b", "c", "d"]
