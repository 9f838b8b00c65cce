"""Walks over the tree of a shell script: every command with its words, input and redirections."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import takewhile, zip_longest
from typing import NamedTuple

from tree_sitter import Node

from dashboard.inspection import effects
from dashboard.inspection.findings import Severity
from dashboard.inspection.knowledge import SHELL_COMMANDS
from dashboard.inspection.notes import FindingKind, Notes, doubt, names
from dashboard.inspection.secrets import SECRET_NAME
from dashboard.inspection.shell.call import Shell, ShellCall, Stdin
from dashboard.inspection.shell.paths import is_input, redirecting
from dashboard.inspection.shell.scope import ShellScope, every
from dashboard.inspection.shell.words import PLACEHOLDER, UNKNOWN, Word, plain, text_of, words_of
from dashboard.inspection.shell.wrappers import assigning

_REDIRECTS = {"file_redirect", "heredoc_redirect", "herestring_redirect"}
_RAW = {"raw_string", "ansi_c_string"}
_QUOTED = _RAW | {"string", "concatenation", "word"}
_UNQUOTING = {"expansion", "arithmetic_expansion", "subscript", "c_style_for_statement"}
_QUOTING = {"process_substitution", "do_group"}
_SIGN = re.compile(rb"[$`]")
_EXPANSION = re.compile(r"\$[({\[]|`|[<>]\(")
WORDS_BEHIND = doubt("parsed-in-part", "words-after-redirection")
_CODE_IN_VALUE = doubt(
    "cannot-be-followed",
    "command-in-value",
    Severity.MEDIUM,
)
_OTHER_NAME = doubt(
    "cannot-be-followed",
    "second-name",
    Severity.MEDIUM,
)
_NOT_FOR_FUNCTIONS = (
    SHELL_COMMANDS.harmless | SHELL_COMMANDS.shadowed | SHELL_COMMANDS.commands.keys()
)
_CHOOSES = names("grep egrep fgrep rg ag")
_KEEPS_OTHERS = re.compile(r"-[a-zA-Z]*[vefABC]|--")
_PLAIN_TEXT = re.compile(r"[\w^$|.-]*[A-Za-z]{2}[\w^$|.=-]*")
_KEEPS_NAMES = ("-d= -f1", "-d = -f1", "-d= -f 1", "-d = -f 1", "-f1 -d=", "-f 1 -d =", "-f1 -d =")
_NO_VALUES = "="
"""What stands for the filter of a command that lets no value through: no name of a secret."""

_SHOWS_ALL = re.compile(r"(?:export|declare|typeset|readonly)(?:\s+-[px]+)*\s*")
"""Builtins that print all variables where they name none."""

_TABLES = names("BASH_ALIASES galiases saliases")
"""Tables of a shell that hold code, by the name under which it runs."""

_TABLES_OF_ZSH = names("aliases functions commands")
"""The same, under names that another shell leaves to the script."""

_PATHS_OF_ZSH = names("path fpath cdpath module_path")
_OWN_PATH = re.compile(r"\$\{?path\b")
_ENTRY = re.compile(r"\]=(\"[^\"]*\"|'[^']*'|[^\s)]+)")
_SHADOWS = FindingKind("dynamic-code", Severity.MEDIUM, "shadows-command")
_FORK_BOMB = FindingKind("system-change", Severity.HIGH, "fork-bomb")


class _Visit(NamedTuple):
    """A node still to be seen, what its commands read, and words that belong to it.

    ``unquotes`` says whether it stands where single quotes are no protection, ``line_filter`` what
    the next command in a pipeline lets through.
    """

    node: Node
    stdin: Stdin | None = None
    redirects: tuple[Node, ...] = ()
    function: str = ""
    unquotes: bool = False
    line_filter: str = ""


class ShellWalk:
    """One walk over one tree."""

    def __init__(self, shell: Shell, scope: ShellScope) -> None:
        self._shell = shell
        self._notes: Notes = shell.notes
        self._scope = scope

    def over(self, root: Node, stdin: Stdin | None = None) -> None:
        """Judge every command below a node, in the order of the source; all of it reads stdin."""
        waiting = [_Visit(root, stdin)]
        while waiting:
            visit = waiting.pop()
            start, end = visit.node.start_point.row + 1, visit.node.end_point.row + 1
            with self._notes.at(start, end):
                waiting.extend(reversed(list(self._see(visit))))

    def _see(self, visit: _Visit) -> Iterator[_Visit]:
        node = visit.node
        match node.type:
            case "command":
                self._command(visit)
                yield from self._below(visit, node.named_children)
            case "redirected_statement":
                yield from self._redirected(visit)
            case "pipeline":
                yield from self._pipeline(visit)
            case "file_redirect":
                self._redirect(node)
                yield from self._below(visit._replace(stdin=None), node.named_children)
            case "function_definition":
                yield from self._function(visit)
            case "variable_assignment" | "declaration_command" | "test_command":
                self._values(node, visit.line_filter)
                yield from self._below(visit, node.named_children)
            case "for_statement" | "unset_command":
                self._names(node)
                yield from self._below(visit, node.named_children)
            case _:
                self._background(node)
                yield from self._below(visit, node.named_children)

    def _below(self, visit: _Visit, children: Iterable[Node]) -> Iterator[_Visit]:
        unquotes = _unquotes(visit)
        for child in children:
            if unquotes and child.type in _RAW and _EXPANSION.search(plain(child)):
                self._notes.add(_CODE_IN_VALUE)
            if child.named_child_count or child.type == "declaration_command":
                stdin = _inherited(child, visit.stdin)
                yield _Visit(child, stdin, function=visit.function, unquotes=unquotes)

    def _command(self, visit: _Visit) -> None:
        node = visit.node
        redirects = [child for child in node.children if child.type in _REDIRECTS]
        redirects.extend(visit.redirects)
        words = self._words(node, redirects)
        if not words:
            return
        if visit.stdin and words[0].text == visit.function:
            self._notes.add(_FORK_BOMB)
        stdin = self._input(redirects) or visit.stdin
        self._shell.judge(
            ShellCall("", tuple(words), stdin, self._shell, line_filter=visit.line_filter)
        )

    def _words(self, node: Node, redirects: Iterable[Node]) -> list[Word]:
        names = node.children_by_field_name("name")
        parts = [*names, *node.children_by_field_name("argument")]
        for redirect in redirects:
            parts.extend(redirect.children_by_field_name("destination")[1:])
            parts.extend(redirect.children_by_field_name("argument"))
        return [word for part in parts for word in words_of(part, self._scope)]

    def _redirected(self, visit: _Visit) -> Iterator[_Visit]:
        node = visit.node
        redirects = tuple(child for child in node.children if child.type in _REDIRECTS)
        body = node.child_by_field_name("body")
        stdin = self._input(redirects)
        if body is not None and body.type == "command":
            yield visit._replace(node=body, redirects=redirects)
        elif body is not None:
            if any(len(r.children_by_field_name("destination")) > 1 for r in redirects):
                self._notes.add(WORDS_BEHIND)
            yield visit._replace(node=body, stdin=stdin or visit.stdin)
        for redirect in redirects:
            yield from self._redirect_parts(visit, redirect, body)

    def _redirect_parts(
        self, visit: _Visit, redirect: Node, body: Node | None
    ) -> Iterator[_Visit]:
        """Yield a redirection, and the commands that stand on its line behind it."""
        if redirect.type != "heredoc_redirect":
            yield _Visit(redirect, function=visit.function)
            return
        output = self._printed(body, self._input([redirect]))
        for child in redirect.named_children:
            if child.type == "pipeline":
                yield _Visit(child, output, function=visit.function)
            elif child.type not in {"heredoc_start", "heredoc_end"}:
                yield _Visit(child, function=visit.function)

    def _pipeline(self, visit: _Visit) -> Iterator[_Visit]:
        stdin, stages = visit.stdin, visit.node.named_children
        for stage, following in zip_longest(stages, stages[1:]):
            line_filter = self._filter_of(following) if following is not None else ""
            yield _Visit(stage, stdin, function=visit.function, line_filter=line_filter)
            stdin = self._printed(stage, stdin)

    def _filter_of(self, stage: Node) -> str:
        """Return the plain text by which a command chooses among the lines that it reads."""
        words = self._words(stage, []) if stage.type == "command" else []
        name, *args = words or [Word("")]
        operands = [word for word in args if not word.text.startswith("-")]
        texts = [word.text if word.known and not word.guessed else "" for word in operands]
        if name.known and not self._shell.is_function(name.text):
            options = " ".join(word.text for word in args)
            if name.text == "wc" or (name.text == "cut" and options in _KEEPS_NAMES):
                return _NO_VALUES
        chooses = name.text in _CHOOSES and not any(_KEEPS_OTHERS.match(w.text) for w in args)
        return texts[0] if chooses and texts and _PLAIN_TEXT.fullmatch(texts[0]) else ""

    def _printed(self, stage: Node | None, stdin: Stdin | None) -> Stdin:
        """Return what the next command in a pipeline reads."""
        is_fetched = (stdin is not None and stdin.fetched) or (
            stage is not None and self._scope.fetches(stage)
        )
        unknown = Stdin(None, piped=True, fetched=is_fetched)
        if stage is None or stage.type not in {"command", "redirected_statement"}:
            return unknown
        redirects = [child for child in stage.children if child.type in _REDIRECTS]
        body = stage.child_by_field_name("body") if redirects else stage
        if body is None or body.type != "command":
            return unknown
        own_stdin = self._input(redirects) or stdin
        name, *args = self._words(body, redirects) or [Word("")]
        if name.text == "cat" and not args and own_stdin:
            return own_stdin._replace(piped=True)
        printed = _said(name.text, [word.text for word in args])
        return unknown if printed is None else Stdin(printed, piped=True)

    def _input(self, redirects: Iterable[Node]) -> Stdin | None:
        stdin = None
        for redirect in redirects:
            match redirect.type:
                case "heredoc_redirect":
                    stdin = self._heredoc(redirect)
                case "herestring_redirect":
                    value = redirect.named_children[-1] if redirect.named_children else redirect
                    word = text_of(value, self._scope)
                    stdin = Stdin(word.text, piped=False, fetched=word.fetched)
                case _ if is_input(_operator(redirect)):
                    targets = redirect.children_by_field_name("destination")
                    is_output = any(node.type == "process_substitution" for node in targets)
                    stdin = Stdin(
                        None, piped=is_output, fetched=is_output and self._scope.fetches(redirect)
                    )
        return stdin

    def _heredoc(self, redirect: Node) -> Stdin:
        parts = {child.type: child for child in redirect.named_children}
        start, body = parts.get("heredoc_start"), parts.get("heredoc_body")
        if body is None or start is None:
            return Stdin("", piped=False)
        is_raw = any(mark in plain(start) for mark in "'\"\\")
        text = plain(body) if is_raw else text_of(body, self._scope).text
        return Stdin(text, piped=False, line=body.start_point.row + 1)

    def _redirect(self, node: Node) -> None:
        operator = _operator(node)
        for target in node.children_by_field_name("destination")[:1]:
            word = text_of(target, self._scope)
            if target.type != "process_substitution":
                self._notes.add(*redirecting(operator, word, self._shell.folder))

    def _function(self, visit: _Visit) -> Iterator[_Visit]:
        name = visit.node.child_by_field_name("name")
        label = plain(name) if name else ""
        if label in _NOT_FOR_FUNCTIONS:
            self._notes.add(_SHADOWS)
        children = [child for child in visit.node.named_children if child != name]
        yield from (_Visit(child, function=label) for child in children)

    def _declares(self, text: str, line_filter: str) -> None:
        if _refers(text):
            self._notes.add(_OTHER_NAME)
        if _SHOWS_ALL.fullmatch(text) and not (
            line_filter and not SECRET_NAME.search(line_filter)
        ):
            self._notes.add(effects.SHOWS_SECRETS)

    def _values(self, node: Node, line_filter: str) -> None:
        if node.type == "declaration_command":
            self._declares(plain(node), line_filter)
        name = node.child_by_field_name("name")
        if name is not None:
            value = node.child_by_field_name("value")
            is_text = value is not None and value.type != "array"
            word = text_of(value, self._scope) if value is not None and is_text else None
            self._notes.add(*assigning(plain(name), Word("") if value is None else word))
            self._table(plain(name), value)
        for child in every(node) if node.type == "test_command" else node.named_children:
            # What has neither sign holds none, however it is quoted; most have none.
            may_hold_code = child.type in _QUOTED and _SIGN.search(child.text or b"")
            if may_hold_code and _holds_code(text_of(child, self._scope).text):
                self._notes.add(_CODE_IN_VALUE)

    def _table(self, name: str, value: Node | None) -> None:
        """Judge what is put into a table of the shell's own: what a name stands for."""
        table, bracket, key = name.rstrip("]").partition("[")
        if value is None:
            return
        if table in _PATHS_OF_ZSH and value.type == "array":
            # Another shell has a list of such a name too, and no search path in it.
            if table != "path" or _OWN_PATH.search(plain(value)):
                self._notes.add(effects.CHANGES_PATH)
        elif table in _TABLES_OF_ZSH and bracket:
            if key.strip("\"'") not in _NOT_FOR_FUNCTIONS:
                return  # a table of the script's own, perhaps
            self._notes.add(_SHADOWS)
        elif table not in _TABLES:
            return
        if value.type != "array":
            self._shell.read(text_of(value, self._scope).text.replace(UNKNOWN, PLACEHOLDER))
            return
        entries = (entry[1].strip("\"'") for entry in _ENTRY.finditer(plain(value)))
        for text in dict.fromkeys(entries):
            self._shell.read(text)

    def _names(self, node: Node) -> None:
        for child in node.named_children:
            if child.type == "variable_name":
                effects_of_name = assigning(plain(child))
                # To forget a search path harms nobody; to forget the history hides something.
                forgets = node.type == "unset_command"
                self._notes.add(
                    *(e for e in effects_of_name if not forgets or e == effects.HIDES_TRACES)
                )
            elif _holds_code(plain(child)) and not any(c.is_named for c in child.children):
                self._notes.add(_CODE_IN_VALUE)

    def _background(self, node: Node) -> None:
        for child in node.children if node.type != "binary_expression" else ():
            if child.type == "&":
                row = child.start_point.row + 1
                with self._notes.at(row, row):
                    self._notes.add(effects.STAYS_BEHIND)


