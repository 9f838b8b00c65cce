"""Which runs of a text a page may cover because they look like secrets.

What is covered might be a command. So only unbroken runs within string literals are covered, and
nothing in languages whose literals are not read here.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from itertools import accumulate, pairwise

from dashboard.inspection.knowledge import SECRETS

Run = tuple[int, int]

_COVERED = {
    secret.name: (secret.begins, re.compile(secret.cover, re.ASCII))
    for secret in SECRETS.secrets
    if secret.cover
}
_, _JWT = _COVERED.pop("jwt")
_, _ASSIGNED = _COVERED.pop("password")
_EACH = list(_COVERED.values())
_JWT_BEGIN = re.compile(r"\beyJ", re.ASCII)
_JWT_HEAD = (10, 2_000)  # characters after its beginning
_NAMED = re.compile(rf"(?:^|_)(?:{SECRETS.names})\Z", re.IGNORECASE)
_WHOLE = re.compile(r"[A-Za-z0-9_\-.+/=!@#%^*~:,?]{8,200}")  # nothing that calls a command
_PLACE = re.compile(  # what may be a path, a host or an address: people have to see those
    r"[/\\~]|^@|@[\w-]+\.|[\w-]\.[A-Za-z]|\d\.\d|:\d|%[0-9A-Fa-f]{2}|localhost|xn--|^[0-9A-Fa-f:]*:"
    r"|^\d+$",
    re.ASCII,
)
_NEIGHBOURS = re.compile(r"[^\s\"'`(){}\[\]<>,;=]*")
_AROUND_A_PLACE = re.compile(r"[/\\@?#&%]|\.\w|:\d")
_AROUND_A_JWT = re.compile(r"[/\\@?#&%]|:\d")  # it has points in itself
_FORMS = [(s.begins, re.compile(s.form, re.ASCII)) for s in SECRETS.secrets if s.form]
_LEAST_DIGITS = 2
_LOOKED_AT = 300  # characters on each side
_OTHER_BREAKS = re.compile(r"[\r\f]")  # Python ends or continues lines there otherwise than we do


def may_hold_secrets(text: str) -> bool:
    """Say quickly whether it is worth looking for secrets in a text."""
    begins = (begin for prefixes, _ in _EACH for begin in prefixes)
    return any(map(text.__contains__, (*begins, "eyJ"))) or _may_name(text)


def secrets_in_text(text: str, name: str = "") -> list[Run]:
    """Return where secrets stand in a value, in order; some may overlap.

    Args:
        text: The value.
        name: What it is called, if anything.
    """
    if _NAMED.search(name) and _WHOLE.fullmatch(text) and not _PLACE.search(text):
        return [(0, len(text))]
    runs = {
        match.span(1)
        for begins, look in _EACH
        if any(begin in text for begin in begins)
        for match in look.finditer(text)
    }
    runs = {run for run in runs if not _is_in_a_place(text, *run, _AROUND_A_PLACE)}
    tokens = (run for run in _signed_tokens(text) if not _is_in_a_place(text, *run, _AROUND_A_JWT))
    return sorted(runs.union(tokens))


def is_token(text: str, start: int, end: int) -> bool:
    """Say whether what is covered is a token of a known form, such as an access key of AWS.

    It has one length, stands alone, and is of letters and digits that make no words. So it can
    hold nothing that a person would have to read; what merely has a secret's name could.
    """
    return _is_mixed(text[start:end]) and any(
        start >= len(begin) and form.fullmatch(text, start - len(begin), end) is not None
        for begins, form in _FORMS
        for begin in begins
    )


def _is_mixed(token: str) -> bool:
    """Say whether letters and digits change as often as chance has them change, and words do not.

    Of a hundred tokens that chance makes, some ten do not pass. They have to be revealed.
    """
    classes = [(c.isdigit(), c.isupper()) for c in token]
    changes = sum(pair[0] != pair[1] for pair in pairwise(classes))
    digits = sum(is_digit for is_digit, _ in classes)
    if token.isupper():
        return digits >= _LEAST_DIGITS
    return digits > _LEAST_DIGITS and changes * 2 >= len(token)


def _is_in_a_place(text: str, start: int, end: int, signs: re.Pattern[str]) -> bool:
    """Say whether a path, a host or an address stands around what would be covered."""
    line = text.rfind("\n", max(0, start - _LOOKED_AT), start) + 1 or max(0, start - _LOOKED_AT)
    head = _NEIGHBOURS.match(text[line:start][::-1])
    tail = _NEIGHBOURS.match(text, end, end + _LOOKED_AT)
    sides = (head[0][::-1] if head else "", (tail[0] if tail else "").rstrip(".:!?"))
    return any(signs.search(side) for side in sides)


def secrets_in_python(source: str) -> list[Run]:
    """Return where secrets stand in string literals of Python. Parses, so only for the sandbox.

    Raises:
        SyntaxError: It is not Python.
    """
    runs = candidates(source)
    if not runs or _OTHER_BREAKS.search(source):
        return []
    literals = list(_literals(source))
    return [run for run in runs if any(a < run[0] and run[1] < b for a, b in literals)]


def candidates(source: str) -> list[Run]:
    """Return what looks like secrets, wherever it stands, in order; what overlaps is one."""
    assigned: list[Run] = []
    if _may_name(source):
        matches = _ASSIGNED.finditer(source)
        assigned = [match.span(1) for match in matches if not _PLACE.search(match[1])]
    runs: list[Run] = []
    for start, end in sorted({*secrets_in_text(source), *assigned}):
        if runs and start < runs[-1][1]:
            runs[-1] = (runs[-1][0], max(end, runs[-1][1]))
        else:
            runs.append((start, end))
    return runs


def python_runs(payload: bytes) -> bytes:
    """In the sandbox: turn JSON of a source into JSON ``[[start, end], …]``."""
    return json.dumps(secrets_in_python(json.loads(payload))).encode()


def _may_name(text: str) -> bool:
    return any(map(text.lower().__contains__, SECRETS.name_parts))


def _signed_tokens(text: str) -> Iterator[Run]:
    """Find JWTs: three runs, of which the first begins somewhere within an unbroken one."""
    if ".eyJ" not in text:
        return
    least, most = _JWT_HEAD
    for match in _JWT.finditer(text):
        end = match.end(1)
        begin = _JWT_BEGIN.search(text, max(match.start(1), end - most - len("eyJ")), end - least)
        if begin:
            yield begin.end(), match.end(2)


def _literals(source: str) -> Iterator[Run]:
    """Yield where each string literal of one line stands; parts of f-strings are none."""
    lines = source.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    tree = ast.parse(source)
    inside = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for part in ast.walk(node)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or id(node) in inside:
            continue
        if isinstance(node.value, str) and node.lineno == node.end_lineno:
            line, start = lines[node.lineno - 1].encode(), starts[node.lineno - 1]
            begin = len(line[: node.col_offset].decode())
            end = len(line[: node.end_col_offset].decode())
            yield start + begin, start + end
