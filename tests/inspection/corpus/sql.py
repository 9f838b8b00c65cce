"""Statements as agents send them: what does harm, plainly or in disguise, and what does none."""

from __future__ import annotations

from tests.inspection.corpus.snippet import read

PLAIN = read("sql_plain.txt", "sql")
EVASIVE = read("sql_evasive.txt", "sql")
DANGEROUS = [*PLAIN, *EVASIVE]
HARMLESS = read("sql_harmless.txt", "sql")
