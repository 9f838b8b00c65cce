"""What an MCP client is told about our tools: their names, words and JSON Schemas."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from approval_client.wire import Kind

ASK, CHECK, FINISH = "request_approval", "check_approval", "report_finished"
PROMPT = "permission_prompt"
INSTRUCTIONS = (
    f"Before you do something dangerous, call {ASK} with exactly what would run. Do it only after "
    f'an answer says "approved": true, once, and exactly as it says. Then call {FINISH}. While '
    f'the status is "pending", nothing is approved: call {CHECK}. Anything else, errors too, is '
    "a no."
)


@dataclass(frozen=True)
class Tool:
    """One tool: every argument with its JSON Schema, those that are needed first."""

    name: str
    description: str
    needed: dict[str, Any]
    optional: dict[str, Any]

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of its arguments."""
        return {
            "type": "object",
            "properties": self.needed | self.optional,
            "required": list(self.needed),
            "additionalProperties": False,
        }


def _said(kind: str, description: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "description": description, **more}


_ID = _said("string", f"The id that {ASK} returned.")
_WAIT = _said("number", "How long to wait at most, in seconds.", minimum=0)

TOOLS = (
    Tool(
        ASK,
        "Ask people whether something may be done, and wait for their answer. If nobody decides "
        f"soon, the status is pending: then call {CHECK}.",
        {
            "kind": _said("string", "What it is.", enum=[str(kind) for kind in Kind]),
            "content": _said(
                "object",
                "Exactly what would run, and nothing else. code: {code, language}. tool_call: "
                "{tool, arguments}. plan: {steps}. memory: {operation, user_id, content, "
                "existing}.",
            ),
        },
        {
            "objective": _said("string", "What it is for, in a sentence."),
            "capability": _said("string", "What is gated; leave it out if unsure."),
            "evidence": _said("object", "What people should know, such as safety_concerns."),
            "time_limit_s": _said("integer", "How long people have, in seconds.", minimum=5),
            "accepts_edits": _said(
                "boolean", "People may change it. Only if you will do what comes back as content."
            ),
            "wait_s": _WAIT,
        },
    ),
    Tool(
        CHECK,
        f"Wait on for the answer to what {ASK} left pending. An approval that it returns is used "
        "up by that: do it then, once.",
        {"id": _ID, "digest": _said("string", "The digest that came with the id.")},
        {"wait_s": _WAIT},
    ),
    Tool(
        FINISH,
        "Tell people how something that was approved ended.",
        {"id": _ID},
        {
            "exit_code": _said("integer", "0 if it went well."),
            "error": _said("string", "What went wrong."),
            "output_head": _said("string", "The beginning of its output."),
        },
    ),
    Tool(
        PROMPT,
        "For Claude Code's --permission-prompt-tool, not for models: asks people about one call "
        "of a tool.",
        {
            "tool_name": _said("string", "The tool."),
            "input": _said("object", "Its arguments."),
        },
        {"tool_use_id": _said("string", "Names this one call.")},
    ),
)
