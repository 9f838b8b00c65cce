"""Reads tables of knowledge from TOML, and refuses what is malformed.

A table is a field of a schema, which is a dataclass. The field says how its value is read, and
whether other documents may add to it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from dashboard.inspection.effects import NAMED
from dashboard.inspection.findings import Severity
from dashboard.inspection.notes import FINDINGS, FindingKind, names
from dashboard.inspection.sentences import SENTENCES

CHECKS = names("""
    argv attribute backend by_name chmod code command engine environ evaluated filename first_mode
    fits_mode formula if_given import inplace magic model moved named numpy_load open open_method
    option package parent path_given plotted preload pretrained program query rc ruamel saved
    set_attribute set_own spawned sql stored target temporary terminal text_given thread timed
    timed_words torch_load types unseen url url_given variable yaml
""")
"""Names of the functions that look at the arguments of a call in Python, where a row names one."""

_FOLDER = Path(__file__).parent
_A_KIND = {str: "text", dict: "a table", list: "an array", int: "a number"}

WordSet = frozenset[str]
Pairs = Mapping[str, str]
Groups = Mapping[str, WordSet]


class MalformedTable(ValueError):
    """A table cannot be read; the message names the file, the entry and what is wrong with it."""


class Document(NamedTuple):
    """The tables of one file, as TOML has them."""

    file: str
    tables: Mapping[str, Any]


class Deed(NamedTuple):
    """What a function does: a finding, and the check that knows better once it sees arguments.

    ``code`` is that of its sentence, where it is not the usual one of such a finding.
    """

    name: str
    severity: Severity
    check: str = ""
    code: str = ""


class Option(NamedTuple):
    """What a command does once one of its arguments begins with a pattern."""

    pattern: str
    effect: FindingKind


class Subcommands(NamedTuple):
    """What a command with subcommands does.

    Attributes:
        effects: By subcommand; none for those that only read.
        otherwise: What every other subcommand does.
        values: The options before the subcommand that take a value.
        starts: How options begin that name a program; empty if none does.
        options: What arguments do that begin so, whatever the subcommand.
    """

    effects: Mapping[str, tuple[FindingKind, ...]]
    otherwise: tuple[FindingKind, ...]
    values: WordSet = frozenset()
    starts: str = ""
    options: tuple[Option, ...] = ()


class Wrapper(NamedTuple):
    """How a command names the one that it starts.

    Attributes:
        letters: The letters of its options that take the next argument.
        options: The names of such options.
        skip: How many operands come before the command.
        effects: What it does by itself.
        runs_alone: What it does when it names no command.
        skips_first: Whether the operands to skip stand before its options, or are left out.
    """

    letters: str = ""
    options: WordSet = frozenset()
    skip: int = 0
    effects: tuple[FindingKind, ...] = ()
    runs_alone: tuple[FindingKind, ...] = ()
    skips_first: bool = False


class WindowsCommand(NamedTuple):
    """Commands, and what one of their words has to begin with for the effects to be theirs."""

    names: WordSet
    begins: str
    effects: tuple[FindingKind, ...]


class Secret(NamedTuple):
    """A kind of secret.

    Attributes:
        name: What it is called; the code of a finding about it.
        begins: Texts of which one stands in whatever holds it.
        find: Where in any text it is found; empty if nowhere.
        literal: Where in the value of a Python literal it is found; empty if nowhere.
        cover: Its first group is what redaction covers; None if nothing is.
        form: What all of a token looks like, if it has one length and no meaning; else empty.
    """

    name: str
    begins: tuple[str, ...]
    find: str
    literal: str
    cover: str | None
    form: str


Deeds = Mapping[str, tuple[Deed, ...]]
Effects = Mapping[str, tuple[FindingKind, ...]]


@dataclass(frozen=True, slots=True)
class Location:
    """Where a value stands, and the effects that may be named there."""

    file: str
    entry: str
    effects: Mapping[str, FindingKind]

    def inner(self, entry: str | int) -> Location:
        """Return the place of a part of this value."""
        dotted = f"{self.entry}[{entry}]" if isinstance(entry, int) else f"{self.entry}.{entry}"
        return Location(self.file, dotted, self.effects)

    def wrong(self, sentence: str) -> MalformedTable:
        """Return the error to raise about this value."""
        return MalformedTable(f"{self.file}, {self.entry}: {sentence}")


Read = Callable[[Any, Location], Any]
Schema = TypeVar("Schema")


def shipped(name: str) -> Document:
    """Read one of the files beside this module."""
    file = f"{name}.toml"
    try:
        return Document(file, tomllib.loads((_FOLDER / file).read_text(encoding="utf-8")))
    except tomllib.TOMLDecodeError as error:
        raise MalformedTable(f"{file}: This is not TOML: {error}.") from error


def load(schema: type[Schema], first: Document, *more: Document) -> Schema:
    """Read the tables of a schema from documents, one after the other.

    Documents after the first may only add to tables that grow: those in which an entry never takes
    the place of another one. So a house's own document cannot loosen anything.

    Raises:
        MalformedTable: A document is not what the schema says.
    """
    metadata_by_name = {field.name: field.metadata for field in fields(schema)}  # type: ignore[arg-type] # a dataclass
    tables: dict[str, Any] = {}
    for document in (first, *more):
        effects = _effects_of(document)
        for name, value in document.tables.items():
            where = Location(document.file, name, effects)
            if name == "effects":
                continue
            if name not in metadata_by_name:
                raise where.wrong(f"Unknown table. Allowed: {_listed(metadata_by_name)}.")
            if document is not first and not metadata_by_name[name]["grows"]:
                raise where.wrong("Only the first document may have this table.")
            table = metadata_by_name[name]["read"](value, where)
            if name in tables:
                earlier = tables[name]
                table = earlier | table if isinstance(earlier, frozenset) else (*earlier, *table)
            tables[name] = table
    absent = metadata_by_name.keys() - tables.keys()
    if absent:
        raise MalformedTable(f"{first.file}: The tables {_listed(absent)} are missing.")
    return schema(**tables)


def table(reader: Read, *, grows: bool = False) -> Any:
    """Declare a table.

    Args:
        reader: Turns the value in the document into the table.
        grows: Whether other documents may add to it. Only sets and tuples can grow.
    """
    return field(metadata={"read": reader, "grows": grows})


def words(value: Any, where: Location) -> WordSet:
    """Read words with white space between them, each only once."""
    entries = _typed(value, str, where).split()
    _once(entries, where)
    return frozenset(entries)


def ordered(value: Any, where: Location) -> tuple[str, ...]:
    """Read words whose order counts, or that are looked for as beginnings."""
    words(value, where)
    return tuple(value.split())


def text(value: Any, where: Location) -> str:
    """Read a text."""
    return str(_typed(value, str, where))


def pattern(value: Any, where: Location) -> str:
    """Read a regular expression."""
    expression = text(value, where)
    try:
        re.compile(expression)
    except re.error as error:
        raise where.wrong(f"This is not a regular expression: {error}.") from error
    return expression


def pairs(value: Any, where: Location) -> Pairs:
    """Read a table of texts."""
    table = _typed(value, dict, where)
    return MappingProxyType({key: text(table[key], where.inner(key)) for key in table})


def groups(value: Any, where: Location) -> Groups:
    """Read a table of words."""
    table = _typed(value, dict, where)
    return MappingProxyType({key: words(table[key], where.inner(key)) for key in table})


def numbers(value: Any, where: Location) -> Mapping[str, int]:
    """Read a table of numbers."""
    table = _typed(value, dict, where)
    return MappingProxyType({key: _number(table[key], where.inner(key)) for key in table})


def patterns(value: Any, where: Location) -> Pairs:
    """Read a table of regular expressions."""
    table = _typed(value, dict, where)
    return MappingProxyType({key: pattern(table[key], where.inner(key)) for key in table})


def deeds(value: Any, where: Location) -> Deeds:
    """Read what functions do; one that several entries name is all that they say."""
    deeds_by_name: dict[str, tuple[Deed, ...]] = {}
    for entry, inner in _entries(value, where, {"finding", "severity", "names"}, {"check"}):
        check = text(entry.get("check", ""), inner.inner("check"))
        if check and check not in CHECKS:
            raise inner.inner("check").wrong(f"There is no check {check!r}.")
        deed = Deed(*_finding(entry, inner), check)
        for name in ordered(entry["names"], inner.inner("names")):
            if any(earlier_deed.name == deed.name for earlier_deed in deeds_by_name.get(name, ())):
                raise inner.wrong(f"Another entry says {deed.name!r} of {name!r} already.")
            deeds_by_name[name] = (*deeds_by_name.get(name, ()), deed)
    return MappingProxyType(deeds_by_name)


def commands(value: Any, where: Location) -> Effects:
    """Read what commands do; each stands in one entry."""
    effects_by_name: dict[str, tuple[FindingKind, ...]] = {}
    for entry, inner in _entries(value, where, {"names", "effects"}):
        _fill(effects_by_name, entry, inner, _effects(entry["effects"], inner.inner("effects")))
    return MappingProxyType(effects_by_name)


def options(value: Any, where: Location) -> Mapping[str, tuple[Option, ...]]:
    """Read what commands do by their options."""
    options_by_name: dict[str, tuple[Option, ...]] = {}
    for entry, inner in _entries(value, where, {"names", "options"}):
        _fill(options_by_name, entry, inner, _options(entry["options"], inner.inner("options")))
    return MappingProxyType(options_by_name)


def _options(value: Any, where: Location) -> tuple[Option, ...]:
    rows = _entries(value, where, {"begins", "effect"})
    return tuple(
        Option(
            pattern(row["begins"], at.inner("begins")), _effect(row["effect"], at.inner("effect"))
        )
        for row, at in rows
    )


def subcommands(value: Any, where: Location) -> Mapping[str, Subcommands]:
    """Read what commands do by their subcommand."""
    subcommands_by_name: dict[str, Subcommands] = {}
    for entry, inner in _entries(
        value, where, {"names", "otherwise"}, {"reads", "values", "rows", "starts", "options"}
    ):
        effects = dict[str, tuple[FindingKind, ...]]()
        reads = {"names": entry.get("reads", "")}
        _fill(effects, reads, inner.inner("reads"), ())
        for row, at in _entries(entry.get("rows", []), inner.inner("rows"), {"names", "effects"}):
            _fill(effects, row, at, _effects(row["effects"], at.inner("effects")))
        subcommand_table = Subcommands(
            MappingProxyType(effects),
            _effects(entry["otherwise"], inner.inner("otherwise")),
            words(entry.get("values", ""), inner.inner("values")),
            pattern(entry["starts"], inner.inner("starts")) if "starts" in entry else "",
            _options(entry.get("options", []), inner.inner("options")),
        )
        _fill(subcommands_by_name, entry, inner, subcommand_table)
    return MappingProxyType(subcommands_by_name)


def looks(value: Any, where: Location) -> Mapping[str, tuple[str, ...]]:
    """Read which calls of a command only look: patterns of all its words, joined by a blank."""
    lines_by_name: dict[str, tuple[str, ...]] = {}
    for entry, inner in _entries(value, where, {"names", "lines"}):
        lines = tuple(pattern(line, inner.inner("lines")) for line in entry["lines"])
        _fill(lines_by_name, entry, inner, lines)
    return MappingProxyType(lines_by_name)


def wrappers(value: Any, where: Location) -> Mapping[str, Wrapper]:
    """Read how commands name the one that they start."""
    wrapper_by_name: dict[str, Wrapper] = {}
    for name, fields_of_entry in _typed(value, dict, where).items():
        inner = where.inner(name)
        entry = _entry(fields_of_entry, inner, set(), set(Wrapper._fields))
        wrapper_by_name[name] = Wrapper(
            text(entry.get("letters", ""), inner.inner("letters")),
            words(entry.get("options", ""), inner.inner("options")),
            _number(entry.get("skip", 0), inner.inner("skip")),
            _effects(entry.get("effects", []), inner.inner("effects")),
            _effects(entry.get("runs_alone", []), inner.inner("runs_alone")),
            skips_first=_typed(entry.get("skips_first", False), bool, inner.inner("skips_first")),
        )
    return MappingProxyType(wrapper_by_name)


def rows(value: Any, where: Location) -> tuple[WindowsCommand, ...]:
    """Read commands, each row with what their words have to begin with."""
    return tuple(
        WindowsCommand(
            words(entry["names"], inner.inner("names")),
            pattern(entry.get("begins", ""), inner.inner("begins")),
            _effects(entry["effects"], inner.inner("effects")),
        )
        for entry, inner in _entries(value, where, {"names", "effects"}, {"begins"})
    )


def mentions(value: Any, where: Location) -> tuple[tuple[str, tuple[FindingKind, ...]], ...]:
    """Read patterns, each with the effects of a text in which it is found."""
    return tuple(
        (
            pattern(entry["pattern"], inner.inner("pattern")),
            _effects(entry["effects"], inner.inner("effects")),
        )
        for entry, inner in _entries(value, where, {"pattern", "effects"})
    )


def secrets(value: Any, where: Location) -> tuple[Secret, ...]:
    """Read the kinds of secrets, each under a name of its own."""
    kinds = []
    optional = {"find", "literal", "cover", "form"}
    for entry, inner in _entries(value, where, {"name", "begins"}, optional):
        if not entry.keys() & {"find", "literal"} or not entry.keys() & {"find", "cover"}:
            raise inner.wrong("It has to be both found and covered.")
        find = pattern(entry.get("find", ""), inner.inner("find"))
        cover = entry.get("cover", find)
        if cover is not False and not re.compile(pattern(cover, inner.inner("cover"))).groups:
            raise inner.wrong("A group has to say what is covered.")
        kinds.append(
            Secret(
                text(entry["name"], inner.inner("name")),
                ordered(entry["begins"], inner.inner("begins")),
                find,
                pattern(entry.get("literal", ""), inner.inner("literal")),
                None if cover is False else cover,
                pattern(entry.get("form", ""), inner.inner("form")),
            )
        )
    _once([secret.name for secret in kinds], where)
    return tuple(kinds)


def _effects_of(document: Document) -> Mapping[str, FindingKind]:
    """Return the effects that a document may name: everybody's, and its own."""
    where = Location(document.file, "effects", {})
    own_effects: dict[str, FindingKind] = {}
    for name, fields_of_entry in _typed(document.tables.get("effects", {}), dict, where).items():
        inner = where.inner(name)
        entry = _entry(fields_of_entry, inner, {"finding", "severity"}, set())
        if name in NAMED:
            raise inner.wrong("There is an effect of this name already.")
        own_effects[name] = FindingKind(*_finding(entry, inner), _coded(name, inner))
    return {**NAMED, **own_effects}


