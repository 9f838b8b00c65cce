"""What a database is made of, told so that two of them can be compared."""

import re

from django.db import connection

TABLES_AND_INDEXES = """
SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL AND type IN ('table', 'index')"""
COLUMNS = """
SELECT table_name, column_name, data_type, character_maximum_length, is_nullable, column_default,
       is_identity FROM information_schema.columns WHERE table_schema = 'public'"""
CONSTRAINTS = """
SELECT conrelid::regclass::text, contype::text, pg_get_constraintdef(oid)
  FROM pg_constraint WHERE connamespace = 'public'::regnamespace"""
INDEXES = "SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'"
# Made of the names that table and columns had at that time, and kept when those change.
MADE_NAME = re.compile(r'INDEX "?(\w+_[0-9a-f]{8}(_\w+)?|\w+_pkey)"? ON')
# A dump tells the types of a list's items, the server that of the list.
TYPES = re.compile(r"::(text|character varying)|[()]|\[\]")


def parts() -> list[str]:
    """Return columns, constraints and indexes of every table, in an order of their own."""
    with connection.cursor() as cursor:
        read = _on_sqlite if connection.vendor == "sqlite" else _on_postgresql
        return sorted(MADE_NAME.sub("INDEX ON", part) for part in read(cursor))


def _on_sqlite(cursor):
    for name, sql in cursor.execute(TABLES_AND_INDEXES).fetchall():
        if sql.startswith("CREATE TABLE"):
            yield from (f"{name}: {piece}" for piece in _pieces(sql))
        else:
            yield sql


def _on_postgresql(cursor):
    for statement in (COLUMNS, CONSTRAINTS, INDEXES):
        cursor.execute(statement)
        for row in cursor.fetchall():
            yield TYPES.sub("", " ".join(map(str, row)))


def _pieces(table):
    """Split what stands between the brackets of a table at the commas that are in none."""
    body = table.partition("(")[2].rpartition(")")[0]
    depth, begin, quoted = 0, 0, False
    for place, sign in enumerate(body):
        quoted ^= sign == "'"
        depth += 0 if quoted else (sign == "(") - (sign == ")")
        if sign == "," and not depth and not quoted:
            yield body[begin:place].strip()
            begin = place + 1
    yield body[begin:].strip()
