"""AutoGen's request as ours. Checked against autogen-agentchat 0.7.5 and 0.7.2.

AutoGen hands ``approval_func`` all code blocks of a message at once, fenced and joined as
Markdown, with the messages of its model context. That text goes as it is and names no language.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from approval_client._models import ApprovalRequest, sendable, within_limit

_FENCE = "```"
_LANGUAGE = re.compile(r"[\w+#.-]*", re.ASCII)


def to_request(request: Any) -> ApprovalRequest:
    """Return AutoGen's request as ours. Ours is returned as it is, with evidence that fits.

    AutoGen runs what it asked about and never what it is answered, so nothing here takes an edit.

    Raises:
        TypeError: It holds no code, or code that is no text.
        ValueError: It can be read as other blocks of code, as far as the text shows that.
    """
    if isinstance(request, ApprovalRequest):
        return within_limit(replace(request, accepts_edits=False))
    name, code = type(request).__name__, getattr(request, "code", None)
    if code is None:
        raise TypeError(f"{name} holds no code.")
    if not isinstance(code, str):
        raise TypeError(f"The code of {name} is {type(code).__name__} and must be a text.")
    if code.startswith(_FENCE):
        _check_fences(code)
    return within_limit(ApprovalRequest.code(code, evidence=_evidence(request)))


def joined(blocks: Sequence[tuple[Any, Any]]) -> str:
    """Return blocks, each its language and its code, as AutoGen writes them into its request."""
    return "\n\n".join(f"```{language}\n{code}\n```" for language, code in blocks)


def check_blocks(blocks: Sequence[tuple[Any, Any]]) -> None:
    """Refuse blocks that are not the only ones to be joined to their text.

    Raises:
        ValueError: They are not. It says which, why, and what is taken.
    """
    if not blocks:
        raise ValueError("There is no code block, so there is nothing to approve.")
    for number, (language, code) in enumerate(blocks, 1):
        if not isinstance(language, str) or not _LANGUAGE.fullmatch(language):
            raise ValueError(
                f"The language of code block {number} is {language!r:.80}. It could be read as "
                "code. Write a plain word such as python or sh."
            )
        if not isinstance(code, str):
            raise ValueError(f"Code block {number} holds no text. Write the code as text.")  # noqa: TRY004 - it goes to a model
        if _FENCE in code:
            raise ValueError(
                f"Code block {number} holds three backticks in a row. What stands around them "
                "could be read as other blocks. Write code without them, such as '`' * 3."
            )


def _check_fences(text: str) -> None:
    parts = [part.partition("\n") for part in text.split(_FENCE)[1::2]]
    blocks = [(language, code.removesuffix("\n")) for language, _, code in parts]
    if joined(blocks) != text:
        raise ValueError(
            "The code holds three backticks in a row. What stands around them could be read as "
            "other blocks. Write code without them, such as '`' * 3."
        )
    check_blocks(blocks)


def _evidence(request: Any) -> dict[str, Any]:
    event = _dump(request)
    holds = isinstance(event, Mapping)
    context = event.get("context") if holds else getattr(request, "context", None)
    evidence = {"context": context, "source_event": event}
    return sendable({name: value for name, value in evidence.items() if value})


def _dump(request: Any) -> Any:
    # Images of a multimodal context, for one, have failed to dump: evidence must not raise.
    try:
        return request.model_dump(mode="json")
    except AttributeError:
        return None
    except Exception as error:  # noqa: BLE001 - a strange object may raise anything
        return f"Left out: the request could not be written as JSON ({type(error).__name__})."
