"""What is put around code hides nothing of it: it is found, or it is said that it was not read."""

import pytest

from approval_client.wire import Kind
from dashboard.inspection.code import inspect_shell
from dashboard.inspection.findings import Severity, Unseen
from dashboard.inspection.inspector import inspect_content
from dashboard.inspection.python.fragments import MOST_TRIED, fragments
from dashboard.inspection.python.inspector import inspect_python
from dashboard.inspection.python_tree import MOST_LEVELS
from tests.inspection.corpus import python, shell, sql, windows

EVERY = 6  # of the corpus, so that this takes seconds
AFTER = ["\n)(", "\n'", '\n"', "\n((((", "\n`", "\n{", "\nif", "\n$(", "\n/*", "\n'''", "\n\\"]
BEFORE = [")(\n", '"\n', "((((\n", "`\n", "cat <<X\n", "{\n", "x=(\n", "if [[\n", "case x in\n"]
PADDING = [*(("", after) for after in AFTER), *((before, "") for before in BEFORE)]


def report_on(code, language):
    return inspect_content(Kind.CODE, {"code": code, "language": language})


def grave(report):
    return {
        finding.name
        for finding in report.findings
        if finding.severity is Severity.HIGH and not finding.unseen
    }


def names(findings):
    return {finding.name for finding in findings}


@pytest.mark.parametrize(("before", "after"), PADDING)
@pytest.mark.parametrize("corpus", [python, shell, sql, windows])
def test_what_is_found_is_found_beside_what_does_not_parse(corpus, before, after):
    lost = []
    for snippet in corpus.DANGEROUS[::EVERY]:
        found = grave(report_on(snippet.text, snippet.language))
        padded = report_on(f"{before}{snippet.text}{after}", snippet.language)
        if Unseen.NOT_READ not in padded.unseen and not found <= padded.names:
            lost.append(snippet.title)

    assert lost == []


@pytest.mark.parametrize(
    "script",
    [
        "ls\n\\rm -rf /data",
        "ls\n\\\nrm -rf /data",
        "echo $((\nrm -rf /data",
        "x=(\nrm -rf /data",
        "cat <<EOF\nrm -rf /data",
        "nix eval nixpkgs#pkg; sh -c 'rm -rf /data",
        "'\npython3 <<'EOF'\nimport shutil\nshutil.rmtree('/data')\nEOF",
        "(\npsql <<EOF\nDROP TABLE runs;\nEOF",
    ],
)
def test_a_script_that_is_not_parsed_is_searched(script):
    found = names(inspect_shell(script))

    assert "parsed-in-part" in found
    assert found & {"recursive-delete", "sql-drop"}


def test_prose_is_no_script():
    prose = "Don't format the disk; if it fails, shutdown the server (or reboot it)."

    assert inspect_content(Kind.PLAN, {"steps": [{"task": prose}]}).findings == ()


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("import os\n)(\nos.remove('x')", 3),
        ("import os\nos.remove('x') )(", 2),
        ("import os\n)( os.remove('x')", 2),
        ("import os\n= =\nos.remove(\n    'x'\n)", 3),
        ("import os\n= =\nfor name in names:\n    os.remove(name)", 4),
        ("import os\n= =\nwith open('x', 'w') as f:\n    os.remove('x')", 4),
    ],
)
def test_python_that_does_not_parse_is_read_line_by_line(source, line):
    found = inspect_python(source)

    assert [f.line for f in found if f.name == "file-delete"] == [line]
    assert "does-not-parse" in names(found)


def test_more_lines_than_are_read_singly_were_not_read():
    source = "a(\n" * MOST_TRIED

    assert not fragments(source).is_all
    assert "too-large" in names(inspect_python(source))


@pytest.mark.parametrize(
    "source",
    [
        "x = " + "(" * 250 + "1" + ")" * 250,
        "x = a" + ".b" * 3000,
        "x = " + "-" * 3000 + "1",
        "x = " + "1+" * 9000 + "1",
        "x = " + "1+" * MOST_LEVELS + "1",
        "x = " + "not " * MOST_LEVELS + "1",
        "x = " + "1 if a else " * MOST_LEVELS + "1",
        "x = a" + "[0]" * MOST_LEVELS,
    ],
)
def test_python_that_is_nested_too_deeply_was_not_read(source):
    assert names(inspect_python(f"import os\nos.remove('x')\n{source}")) == {
        "too-nested",
        "file-delete",
    }


@pytest.mark.parametrize(
    "source",
    [
        "x = " + "1+" * (MOST_LEVELS - 10) + "1",
        "x = " + "not " * (MOST_LEVELS - 10) + "1",
        "x = " + "1 if a else " * (MOST_LEVELS - 10) + "1",
        "x = a" + "[0]" * (MOST_LEVELS - 10),
    ],
)
def test_python_is_read_up_to_a_depth_that_is_ours(source):
    assert names(inspect_python(f"import os\nos.remove('x')\n{source}")) == {"file-delete"}


def test_the_cell_of_a_magic_that_nobody_reads_is_searched_as_python():
    found = names(inspect_python("%%px\nimport os\nos.remove('x')"))

    assert found == {"cannot-be-followed", "file-delete"}


@pytest.mark.parametrize("kind", [Kind.PLAN, Kind.MEMORY])
def test_long_prose_is_in_no_doubt(kind):
    text = "The orbit (as measured) looks fine; don't change it = good.\n" * 680
    content = {"steps": [{"task": text}]} if kind is Kind.PLAN else {"content": text}

    assert inspect_content(kind, content).findings == ()
