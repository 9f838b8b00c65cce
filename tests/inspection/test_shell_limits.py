"""Places, what cannot be parsed, and input that is meant to break the inspection."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.inspection.code import inspect_shell
from dashboard.inspection.findings import Severity
from dashboard.inspection.shell.judge import JUDGES

PIECES = [
    *"$(){}[]`'\"\\|&;<>\n\t #!=*?",
    "$((",
    "<<EOF",
    "EOF\n",
    "rm -rf /",
    "if ",
    "fi",
    "\0",
    "é",
]


def places(script):
    return {(finding.name, finding.line, finding.end_line) for finding in inspect_shell(script)}


def doubts(script):
    return {(f.name, f.severity) for f in inspect_shell(script) if f.is_doubt}


@pytest.mark.parametrize(
    ("script", "place"),
    [
        ("ls\nrm -rf /data", ("recursive-delete", 2, 2)),
        ("ls\n\nrm \\\n  -rf /data", ("recursive-delete", 3, 4)),
        ("ls\nbash <<'EOF'\nls\nrm -rf /data\nEOF", ("recursive-delete", 4, 4)),
        ("ls\necho x > y", ("file-write", 2, 2)),
        ("if true\nthen\n  sudo ls\nfi", ("privilege-change", 3, 3)),
        ("ls\nsleep 3 &", ("background-job", 2, 2)),
        ("python3 - <<'EOF'\n\nimport os\nos.remove('x')\nEOF", ("file-delete", 4, 4)),
        ("é=1\necho ü\nrm -rf /data", ("recursive-delete", 3, 3)),
    ],
)
def test_a_finding_is_on_the_lines_of_its_command(script, place):
    assert place in places(script)


def test_code_on_one_line_is_found_on_that_line():
    assert places("ls\neval $'ls\\nls\\nrm -rf /data'") >= {("recursive-delete", 2, 2)}


@pytest.mark.parametrize(
    "script",
    [
        "if true; then",
        "echo 'x",
        'echo "x',
        "ls )",
        "case x in",
        "cat <<EOF\nx",
        "$(",
        "((",
        "a\0b",
    ],
)
def test_what_does_not_parse_is_a_high_doubt(script):
    assert ("parsed-in-part", Severity.HIGH) in doubts(script)


@pytest.mark.parametrize("script", ["rm\r-rf", "rm\x0b-rf /data", "ls\x1b[2K"])
def test_control_characters_that_shells_read_otherwise_are_a_doubt(script):
    assert ("parsed-in-part", Severity.HIGH) in doubts(script)


def test_lines_of_windows_are_read_as_lines():
    assert places("ls\r\nrm -rf /data\r\n") == {("recursive-delete", 2, 2)}


@pytest.mark.parametrize("script", ["", "\n\n", "# only a comment", "   "])
def test_a_script_without_commands_has_no_findings(script):
    assert inspect_shell(script) == []


def test_findings_say_which_block_they_are_in():
    assert [finding.block for finding in inspect_shell("rm x", block=3)] == [3]


def test_the_same_finding_on_the_same_line_is_said_once():
    assert len(inspect_shell("rm x; rm y")) == 1


@given(st.text())
def test_no_text_breaks_the_inspection(text):
    inspect_shell(text)


@given(st.lists(st.sampled_from(PIECES)).map("".join))
def test_no_pieces_of_shell_break_the_inspection(script):
    last = script.count("\n") + 1
    assert all(1 <= f.line <= f.end_line <= last for f in inspect_shell(script))


@pytest.mark.parametrize(
    ("opening", "middle", "closing"),
    [
        ("echo $(", "ls", ")"),
        ('echo "$(', "ls", ')"'),
        ("(", "ls", ")"),
        ("{ ", "ls", "; }"),
        ("if true; then ", "ls", "; fi"),
        ("f() { ", "ls", "; }"),
        ("${a:-", "x", "}"),
        ("sudo ", "ls", ""),
        ("eval ", "ls", ""),
        ("sh -c '", "", ""),
        ("`", "", ""),
        ("$((", "", ""),
        ("cat <<EOF\n", "", ""),
        ("ls | ", "sh", ""),
    ],
)
def test_what_is_nested_ever_so_deep_breaks_nothing(opening, middle, closing):
    found = inspect_shell(f"{opening * 1000}{middle}{closing * 1000}")
    assert isinstance(found, list)


def test_variables_that_double_in_every_line_are_given_up():
    lines = [f"a{n}=$a{n - 1}$a{n - 1}" for n in range(1, 100)]
    script = "\n".join(["a0=rm", *lines, "$a99 -rf /data"])
    assert ("cannot-be-followed", Severity.HIGH) in doubts(script)


def test_code_within_code_is_followed_a_few_levels_and_then_doubted():
    script = "rm -rf /data"
    for _ in range(8):
        quoted = script.replace("'", "'\\''")
        script = f"eval '{quoted}'"
    assert ("too-nested", Severity.HIGH) in doubts(script)


KNOWN = sorted(JUDGES)
ODD = ["", "-", "--", "-c", "-e", "-o", "$x", '"$x"', "''", "-- --", "= a", "-I -s", "x | y"]


@pytest.mark.parametrize("arguments", ODD)
def test_every_command_can_be_judged_with_odd_arguments(arguments):
    for name in KNOWN:
        assert isinstance(inspect_shell(f"{name} {arguments}"), list)


@given(st.sampled_from(KNOWN), st.text(alphabet="-abceotsIS$x \"'=/:.*{},0"))
def test_no_arguments_break_the_judging_of_a_command(name, arguments):
    inspect_shell(f"ls | {name} {arguments}")
