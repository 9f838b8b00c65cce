"""Several statements, dialects, comments that run, places, and what does not parse."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dashboard.inspection.findings import Severity
from dashboard.inspection.sql import DIALECTS, MOST_LEVELS, inspect_sql

PIECES = [
    *"()[]'\"`;,*=\\#$\n ",
    "--",
    "/*",
    "*/",
    "/*!",
    "$$",
    "SELECT ",
    "DROP TABLE a",
    "WHERE ",
    "a",
    "1",
    " OR ",
    "DELETE FROM a ",
    "EXPLAIN ",
    "BEGIN ",
    "é",
]


def names(statements, **options):
    return {finding.name for finding in inspect_sql(statements, **options)}


def doubts(statements):
    return {(f.name, f.severity) for f in inspect_sql(statements) if f.is_doubt}


@pytest.mark.parametrize(
    "statements",
    [
        "SELECT 1; DROP TABLE runs",
        "SELECT 1;;;DROP TABLE runs;;",
        "SELECT ';'; DROP TABLE runs",
        "SELECT 1; -- a\nDROP TABLE runs",
        "SELECT 1 /* ; */; DROP TABLE runs",
        "BEGIN; DROP TABLE runs; COMMIT",
        "SELECT 1\nGO\nDROP TABLE runs",
        "SELECT 1\nDROP TABLE runs",
    ],
)
def test_every_statement_is_read(statements):
    assert "sql-drop" in names(statements)


@pytest.mark.parametrize(
    "statements",
    [
        "SELECT 'a\\'; DROP TABLE runs; --'",
        "SELECT 'a\\' ; SELECT 2; --'; DROP TABLE runs",
        'SELECT "a\\"; DROP TABLE runs; --"',
        "SELECT $$ ; $$; DROP TABLE runs",
        "SELECT 1 # 2\n; DROP TABLE runs",
        "SELECT 1 # 2; DROP TABLE runs",
        "SELECT 1 --1; DROP TABLE runs\n",
        "SELECT `a;b`; DROP TABLE runs",
        "SELECT 1 /* /* */ ; DROP TABLE runs; -- */ */",
    ],
)
def test_what_one_dialect_hides_another_one_shows(statements):
    assert "sql-drop" in names(statements)


@pytest.mark.parametrize(
    "statements",
    [
        "/*!DROP TABLE runs*/",
        "SELECT 1 /*!50000 ; DROP TABLE runs */",
        "SELECT 1 /*M!100000 ; DROP TABLE runs */",
    ],
)
def test_a_comment_that_runs_is_read_and_doubted(statements):
    assert {"sql-drop", "cannot-be-followed"} <= names(statements)


@pytest.mark.parametrize(
    "statements",
    [
        "please drop everything",
        "DELETE FROM t; '",
        "UPDATE t SET a = 1 /*",
        "SELECT xp_cmdshell 'a",
        "WITH (( INSERT",
    ],
)
def test_what_does_not_parse_is_a_high_doubt(statements):
    assert ("does-not-parse", Severity.HIGH) in doubts(statements)


def test_a_template_is_read_as_if_it_were_filled_in():
    statements = "DELETE FROM {{ table }} WHERE {{ 1 = 1 }}"

    assert doubts(statements) == {("parsed-in-part", Severity.HIGH)}
    assert "sql-without-where" in {finding.name for finding in inspect_sql(statements)}


@pytest.mark.parametrize(
    "statements", ["SELECT 'a", "SELECT (((1", "SELECT FROM WHERE", "$a$", "] ["]
)
def test_where_nothing_but_reading_is_said_what_does_not_parse_hides_nothing(statements):
    names = {name for name, _ in doubts(statements)}

    assert "parsed-in-part" in names
    assert "does-not-parse" not in names


def test_what_a_text_that_does_not_parse_speaks_of_is_found_as_well():
    assert "sql-drop" in names("please run: drop table runs !!")


@pytest.mark.parametrize(
    ("statements", "place"),
    [
        ("SELECT 1;\nDROP TABLE runs;", ("sql-drop", 2, 2)),
        ("SELECT 1;\n\nDELETE\nFROM runs", ("sql-without-where", 3, 4)),
        ("EXPLAIN\nANALYZE\nDELETE FROM runs", ("sql-without-where", 3, 3)),
        ("SELECT 1;\n\\! ls", ("process-execution", 2, 2)),
    ],
)
def test_a_finding_is_on_the_lines_of_its_statement(statements, place):
    assert place in {(f.name, f.line, f.end_line) for f in inspect_sql(statements)}


@pytest.mark.parametrize("before", ["SELECT '$\n';", "SELECT $$\n\n$$;\n", "--\n"])
def test_nothing_before_a_statement_moves_its_lines(before):
    statements = f"{before};DROP TABLE x"
    line = before.count("\n") + 1

    drops = {(f.line, f.end_line) for f in inspect_sql(statements) if f.name == "sql-drop"}

    assert drops == {(line, line)}


def test_findings_say_which_block_they_are_in():
    assert [finding.block for finding in inspect_sql("DROP TABLE x", block=2)] == [2]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_dialect_can_be_named(dialect):
    assert "sql-drop" in names("DROP TABLE runs", dialect=dialect)


@given(st.text())
def test_no_text_breaks_the_inspection(text):
    inspect_sql(text)


@given(st.lists(st.sampled_from(PIECES)).map("".join))
@example("$\n(")  # the parser's tokens name the wrong line after it
def test_no_pieces_of_sql_break_the_inspection(statements):
    last = statements.count("\n") + 1
    assert all(1 <= f.line <= f.end_line <= last for f in inspect_sql(statements))


@pytest.mark.parametrize(
    "statements",
    [
        "SELECT " + "(" * 1000 + "1" + ")" * 1000,
        "SELECT * FROM " + "(SELECT * FROM " * 1000 + "a" + ")" * 1000,
        "DELETE FROM a WHERE " + " OR ".join(f"b = {n}" for n in range(1000)),
        "DELETE FROM a WHERE " + " AND ".join(f"b = {n}" for n in range(1000)),
        "DELETE FROM a WHERE " + "(b = 1 OR " * 500 + "c = 2" + ")" * 500,
        "SELECT " + "NOT " * 1000 + "a",
        "SELECT " + "f(" * 1000 + ")" * 1000,
        "/*" * 1000,
        "/*! " * 1000,
        "EXPLAIN " * 1000,
        "explain" + " " * 10_000,
        "EXPLAIN/*" + "*" * 10_000,
    ],
)
def test_what_is_nested_ever_so_deep_breaks_nothing(statements):
    assert isinstance(inspect_sql(statements), list)


@pytest.mark.parametrize("opening", ["(b = 1 OR ", "(NOT ", "(b = 1 AND "])
def test_statements_are_read_up_to_a_depth_that_is_ours(opening):
    def delete(levels):
        return f"DELETE FROM a WHERE {opening * levels}c = 2{')' * levels}"

    assert names(delete((MOST_LEVELS - 10) // 2)) == {"sql-delete"}
    assert names(delete((MOST_LEVELS + 10) // 2)) == {"does-not-parse", "too-nested", "sql-delete"}


@pytest.mark.parametrize("levels", [MOST_LEVELS, 300, 3000])
@pytest.mark.parametrize("comment", ["# ", "--1, "])
def test_what_is_too_deep_in_one_dialect_is_no_mere_comment_of_another(levels, comment):
    call = f"{'(' * levels}lo_export(1, '/etc/x'){')' * levels}"

    assert names(f"SELECT 1 {comment}{call}") & {"too-nested", "file-write"}


def test_a_long_condition_that_holds_for_every_row_is_still_seen():
    parts = [f"b = {n}" for n in range(1000)]
    assert "sql-without-where" in names("DELETE FROM a WHERE " + " OR ".join([*parts, "1 = 1"]))
