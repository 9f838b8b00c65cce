"""One command of a shell as its judges see it: its words, what it reads, where to note it."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

from dashboard.inspection import effects
from dashboard.inspection.findings import Finding, Severity
from dashboard.inspection.knowledge import SHELL_COMMANDS
from dashboard.inspection.notes import FindingKind, Notes, doubt, names
from dashboard.inspection.shell.words import PLACEHOLDER, UNKNOWN, Word

MOST_WRAPPED = 20  # programs that start programs that start programs
NOT_CONSTANT = doubt(
    "cannot-be-followed",
    "joined-while-running",
)
# Letters of options that take no value, in all commands whose options are looked for here: they
# may stand before the letter that does, as in ``psql -Atc 'SELECT 1'``.
_SWITCHES = "qlnsxAabtXEBNHfrzwW01"
TOO_NESTED = doubt("too-nested", "programs-start-each-other")
_INPUT = re.compile(r"-|(?:/|(?:\.\./)+)(?:dev/(?:stdin|fd/0)|proc/[^/]+/fd/0)")
_TAKES_METHOD = names("http https xh xhs curlie")
_SAYS_DELETE = re.compile(
    r"(?i)-[a-z#]*XDELETE|(?:-H)?x-(?:http-)?method(?:-override)?\s*:\s*delete\s*"
)
MAYBE_AN_OPTION = doubt(
    "cannot-be-followed",
    "maybe-an-option",
    Severity.MEDIUM,
)


class Stdin(NamedTuple):
    """What a command reads: ``text`` where it is written here, else a pipe or a file.

    Attributes:
        fetched: Whether another machine may have sent it.
    """

    text: str | None
    piped: bool
    line: int = 0
    fetched: bool = False


class Shell(Protocol):
    """The reader of the script: judges call it for commands and code within commands."""

    folder: str
    """Where the script went last, ``""`` if it is not known."""

    @property
    def notes(self) -> Notes:
        """Where findings are written down."""

    def judge(self, call: ShellCall) -> None:
        """Judge a command."""

    def read(self, text: str, stdin: Stdin | None = None) -> None:
        """Read code that a command runs; its own commands read ``stdin``."""

    def read_python(self, text: str) -> list[Finding]:
        """Return what a text does if it is Python."""

    def is_function(self, name: str) -> bool:
        """Whether the script defines this name."""


@dataclass(frozen=True, slots=True)
class ShellCall:
    """A command.

    Attributes:
        name: The program, without its folder, in lower case unless it is known as it stands.
        args: Its words after the name.
        depth: How many programs started each other to start this one.
        line_filter: What a line of its output has to hold to be shown, ``""`` if all of it is.
    """

    name: str
    args: tuple[Word, ...]
    stdin: Stdin | None
    shell: Shell
    depth: int = 0
    line_filter: str = ""

    def add(self, *kinds: FindingKind) -> None:
        """Write down what it does."""
        self.shell.notes.add(*kinds)

    def runs(self, words: Sequence[Word], stdin: Stdin | None = None) -> None:
        """Judge the command that it starts."""
        if self.depth >= MOST_WRAPPED:
            self.add(TOO_NESTED)
        elif words:
            inner = replace(self, name="", args=tuple(words), depth=self.depth + 1)
            self.shell.judge(replace(inner, stdin=stdin or self.stdin))

    def runs_named(self, words: Sequence[Word]) -> None:
        """Judge the words from the first program on that is known to start or destroy much."""
        for index, word in enumerate(words):
            if word.text.rpartition("/")[2] in SHELL_COMMANDS.starters:
                self.runs(words[index:])
                return

    def reads(self, code: Word) -> None:
        """Read a word as the code of a shell."""
        if not code.known or code.guessed:
            self.add(NOT_CONSTANT)
        if code.fetched:
            self.add(effects.PIPES_TO_SHELL)
        self.shell.read(code.text.replace(UNKNOWN, PLACEHOLDER), self.stdin)

    def reads_joined(self, words: Sequence[Word]) -> None:
        """Read several words, joined, as the code of a shell."""
        guessed, fetched = (any(w.guessed for w in words), any(w.fetched for w in words))
        text = " ".join(word.text for word in words)
        self.reads(Word(text, guessed=guessed, fetched=fetched))

    def runs_output(self, program: Word | None) -> None:
        """Write down that its program is what another command prints, where that is so.

        Args:
            program: The word that names the program; None if it is read from the input.
        """
        from_input = program is None or names_input(program)
        piped = self.stdin is not None and (self.stdin.piped or self.stdin.fetched)
        if (program is not None and program.process) or (from_input and piped):
            self.add(effects.PIPES_TO_SHELL)

    def flags(self) -> Iterator[str]:
        """Yield the arguments that are options, until ``--`` ends them."""
        for word in self.args:
            if word.text == "--":
                return
            if word.text.startswith("-") and word.text != "-":
                yield word.text

    def has_flag(self, letters: str, *names: str) -> bool:
        """Whether an option is given, as one of several letters or by any beginning of a name."""
        for flag in self.flags():
            beginning = flag.partition("=")[0]
            if flag.startswith("--"):
                if len(beginning) > len("--") and any(n.startswith(beginning) for n in names):
                    return True
            elif any(letter in flag for letter in letters):
                return True
        return False

    def operands(self, *, values: str = "", names: frozenset[str] = frozenset()) -> list[Word]:
        """Return the arguments that are not options.

        Args:
            values: The letters of options whose value is the next argument.
            names: The names of options whose value is the next argument.
        """
        positional: list[Word] = []
        words = iter(self.args)
        for word in words:
            text = word.text
            if text == "--":
                positional.extend(words)
            elif not text.startswith("-") or text == "-":
                positional.append(word)
            elif takes_value(text, values, names):
                next(words, None)
        return positional

    def rest(
        self, skip: int = 0, *, values: str = "", names: frozenset[str] = frozenset()
    ) -> list[Word]:
        """Return the words from one operand on: a command with its own options."""
        words = list(self.args)
        while words:
            text = words[0].text
            if text == "--":
                return words[1 + skip :]
            if text.startswith("-") and text != "-":
                del words[: 1 + takes_value(text, values, names)]
            elif skip:
                skip -= 1
                del words[0]
            else:
                return words
        return []

    def option(self, letters: str, *names: str) -> Word | None:
        """Return the value of an option, attached or as the next argument."""
        return next(self.values(letters, *names), None)

    def values(self, letters: str, *names: str) -> Iterator[Word]:
        """Yield the values of an option that may be given several times, as ``option`` does."""
        together = re.compile(f"-[{_SWITCHES}]*[{letters}]") if letters else None
        for index, word in enumerate(self.args):
            text = word.text
            following = self.args[index + 1] if index + 1 < len(self.args) else Word("")
            if text in names or (together and together.fullmatch(text)):
                yield following
                continue
            name, equals, value = text.partition("=")
            if equals and name in names:
                yield replace(word, text=value)
            elif len(text) > 1 and text[0] == "-" and text[1] in letters:
                yield replace(word, text=text[2:])

    def asks_to_delete(self) -> bool:
        """Whether it sends a request that deletes: ``curl -X DELETE``, ``http DELETE …``."""
        first_words = self.args[:2] if self.name in _TAKES_METHOD else ()
        methods = [*self.values("X", "--request", "--method"), *first_words]
        texts = [word.text for word in self.args]
        return (
            any(method.text.upper() == "DELETE" for method in methods)
            or "DELETE" in texts
            or any(map(_SAYS_DELETE.fullmatch, texts))
        )

    def has_opaque(self) -> bool:
        """Whether an argument may turn out to be an option."""
        return any(word.opaque for word in self.args)


def lines_of(call: ShellCall, stdin: Stdin) -> tuple[int, int]:
    """Return the lines that an input stands on; those of the command if that is not known."""
    if not stdin.line:
        return call.shell.notes.lines
    return stdin.line, stdin.line + (stdin.text or "").count("\n")


def names_input(word: Word) -> bool:
    """Whether a word, as a file, is what the command reads anyway."""
    path = re.sub("^//+", "/", posixpath.normpath(word.text)) if word.text else ""
    return _INPUT.fullmatch(path) is not None


def takes_value(text: str, letters: str, names: frozenset[str]) -> bool:
    """Whether an option's value is the argument after it."""
    if text.startswith("--"):
        return text in names
    # The first letter that takes a value takes the rest of its word, if there is any.
    places = [index for index, letter in enumerate(text[1:]) if letter in letters]
    return text in names or (bool(places) and places[0] == len(text) - 2)


def beginnings(name: str, shortest: int = 3) -> tuple[str, ...]:
    """Return the beginnings of a long option that programs take for it: ``--out``, ``--outp``."""
    return tuple(name[:length] for length in range(max(shortest, 3), len(name) + 1))


Judge = Callable[[ShellCall], None]
Handlers = Mapping[Judge, Collection[str]]
"""The commands that each judge is for."""
