"""The lines of a notebook that are not Python: ``%magic``, ``!command``, ``name?``."""

from __future__ import annotations

import ast
import re

from dashboard.inspection.findings import Severity
from dashboard.inspection.knowledge.loading import Deed
from dashboard.inspection.notes import names
from dashboard.inspection.python.nested import Nested
from dashboard.inspection.python.notes import PythonNotes
from dashboard.inspection.python.strings import HOLE, Text

_PROCESS = Deed("process-execution", Severity.HIGH)
_INSTALLS = Deed("system-change", Severity.HIGH)
_WRITES = Deed("file-write", Severity.MEDIUM)
_LINE = re.compile(r"([ \t]*)([\w.,\[\]'\" \t]{1,100}=[ \t]*)?(%%?|!!?)([ \t]*\S.*|)")
_HELP = re.compile(r"[ \t]*\?{0,2}[\w.]{1,100}\?{0,2}[ \t]*")
_SHELL_LINES = names("sx sc system")
_SHELL_CELLS = names("bash sh script sx system ! zsh dash ksh")
_HARMLESS_LINES = names("matplotlib autoreload precision pprint who whos pwd lsmagic")
_PYTHON_LINES = names("time timeit prun memit")
_PYTHON_CELLS = names("time timeit capture prun memit")
_INSTALLING = names("pip conda mamba micromamba uv")
_VARIABLE = re.compile(r"\{[^{}]*\}|\$\w+")
_UNREAD = "magic-not-read"


def without_magics(source: str, notes: PythonNotes, nested: Nested) -> str | None:
    """Return ``source`` with its magic lines taken out and noted; None if there are none."""
    return _MagicReader(source, notes, nested).run()


class _MagicReader:
    def __init__(self, source: str, notes: PythonNotes, nested: Nested) -> None:
        self.lines = re.split(r"\r\n|\r|\n", source)
        self.notes = notes
        self.nested = nested

    def run(self) -> str | None:
        cell = self.cell()
        if cell is not None:
            return cell
        has_magic, index = False, 0
        while index < len(self.lines):
            end = self.last_of(index)
            magic = _LINE.fullmatch(self.joined(index, end))
            if magic and magic[4]:
                has_magic = True
                self.replace(index, end, self.magic(magic, index))
            elif "?" in self.lines[index] and _HELP.fullmatch(self.lines[index]):
                has_magic = True
                self.replace(index, index, "pass")
                end = index
            else:
                end = index
            index = end + 1
        return "\n".join(self.lines) if has_magic else None

    def last_of(self, index: int) -> int:
        """Return the last line of a magic that is continued with backslashes."""
        end = index
        if re.match(r"[ \t]*[%!]|[^#'\"]*=[ \t]*[%!]", self.lines[index][:200]):
            while self.lines[end].endswith("\\") and end + 1 < len(self.lines):
                end += 1
        return end

    def joined(self, index: int, end: int) -> str:
        return "\n".join(self.lines[index : end + 1]).replace("\\\n", " ")

    def replace(self, first: int, last: int, statement: str) -> None:
        line = self.lines[first]
        indent = line[: len(line) - len(line.lstrip())]
        self.lines[first : last + 1] = [indent + statement] + [""] * (last - first)

    def cell(self) -> str | None:
        """Read a cell that begins with ``%%magic``."""
        start = next((i for i, line in enumerate(self.lines) if line.strip()), None)
        if start is None or not self.lines[start].lstrip().startswith(("%%", "!!")):
            return None
        head = self.lines[start].lstrip()
        name, _, rest = (head[2:] if head[0] == "%" else f"! {head[2:]}").partition(" ")
        body = "\n".join(self.lines[start + 1 :])
        if name in _PYTHON_CELLS:
            head = self.head(name, rest.strip(), _place(start, start))
            self.lines[: start + 1] = [""] * start + [head]
            inner = _MagicReader("\n".join(self.lines), self.notes, self.nested)
            return inner.run() or "\n".join(self.lines)
        node = _place(start, len(self.lines) - 1)
        if name in _SHELL_CELLS:
            self.shell(node, f"{rest}\n{body}" if name in ("!", "sx", "system") else body)
            if name == "script":
                self.notes.doubt(node, "", _UNREAD)
        else:
            if name in ("writefile", "file"):
                self.notes.add(node, _WRITES, code="writes-cell")
            self.notes.doubt(node, "", _UNREAD)
            # It may be run as Python somewhere else, whole or in part.
            findings = self.nested.python(Text(body))
            self.notes.adopt(
                node, (finding for finding in findings if finding.name != "does-not-parse")
            )
        return ""

    def head(self, name: str, rest: str, node: ast.AST) -> str:
        """Return what of the first line of a cell is run as Python, with the cell or before it."""
        if name == "capture":  # only names of what it keeps
            return ""
        if rest.startswith("-") and not name.startswith("time"):
            self.notes.doubt(node, "", _UNREAD)  # some options write files
            return ""
        return rest

    def magic(self, magic: re.Match[str], index: int) -> str:
        """Note what a line does, and return the Python that stands for it."""
        assigned, sign, text = magic[2] or "", magic[3], magic[4].strip()
        node = _place(index, index)
        if sign[0] == "!":
            self.shell(node, text)
            return f"{assigned}None" if assigned else "pass"
        name, _, rest = text.partition(" ")
        if name in _PYTHON_LINES and not rest.lstrip().startswith("-"):
            return f"{assigned}{rest}" if rest.strip() else "pass"
        if name in _SHELL_LINES:
            self.shell(node, rest)
        elif name in _INSTALLING:
            if findings := self.nested.shell(Text(_VARIABLE.sub(HOLE, text))):
                self.notes.add(node, _INSTALLS, code="changes-packages")
                self.notes.doubt(node, "", _UNREAD)
                self.notes.adopt(node, findings)  # a shell reads the rest of the line
        elif name not in _HARMLESS_LINES and text != "load_ext autoreload":
            self.notes.doubt(node, "", _UNREAD)
        return f"{assigned}None" if assigned else "pass"

    def shell(self, node: ast.AST, text: str) -> None:
        self.notes.add(node, _PROCESS, code="runs-shell-command")
        self.notes.adopt(node, self.nested.shell(Text(_VARIABLE.sub(HOLE, text))))


def _place(start: int, end: int) -> ast.AST:
    return ast.Pass(lineno=start + 1, end_lineno=end + 1)
