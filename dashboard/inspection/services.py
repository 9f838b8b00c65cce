"""What the call of a tool asks of a service: a deletion over HTTP, by GraphQL or of a database."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from dashboard.inspection import effects
from dashboard.inspection.findings import Finding, Severity
from dashboard.inspection.knowledge import VERBS
from dashboard.inspection.notes import FindingKind, Notes, doubt, names
from dashboard.inspection.parts import WHOLE, is_name, keys, members, words

_METHODS = names("""
    method http_method request_method verb x_http_method_override x_method_override x_http_method
""")
_CHANGES = names("post put patch delete")
_LONGEST_ADDRESS = 2_000
_ADDRESSES = names("url uri endpoint address path href")
_OPERATIONS = names("operation op method command commands action function")
_PIPELINES = names("pipeline stages")
_ASKED_OF_PATH = names("delete destroy purge erase wipe remove")
_AT_ONCE = names("batch bulk all by query")
_SAYS_DELETE = re.compile(r"(?i)\s*x-(?:http-)?method(?:-override)?\s*:\s*delete\s*")
_DATABASES = names("""
    mongo mongodb mongosh redis neo4j memgraph elasticsearch opensearch firestore dynamodb
    cassandra couchdb couchbase qdrant pinecone weaviate milvus chroma influxdb database db
""")
_DELETES_ROWS = (FindingKind("sql-delete", Severity.MEDIUM, "deletes-rows"),)
_OF_DATABASE = {
    **dict.fromkeys(("drop", "flush", "flushall", "flushdb"), (effects.DROPS_DATABASE,)),
    **dict.fromkeys(("delete", "del", "remove", "truncate", "unlink", "purge"), _DELETES_ROWS),
}
_WRITES_DATA = FindingKind("sql-write", Severity.MEDIUM, "writes-to-database")
_OF_DOCUMENTS = (
    (re.compile(r"""\$(?:out|merge)["']?\s*:"""), _WRITES_DATA),
    (
        re.compile(r"""\$(?:where|function|accumulator)["']?\s*:"""),
        doubt("not-inspected", "not-inspected", Severity.MEDIUM),
    ),
)
"""Of a query for MongoDB: what writes a collection, and what holds JavaScript."""

_GRAPHQL = names("graphql graphql_query gql query mutation document")
_BRACE = re.compile(r"[{}]")
_MUTATION = re.compile(r"[\s,\ufeff]*mutation\b(?:\s*\w+)?\s*(?:[(@].*)?", re.DOTALL)
"""What stands before the braces of one."""

