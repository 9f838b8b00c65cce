"""Bandit's own examples: what it says a line does is the truth, kind by kind."""

from tests.corpora import fetching, judging
from tests.corpora.beside import bandit_results
from tests.corpora.rows import Row

CORPUS = "bandit's examples"
_KINDS = {
    "deserialises": ({"B301", "B302", "B506", "B614"}, {"deserialisation"}),
    "runs text as code": ({"B102", "B307"}, {"dynamic-code"}),
    "starts a program": (
        {"B602", "B603", "B605", "B606", "B607", "B609"},
        {"process-execution", "background-job", "pipe-to-shell"},
    ),
    "uses the network": (
        {"B113", "B310", "B312", "B321", "B501", "B507", "B615"},
        {"network", "pipe-to-shell"},
    ),
    "changes permissions": ({"B103"}, {"privilege-change", "file-write"}),
    "unpacks an archive": ({"B202"}, {"file-write"}),
}


def rows():
    """Yield a row for each kind of effect."""
    folder = fetching.unpacked("bandit") / "examples"
    results = bandit_results(folder)
    sources = {path: (folder / path).read_text() for path in {r["filename"] for r in results}}
    for what, (tests, names) in _KINDS.items():
        lines = {
            (r["filename"], min(r["line_range"]), max(r["line_range"]))
            for r in results
            if r["test_id"] in tests
        }
        found = sum(_is_found(sources[path], first, last, names) for path, first, last in lines)
        yield Row(CORPUS, what, True, len(lines), found, {"bandit": len(lines)})


def _is_found(source, first, last, names):
    return any(
        finding.name in names and finding.line <= last and finding.end_line >= first
        for finding in judging.report_on(source, "python").findings
    )
