"""YAML that means one thing only. Pure.

It is read as JSON would be: ``true``, ``false``, ``null``, JSON's numbers with all their digits,
and texts. Anchors, aliases, tags, repeated keys and second documents are refused, and so are bare
words that other readers of YAML take for something else than a text: ``yes``, ``10:30``, ``0x1F``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any

import yaml

from approval_client.wire import JsonError, canonical_json, parse_json

MOST_BYTES = 256 * 1024
MOST_DEPTH = 40
_WORDS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?\Z", re.ASCII)
_WORD = re.compile(r"(null|true|false)\Z")
_OCTAL = re.compile(r"0o[0-7]+\Z")
_TRUE_ELSEWHERE = frozenset({"yes", "on"})
_FALSE_ELSEWHERE = frozenset({"no", "off"})
_SAFE = re.compile(r"[A-Za-z_*][A-Za-z0-9_./*@-]*( [A-Za-z0-9_./*@-]+)*", re.ASCII)


class YamlError(ValueError):
    """The text is not YAML that can be taken. Says why, and on which line."""


class Ambiguous(str):
    """A bare word that other readers of YAML take for something else than a text."""

    __slots__ = ("line",)
    line: int

    @property
    def as_bool(self) -> bool | None:
        """What it is as one of YAML 1.1's words for true and false; None if it is not one."""
        word = self.lower()
        return True if word in _TRUE_ELSEWHERE else False if word in _FALSE_ELSEWHERE else None


def load(text: str) -> Any:
    """Read YAML.

    Raises:
        YamlError: It is not one, or does not mean one thing only.
    """
    data = load_any(text)
    refuse_ambiguous(data)
    return data


def load_any(text: str) -> Any:
    """Read YAML and leave what is ambiguous in it as ``Ambiguous``.

    Raises:
        YamlError: It is not one.
    """
    _check_size(text)
    try:
        events = iter(yaml.parse(text, Loader=yaml.CSafeLoader))
        documents = list(_documents(events))
    except yaml.YAMLError as error:
        raise YamlError(f"This is not YAML: {_said_by(error)}.") from None
    if len(documents) > 1:
        raise YamlError("This text has more than one YAML document. Only one is allowed.")
    return documents[0] if documents else None


def refuse_ambiguous(data: Any) -> None:
    """Refuse bare words that others read differently.

    Raises:
        YamlError: Names the first.
    """
    if isinstance(data, Ambiguous):
        raise YamlError(
            f"Line {data.line}: {str(data)!r} without quotes is read differently by different "
            "programs. Put it in quotes if it is a text, or write true, false or a plain number."
        )
    if isinstance(data, dict):
        data = list(data.values())
    for item in data if isinstance(data, list) else ():
        refuse_ambiguous(item)


def dump(data: Any) -> str:
    """Write YAML that ``load`` reads as the same, numbers with all their digits."""
    plain = _plain(data)
    # What cannot be seen is written as an escape.
    is_visible = all(
        text.replace("\n", "").replace("\t", "").isprintable() for text in _texts(plain)
    )
    document: str = yaml.dump(
        plain,
        Dumper=_Dumper,
        allow_unicode=is_visible,
        default_flow_style=False,
        sort_keys=False,
        width=1 << 20,
    )
    return document


class _YamlNumber(str):
    """The digits of a number."""

    __slots__ = ()


class _Dumper(yaml.SafeDumper):
    """Writes numbers by their digits and quotes every text that may look like something else."""

    def ignore_aliases(self, _data: Any) -> bool:
        return True

    def number(self, data: _YamlNumber) -> yaml.Node:
        return self.represent_scalar("tag:dashboard:number", str(data))

    def text(self, data: str) -> yaml.Node:
        style = None if _is_safe(data) else "|" if "\n" in data else '"'
        return self.represent_scalar("tag:yaml.org,2002:str", data, style=style)


_Dumper.yaml_implicit_resolvers = {}
for _start in "-0123456789":
    _Dumper.add_implicit_resolver("tag:dashboard:number", _NUMBER, [_start])
