"""Calls of the agents' API as an adversary would write them: right ones, changed at random."""

import hashlib
import json
from typing import NamedTuple

from hypothesis import strategies as st


class Text(str):
    """JSON as it stands, which no value would be written as."""

    __slots__ = ()


class Pairs(list):
    """The members of an object, of which two may have one name."""


class Call(NamedTuple):
    """What is sent: ``{}`` in the path stands for the request that is there already."""

    method: str
    path: str
    body: bytes = b""
    key: str = "k"
    type: str = "application/json"


def deep(levels):
    return Text("[" * levels + "]" * levels)


CODE = {"code": "print(1)", "language": "python"}
TOOL = {"tool": "move", "arguments": {"to": 1.50, "axes": ["x", {"y": None}]}}
PLAN = {"steps": [{"task": "look"}, {"task": "write", "inputs": ["a"]}]}
MEMORY = {"operation": "write", "user_id": "ada", "content": "tea", "existing": "coffee"}
MORE = {
    "objective": "Say hello",
    "evidence": {"notebook": "0" * 64, "facts": [1]},
    "run_id": "run-1",
    "time_limit_s": 600,
    "max_wait_s": 60,
    "accepts_edits": True,
    "accepts_grants": False,
}
QUESTIONS = [
    {"kind": kind, "capability": "x", "content": content} | more
    for kind, content in {"code": CODE, "tool_call": TOOL, "plan": PLAN, "memory": MEMORY}.items()
    for more in ({}, MORE)
]
LINES = ["", " ", "a\nb", "a\x00b", "\u202e", "a\u200b", "\u00e9", "memory", "python_execution"]
TEXTS = [*LINES, "x" * 200, "x" * 201, "\U0001f600" * 200, "x" * 4000, "x" * 4001, "started"]
NUMBERS = [0, 1, -1, 4, 5, 5.0, 5.5, 2**31 - 1, 2**31, -(2**31), 2**53 + 1, 2_592_001, 10**400]
WRITTEN = [
    *("NaN", "Infinity", "-Infinity", "1e400", "-1e400", "1E2", "5e0", "600.0", "-0", "-0.0"),
    *("1e-400", "1.0e9", "1e9", "1000000000.1", "9" * 4300, "9" * 4301, "01", "+1", ".5", "1."),
    *(r'"\ud800"', r'"\ude00\ud83d"', r'"\u0000"', r'"\u202e"', '"\x01"', "'a'", "tru", "[1,]"),
    *("", "//", "{}", "[]", "[[]]", '{"a":1,"a":1}', '{"":0}', r'{"\ud800":1}', r'{"\u0000":1}'),
]
ODD = st.one_of(
    st.sampled_from([None, True, False, [], {}, [None], {"a": 1}, ["code"], {"code": 1}]),
    st.sampled_from([*TEXTS, *NUMBERS]),
    st.sampled_from([*map(Text, WRITTEN), deep(29), deep(30), deep(31), deep(33), deep(3000)]),
    st.text(max_size=6),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
)
ODD_NAMES = ["more", "", "lang", "Kind", "code ", "__proto__", "id"]
NAMES = st.sampled_from(
    [*MORE, *CODE, *TOOL, *PLAN, *MEMORY, *ODD_NAMES, "kind", "capability", "content", "state"]
)


def _places(value, at=()):
    yield at
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _places(inner, (*at, name))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _places(inner, (*at, index))


def _changed(value, at, change):
    if not at:
        return change(value)
    first, *rest = at
    if isinstance(value, dict):
        pairs = [
            (name, _changed(inner, rest, change) if name == first else inner)
            for name, inner in value.items()
        ]
        return {name: inner for name, inner in pairs if inner is not ...}
    kept = [
        _changed(inner, rest, change) if index == first else inner
        for index, inner in enumerate(value)
    ]
    return [inner for inner in kept if inner is not ...]


@st.composite
def changed(draw, values):
    """Draw one of ``values``, in which up to three things are not as they were."""
    value = draw(st.sampled_from(values))
    for _ in range(draw(st.sampled_from([0, 1, 1, 1, 2, 3]))):
        if not isinstance(value, dict | list) or isinstance(value, Pairs):
            break
        places = [at for at in _places(value) if at] or [()]
        at = draw(st.sampled_from(places))
        how = draw(st.sampled_from(["put", "put", "put", "away", "add", "add", "twice"]))
        odd, name = draw(ODD), draw(NAMES)
        if how == "away" and not at:
            continue
        value = _changed(value, at if how in {"put", "away"} else at[:-1], _change(how, name, odd))
    return value