def _unquotes(visit: _Visit) -> bool:
    """Say whether single quotes right below a node may be taken away, and what they hold be run.

    They are in arithmetic and in subscripts, and in what stands for a variable that is not set if
    that stands in double quotes or in a heredoc. Within a substitution they quote again.
    """
    match visit.node.type:
        case "compound_statement":
            return visit.node.children[0].type == "(("
        case "command_substitution":  # in heredocs the grammar takes arithmetic for one
            return plain(visit.node).startswith("$((")
        case "concatenation" if visit.node.parent and visit.node.parent.type == "array":
            return plain(visit.node).startswith("[")
        case kind:
            return kind in _UNQUOTING or (visit.unquotes and kind not in _QUOTING)


def _inherited(child: Node, stdin: Stdin | None) -> Stdin | None:
    """Return what the commands below a node read."""
    if child.type == "process_substitution" and plain(child).startswith(">"):
        return Stdin(None, piped=True)
    return None if child.type == "command_substitution" else stdin


def _operator(redirect: Node) -> str:
    return next((child.type for child in redirect.children if not child.is_named), "")


def _refers(declaration: str) -> bool:
    """Say whether a declaration makes one name stand for another."""
    word, *rest = declaration.split()
    options = takewhile(lambda option: option[:1] in "-+", rest)
    return word in {"declare", "typeset", "local"} and any("n" in option for option in options)


def _holds_code(text: str) -> bool:
    return "$(" in text or "`" in text


def _said(name: str, args: list[str]) -> str | None:
    """Return what ``echo`` or ``printf`` prints, None if that is not plain."""
    if name == "echo":
        while args and args[0] in {"-n", "-e", "-E"}:
            args = args[1:]
        return " ".join(args) + "\n"
    if name == "printf" and args and "%" not in args[0]:
        return args[0].replace("\\n", "\n")
    if name == "printf" and len(args) > 1 and args[0].rstrip("\\n") in {"%s", "%b"}:
        return "\n".join(args[1:])
    return None