for _start, _tag in {"n": "null", "t": "bool", "f": "bool"}.items():
    _Dumper.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", _WORD, [_start])
_Dumper.add_representer(_YamlNumber, _Dumper.number)
_Dumper.add_representer(str, _Dumper.text)


def _is_safe(text: str) -> bool:
    return bool(_SAFE.fullmatch(text)) and not isinstance(
        _resolved(text, 0), Ambiguous | None | bool
    )


def _plain(data: Any) -> Any:
    if isinstance(data, Enum):
        return _plain(data.value)
    if isinstance(data, str):
        return str(data)
    if isinstance(data, Mapping):
        return {str(key): _plain(item) for key, item in data.items()}
    if isinstance(data, list | tuple):
        return [_plain(item) for item in data]
    if data is None or isinstance(data, bool):
        return data
    return _YamlNumber(canonical_json(data))


def _texts(data: Any) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict):
        yield from data
        data = list(data.values())
    for item in data if isinstance(data, list) else ():
        yield from _texts(item)


def _check_size(text: str) -> None:
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise YamlError("The text holds half of a surrogate pair.") from None
    if size > MOST_BYTES:
        raise YamlError(f"The text has {size} bytes; at most {MOST_BYTES} are allowed.")


def _documents(events: Iterator[yaml.Event]) -> Iterator[Any]:
    for event in events:
        if isinstance(event, yaml.DocumentStartEvent):
            yield _node(next(events), events, depth=1)


def _node(event: yaml.Event, events: Iterator[yaml.Event], depth: int) -> Any:
    line = _line(event)
    if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
        raise YamlError(f"Line {line}: anchors and aliases are not allowed. Write it out.")
    if tag := getattr(event, "tag", None):
        raise YamlError(f"Line {line}: tags such as {tag!r} are not allowed.")
    if depth > MOST_DEPTH:
        raise YamlError(f"Line {line}: this is nested deeper than {MOST_DEPTH} levels.")
    if isinstance(event, yaml.ScalarEvent):
        return event.value if event.style else _number_or_word(event.value, line)
    if isinstance(event, yaml.SequenceStartEvent):
        return list(_items(events, depth + 1))
    return _mapping(events, depth + 1)


def _items(events: Iterator[yaml.Event], depth: int) -> Iterator[Any]:
    for event in events:
        if isinstance(event, yaml.SequenceEndEvent):
            return
        yield _node(event, events, depth)


def _mapping(events: Iterator[yaml.Event], depth: int) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for event in events:
        if isinstance(event, yaml.MappingEndEvent):
            break
        line = _line(event)
        if not isinstance(event, yaml.ScalarEvent):
            raise YamlError(f"Line {line}: a key must be a plain word or a text.")
        key = _node(event, events, depth)  # refuses what a value could not be either
        if isinstance(key, Ambiguous) or not isinstance(key, str):
            raise YamlError(
                f"Line {line}: other readers of YAML take the key {event.value!r} for something "
                "else than a text. Write it in quotes."
            )
        if event.value in members:
            raise YamlError(f"Line {line}: the key {event.value!r} is there twice.")
        members[event.value] = _node(next(events), events, depth)
    return members


def _number_or_word(text: str, line: int) -> Any:
    try:
        return _resolved(text, line)
    except JsonError as error:
        raise YamlError(f"Line {line}: {error}") from None


def _resolved(text: str, line: int) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    if _NUMBER.match(text):
        return parse_json(text)
    if _is_ambiguous(text):
        ambiguous = Ambiguous(text)
        ambiguous.line = line
        return ambiguous
    return text


def _is_ambiguous(text: str) -> bool:
    # PyYAML's resolvers are those of YAML 1.1; 1.2 writes octal numbers in another way.
    resolvers = yaml.SafeLoader.yaml_implicit_resolvers.get(text[0], [])
    return bool(_OCTAL.match(text)) or any(regexp.match(text) for _, regexp in resolvers)


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 0


def _said_by(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or "it cannot be read"
    return f"line {mark.line + 1}, {problem}" if mark else str(problem)