def _change(how, name, odd):
    def change(value):
        if how == "away":
            return ...
        if isinstance(value, dict) and how == "add":
            return value | {name: odd}
        if isinstance(value, dict) and how == "twice" and value:
            return Pairs([*value.items(), (next(iter(value)), odd)])
        return [*value, odd] if isinstance(value, list) else odd

    return change


def written(value):
    """Write a value as JSON, and what is no value as it stands."""
    match value:
        case Text():
            return str(value)
        case Pairs():
            return "{" + ",".join(f"{json.dumps(n)}:{written(inner)}" for n, inner in value) + "}"
        case dict():
            return written(Pairs(value.items()))
        case list():
            return "[" + ",".join(map(written, value)) + "]"
    return json.dumps(value)


def _as_bytes(text, how):
    whole = text.encode(errors="replace")
    return {
        "utf-16": text.encode("utf-16", errors="replace"),
        "bom": b"\xef\xbb\xbf" + whole,
        "latin-1": whole + b"\xff",
        "cut": whole[:-1],
        "more": whole + b" x",
        "space": b" \r\n\t" + whole + b"\n",
        "nothing": b"",
    }.get(how, whole)


HOWS = ["as it is"] * 20 + ["utf-16", "bom", "latin-1", "cut", "more", "space", "nothing"]
TYPES = ["application/json"] * 20 + [
    *("application/json; charset=utf-8", "application/json;charset=latin-1", "text/plain"),
    *("APPLICATION/JSON", "application/problem+json", "multipart/form-data; boundary=x", ""),
    *("application/x-www-form-urlencoded", "application/json ", "application/json, text/plain"),
]
KEYS = ["k"] * 10 + ["", " ", "a b", "~" * 200, "~" * 201, "a\tb", "\x7f", "é", "k,k"]


@st.composite
def _posts(draw, path, values):
    text = written(draw(changed(values)))
    return Call(
        "POST",
        path,
        _as_bytes(text, draw(st.sampled_from(HOWS))),
        draw(st.sampled_from(KEYS)),
        draw(st.sampled_from(TYPES)),
    )


NUMBERS_SENT = ["0", "0.0", "1", "50", "100", "101", "0.5", "-1", "-0", "1.0", "1e1", "1_0", " 1 "]
NUMBERS_SENT += [
    "",
    "nan",
    "inf",
    "-inf",
    "1e400",
    "x",
    "0x1",
    "%D9%A1",
    "true",
    "00",
    "+1",
    "1,",
    "1.",
]
MOMENTS = ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00", "2026-01-01", "0", "1700000000", "x", ""]
MOMENTS += ["0001-01-01T00:00:00%2B14:00", "9999-12-31T23:59:59-14:00", "2026-13-01T00:00:00Z"]
MOMENTS += ["2026-01-01T00:00:00+00:00", "2026-01-01 00:00Z", "2026-W01-1T00:00:00Z", "20260101"]
MOMENTS += ["2026-01-01T00:00:00.1234567Z", "2026-01-01T24:00:00Z", "2026-01-01T00:00:60Z"]
IDS = ["{}", "00000000-0000-4000-8000-000000000000", "x", "0", "{}{}", "%7B{}%7D", "urn:uuid:{}"]
IDS += ["a" * 32, "A" * 32, "", "{}/", "{}%00", "{}%20", "-" * 36]
PARAMETERS = {
    "after": st.sampled_from(IDS),
    "since": st.sampled_from(MOMENTS),
    "limit": st.sampled_from(NUMBERS_SENT),
    "hold": st.sampled_from(["0", "0.0", "00", *NUMBERS_SENT[5:]]),
    "more": st.just("1"),
    "Limit": st.just("1"),
}