_NAMES_MUTATION = re.compile(r"\bmutation\b")
_ASIDE_OF_GRAPHQL = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*+"""|"(?:[^"\\\r\n]|\\.)*+"|#[^\r\n]*', re.DOTALL
)
"""Its descriptions, strings and comments."""

_DOCUMENT = re.compile(r"\s*[{\[]")
_ESCAPED = re.compile(r"\\u([0-9A-Fa-f]{4})")
_WORD = re.compile(r"\w{1,100}")
_LONGEST_VERB = 100
_MUTATES = FindingKind("unknown-call", Severity.LOW, "graphql-mutation")
_QUERIES = names("query statement q")
_CYPHER = names("cypher cypher_query cypher_statement")
_PATTERN = re.compile(r"(?i)\s*(?:optional\s+)?match\s*(?:\w+\s*=\s*)?\(")
_ASIDE = re.compile(
    r"'(?:[^'\\]|\\.?)*+('|\Z)|\"(?:[^\"\\]|\\.?)*+(\"|\Z)|`[^`]*+(`|\Z)"
    r"|//[^\r\n]*|/\*(?:[^*]|\*(?!/))*+(\*/|\Z)",
    re.DOTALL,
)
"""Texts, names in quotes and comments of Cypher."""

_CLAUSE = re.compile(
    r"(?i)(?<![\w.:$])(delete|drop|create|merge|set|remove|call|load)\b(?!\s*[:.=])"
)
_CLAUSES = {
    "delete": FindingKind("sql-delete", Severity.HIGH, "deletes-rows"),
    "drop": FindingKind("sql-drop", Severity.HIGH, "drops-definition"),
    "call": FindingKind("unknown-call", Severity.LOW, "unknown-database-function"),
    "load": FindingKind("file-read", Severity.MEDIUM, "database-reads-file"),
    **dict.fromkeys(("create", "merge", "set", "remove"), _WRITES_DATA),
}
"""Of Cypher, the language of Neo4j."""


def asked_of_services(tool: str, arguments: Mapping[str, Any]) -> list[Finding]:
    """Return what a call asks of a service, as far as names and texts of its arguments say it."""
    notes = Notes(WHOLE)
    with notes.at(0, 0):
        notes.add(*_over_http(arguments))
        notes.add(*_of_database(tool, arguments))
        for name, text in members(arguments):
            notes.add(*_asked_of_graph(name, text))
    return notes.found


def _over_http(arguments: Mapping[str, Any]) -> Iterator[FindingKind]:
    """Say whether a request deletes: by its method, or by the last word of its address."""
    spelled = {words(key) for key in keys(arguments)}
    if _ADDRESSES.isdisjoint(spelled):
        return
    texts = [*members(arguments)]
    methods = {_verb(text) for name, text in texts if name in _METHODS}
    addresses = [text for name, text in texts if name in _ADDRESSES]
    deletes = "delete" in methods or any(_SAYS_DELETE.fullmatch(text) for _, text in texts)
    if deletes or (_CHANGES & methods and any(map(_says_it_deletes, addresses))):
        yield effects.UNKNOWN_DESTROYS


def _of_database(tool: str, arguments: Mapping[str, Any]) -> Iterator[FindingKind]:
    """Say what a database without SQL is asked to do, by the names of its own operations."""
    is_of_database = not _DATABASES.isdisjoint(words(tool).split("_"))
    spelled = [*keys(arguments)]
    if not is_of_database and _PIPELINES.isdisjoint(map(words, spelled)):
        return
    texts = [*members(arguments)]
    documents = [_ESCAPED.sub(_character, text) for _, text in texts if _DOCUMENT.match(text)]
    for text in (*documents, *(f"{name}:" for name in spelled)):
        yield from (kind for mark, kind in _OF_DOCUMENTS if mark.search(text))
    if is_of_database:
        operations = [text for name, text in texts if name in _OPERATIONS and is_name(text)]
        for operation in (*operations, *_operations(arguments)):
            yield from _OF_DATABASE.get(_verb(operation), ())


def _verb(text: str) -> str:
    return words(text[:_LONGEST_VERB]).partition("_")[0]


def _says_it_deletes(address: str) -> bool:
    """Whether an address ends on a word for deleting: ``/users/1/delete``, ``/_bulk_delete``."""
    path = re.split(r"[?#]", address[-_LONGEST_ADDRESS:])[0].rstrip("/")
    parts = [words(part).split("_") for part in re.split("[/:]", path)[-2:]]
    return any(
        not _ASKED_OF_PATH.isdisjoint(part) and {*part} <= _AT_ONCE | _ASKED_OF_PATH
        for part in parts
    )


def _operations(value: Any) -> Iterator[str]:
    """Yield the names in objects that are an operation: ``{"command": {"drop": "users"}}``."""
    if isinstance(value, Mapping):
        for key in sorted(value):
            if words(key) in _OPERATIONS and isinstance(value[key], Mapping):
                yield from sorted(value[key])
            yield from _operations(value[key])
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _operations(item)


def _asked_of_graph(name: str, text: str) -> Iterator[FindingKind]:
    """Say what a statement in Cypher or a mutation in GraphQL changes."""
    if name in _GRAPHQL and (fields := _mutated(text)):
        verbs = {verb for field in _WORD.findall(fields) for verb in words(field).split("_")}
        yield _MUTATES if VERBS.destroying.isdisjoint(verbs) else effects.UNKNOWN_DESTROYS
    if name in _CYPHER or (name in _QUERIES and _PATTERN.match(text)):
        statement = _ESCAPED.sub(_character, text)
        for match in _CLAUSE.finditer(_ASIDE.sub(_emptied, statement)):
            yield _CLAUSES[match[1].lower()]


def _mutated(text: str) -> str:
    """Return what follows where a document of GraphQL begins a mutation; empty if it has none."""
    match = _NAMES_MUTATION.search(text)
    if match is None:
        return ""
    document = _ASIDE_OF_GRAPHQL.sub(" ", text)
    if '"' in document:  # a string without an end, behind which anything may be
        return text[match.start() :] if "{" in text[match.start() :] else ""
    begin = 0
    for brace in _BRACE.finditer(document):
        if brace[0] == "{" and _MUTATION.fullmatch(document, begin, brace.start()):
            return document[begin:]
        begin = brace.end()
    return ""


def _character(match: re.Match[str]) -> str:
    return chr(int(match[1], 16))


def _emptied(match: re.Match[str]) -> str:
    """Leave what has no end as it is: nobody knows where a database ends it."""
    is_open = "" in match.groups()
    return match[0] if is_open else "''"