def _coded(value: Any, where: Location) -> str:
    code = text(value, where)
    if code not in SENTENCES:
        raise where.wrong(
            f"There is no sentence for {code!r} in dashboard/inspection/sentences.py."
        )
    return code


def _effects(value: Any, where: Location) -> tuple[FindingKind, ...]:
    names = _typed(value, list, where)
    effects = tuple(_effect(name, where.inner(index)) for index, name in enumerate(names))
    _once(names, where)
    return effects


def _effect(value: Any, where: Location) -> FindingKind:
    name = text(value, where)
    if name not in where.effects:
        raise where.wrong(f"There is no effect {name!r}.")
    return where.effects[name]


def _finding(entry: Mapping[str, Any], where: Location) -> tuple[str, Severity]:
    name = text(entry["finding"], where.inner("finding"))
    if name not in FINDINGS:
        raise where.inner("finding").wrong(f"There is no finding {name!r}.")
    severity = text(entry["severity"], where.inner("severity"))
    if severity not in list(Severity):
        raise where.inner("severity").wrong(
            f"{severity!r} is not a severity. Known are {_listed(Severity)}."
        )
    return name, Severity(severity)


def _fill(found: dict[str, Any], entry: Mapping[str, Any], where: Location, row: Any) -> None:
    """Give each of an entry's names its row, which no other entry may have given it."""
    for name in ordered(entry["names"], where.inner("names")):
        if name in found:
            raise where.wrong(f"Another entry has {name!r} already.")
        found[name] = row


