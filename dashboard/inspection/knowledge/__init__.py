"""What the inspectors know about names: which of them read, write, delete, run, or mean no harm.

The tables are the TOML files beside this module. Each is read once, when it is first imported,
and never changes afterwards: commands that inspect nothing need few of them. A malformed file
stops the import: an inspector without its tables would find nothing.

``load`` takes further documents, for a house's own tables. They may only add to tables in which an
entry never takes the place of another one, so that nothing can be found less than before. What
functions and commands do is not among them yet: there the narrowest entry counts alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dashboard.inspection.knowledge.loading import (
    Deeds,
    Effects,
    Groups,
    Option,
    Pairs,
    Secret,
    Subcommands,
    WindowsCommand,
    WordSet,
    Wrapper,
    commands,
    deeds,
    groups,
    load,
    looks,
    mentions,
    numbers,
    options,
    ordered,
    pairs,
    pattern,
    patterns,
    rows,
    secrets,
    shipped,
    subcommands,
    table,
    text,
    words,
    wrappers,
)
from dashboard.inspection.notes import FindingKind


@dataclass(frozen=True, slots=True)
class StandardLibrary:
    """What the functions of Python's standard library do."""

    calls: Deeds = table(deeds)


@dataclass(frozen=True, slots=True)
class Libraries:
    """What other people's libraries do, and methods by their name alone."""

    calls: Deeds = table(deeds)
    methods: Deeds = table(deeds)
    weak_methods: Deeds = table(deeds)


@dataclass(frozen=True, slots=True)
class PythonModules:
    """Which modules are known, and by which other names they and their parts go."""

    harmless: WordSet = table(words)
    partly: WordSet = table(words)
    keeps_files: WordSet = table(words)
    held: WordSet = table(words)
    held_by_stdlib: WordSet = table(words)
    holds_its_own: WordSet = table(words)
    ambient_modules: WordSet = table(words)
    harmless_types: WordSet = table(words)
    buffers: WordSet = table(words)
    databases: WordSet = table(words)
    tricky: WordSet = table(words)
    higher_order: WordSet = table(words, grows=True)
    harmless_parts: tuple[str, ...] = table(ordered)
    harmless_members: Groups = table(groups)
    aliases: Pairs = table(pairs)
    ambient: Pairs = table(pairs)
    where_free: Pairs = table(pairs)


@dataclass(frozen=True, slots=True)
class ControlSystem:
    """Which libraries speak to a machine, and which of their words write to it."""

    libraries: WordSet = table(words)
    layouts: tuple[str, ...] = table(ordered)
    instruments: WordSet = table(words, grows=True)
    attribute_writers: WordSet = table(words, grows=True)
    commanded: WordSet = table(words, grows=True)
    devices: WordSet = table(words, grows=True)
    weak: WordSet = table(words, grows=True)
    values: WordSet = table(words, grows=True)
    harmless_attributes: WordSet = table(words)
    ordinary: WordSet = table(words)
    of_values: WordSet = table(words)
    serves: WordSet = table(words, grows=True)
    defines: WordSet = table(words)
    hooks: WordSet = table(words)
    housekeeping: Groups = table(groups)
    commands: WordSet = table(words, grows=True)
    methods: Deeds = table(deeds)
    aliases: Pairs = table(pairs)
    ambient: Pairs = table(pairs)


@dataclass(frozen=True, slots=True)
class ShellCommands:
    """What commands do, whatever their arguments are."""

    keywords: WordSet = table(words)
    harmless: WordSet = table(words)
    shadowed: WordSet = table(words)
    starters: WordSet = table(words)
    interpreters: WordSet = table(words)
    scripted: WordSet = table(words)
    fetching: WordSet = table(words)
    starting: WordSet = table(words)
    search_paths: WordSet = table(words)
    loading: WordSet = table(words)
    history: WordSet = table(words)
    commands: Effects = table(commands)


