"""The one place where all inspectors are asked."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from approval_client.wire import Kind
from dashboard.inspection import code, inspector
from dashboard.inspection.findings import Report, Severity
from dashboard.inspection.headline import Headline
from dashboard.inspection.inspector import inspect_content


def report_on(text, language=None):
    content = {"code": text} if language is None else {"code": text, "language": language}
    return inspect_content(Kind.CODE, content)


def places(report):
    return [(finding.name, finding.block, finding.line) for finding in report.findings]


def doubts(report):
    return [(finding.name, finding.severity) for finding in report.findings if finding.is_doubt]


def test_it_speaks_json_in_the_sandbox():
    payload = {"kind": "code", "content": {"code": "rm -rf /", "language": "bash"}}

    report = Report.from_json(inspector.inspect(json.dumps(payload).encode()))
    asked = json.dumps(payload | {"report": report.to_json()}).encode()
    headline = Headline.from_json("code", inspector.head(asked).decode())

    assert headline.line.text == "rm -rf /"

    assert "recursive-delete" in report.names
    assert report.languages == ("bash",)


@pytest.mark.parametrize(
    ("language", "text", "name"),
    [
        ("python", "import os\nos.remove('x')", "file-delete"),
        ("Py", "import os\nos.remove('x')", "file-delete"),
        ("sh", "rm x", "file-delete"),
        ("zsh", "rm x", "file-delete"),
        ("postgresql", "DROP TABLE x", "sql-drop"),
        ("powershell", "Remove-Item -Recurse x", "recursive-delete"),
        ("bat", "rd /s /q x", "recursive-delete"),
    ],
)
def test_the_language_that_was_named_says_how_code_is_read(language, text, name):
    assert name in report_on(text, language).names


@pytest.mark.parametrize("text", ["del /f /s /q C:\\data", "format C:", "  RD /S /Q data"])
def test_commands_of_windows_are_found_in_a_shell_too(text):
    assert Severity.HIGH in {finding.severity for finding in report_on(text, "bash").findings}


def test_each_fenced_block_is_read_in_its_own_language():
    report = report_on("```python\nx = 1\nimport os\nos.remove('x')\n```\n\n```sh\nrm -rf y\n```")

    assert report.languages == ("python", "bash")
    assert ("file-delete", 0, 3) in places(report)
    assert ("recursive-delete", 1, 1) in places(report)
    assert not report.has_doubts


def test_fences_that_can_be_read_in_two_ways_are_a_doubt():
    report = report_on("```python\nx = 1\n```\nand then\n```sh\nrm -rf y\n```")

    assert ("ambiguous-fence", Severity.HIGH) in doubts(report)


@pytest.mark.parametrize("language", ["javascript", "perl", "cobol", "text", "p\u0443thon"])
def test_what_no_inspector_reads_is_a_doubt(language):
    assert doubts(report_on("print(1)", language)) == [("not-inspected", Severity.HIGH)]


def test_code_without_a_language_is_a_doubt_and_searched_for_dangers():
    report = report_on("import os\nos.system('id')")

    assert ("not-inspected", Severity.HIGH) in doubts(report)
    assert ("process-execution", 0, 2) in places(report)


@pytest.mark.parametrize(
    ("language", "name"),
    [("python", "does-not-parse"), ("bash", "parsed-in-part"), ("sql", "parsed-in-part")],
)
def test_what_does_not_parse_is_a_doubt(language, name):
    assert (name, Severity.HIGH) in doubts(report_on("if ((( 'x", language))


def test_more_than_the_inspector_takes_is_a_doubt():
    report = report_on("x = 1\n" * 200_000, "python")

    assert doubts(report) == [("too-large", Severity.HIGH)]


@pytest.mark.parametrize(
    ("language", "line", "danger", "name"),
    [
        (
            "python",
            "value = value + 1",
            "import shutil; shutil.rmtree('/srv')",
            "recursive-delete",
        ),
        ("bash", "echo one two three", "rm -rf /srv", "recursive-delete"),
        ("sql", "SELECT a FROM t WHERE b = 1;", "DROP TABLE accounts;", "sql-drop"),
        ("", "nothing to see here", "import os; os.system('rm -rf /srv')", "recursive-delete"),
    ],
)
@pytest.mark.parametrize("bytes_at_least", [80_000, 1_100_000])
def test_a_danger_at_the_end_of_a_long_text_is_found_on_its_line(
    language, line, danger, name, bytes_at_least
):
    lines = bytes_at_least // len(line)
    text = f"{line}\n" * lines + danger

    report = report_on(text, language)

    assert (name, 0, lines + 1) in places(report)
    assert ("too-large" in report.names) is (bytes_at_least > code.MAX_BYTES)


def test_a_long_file_is_read_as_a_whole():
    function = "def step(value):\n    total = value + 1\n    return total * 2\n\n\n"

    report = report_on(function * 1500, "python")

    assert report.findings == ()


def test_a_name_given_to_a_danger_is_found_where_it_is_given_in_a_text_that_is_too_large():
    text = "from shutil import rmtree as clear\n" + "x = 1\n" * 200_000 + "clear('/srv')\n"

    assert ("recursive-delete", 0, 1) in places(report_on(text, "python"))


def test_more_blocks_than_are_shown_are_a_doubt():
    report = report_on("\n\n".join(["```python\nx = 1\n```"] * 51))

    assert ("too-large", Severity.HIGH) in doubts(report)


def test_an_inspector_that_fails_is_a_doubt_about_its_block(monkeypatch):
    def fail(_text, **_options):
        raise RecursionError

    monkeypatch.setitem(code._INSPECTORS, "python", fail)

    report = report_on("```python\nx = 1\n```\n\n```sh\nrm -rf y\n```")

    assert ("inspection-failed", Severity.HIGH) in doubts(report)
    assert ("recursive-delete", 1, 1) in places(report)


@pytest.mark.parametrize("kind", [Kind.CODE, Kind.TOOL_CALL])
def test_content_of_an_unknown_shape_is_a_doubt(kind):
    assert doubts(inspect_content(kind, {"code": 1})) == [("inspection-failed", Severity.HIGH)]


def test_findings_stand_in_the_order_of_the_content():
    report = report_on("import os\nos.system('id')\nos.remove('x')\nos.listdir()", "python")

    assert [finding.line for finding in report.findings] == sorted(
        finding.line for finding in report.findings
    )


def test_of_too_many_findings_the_gravest_are_kept_and_it_is_said():
    report = report_on("echo a > b\n" * 900 + "rm -rf c\n", "bash")

    assert len(report.findings) == inspector.MAX_FINDINGS
    assert "recursive-delete" in report.names
    assert ("too-many-findings", Severity.HIGH) in doubts(report)


def test_of_too_many_findings_one_of_each_name_is_kept():
    report = report_on("sudo rm -rf c\n" * 900 + "echo a > b\n", "bash")

    assert "file-write" in report.names


def test_a_plan_is_searched_for_what_it_hides():
    report = inspect_content(Kind.PLAN, {"steps": [{"objective": "Save\u202e it"}]})

    assert places(report) == [("text-direction", 1, 1)]
    assert report.findings[0].block == 1


def test_a_memory_is_searched_for_secrets():
    memory = {"operation": "save", "user_id": "u", "content": "password: 'correct-horse'"}

    report = inspect_content(Kind.MEMORY, memory)

    assert report.names == {"credentials"}


def test_plain_words_have_no_findings():
    plan = {"steps": [{"capability": "archive", "objective": "Read the data of last week."}]}

    assert inspect_content(Kind.PLAN, plan) == Report()


@given(
    st.sampled_from(["python", "bash", "sql", "powershell", "", "perl"]),
    st.text(
        alphabet=st.sampled_from("abr m-f/'\"`$()[]{}|&;<>=\n\\#\u202e\u0430:,.0"), max_size=60
    ),
)
def test_whatever_is_sent_there_is_a_report(language, text):
    report = report_on(text or " ", language)

    assert Report.from_json(report.to_json()) == report
