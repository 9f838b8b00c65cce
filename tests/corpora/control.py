"""The libraries of control systems, with their examples and tests: who reads, and who writes.

The truth is the text's: a file that nowhere has one of the words with which these libraries write
does not write, and one that calls a function of such a name does.
"""

import ast
import re

from tests.corpora import fetching, judging
from tests.corpora.beside import others
from tests.corpora.rows import Row

_CORPORA = {"pyepics, caproto": ("pyepics", "caproto"), "ophyd, pytango": ("ophyd", "pytango")}
_USES = re.compile(r"^\s*(?:import|from)\s+(?:epics|caproto|ophyd|tango|PyTango)\b", re.MULTILINE)
_WRITING_WORDS = re.compile(r"put|set|write|move|command", re.IGNORECASE)
_SERVES = re.compile(r"\brun\([^)]*pvdb|\brun_server\b|\bServer\(|\brun\(\(|\brun\(\[")
_WRITING_CALLS = {"caput", "caput_many", "put", "write_attribute", "write_attributes"}
_CONTROL = "control-system-write"


def rows():
    """Yield what is said of files that read, that serve others, and that write."""
    for corpus, packages in _CORPORA.items():
        texts = [text for package in packages for text in _texts(package)]
        reading = [text for text in texts if not _WRITING_WORDS.search(text)]
        serving = [text for text in reading if _SERVES.search(text)]
        only_reading = [text for text in reading if text not in serving]
        yield _row(corpus, "only reads", False, only_reading)
        yield _row(corpus, "starts a server that others may write to", True, serving)
        yield _row(corpus, "writes", True, [text for text in texts if _puts(text)])


def _row(corpus, what, is_harmful, texts):
    found = sum(_CONTROL in judging.report_on(text, "python").names for text in texts)
    counts = {name: len(positions) for name, positions in others(texts).items()}
    return Row(corpus, what, is_harmful, len(texts), found, counts)


def _texts(package):
    for path in sorted(fetching.unpacked(package).rglob("*.py")):
        text = path.read_text(errors="replace")
        if _USES.search(text) and _parses(text):
            yield text


def _parses(text):
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def _puts(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call):
            called = node.func
            name = getattr(called, "id", None) or getattr(called, "attr", None)
            owner = ast.unparse(called.value).lower() if isinstance(called, ast.Attribute) else ""
            if name in _WRITING_CALLS and "queue" not in owner:
                return True
    return False
