"""What both sides of the network agree on: the words, strict JSON, and the digest.

Standard library only, so that an agent can use it without Django. Nothing here knows a database,
a clock or a framework.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import math
import re
from base64 import b64encode
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from json.encoder import encode_basestring
from typing import Any, NoReturn

PROTOCOL = 1
"""The version of the HTTP protocol. It changes when an older program would misread it."""
PROTOCOL_HEADER = "Approval-Protocol"
UNSUPPORTED_PROTOCOL = "unsupported_protocol"
"""The code of the refusal of another version."""
MAX_DEPTH = 32
MAX_BODY_BYTES = 1_048_576
MAX_NOTEBOOK_BYTES = 10 * 1_048_576
TOOL_SCHEMA, TOOL_ANNOTATIONS = "tool_schema", "tool_annotations"
TOOL_OUT_OF_SIGHT = "tool_out_of_sight"  # in its place: that nothing is known of it
OF_TOOL = (TOOL_SCHEMA, TOOL_ANNOTATIONS, TOOL_OUT_OF_SIGHT)
"""Members of the evidence of a call that describe its tool; a retry may send others."""
TOOL_HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
"""The annotations of MCP (its schema of 2025-06-18) that are shown, as claims."""
WEBHOOK_SECRET_PREFIX = "whsec_"  # noqa: S105 - what every such secret begins with
_MAX_TEXT = 16 * MAX_BODY_BYTES  # characters that are written; answers are longer than bodies
_VALUE = 16  # characters that one value counts as, because each takes its time
_DIGEST_TAG = b"approval-dashboard content v1\n"
_VERSION = re.compile(r"([1-9][0-9]{0,5})(?:\.[0-9]{1,6})?", re.ASCII)


class Kind(StrEnum):
    """What an agent wants to do."""

    CODE = "code"
    TOOL_CALL = "tool_call"
    PLAN = "plan"
    MEMORY = "memory"


EDITABLE = {
    Kind.CODE: "code",
    Kind.TOOL_CALL: "arguments",
    Kind.PLAN: "steps",
    Kind.MEMORY: "content",
}
"""The one member of a content that a reviewer may change. Of a plan, steps are only taken out."""


class StepAnswer(StrEnum):
    """What becomes of one step of a plan."""

    ALLOWED = "allowed"
    HELD = "held"
    REFUSED = "refused"


class Status(StrEnum):
    """Where an approval request stands. Only ``APPROVED`` opens the gate."""

    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"
    EXPIRED = "expired"
    CANCELLED = "cancelled"


class Source(StrEnum):
    """Who or what closed an approval request."""

    REVIEWER = "reviewer"
    POLICY = "policy"
    GRANT = "grant"
    DEADLINE = "deadline"
    AGENT = "agent"
    ADMIN = "admin"


class OutcomeState(StrEnum):
    """What an agent reports about something that was approved."""

    STARTED = "started"
    FINISHED = "finished"


class JsonError(ValueError):
    """The text is not JSON that both sides would read the same way.

    Attributes:
        code: A stable name for the problem, such as ``"duplicate_key"``.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class _ExactInt(int):
    """An integer that remembers the digits its sender wrote."""

    text: str


class _ExactFloat(float):
    """A fraction that remembers the digits its sender wrote."""

    text: str


EXACT_NUMBERS = (_ExactInt, _ExactFloat)
"""The types of numbers that ``parse_json`` makes."""


def protocol_version(header: str) -> int:
    """Return the major version that a header names, which is what has to agree; 0 for none."""
    match = _VERSION.fullmatch(header)
    return int(match[1]) if match else 0


def parse_json(text: str | bytes) -> Any:
    """Read JSON strictly: what two parsers could read differently is refused.

    Numbers keep the digits their sender wrote, so ``canonical_json(parse_json(t))`` hashes the
    same on both sides. They are ordinary ``int`` and ``float`` values otherwise.

    Raises:
        JsonError: Not UTF-8, not JSON, a repeated key, NaN or Infinity, a NUL character, a lone
            surrogate, or more than ``MAX_DEPTH`` levels.
    """
    if isinstance(text, bytes):
        text = _decode(text)
    try:
        value = json.loads(
            text,
            object_pairs_hook=_object_without_repeats,
            parse_int=_exact_int,
            parse_float=_exact_float,
            parse_constant=_refuse_constant,
        )
    except RecursionError:
        raise JsonError(
            "too_deep", f"The JSON is nested deeper than {MAX_DEPTH} levels."
        ) from None
    except json.JSONDecodeError as error:
        raise JsonError("not_json", f"The body is not valid JSON: {error}.") from None
    _check(value, 1, _Room(math.inf))
    return value


def rounded_number(value: Any) -> str:
    """Return the text of a number in ``value`` that Python reads as another one, or nothing.

    Of what ``parse_json`` has read: ``1e-400`` is one, which is zero to Python.
    """
    if isinstance(value, EXACT_NUMBERS):
        return "" if _is_written(value) else value.text
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, list | tuple):
        return ""
    return next(filter(None, map(rounded_number, value)), "")


