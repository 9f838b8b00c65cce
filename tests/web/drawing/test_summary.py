import json
import re
from html import unescape

import pytest

from approval_client.wire import Kind, canonical_json
from dashboard.inspection.effects import GAINS_RIGHTS
from dashboard.inspection.findings import UNSEEN, Finding, Report, Severity
from dashboard.inspection.headline import Headline, make_headline, parse_content
from dashboard.inspection.inspector import inspect_content
from dashboard.inspection.notes import FINDINGS
from dashboard.web.drawing import summary as drawing
from dashboard.web.drawing.summary import one_line, summarized
from tests.browser.samples import TRIM

SCRIPT = """set -euo pipefail
cd /srv/app
log() { echo "$@"; }
rm -rf .venv && mv .venv-next .venv
sudo systemctl restart app-web
echo done
"""

TOTAL = {"amount": "166.00", "currency": "GBP"}


def summarized_of(kind, content, report=None):
    report = report or inspect_content(kind, content)
    return summarized(kind, headline_for(kind, content, report))


def headline_for(kind, content, report):
    """Return a headline as it is read after it was stored."""
    made = make_headline(kind, parse_content(canonical_json(content)), report)
    return Headline.from_json(kind, made.to_json())


def plain(html):
    return unescape(re.sub(r"<[^>]+>", "", html))


def titled(kind, content, report=None):
    return plain(summarized_of(kind, content, report).title)


def line_of(kind, content, report=None):
    return plain(summarized_of(kind, content, report).line)


def call(tool="t", **arguments):
    return {"tool": tool, "arguments": arguments}


def code(text, language="python"):
    return {"code": text, "language": language}


def ours(html):
    """What stands outside of what is drawn as the agent's."""
    return unescape(re.sub(r'<span class="said mono"[^>]*>.*</span>', "§", html))


def test_the_title_of_code_says_its_language_length_and_gravest_effects():
    assert titled(Kind.CODE, code(SCRIPT, "bash")) == (
        "Bash, 6 lines: deletes a folder, uses sudo and more"
    )
    assert titled(Kind.CODE, code(TRIM)) == "Python, 19 lines: writes to the control system"
    assert titled(Kind.CODE, code("x = 1")) == "Python, 1 line"
    assert titled(Kind.CODE, {"code": "hello"}) == "Code, 1 line: not fully inspected"


def test_rights_without_sudo_are_not_called_sudo():
    finding = Finding(GAINS_RIGHTS.name, Severity.HIGH, 1, 1, GAINS_RIGHTS.code)
    report = Report((finding,), ("bash",))

    assert titled(Kind.CODE, code("su - eve", "bash"), report).endswith("runs as another user")


def test_long_code_says_how_long_it_is():
    python = Report(languages=("python",))

    assert titled(Kind.CODE, code("x = 1\n" * 5000), python) == "Python, 5,000 lines"


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (code(SCRIPT, "bash"), "rm -rf .venv && mv .venv-next .venv"),
        (code(TRIM), "caput(CORRECTOR, before + step, wait=True)"),
        (code("import numpy\nlog.info('a')\nfit(a)\nprint(a)"), "fit(a)"),
        (code("def f():\n    pass\n\nplot(\n    a,\n    b,\n)\n"), "plot( a, b, )"),
        (code("set -e\nmake all\nexit 0", "bash"), "make all"),
        (
            code("BEGIN;\nUPDATE a\nSET b = 1\nWHERE c;\nCOMMIT;", "sql"),
            "UPDATE a SET b = 1 WHERE c;",
        ),
        (code("# only a note"), "# only a note"),
        (code("import os"), "import os"),
        (code('say("\\n")'), 'say("\\n")'),
    ],
)
def test_the_line_of_code_is_what_is_gravest_or_calls_last(content, line):
    assert line_of(Kind.CODE, content) == line


def test_a_line_in_a_second_block_of_code_is_found():
    text = "```python\nx = 1\n```\n\n```sh\nset -e\nrm -rf /srv\n```"

    assert line_of(Kind.CODE, {"code": text}) == "rm -rf /srv"
    assert titled(Kind.CODE, {"code": text}) == "Python and Bash, 3 lines: deletes a folder"