@st.composite
def _gets(draw):
    path = draw(
        st.sampled_from(["/agent", "/decisions", "/decisions", "/approvals/{}", "/approvals"])
        | st.sampled_from(["/approvals/{}/wait", "/approvals/{}/wait", "/approvals/{}/outcome"])
        | st.sampled_from(["/approvals/{}/cancel", "/x", "/notebooks", "/approvals/{}/wait/x"])
    )
    if draw(st.integers(0, 4)) == 0:
        path = path.replace("{}", draw(st.sampled_from(IDS)))
    names = ["hold", "hold", "hold", "more"] if path.endswith("/wait") else [*PARAMETERS]
    chosen = draw(st.lists(st.sampled_from(names), max_size=2))
    if path.endswith("/wait") and "hold" not in chosen:
        chosen.append("hold")
    query = "&".join(f"{name}={draw(PARAMETERS[name])}" for name in chosen)
    method = draw(st.sampled_from(["GET"] * 12 + ["OPTIONS", "PUT", "DELETE", "PATCH"]))
    return Call(method, f"{path}?{query}" if query else path, type="")


DIGEST = "{digest}"
REPORTS = [
    {"state": "started", "digest": DIGEST},
    {"state": "started", "digest": DIGEST, "exit_code": None, "error": "", "duration_s": None},
    {
        "state": "finished",
        "digest": DIGEST,
        "exit_code": 1,
        "error": "No.",
        "duration_s": 1.5,
        "output_head": "a",
    },
]
questions = _posts("/approvals", QUESTIONS)
reports = _posts("/approvals/{}/outcome", REPORTS)
withdrawals = _posts("/approvals/{}/cancel", [{}, {"reason": "Done."}])
looks = _gets()

CELLS = [
    {"cell_type": "code", "source": ["a\n", "b"], "outputs": [], "execution_count": None},
    {"cell_type": "markdown", "source": "# A", "attachments": {}, "metadata": {}},
    {"cell_type": "raw", "source": "a", "id": "x"},
]
NOTEBOOKS = [{"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": {}}, "cells": CELLS}]


@st.composite
def _notebooks(draw):
    text = written(draw(changed(NOTEBOOKS)))
    body = _as_bytes(text, draw(st.sampled_from(HOWS)))
    digest = hashlib.sha256(body).hexdigest()
    named = draw(st.sampled_from([digest] * 12 + [digest.upper(), digest[:-1], "0" * 64, "x", ""]))
    return Call("PUT", f"/notebooks/{named}", body, type="application/octet-stream")


notebooks = _notebooks()


ASKED = [
    '{"kind":"code","capability":"x","content":{"code":"1"}}',
    '{"kind":"code","capability":"x","content":{"code":"1"},"objective":""}',
    '{"kind":"code","capability":"x","content":{"code":"1","language":null}}',
    '{"capability":"x","kind":"code","time_limit_s":600,"content":{"code":"1"}}',
    '{"capability":"x","kind":"code","time_limit_s":600.0,"content":{"code":"1"}}',
    '{"kind":"tool_call","capability":"x","content":{"tool":"x","arguments":{"a":1}}}',
    '{"kind":"tool_call","capability":"x","content":{"tool":"x","arguments":{"a":1.0}}}',
]
REPORTED = [
    '{"state":"started","digest":"{digest}"}',
    '{"state":"started","digest":"{digest}","error":"","exit_code":null}',
    '{"state":"started","digest":"{digest}","error":"No."}',
    '{"state":"finished","digest":"{digest}","exit_code":1}',
    '{"state":"finished","digest":"{digest}","exit_code":1.0,"output_head":""}',
    '{"state":"finished","digest":"{digest}","duration_s":1}',
    '{"state":"finished","digest":"{digest}","duration_s":1.0}',
    '{"state":"started","digest":"' + "0" * 64 + '"}',
    '{"state":"finished","digest":"' + "0" * 64 + '"}',
]
WITHDRAWN = ["{}", '{"reason":"Done."}']
LOOKED = ["/approvals/{}", "/approvals/{}/wait?hold=0", "/decisions", "/decisions?after={}"]


def _written_as(path, texts):
    return st.builds(
        lambda text, key: Call("POST", path, text.encode(), key),
        st.sampled_from(texts),
        st.sampled_from(["a", "b"]),
    )


DONE_BY_PEOPLE = st.sampled_from(["approve", "approve", "approve", "reject", "take back", "hold"])
histories = st.lists(
    st.one_of(
        _written_as("/approvals", ASKED),
        _written_as("/approvals/{}/outcome", REPORTED),
        _written_as("/approvals/{}/outcome", REPORTED),
        _written_as("/approvals/{}/cancel", WITHDRAWN),
        st.sampled_from([Call("GET", path, type="") for path in LOOKED]),
        DONE_BY_PEOPLE,
    ),
    min_size=1,
    max_size=8,
)
"""What happens to one request, in an order in which nobody should do it."""
