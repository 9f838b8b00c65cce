"""What statements do: rows, tables, rights, files, programs and settings."""

import pytest

from dashboard.inspection.findings import Severity
from dashboard.inspection.sql import inspect_sql


def names(statements, **options):
    return {finding.name for finding in inspect_sql(statements, **options)}


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TABLE runs",
        "drop table if exists a, b cascade",
        "DROP/**/TABLE/**/runs",
        "DROP DATABASE x",
        "DROP SCHEMA public CASCADE",
        "DROP VIEW v",
        "TRUNCATE runs",
        "TRUNCATE TABLE runs, users RESTART IDENTITY",
        "ALTER TABLE runs DROP COLUMN signal",
        "CREATE OR REPLACE TABLE runs AS SELECT 1",
        "CREATE OR REPLACE TRANSIENT TABLE runs CLONE other",
        "INSERT OVERWRITE TABLE runs SELECT 1",
    ],
)
def test_to_drop_or_empty_something_is_high(statement):
    found = {(f.name, f.severity) for f in inspect_sql(statement)}
    assert ("sql-drop", Severity.HIGH) in found


@pytest.mark.parametrize(
    "statement",
    [
        "DROP INDEX runs_by_day",
        "DROP INDEX CONCURRENTLY IF EXISTS a",
        "DROP VIEW v",
        "DROP TRIGGER t ON runs",
        "DROP FUNCTION f(int)",
        "DROP SEQUENCE s",
        "DROP RULE r ON runs",
        "ALTER TABLE runs DROP CONSTRAINT c",
    ],
)
def test_to_drop_a_definition_deletes_no_rows_and_says_so(statement):
    assert [f.code for f in inspect_sql(statement) if f.name == "sql-drop"] == ["drops-definition"]


@pytest.mark.parametrize(
    "statement",
    [
        "DROP INDEX a CASCADE",
        "DROP INDEX a; DROP TABLE runs",
        "DROP TABLE runs; DROP INDEX a",
        "ALTER TABLE runs DROP CONSTRAINT c, DROP COLUMN d",
        "ALTER TABLE runs DROP COLUMN index",
        "DROP RULE r ON runs CASCADE",
        "DROP TYPE t CASCADE",
        "DROP SCHEMA s",
        "DROP MATERIALIZED VIEW v",
    ],
)
def test_whoever_drops_more_is_told_that_rows_may_go(statement):
    assert "drops-tables" in {f.code for f in inspect_sql(statement)}


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM runs",
        "UPDATE runs SET a = 1",
        "DELETE FROM runs WHERE true",
        "DELETE FROM runs WHERE 1 = 1",
        "DELETE FROM runs WHERE (((1)))",
        "DELETE FROM runs WHERE id = id",
        "DELETE FROM runs WHERE runs.id = id",
        "DELETE FROM runs WHERE id = (id)",
        "DELETE FROM runs WHERE id >= id",
        "DELETE FROM runs WHERE NOT id <> id",
        "DELETE FROM runs WHERE NOT (1 = 2)",
        "DELETE FROM runs WHERE id = 42 OR true",
        "DELETE FROM runs WHERE id = 42 OR 'a' = 'a'",
        "DELETE FROM runs WHERE 1 = 1 AND id = id",
        "DELETE FROM runs WHERE id = 1 OR id <> 1",
        "DELETE FROM runs WHERE id > 5 OR id <= 5",
        "DELETE FROM runs WHERE id IS NULL OR id IS NOT NULL",
        "DELETE FROM runs WHERE name LIKE '%%'",
        "DELETE FROM runs WHERE name ~ '.*'",
        "DELETE FROM runs WHERE id IN (id)",
        "DELETE FROM runs WHERE id BETWEEN id AND id",
        "DELETE FROM runs WHERE id IN (SELECT id FROM runs)",
        "DELETE FROM runs WHERE id = ANY (SELECT id FROM runs)",
        "DELETE FROM runs WHERE EXISTS (SELECT 1)",
        "DELETE FROM runs WHERE random() < 2",
        "DELETE FROM runs LIMIT 1000000",
        "WITH x AS (DELETE FROM runs RETURNING *) SELECT count(*) FROM x",
        "EXPLAIN ANALYZE DELETE FROM runs",
        "EXPLAIN (ANALYZE, BUFFERS) DELETE FROM runs",
    ],
)
def test_to_change_every_row_is_high_however_it_is_said(statement):
    found = {(f.name, f.severity) for f in inspect_sql(statement)}
    assert ("sql-without-where", Severity.HIGH) in found


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        ("DELETE FROM runs WHERE id = 42", "sql-delete"),
        ("DELETE FROM runs WHERE id IN (1, 2)", "sql-delete"),
        ("DELETE FROM runs WHERE id IN (SELECT run_id FROM failed)", "sql-delete"),
        ("DELETE FROM runs WHERE a = 1 OR b = 2", "sql-delete"),
        ("DELETE FROM runs WHERE id = %s", "sql-delete"),
        ("DELETE FROM runs r WHERE EXISTS (SELECT 1 FROM x WHERE x.id = r.id)", "sql-delete"),
        ("UPDATE runs SET a = 1 WHERE name LIKE 'x%'", "sql-update"),
        ("UPDATE runs SET a = 1 WHERE started < now()", "sql-update"),
    ],
)
def test_to_change_some_rows_is_medium(statement, name):
    assert [(f.name, f.severity) for f in inspect_sql(statement)] == [(name, Severity.MEDIUM)]