def _is_written(number: Any) -> bool:
    try:
        return Decimal(number.text) == Decimal(repr(number))
    except InvalidOperation:  # an exponent that Decimal does not take
        return False


def canonical_json(value: Any) -> str:
    """Write ``value`` as the one text that is hashed.

    Keys by code point, no white space, characters as they are (control characters escaped as
    ``json`` does), each number with the digits that its sender wrote. This is our own rule and
    not RFC 8785, which refuses the 64-bit ids that tool arguments hold.

    Raises:
        TypeError: The value holds something that is not JSON, or a key that is not a string.
        JsonError: A number is not finite, a string holds NUL or a lone surrogate, or the value
            is nested too deeply or far too large, as one whose parts are parts of it many times
            may be.
    """
    _check(value, 1, _Room(_MAX_TEXT))
    return _write(value)


def digest(kind: str, content: Any) -> str:
    """Return the SHA-256 that names ``content``, as 64 hexadecimal digits.

    Decisions are made about this digest, and an agent compares it with what it is about to run.
    """
    text = canonical_json({"content": content, "kind": str(kind)})
    return hashlib.sha256(_DIGEST_TAG + text.encode()).hexdigest()


def webhook_signature(key: bytes, message_id: str, sent_at: int, body: bytes) -> str:
    """Return what signs a webhook, as the Standard Webhooks specification writes it.

    Args:
        key: What the secret says in base64, after its prefix.
        message_id: Without a full stop, or two messages could share a signature.
        sent_at: Seconds since 1970.
        body: The bytes that are sent.
    """
    signed = f"{message_id}.{sent_at}.".encode() + body
    return "v1," + b64encode(hmac.digest(key, signed, "sha256")).decode()


def _decode(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        raise JsonError("not_utf8", "The body is not UTF-8.") from None


def _object_without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise JsonError("duplicate_key", "An object in the JSON names the same key twice.")
    return members


def _exact_int(text: str) -> int:
    try:
        number = _ExactInt(text)
    except ValueError:  # Python refuses integers of more than 4,300 digits
        raise JsonError("number_too_long", "A number in the JSON has too many digits.") from None
    number.text = text
    return number


def _exact_float(text: str) -> float:
    number = _ExactFloat(text)
    if not math.isfinite(number):
        raise JsonError("not_finite", f"The number {text[:40]} is too large to be exact.")
    number.text = text
    return number


def _refuse_constant(name: str) -> NoReturn:
    raise JsonError("not_finite", f"{name} is not JSON.")


class _Room:
    """How much more a value may hold."""

    def __init__(self, size: float) -> None:
        self._left = size

    def take(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            raise JsonError("too_large", "The JSON is far too large to be sent.")


def _check(value: Any, depth: int, room: _Room) -> None:
    room.take(_VALUE)
    if isinstance(value, str):
        room.take(len(value))
        _check_text(value)
    elif isinstance(value, dict | list | tuple):
        if depth > MAX_DEPTH:
            raise JsonError("too_deep", f"The JSON is nested deeper than {MAX_DEPTH} levels.")
        for item in value:
            _check(item, depth + 1, room)
        if isinstance(value, dict):
            for item in value.values():
                _check(item, depth + 1, room)


def _check_text(text: str) -> None:
    if "\0" in text:
        raise JsonError("nul_character", "A string in the JSON holds a NUL character.")
    try:
        text.encode()
    except UnicodeEncodeError:
        message = "A string in the JSON holds half of a surrogate pair."
        raise JsonError("lone_surrogate", message) from None


def _write(value: Any) -> str:
    match value:
        case str():
            return encode_basestring(value)
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return _write_number(value)
        case dict():
            return "{" + ",".join(_write_pair(key, value[key]) for key in sorted(value)) + "}"
        case list() | tuple():
            return "[" + ",".join(map(_write, value)) + "]"
    raise TypeError(f"{type(value).__name__} is not JSON: {value!r:.80}")


def _write_pair(key: Any, value: Any) -> str:
    if not isinstance(key, str):
        raise TypeError(f"A key must be a string, not {key!r:.80}")
    return f"{encode_basestring(key)}:{_write(value)}"


def _write_number(value: float) -> str:
    if isinstance(value, _ExactInt | _ExactFloat):
        return value.text
    if isinstance(value, int):  # which may be too large to be asked whether it is finite
        return _write_int(value)
    if not math.isfinite(value):
        raise JsonError("not_finite", f"{value} is not JSON.")
    return float.__repr__(value)


def _write_int(value: int) -> str:
    try:
        return int.__repr__(value)
    except ValueError:  # Python writes no integers of more than 4,300 digits
        raise JsonError("number_too_long", "A number has too many digits.") from None