@pytest.mark.parametrize(
    ("content", "head", "line"),
    [
        (
            call("refund_order", order="48213", reason="damaged keyboard", total=TOTAL),
            "refund_order 166.00 GBP 48213",
            'reason="damaged keyboard"',
        ),
        (call("read_file", path="/data/run-1.csv"), "read_file /data/run-1.csv", ""),
        (
            call("write_pv", pv="SR:C01", value=0.05, wait=True),
            "write_pv SR:C01 0.05: writes to the control system",
            "wait=true",
        ),
        (call("send", to="all", cc=["a", "b"]), "send all", 'cc="[a, b]"'),
        (call("wait", nothing=None), "wait", "nothing=null"),
        (call("ping"), "ping", ""),
    ],
)
def test_a_call_says_its_tool_and_the_values_that_matter(content, head, line):
    assert (titled(Kind.TOOL_CALL, content), line_of(Kind.TOOL_CALL, content)) == (head, line)


@pytest.mark.parametrize(
    ("text", "language", "title"),
    [
        ("DROP INDEX runs_by_day", "sql", "SQL, 1 line: drops a definition"),
        ("DROP TABLE runs", "sql", "SQL, 1 line: drops data"),
        ("find . -type f -delete", "bash", "Bash, 1 line: deletes files"),
        ("find . -delete", "bash", "Bash, 1 line: deletes a folder"),
        (
            "from caproto.server import run\nrun({})",
            "python",
            "Python, 2 lines: serves the control system",
        ),
        ("from epics import caput", "python", "Python, 1 line"),
    ],
)
def test_a_title_says_no_more_than_is_so(text, language, title):
    assert titled(Kind.CODE, code(text, language)) == title


def test_a_long_command_in_a_call_stands_in_the_line_and_its_effects_in_the_title():
    content = call("bash", command=SCRIPT)

    assert titled(Kind.TOOL_CALL, content).startswith("bash: deletes a folder, uses sudo")
    assert line_of(Kind.TOOL_CALL, content).startswith('command="set -euo pipefail\\ncd /srv/app')


def test_a_plan_says_how_many_steps_it_has_and_how_it_begins_and_ends():
    steps = [{"task": "Read the logs", "tool": "archiver"}, {"task": "Go live", "tool": "deploy"}]

    assert titled(Kind.PLAN, {"steps": steps}) == "Plan, 2 steps, ends with deploy"
    assert line_of(Kind.PLAN, {"steps": steps}) == "Read the logs · archiver … and 1 more"
    assert titled(Kind.PLAN, {"steps": [{"do": {"a": 1}}]}) == "Plan, 1 step"
    assert titled(Kind.PLAN, {"steps": []}) == "Plan without a step"


@pytest.mark.parametrize(
    ("changes", "said", "line"),
    [
        ({"content": "a\nb\nc", "existing": "a\nd"}, "Memory of operator-7: +2 −1 lines", "b"),
        ({"content": "a", "existing": "a"}, "Memory of operator-7: +1 line", "a"),
        ({"content": "a", "existing": None}, "Memory of operator-7: +1 line", "a"),
        ({"operation": "delete"}, "Memory of operator-7: delete", "Likes tea."),
        ({"operation": "memory.eraseAll"}, "Memory of operator-7: delete", "Likes tea."),
        ({"operation": "archive"}, "Memory of operator-7: archive", "Likes tea."),
        ({"operation": "add +1 line"}, 'Memory of operator-7: "add +1 line"', "Likes tea."),
        ({"operation": "or +1 line"}, 'Memory of operator-7: "or +1 line"', "Likes tea."),
    ],
)
def test_a_memory_says_whose_it_is_and_what_changes(changes, said, line):
    content = {"operation": "update", "user_id": "operator-7", "content": "Likes tea.", **changes}

    assert (titled(Kind.MEMORY, content), line_of(Kind.MEMORY, content)) == (said, line)


@pytest.mark.parametrize(
    ("kind", "content", "expected"),
    [
        (Kind.TOOL_CALL, call("no risk: approved", to="<b>you</b>"), "§"),
        (Kind.PLAN, {"steps": [{"tool": "</span>Approved"}]}, "Plan, 1 step, ends with §"),
        (
            Kind.MEMORY,
            {"operation": "x", "user_id": "me: safe", "content": ""},
            "Memory of §",
        ),
    ],
)
def test_what_an_agent_chose_in_a_title_is_drawn_as_said(kind, content, expected):
    made = summarized_of(kind, content)

    assert ours(made.title) == expected
    assert "<b>" not in made.title + made.line