def _entries(
    value: Any, where: Location, needed: set[str], optional: set[str] | None = None
) -> Iterator[tuple[dict[str, Any], Location]]:
    for index, row in enumerate(_typed(value, list, where), 1):
        inner = where.inner(index)
        yield _entry(row, inner, needed, optional or set()), inner


def _entry(value: Any, where: Location, needed: set[str], optional: set[str]) -> dict[str, Any]:
    entry: dict[str, Any] = _typed(value, dict, where)
    unknown, absent = entry.keys() - needed - optional, needed - entry.keys()
    if unknown:
        raise where.wrong(
            f"{_listed(unknown)} cannot stand here. Known are {_listed(needed | optional)}."
        )
    if absent:
        raise where.wrong(f"{_listed(absent)} is missing.")
    return entry


def _typed(value: Any, kind: type, where: Location) -> Any:
    if type(value) is not kind:
        raise where.wrong(f"This has to be {_A_KIND[kind]}.")
    return value


def _number(value: Any, where: Location) -> int:
    return int(_typed(value, int, where))


def _once(names: list[str], where: Location) -> None:
    if len(set(names)) < len(names):
        twice = {name for name in names if names.count(name) > 1}
        raise where.wrong(f"{_listed(twice)} stands here twice.")


def _listed(names: Any) -> str:
    return ", ".join(repr(str(name)) for name in sorted(names))
