"""Requests of an agent that wants the server busy: a mebibyte in every shape that we know of.

Each is as large as a request may be, and is taken as it is. ``SHAPES`` are the bodies by name.
"""

import json
from itertools import cycle, islice

from approval_client.wire import MAX_BODY_BYTES

ROOM = MAX_BODY_BYTES - 4_000  # for what stands around the text
HALF = ROOM // 2
PRIVATE = "".join(chr(0xE000 + number) for number in range(6_000))
ONE_OF_EACH = "\u200b\u202e\u00ad\u2066\u3164\u180e\ufe0f\U000e0041\x7f\u2028"
KEY = "AKIA" + "Q" * 16

UNITS = {
    "letters": "a",
    "lines": "ab\n",
    "empty lines": "\n",
    "lines of a kilobyte": "x" * 999 + "\n",
    "returns": "\r",
    "lines of Windows": "a\r\n",
    "blanks": " ",
    "blanks at the end of lines": "x  \t\n",
    "rows of blanks": "x" + " " * 33,
    "tabs": "\t",
    "markup": "<&>\"'",
    "tags": "</script><b>",
    "quotes": '"',
    "backslashes": "\\",
    "hidden and not": "a\u200b",
    "hidden": "\u200b",
    "hidden of each kind": ONE_OF_EACH,
    "hidden of each kind and not": "".join(f"{c}a" for c in ONE_OF_EACH),
    "directions": "\u202eab\u202c",
    "tag characters": "\U000e0041\U000e0042 ",
    "private characters": PRIVATE,
    "private characters and not": "".join(f"{c}a" for c in PRIVATE),
    "marks on marks": "e" + "\u0301" * 60,
    "look-alikes": "p\u0430ypal ",
    "emoji": "\U0001f468\u200d\U0001f469\u200d\U0001f467 ",
    "wide letters": "\u5b57",
    "keys": f"{KEY} ",
    "half keys": "-sk-",
    "half tokens": "-eyJ",
    "passwords": "password='hunter2' ",
    "half passwords": "secret='",
    "addresses with passwords": "https://a:bcdefgh@x/ ",
    "half addresses": "://a:",
    "links": "https://x.example/a ",
    "brackets": "(",
    "closed brackets": "()",
    "square brackets": "[",
    "calls in calls": "f(",
    "fences": "```\n",
    "fences of Python": "```python\nx = 1\n```\n",
    "half fences": "```python\n",
    "digits": "1",
    "points": "1.",
    "sums": "1+",
    "assignments": "a = a\n",
    "format strings": "f'{",
    "triple quotes": "'''",
    "comments": "#",
    "lines of comments": "#\n",
    "escapes": "\\x41",
    "decorators": "@a\n",
    "deep indents": "\n".join(" " * n + "if a:" for n in range(90)) + "\n",
    "substitutions": "$(",
    "here documents": "<<E\n",
    "pipes": "a|",
    "variables": "${a:-",
    "selects": "select(",
    "unions": "select 1 union ",
    "dollar quotes": "$a$",
    "half comments": "/*",
    "entities": "&amp;",
}


