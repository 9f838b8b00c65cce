"""A tool call as it is read: names, types, values, and texts under the numbers of findings."""

import pytest

from approval_client.wire import canonical_json, parse_json
from dashboard.inspection.parts import parts_of_call
from dashboard.web.content import render_content
from dashboard.web.drawing import tree as module


def render(arguments, tool="t"):
    return render_content("tool_call", canonical_json({"tool": tool, "arguments": arguments}))


def rows(members):
    return [(member.name, member.type, member.value) for member in members]


def plain(read, block):
    return "".join(text for _, text in read("\n".join(block.code.lines)).parts)


def test_every_argument_has_its_name_and_its_value():
    content = render({"a": 1, "b": True, "c": None, "d": [], "e": {}})

    assert rows(content.call.arguments) == [
        ("a", "", "1"),
        ("b", "", "true"),
        ("c", "", "null"),
        ("d", "", "[]"),
        ("e", "", "{}"),
    ]


@pytest.mark.parametrize("text", ["1", "-2.50", "true", "null", "[1]", "empty", "Empty "])
def test_a_text_that_reads_like_another_value_is_called_a_text(text):
    (member,) = render({"a": text}).call.arguments

    assert member.type == "text"


def test_numbers_keep_the_digits_of_their_sender():
    text = '{"arguments":{"id":12345678901234567890,"x":1.10,"y":[1.0,2e3]},"tool":"t"}'

    values = [value for *_, value in rows(render_content("tool_call", text).call.arguments)]

    assert values == ["12345678901234567890", "1.10", "[1.0, 2e3]"]


def test_a_text_is_a_block_of_its_own(read):
    content = render({"body": "one\ntwo"})
    (member,) = content.call.arguments

    assert (member.type, plain(read, content.blocks[member.block])) == ("", "one\ntwo")


def test_what_is_nested_is_laid_out_below():
    (member,) = render({"a": {"b": [{"c": 1}]}}).call.arguments

    assert member.type == "1 member"
    assert rows(member.members) == [("b", "1 item", "")]
    assert rows(member.members[0].members) == [("1", "1 member", "")]
    assert rows(member.members[0].members[0].members) == [("c", "", "1")]


def test_the_tool_is_a_block_too(read):
    content = render({"a": "x"}, tool="delete\u202euser")
    tool = content.blocks[content.call.tool]

    assert (tool.title, tool.code.warnings) == ("Tool", ["U+202E RIGHT-TO-LEFT OVERRIDE: 1"])


@pytest.mark.parametrize(
    ("arguments", "language"),
    [
        ({"command": "ls"}, "bash"),
        ({"python_code": "x = 1"}, "python"),
        ({"query": "select 1"}, "sql"),
        ({"language": "js", "code": "f()"}, "javascript"),
        ({"text": "select 1"}, "text"),
    ],
)
def test_code_is_coloured_in_the_language_that_it_was_inspected_in(arguments, language):
    content = render(arguments)

    assert language in [block.language for block in content.blocks[1:]]


def test_blocks_have_the_numbers_of_the_parts_that_were_inspected(read):
    arguments = {"z": "1", "a": ["2", {"k": "3"}], "argv": ["ls", "-l"], "lang": "sh"}
    content = render(arguments)

    parts = parts_of_call("t", arguments)
    drawn = [(block.number, plain(read, block)) for block in content.blocks[1:-1]]
    assert drawn == [(part.number, part.text) for part in parts]


def test_words_of_one_command_are_shown_one_by_one_and_as_they_are_read(read):
    content = render({"argv": ["echo", "a b"]})
    (member,) = content.call.arguments

    assert rows(member.members) == [("1", "", "echo"), ("2", "", "a b")]
    assert plain(read, content.blocks[member.block]) == "echo 'a b'"


def test_the_raw_json_is_the_whole_content(read):
    arguments = {"b": [1, {"c": "x\ny"}], "a": 1}
    raw = render(arguments).blocks[0]

    assert (raw.title, raw.language, raw.is_raw) == ("Raw JSON", "json", True)
    assert parse_json(plain(read, raw)) == {"tool": "t", "arguments": arguments}


def test_names_are_drawn_like_all_else_that_agents_write():
    (member,) = render({"<b>\u202e": 1}).call.arguments

    assert member.name.startswith("&lt;b&gt;<span class=")
    assert member.warnings == ["U+202E RIGHT-TO-LEFT OVERRIDE: 1"]


def test_what_is_hidden_is_counted_once(read):
    content = render({"a\u200b": {"b\u200b": "c\u200b"}})

    assert content.warnings == ["U+200B ZERO WIDTH SPACE: 1"] * 3


def test_a_flood_of_arguments_is_shown_as_json_alone(monkeypatch, read):
    monkeypatch.setattr(module, "MOST_MEMBERS", 3)
    content = render({"a": "1", "b": [{"c": "2"}]})

    assert (content.call.is_whole, content.call.arguments) == (False, [])
    assert [block.title for block in content.blocks] == ["Raw JSON", "Tool"]


def test_the_deepest_arguments_are_laid_out():
    value = 1
    for _ in range(29):
        value = {"a": value}

    member, depth = render({"a": value}).call.arguments[0], 1
    while member.members:
        [member], depth = member.members, depth + 1
    assert depth == 30
