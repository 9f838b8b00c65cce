"""AutoGen's request as ours. Checked against autogen-agentchat 0.7.5 and 0.7.2.

AutoGen hands ``approval_func`` all code blocks of a message at once, fenced and joined as
Markdown, with the messages of its model context. That text goes as it is and names no language.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from approval_client._models import ApprovalRequest, sendable, within_limit


def to_request(request: Any) -> ApprovalRequest:
    """Return AutoGen's request as ours. Ours is returned as it is, with evidence that fits.

    AutoGen runs what it asked about and never what it is answered, so nothing here takes an edit.

    Raises:
        TypeError: It holds no code.
        ValueError: The code holds characters that cannot be sent as they are.
    """
    if isinstance(request, ApprovalRequest):
        return within_limit(replace(request, accepts_edits=False))
    code = getattr(request, "code", None)
    if not isinstance(code, str):
        raise TypeError(f"{type(request).__name__} holds no code.")
    return within_limit(ApprovalRequest.code(code, evidence=_evidence(request)))


def _evidence(request: Any) -> dict[str, Any]:
    event = _dump(request)
    holds = isinstance(event, Mapping)
    context = event.get("context") if holds else getattr(request, "context", None)
    found = {"context": context, "source_event": event}
    return sendable({name: value for name, value in found.items() if value})


def _dump(request: Any) -> Any:
    # Images of a multimodal context, for one, have failed to dump: evidence must not raise.
    try:
        return request.model_dump(mode="json")
    except AttributeError:
        return None
    except Exception as error:  # noqa: BLE001 - a strange object may raise anything
        return f"Left out: the request could not be written as JSON ({type(error).__name__})."
