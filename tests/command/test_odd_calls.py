"""Odd calls of Claude Code's tools: what is shown is what runs, or the model is told why not."""

import json

import pytest

from approval_client.wire import canonical_json, parse_json
from tests.command.test_hook import event, told


def having(text):
    """An event whose input is this text."""
    return event(tool_name="Write", tool_input={}).replace(
        '"tool_input": {}', f'"tool_input": {text}'
    )


def deep(levels):
    return '{"a": ' * levels + "1" + "}" * levels


AS_THEY_CAME = {
    "nothing in it": "{}",
    "text with JSON in a member": '{"edits": "[1]"}',
    "null in a member": '{"a": null}',
    "20 digits": '{"a": 18446744073709551617}',
    "4,000 digits": '{"a": ' + "9" * 4000 + "}",
    "a fraction with its digits": '{"a": 0.10000000000000000001}',
    "another spelling": '{"File_Path": "/a", "file_path ": "/b", "filePath": "/c"}',
    "nested": '{"a": {"b": [{"c": [[]]}, {}]}}',
    "a name that objects have": '{"__proto__": {"a": 1}, "": 0}',
    "a pair": '{"a": "\\ud83d\\ude00"}',
    "line ends": '{"a": "x\\r\\n\\u2028\\u202e"}',
}
CAUSES = {
    "null": ("null", "The tool's input is null, and a JSON object is taken."),
    "a list": ("[1]", "The tool's input is a list, and a JSON object is taken."),
    "a text": ('"{}"', "The tool's input is a text, and a JSON object is taken."),
    "a number": ("5", "The tool's input is a number, and a JSON object is taken."),
    "true": ("true", "The tool's input is a boolean, and a JSON object is taken."),
    "cut": ('{"a": ', "not valid JSON"),
    "nothing": ("", "not valid JSON"),
    "one name twice": ('{"a": 1, "a": 2}', "they name one key twice."),
    "NaN": ('{"a": NaN}', "NaN, Infinity and numbers beyond"),
    "Infinity": ('{"a": Infinity}', "NaN, Infinity and numbers beyond"),
    "1e400": ('{"a": 1e400}', "NaN, Infinity and numbers beyond"),
    "5,000 digits": ('{"a": ' + "9" * 5000 + "}", "a number has too many digits."),
    "half a pair": ('{"a": "\\ud800"}', "a text holds half of a surrogate pair."),
    "half a pair in a name": ('{"\\ud800": 1}', "a text holds half of a surrogate pair."),
    "NUL": ('{"a": "\\u0000"}', "a text holds a NUL character."),
    "40 levels": (deep(40), "nested deeper than 32 levels."),
    "31 levels, which are too many in a question": (deep(31), "nested deeper than 32 levels."),
    "1.2 MB": ('{"a": "' + "x" * 1_200_000 + '"}', "the limit is 1,048,576"),
}


@pytest.mark.parametrize("text", AS_THEY_CAME.values(), ids=AS_THEY_CAME)
def test_an_odd_input_is_asked_as_it_came(approving, text):
    assert told(approving("hook", given=having(text)))[0] == "allow"

    arguments = approving.fake.approvals[0].content["arguments"]
    assert canonical_json(arguments) == canonical_json(parse_json(text))


@pytest.mark.parametrize(("text", "cause"), CAUSES.values(), ids=CAUSES)
def test_an_input_that_cannot_be_shown_is_denied_with_the_cause(approving, text, cause):
    done = approving("hook", given=having(text))

    word, reason = told(done)
    assert (word, cause in reason, done.errors) == ("deny", True, ""), reason
    assert "Nothing was approved." in reason or "Nobody was asked and nothing was run." in reason
    assert approving.fake.approvals == []


def test_an_event_without_an_input_is_denied_with_the_cause(approving):
    given = json.loads(event())
    del given["tool_input"]

    word, reason = told(approving("hook", given=json.dumps(given)))

    assert (word, "The tool's input is missing" in reason) == ("deny", True)


def test_bytes_that_are_not_utf8_in_an_input_are_denied(approving):
    word, reason = told(
        approving("hook", given=having('{"a": "?"}').encode().replace(b"?", b"\xe4"))
    )

    assert (word, "not UTF-8" in reason) == ("deny", True)
