"""Reads statements of SQL that a program is given which may be the client of a database."""

from __future__ import annotations

import re

from dashboard.inspection.shell.call import ShellCall, lines_of
from dashboard.inspection.shell.words import UNKNOWN
from dashboard.inspection.sql import inspect_sql, mentioned

_STATEMENT = re.compile(
    r"(?:^|[;)]|\*/)\s*(?:"
    r"(?:drop|alter|create|truncate)\s+(?:or\s+replace\s+)?(?:table|database|schema|keyspace|view|"
    r"materialized|index|user|role|function|procedure|trigger|sequence|extension|tablespace)"
    r"|truncate|delete\s+from|insert\s+(?:into|overwrite)|replace\s+into|merge\s+into"
    r"|update\s+\S+\s+set|(?:grant|revoke)\s[^;]*\s(?:on|to|from)"
    r")\s",
    re.IGNORECASE,
)
"""How a statement of SQL begins that changes something."""

_OPTION = re.compile(r"-{1,2}[\w-]+=")


def read_statements(call: ShellCall) -> None:
    """Read what is SQL, for a program that nobody knows and that may be a database's client.

    What is no statement after all, such as a title, is only searched for what statements say.
    """
    for word in call.args:
        _read(call, _OPTION.sub("", word.text, count=1))
    if call.stdin and call.stdin.text:
        with call.shell.notes.at(*lines_of(call, call.stdin)):
            _read(call, call.stdin.text)


def _read(call: ShellCall, text: str) -> None:
    if not _STATEMENT.search(text):
        return
    text = text.replace(UNKNOWN, "NULL")
    findings = inspect_sql(text)
    if any(finding.unseen for finding in findings):
        call.add(*mentioned(text))
    else:
        call.shell.notes.adopt(findings)
