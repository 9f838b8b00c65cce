"""The SQL that sqlglot is tested with, in many dialects: the first word is the truth."""

import re

from tests.corpora import fetching, judging
from tests.corpora.rows import Row

CORPUS = "sqlglot's statements"
_KINDS = {
    "drops or truncates": "DROP TRUNCATE",
    "deletes or updates": "DELETE UPDATE",
    "inserts or merges": "INSERT MERGE REPLACE COPY",
    "creates or alters": "CREATE ALTER COMMENT",
    "grants": "GRANT REVOKE",
}
_READS = frozenset(["SELECT", "VALUES", "SHOW", "DESCRIBE"])
_WRITES_INSIDE = re.compile(r"(?i)\b(?:INTO|INSERT|UPDATE|DELETE|MERGE|CALL|FOR UPDATE)\b")


def rows():
    """Yield a row for each kind of statement."""
    fixture = fetching.unpacked("sqlglot") / "tests" / "fixtures" / "identity.sql"
    lines = [line for line in fixture.read_text().splitlines() if line.strip()]
    first = [(line, re.match(r"\W*(\w*)", line)[1].upper()) for line in lines]
    for what, words in _KINDS.items():
        yield _row(what, True, [line for line, word in first if word in words.split()])
    reading = [line for line, word in first if word in _READS and not _WRITES_INSIDE.search(line)]
    yield _row("only reads", False, reading)


def _row(what, is_harmful, texts):
    found = sum(judging.raises_alarm(text, "sql") for text in texts)
    return Row(CORPUS, what, is_harmful, len(texts), found, {})