@pytest.mark.parametrize(
    "statement",
    [
        "GRANT ALL ON runs TO agent",
        "REVOKE SELECT ON runs FROM agent",
        "CREATE USER x PASSWORD 'y'",
        "ALTER ROLE agent SUPERUSER",
        "DROP ROLE x",
        "ALTER TABLE runs OWNER TO agent",
        "SET ROLE postgres",
        "SET SESSION AUTHORIZATION postgres",
        "REASSIGN OWNED BY a TO b",
        "CREATE POLICY p ON runs USING (true)",
    ],
)
def test_a_change_of_rights_is_high(statement):
    assert ("sql-grant", Severity.HIGH) in {(f.name, f.severity) for f in inspect_sql(statement)}


@pytest.mark.parametrize(
    "statement",
    [
        "COPY runs FROM PROGRAM 'curl x'",
        "COPY (SELECT 1) TO PROGRAM 'sh'",
        "EXEC xp_cmdshell 'dir'",
        "exec master..xp_cmdshell 'dir'",
        "SELECT load_extension('x')",
        "SELECT sys_exec('ls')",
        "LOAD '/tmp/x.so'",
        "\\! ls",
        "SELECT 1; \\! ls",
        ".shell ls",
        "\\copy runs to program 'sh'",
    ],
)
def test_a_program_on_the_machine_of_the_database_is_high(statement):
    found = {(f.name, f.severity) for f in inspect_sql(statement)}
    assert ("process-execution", Severity.HIGH) in found


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM runs INTO OUTFILE '/tmp/x'",
        "SELECT 'x' INTO/**/DUMPFILE '/tmp/x'",
        "COPY runs TO '/tmp/x'",
        "SELECT lo_export(1, '/tmp/x')",
        "ATTACH DATABASE '/tmp/x' AS x",
        "VACUUM INTO '/tmp/x'",
        "SELECT writefile('/tmp/x', 'y')",
    ],
)
def test_a_file_written_by_a_database_is_found(statement):
    assert "file-write" in names(statement)


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        ("SELECT pg_read_file('/etc/passwd')", "file-read"),
        ("SELECT load_file('/etc/passwd')", "file-read"),
        ("SELECT * FROM '/etc/passwd'", "file-read"),
        ("SELECT * FROM read_csv_auto('x.csv')", "file-read"),
        ("SELECT * FROM dblink('host=x', 'select 1') AS t(x int)", "network"),
        ("SELECT utl_http.request('http://x') FROM dual", "network"),
        ("SELECT pg_terminate_backend(1)", "system-change"),
        ("ALTER SYSTEM SET x = 1", "system-change"),
        ("SHUTDOWN", "system-change"),
        ("SELECT 1 SHUTDOWN", "system-change"),
        ("FLUSH PRIVILEGES", "system-change"),
        ("PRAGMA journal_mode = OFF", "system-change"),
        ("PRAGMA writable_schema = 1", "sql-write"),
        ("INSERT INTO runs VALUES (1)", "sql-write"),
        ("REPLACE INTO runs VALUES (1)", "sql-write"),
        ("SELECT * INTO copy FROM runs", "sql-write"),
        ("CREATE TABLE x (a int)", "sql-write"),
        ("ALTER TABLE runs RENAME TO x", "sql-write"),
        ("SELECT wipe_all()", "unknown-call"),
    ],
)
def test_what_else_statements_do_is_found(statement, name):
    assert name in names(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "DO $$ BEGIN EXECUTE 'DROP ' || 'TABLE x'; END $$",
        "EXECUTE IMMEDIATE 'x'",
        "PREPARE x AS SELECT 1",
        "CALL anything()",
        "CREATE FUNCTION f() RETURNS int AS $$ SELECT 1 $$ LANGUAGE sql",
        "CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM log; END",
        "BEGIN DBMS_SCHEDULER.CREATE_JOB('x'); END;",
        "SELECT query_to_xml('DROP TABLE x', true, true, '')",
        "\\i x.sql",
    ],
)
def test_code_in_a_database_is_a_doubt(statement):
    assert "cannot-be-followed" in {f.name for f in inspect_sql(statement) if f.is_doubt}


@pytest.mark.parametrize(
    "statement",
    [
        "",
        "-- nothing",
        "SELECT 'DROP TABLE runs'",
        'SELECT "delete" FROM "update"',
        "SELECT 1 -- ; DROP TABLE runs",
        "SELECT 1 /* ; DROP TABLE runs */",
        "BEGIN; SELECT 1; COMMIT",
        "BEGIN; SELECT 1; END",
        "BEGIN TRANSACTION READ ONLY; SELECT 1; ROLLBACK",
        "EXPLAIN QUERY PLAN SELECT 1",
        "PRAGMA table_info(runs)",
        "SHOW TABLES",
        "SELECT TOP 3 * FROM runs",
        "SELECT a::int, b->>'c' FROM runs WHERE d @> '{}'",
    ],
)
def test_to_read_is_no_finding(statement):
    assert inspect_sql(statement) == []


@pytest.mark.parametrize(
    "then",
    [
        "WHEN MATCHED THEN DELETE",
        "WHEN NOT MATCHED THEN INSERT (a) VALUES (1) WHEN MATCHED THEN DELETE",
    ],
)
def test_a_merge_that_deletes_says_so(then):
    found = {f.name for f in inspect_sql(f"MERGE INTO t USING s ON t.a = s.a {then}")}

    assert {"sql-write", "sql-delete"} <= found