def text(unit, size=ROOM):
    """As much of ``unit`` as fits in ``size`` bytes of JSON."""
    each = _bytes(unit)
    if each > size:  # one of many characters: as many of them as fit
        return "".join(islice(cycle(unit), size // (each // len(unit) + 1)))
    return unit * (size // each)


def _bytes(value):
    return len(json.dumps(value, ensure_ascii=False).encode()) - 2


def _many(count, value, size=ROOM):
    """``count`` members with names of that text, each another one."""
    name = text(value, max(size // count - 16, 1))
    return {f"{number:x}{name}": number for number in range(count)}


def _nested(depth, inside):
    for _ in range(depth):
        inside = {"a": inside}
    return inside


def _code(code, language=None):
    what = {"code": code, "language": language} if language else {"code": code}
    return {"kind": "code", "content": what}


def _call(arguments):
    return {"kind": "tool_call", "content": {"tool": "run", "arguments": arguments}}


def _plan(steps):
    return {"kind": "plan", "content": {"steps": steps}}


def _memory(content, existing):
    what = {"operation": "update", "user_id": "u", "content": content, "existing": existing}
    return {"kind": "memory", "content": what}


def _says(evidence):
    return _code("print(1)") | {"evidence": evidence}


def shapes():
    """Give names and bodies, one at a time, for all of them are large."""
    for name, unit in UNITS.items():
        yield f"Python: {name}", _code(text(unit), "python")
        yield f"code: {name}", _code(text(unit))
        yield f"argument: {name}", _call({"password": text(unit)})
        yield f"analysis: {name}", _says({"analysis_details": text(unit)})
        yield f"memory: {name}", _memory(text(unit, HALF), text(unit, HALF)[::-1])
        yield f"names of arguments: {name}", _call(_many(1_900, unit))
        yield f"names in evidence: {name}", _says(_many(190, unit))
        yield f"steps: {name}", _plan([{"task": text(unit, ROOM // 450)}] * 400)
        yield (
            f"messages: {name}",
            _says({"context": [{"role": "user", "content": text(unit, ROOM // 220)}] * 190}),
        )
    for language in ("bash", "sql", "html", "javascript", "c++", "perl", "latex", "yaml", "diff"):
        for name in ("brackets", "substitutions", "quotes", "half comments", "lines", "markup"):
            size = 190_000 if language != "html" else ROOM
            yield f"{language}: {name}", _code(text(UNITS[name], size), language)
    yield from _structures()


def _structures():
    numbers = [1] * HALF
    again = {f"password{n}": "abcdefghij" * 50 + str(n) for n in range(60)}
    blocks = ["```python\n" + "x = 1" * 4_000 + "\n```"] * 49
    hidden = ["```python\n" + "a\u200b" * 4_900 + "\n```"] * 49
    messages = {"context": [{"role": "a"}] * (ROOM // 14)}
    long_word = "a" * 38_000 + " \xe9"
    yield "memory: one long word", _memory(long_word, f"{long_word}\nx")
    yield (
        "memory without another",
        {
            "kind": "memory",
            "content": {"operation": "set", "user_id": "u", "content": "ab\n" * 98_000},
        },
    )
    yield "numbers in a list", _call({"a": numbers})
    yield "numbers in evidence", _says({"a": numbers})
    yield "empty lists", _call({"a": [[]] * (ROOM // 3)})
    yield "empty texts", _call({"a": [""] * (ROOM // 3)})
    yield "1,900 texts", _call({"a": ["a\u200b" * 130] * 1_900})
    yield "1,900 texts of Python", _call({"code": ["x = 1;" * 80] * 1_900})
    yield "1,900 passwords", _call({f"password{n}": f"{n:x}" * 60 for n in range(1_900)})
    yield "1,900 lists", _call({f"a{n}": [n] * 80 for n in range(1_900)})
    yield "texts in depth", _call({"a": [_nested(25, "x" * 400)] * 60})
    yield "passwords in Python", _code("".join(f"password = 'p{n:x}'\n" for n in range(3_000)))
    yield "a step of many members", _plan([{f"a{n}": "x" * 500 for n in range(1_900)}])
    yield "empty steps", _plan([{}] * (ROOM // 3))
    yield "messages of a character", _says(messages)
    yield "evidence in depth", _says(_nested(25, text("a\u200b", ROOM - 500)))
    yield "a list in evidence", _says({"source_event": ["a\u200b"] * (ROOM // 7)})
    yield (
        "keys that stand again",
        _call(again) | {"evidence": {"analysis_details": text("abcdefghij", ROOM - 60_000)}},
    )
    yield "49 blocks", _code("\n\n".join(blocks))
    yield "49 blocks with hidden characters", _code("\n\n".join(hidden))
