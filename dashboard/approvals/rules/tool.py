"""Tools: what an agent says of one."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any

from approval_client.wire import TOOL_ANNOTATIONS, TOOL_HINTS, TOOL_SCHEMA, canonical_json
from dashboard.inspection.findings import Severity
from dashboard.inspection.notes import FindingKind
from dashboard.policies.rules.readings import tool_readings, without_joints

MOST_TOOLS = 2_000
"""Tools of one agent that are listed. Calls of further ones are always for a person."""

SCHEMA_CHANGED = FindingKind("tool-schema-changed", Severity.MEDIUM, "tool-schema-changed")
_DIGEST = re.compile(r"[0-9a-f]{64}")


def schema_digest(evidence: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the canonical JSON of the schema that an agent sent.

    Empty without one. An agent whose schema is large may send this digest in its place.
    """
    schema = evidence.get(TOOL_SCHEMA)
    if isinstance(schema, str):
        return schema if _DIGEST.fullmatch(schema) else ""
    if not isinstance(schema, Mapping):
        return ""
    return hashlib.sha256(canonical_json(schema).encode()).hexdigest()


def spelling_of(name: str) -> str:
    """Return a tool's name as those read it who mind no spelling, nor what stands before it."""
    return tool_readings(name)[-1]


def bare_spelling_of(name: str) -> str:
    """Return that without what joins words: by it a class is found, however they are joined."""
    return without_joints(spelling_of(name))


def claims_of(evidence: Mapping[str, Any]) -> str:
    """Return the hints that an agent sent of a tool, as canonical JSON. They loosen nothing."""
    annotations = evidence.get(TOOL_ANNOTATIONS)
    if not isinstance(annotations, Mapping):
        return "{}"
    hints = {name: annotations[name] for name in TOOL_HINTS if type(annotations.get(name)) is bool}
    return canonical_json(hints)


def has_changed(schema: str, approved_schema: str | None) -> bool:
    """Whether a schema is not the one that was last approved.

    One that was approved without any said nothing that could have changed.
    """
    return bool(approved_schema) and schema != approved_schema
