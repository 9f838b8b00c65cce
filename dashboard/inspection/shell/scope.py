"""What a shell script defines for itself: constant variables and functions.

A variable is followed only as far as its text is certain. What is assigned twice, in a branch, by
a builtin such as ``read`` or under another field separator is a guess.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from tree_sitter import Node

from dashboard.inspection.knowledge import SHELL_COMMANDS
from dashboard.inspection.notes import names
from dashboard.inspection.shell.words import UNKNOWN, Value, Word, plain, text_of

_SPECIAL = names(
    "_ RANDOM SRANDOM SECONDS LINENO PIPESTATUS FUNCNAME OPTARG OPTIND REPLY DIRSTACK GROUPS "
    "HISTCMD UID EUID PPID PWD OLDPWD SHELLOPTS COPROC MAPFILE IFS PATH"
)
_SPECIAL_BEGINNINGS = ("BASH", "COMP", "EPOCH")
_UNSETTLING = names(
    "eval source . trap alias read mapfile readarray printf getopts let unset wait coproc "
    "builtin command"
)
_LONGEST_VALUE = 10_000
_PLAIN_PARENTS = {"program", "variable_assignments", "declaration_command"}


_STARTING = r"sudo|env|command|exec|time|nohup|then|do|else|timeout[ \t]+\S+"
_NAMES = "|".join(sorted(SHELL_COMMANDS.fetching))
_FETCHES = re.compile(
    (
        rf"(?:^|[(;|&\n`{{!]|\b(?:{_STARTING}))[ \t]*(?:\w+=[^\s(`]*[ \t]+){{0,9}}"
        rf"(?:[\w.~/-]*/)?(?:{_NAMES})(?:\.exe)?(?=[\s<>;|&)`]|$)"
    ).encode()
)
_MARKS = re.compile(rb"[\"'\\]")


class _Assignment(NamedTuple):
    value: Value
    place: int


class ShellScope:
    """The variables and functions of one script, by the nodes of its tree."""

    def __init__(self, root: Node) -> None:
        self._root = root
        self._fetched_names: set[str] = set()
        self._assigned: dict[str, list[_Assignment]] = {}
        self._settled = True
        self.functions: set[str] = set()
        for node, is_top in _definitions(root):
            self._read(node, is_top=is_top)

    def value(self, name: str, place: int) -> Value | None:
        """Return what a variable holds at a place of the source, None if that is not known."""
        if name == "IFS":
            return Value(" ", guessed=not self._settled) if name not in self._assigned else None
        assigned = self._assigned.get(name)
        if not assigned or name in _SPECIAL or name.startswith(_SPECIAL_BEGINNINGS):
            return None
        latest = assigned[-1]
        certain = self._settled and len(assigned) == 1 and latest.place < place
        return Value(
            latest.value.text, latest.value.guessed or not certain, name in self._fetched_names
        )

    def fetches(self, node: Node) -> bool:
        """Whether commands below a node print what another machine sends."""
        following = bisect_left(self._fetching, node.start_byte)
        return following < len(self._fetching) and self._fetching[following] < node.end_byte

    @cached_property
    def _fetching(self) -> list[int]:
        """Where such commands are named, whatever quotes stand within a name."""
        source = self._root.text or b""
        marks = [match.start() - index for index, match in enumerate(_MARKS.finditer(source))]
        ends = (match.end() - 1 for match in _FETCHES.finditer(_MARKS.sub(b"", source)))
        return [end + bisect_right(marks, end) for end in ends]

    def _read(self, node: Node, *, is_top: bool) -> None:
        match node.type:
            case "variable_assignment":
                self._assign(node, is_top=is_top)
            case "for_statement":
                for field in node.children_by_field_name("value"):
                    self._note(node, "variable", field)
            case "function_definition":
                name = node.child_by_field_name("name")
                self.functions.add(plain(name) if name else "")
            case "command_name":
                self._settled &= plain(node) not in _UNSETTLING
            case "unset_command":
                self._settled = False
            case "declaration_command":
                # A name for another variable changes what all of them hold.
                self._settled &= not any("n" in option for option in _options(node))
            case "expansion":
                self._settled &= not any(c.type in {"=", ":="} for c in node.children)

    def _assign(self, node: Node, *, is_top: bool) -> None:
        name = node.child_by_field_name("name")
        if name is not None and plain(name) == "IFS":
            # Set for one command, as in ``IFS= read line``, it splits nothing else.
            self._settled &= node.parent is not None and node.parent.type == "command"
        value = node.child_by_field_name("value")
        is_plain = is_top and node.children[1].type == "="
        self._note(node, "name", value, guessed=not is_plain)

    def _note(self, node: Node, field: str, value: Node | None, *, guessed: bool = True) -> None:
        name = node.child_by_field_name(field)
        if name is None or name.type != "variable_name":
            self._settled = False  # one element of an array, which is as well its first
            return
        word = text_of(value, self) if value else Word("")
        # Variables made of variables can double in every line.
        text = word.text if len(word.text) <= _LONGEST_VALUE else UNKNOWN
        content = Value(text, guessed or word.guessed, word.fetched)
        if word.fetched:
            self._fetched_names.add(plain(name))
        self._assigned.setdefault(plain(name), []).append(_Assignment(content, node.start_byte))


def every(root: Node) -> Iterator[Node]:
    """Yield all nodes in the order of the source, however deep."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(node.children))


def _definitions(root: Node) -> Iterator[tuple[Node, bool]]:
    """Yield all nodes, and whether each is reached by no branch, no loop and no function."""
    waiting = [(root, True)]
    while waiting:
        node, is_top = waiting.pop()
        yield node, is_top and node.type == "variable_assignment"
        deeper = is_top and node.type in _PLAIN_PARENTS
        waiting.extend((child, deeper) for child in reversed(node.children))


def _options(node: Node) -> Iterable[str]:
    return (plain(child) for child in node.children if plain(child).startswith("-"))