@dataclass(frozen=True, slots=True)
class ShellOptions:
    """Commands whose options or subcommands decide what they do."""

    most_operands: Mapping[str, int] = table(numbers)
    options: Mapping[str, tuple[Option, ...]] = table(options)
    subcommands: Mapping[str, Subcommands] = table(subcommands)
    looks: Mapping[str, tuple[str, ...]] = table(looks)
    asking: Mapping[str, int] = table(numbers)
    asking_values: WordSet = table(words)


@dataclass(frozen=True, slots=True)
class ShellWrappers:
    """Commands that start another command, and where that one begins."""

    wrappers: Mapping[str, Wrapper] = table(wrappers)


@dataclass(frozen=True, slots=True)
class Git:
    """What git's subcommands do."""

    reads: WordSet = table(words)
    network: WordSet = table(words)
    runs: WordSet = table(words)
    values: WordSet = table(words)
    lists: Pairs = table(patterns)
    erases: Pairs = table(patterns)


@dataclass(frozen=True, slots=True)
class Windows:
    """Dangerous commands of Windows, and what is dangerous wherever it stands in a line."""

    commands: tuple[WindowsCommand, ...] = table(rows, grows=True)
    patterns: tuple[tuple[str, tuple[FindingKind, ...]], ...] = table(mentions, grows=True)


@dataclass(frozen=True, slots=True)
class Characters:
    """What hidden characters are called, and which letters look like others."""

    look_empty: str = table(text)
    look_blank: str = table(text)
    common: WordSet = table(words)
    directions: Pairs = table(pairs)
    labels: Pairs = table(pairs)
    control_names: Pairs = table(pairs)
    look_alikes: Pairs = table(pairs)


@dataclass(frozen=True, slots=True)
class Confusables:
    """What characters look like, after Unicode Technical Standard 39.

    ``signs`` look like a sign of ASCII; ``odd`` are small capitals, and what strikes a letter
    through; ``looks`` names what all the characters of its text look like.
    """

    signs: str = table(text)
    odd: str = table(text)
    looks: Pairs = table(pairs)


@dataclass(frozen=True, slots=True)
class Secrets:
    """What secrets look like."""

    names: str = table(pattern)
    name_parts: WordSet = table(words)
    secrets: tuple[Secret, ...] = table(secrets, grows=True)


@dataclass(frozen=True, slots=True)
class Verbs:
    """Words that say what programs and libraries do that nobody here knows."""

    destroying: WordSet = table(words, grows=True)
    destroying_options: WordSet = table(words, grows=True)
    writing: WordSet = table(words, grows=True)


STANDARD_LIBRARY: StandardLibrary
LIBRARIES: Libraries
PYTHON_MODULES: PythonModules
CONTROL_SYSTEM: ControlSystem
SHELL_COMMANDS: ShellCommands
SHELL_OPTIONS: ShellOptions
SHELL_WRAPPERS: ShellWrappers
VERBS: Verbs
GIT: Git
WINDOWS: Windows
CHARACTERS: Characters
CONFUSABLES: Confusables
SECRETS: Secrets

_SHIPPED: Mapping[str, tuple[type, str]] = {
    "STANDARD_LIBRARY": (StandardLibrary, "python_standard_library"),
    "LIBRARIES": (Libraries, "python_libraries"),
    "PYTHON_MODULES": (PythonModules, "python_modules"),
    "CONTROL_SYSTEM": (ControlSystem, "control_system"),
    "SHELL_COMMANDS": (ShellCommands, "shell_commands"),
    "SHELL_OPTIONS": (ShellOptions, "shell_options"),
    "SHELL_WRAPPERS": (ShellWrappers, "shell_wrappers"),
    "VERBS": (Verbs, "verbs"),
    "GIT": (Git, "git"),
    "WINDOWS": (Windows, "windows"),
    "CHARACTERS": (Characters, "characters"),
    "CONFUSABLES": (Confusables, "confusables"),
    "SECRETS": (Secrets, "secrets"),
}


def __getattr__(name: str) -> Any:
    if name not in _SHIPPED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    shape, document = _SHIPPED[name]
    tables: Any = load(shape, shipped(document))
    globals()[name] = tables
    return tables
