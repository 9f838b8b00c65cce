"""How long an inspection takes, for a hundred lines of what agents write."""

import ast
import random
import time

from approval_client.wire import Kind
from dashboard.inspection.inspector import inspect_content
from dashboard.policies.inspections import inspect
from tests.inspection.corpus import python, shell, sql

LINES = 100


def inspections(rounds):
    """Inspect texts put together from the corpus, each once; the floor is Python's own parser."""
    figures = {}
    for name, corpus in {"python": python, "bash": shell, "sql": sql}.items():
        texts = list(_texts(_snippets(corpus), name, rounds))
        figures[f"inspected, 100 lines of {name}"] = _spread([_inspected(t, name) for t in texts])
        if name == "python":
            figures["  the floor: only parsed"] = _spread([_parsed(text) for text in texts])
    inspect(Kind.CODE, {"code": "1", "language": "python"})  # warm
    texts = list(_texts(_snippets(python), "python", rounds))
    figures["  python, through the sandbox"] = _spread([_asked(text) for text in texts])
    return figures


def _snippets(corpus):
    """What is harmless or plain, and can be parsed."""
    plain = [*corpus.HARMLESS, *corpus.PLAIN]
    return [snippet for snippet in plain if "%" not in snippet.text and "!" not in snippet.text]


def _texts(snippets, name, count):
    """Put snippets together, each time others, until there are enough lines."""
    chance = random.Random(7)  # noqa: S311 - the same texts in every run
    end = ";\n" if name == "sql" else "\n"
    for _ in range(count):
        text = ""
        while text.count("\n") < LINES:
            text += chance.choice(snippets).text.rstrip().rstrip(";") + end
        yield text


def _inspected(text, language):
    began = time.perf_counter()
    inspect_content(Kind.CODE, {"code": text, "language": language})
    return _for_hundred_lines(text, time.perf_counter() - began)


def _parsed(text):
    began = time.perf_counter()
    ast.parse(text)
    return _for_hundred_lines(text, time.perf_counter() - began)


def _asked(text):
    began = time.perf_counter()
    inspect(Kind.CODE, {"code": text, "language": "python"})
    return _for_hundred_lines(text, time.perf_counter() - began)


def _for_hundred_lines(text, seconds):
    return seconds * LINES / text.count("\n")


def _spread(seconds):
    ordered = sorted(seconds)
    middle, slow = (ordered[int((len(ordered) - 1) * part)] * 1000 for part in (0.5, 0.95))
    return f"p50 {middle:.1f} ms, p95 {slow:.1f} ms"
