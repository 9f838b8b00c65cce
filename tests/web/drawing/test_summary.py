import pytest

from approval_client.wire import Kind, canonical_json
from dashboard.web.drawing.summary import HEAD, TAIL, summary


def summary_of(kind, content):
    text = canonical_json(content)
    return summary(kind, text[:HEAD], text[-TAIL:])


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("import os\n\n# note\nos.remove('a')", "os.remove(&#x27;a&#x27;)"),
        ("```python\nprint(1)\n```", "print(1)"),
        ("# only a note", "# only a note"),
        ('say("\\n")', "say(&quot;\\n&quot;)"),
        ("\n\n", "{&quot;code&quot;:&quot;\\n\\n&quot;}"),
    ],
)
def test_the_summary_of_code_is_its_first_telling_line(code, line):
    assert summary_of(Kind.CODE, {"code": code}) == line


def test_the_summary_of_a_call_names_the_tool_however_long_its_arguments():
    long = summary_of(Kind.TOOL_CALL, {"tool": 'a"b', "arguments": {"x": "y" * 5000}})
    nested = summary_of(Kind.TOOL_CALL, {"tool": "t", "arguments": {"a": {"b": ',"tool":"c"}'}}})

    assert long.startswith("a&quot;b {&quot;x&quot;:&quot;yyy")
    assert nested.startswith("t {&quot;a&quot;:{&quot;b&quot;:")


@pytest.mark.parametrize("cut", range(HEAD - 12, HEAD + 2))
def test_a_text_that_is_cut_within_an_escape_is_still_read(cut):
    text = canonical_json({"code": "x" * (cut - 9) + "\x01\n" * 500})

    assert summary(Kind.CODE, text[:HEAD], text[-TAIL:]).startswith("xxx")