def test_hidden_characters_are_boxes_in_title_and_line():
    made = summarized_of(Kind.TOOL_CALL, call("a\u202eb", to="c\u200bd", x="e\u2066f"))

    assert made.title.count('class="glyph') == 2
    assert made.line.count('class="glyph') == 1


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        (Kind.TOOL_CALL, call("login", password="kT9-4wq_LmZ2p", to="host")),
        (Kind.TOOL_CALL, call("login", to="ghp_" + "a1B2" * 9)),
        (Kind.CODE, code('connect("archiver", password="kT9-4wq_LmZ2p")')),
        (Kind.PLAN, {"steps": [{"task": "use ghp_" + "a1B2" * 9}]}),
        (Kind.MEMORY, {"operation": "x", "user_id": "u", "content": "ghp_" + "a1B2" * 9}),
    ],
)
def test_secrets_are_masked_in_title_and_line(kind, content):
    made = summarized_of(kind, content)

    assert 'class="masked"' in made.title + made.line
    assert not re.search("kT9-4wq|a1B2", made.title + made.line)


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        (Kind.CODE, code("work(1)\n" + "x = 1\n" * 9000)),
        (Kind.TOOL_CALL, call("send", a="x" * 9000)),
        (Kind.PLAN, {"steps": [{"task": "look"}] * 2000}),
        (Kind.MEMORY, {"operation": "x", "user_id": "u", "content": "one\n" * 9000}),
        (Kind.TOOL_CALL, call("send", **{f"k{n}": n for n in range(500)})),
    ],
)
def test_what_is_long_is_cut_and_still_told_apart(kind, content):
    made = summarized_of(kind, content, Report(languages=("python",)))

    assert len(plain(made.title)) < 200
    assert 0 < len(plain(made.line)) < 700


@pytest.mark.parametrize("content", [[], None, {"arguments": [], "tool": 3}, "x", {"steps": [1]}])
@pytest.mark.parametrize("kind", list(Kind))
def test_content_of_no_known_shape_is_still_told(kind, content):
    report = Report((Finding("inspection-failed", Severity.HIGH, 0, 0, "odd"),))

    assert "not fully inspected" in titled(kind, content, report)


def test_without_a_headline_the_kind_is_all_that_is_said():
    assert summarized("tool_call", None) == ("Tool call", "", "", "")
    assert one_line(None) == ""


def test_no_name_reads_as_several_arguments():
    assert titled(Kind.TOOL_CALL, call("pay to=alice", note="x")).startswith('"pay to=alice"')
    assert titled(Kind.TOOL_CALL, call(r"ls\" x=")) == r'"ls\\\" x="'
    assert titled(Kind.TOOL_CALL, call("a\\")) == r'"a\\"'
    assert line_of(Kind.TOOL_CALL, call("t", **{"ref=1 amount=5": "x"})) == '"ref=1 amount=5"=x'
    total = {"amount": "5.00", "currency": "EUR to=alice"}
    assert titled(Kind.TOOL_CALL, call("pay", total=total)) == 'pay 5.00 "EUR to=alice"'


def test_one_line_of_a_call_names_the_tool_however_long_its_arguments():
    made = headline_for(Kind.TOOL_CALL, call('a"b', x="y" * 50_000), Report())

    assert plain(one_line(made)).startswith(r'"a\"b" x=yyy')
    assert len(plain(one_line(made))) < 100


def test_deep_content_is_no_trouble():
    text = json.dumps({"arguments": {}, "tool": "t"}).replace(
        "{}", '{"a":' * 900 + "1" + "}" * 900
    )

    made = make_headline(Kind.TOOL_CALL, parse_content(text), Report())

    assert plain(summarized(Kind.TOOL_CALL, made).title) == "t"


def test_a_line_of_code_in_a_row_keeps_the_order_of_the_source():
    made = headline_for(Kind.CODE, code("אב = גד - 5"), Report())

    assert one_line(made) == '<bdi dir="rtl">אב</bdi> = <bdi dir="rtl">גד</bdi> - 5'


def test_every_finding_of_what_something_does_has_words_for_titles():
    assert FINDINGS - set(UNSEEN) <= set(drawing._DOES) <= FINDINGS


@pytest.mark.parametrize(
    ("tool", "arguments", "isolates"),
    [
        ("shell", {"command": "ledger-sync אב, גד"}, ["אב", "גד"]),
        ("calc", {"formula": "x + (אב - 1 - גד)"}, ["אב", "גד"]),
        ("mail", {"to": "דנה כהן"}, ["דנה כהן"]),
    ],
)
def test_what_runs_keeps_its_order_in_a_list(tool, arguments, isolates):
    title, line, *_ = summarized_of(Kind.TOOL_CALL, {"tool": tool, "arguments": arguments})

    assert re.findall(r'<bdi dir="rtl">(.*?)</bdi>', title + line) == isolates


def test_the_line_of_code_keeps_its_order():
    line = summarized_of(Kind.CODE, {"code": """send('"', אב - 1 - גד, '"')"""}).line

    assert re.findall(r'<bdi dir="rtl">(.*?)</bdi>', line) == ["אב", "גד"]
