"""Why a person is asked, or is not, in plain sentences for people. Pure.

They are made from the grounds of a judgement. What agents are told is another text, kept with the
judgement: some of it is Osprey's, and agents compare it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from approval_client.wire import Kind
from dashboard.inspection.findings import Finding, Severity, Unseen
from dashboard.inspection.sentences import unseen_sentence
from dashboard.policies.judgements.grounds import Grounds, ModeSays, Says, ToolSays, UnclearGround
from dashboard.policies.rules.demands import Required
from dashboard.policies.rules.rule import Effect
from dashboard.policies.rules.wording import required_in_words

NOT_COVERED = {
    Kind.CODE: "No rule covers this code, so a person is asked.",
    Kind.TOOL_CALL: "No rule covers this tool call, so a person is asked.",
    Kind.PLAN: "No rule covers this plan, so a person is asked.",
    Kind.MEMORY: "No rule covers this memory change, so a person is asked.",
}
MODES = {
    ModeSays.ASKS_NOBODY: "Your policy asks nobody about anything.",
    ModeSays.ALL_CODE: "Your policy asks a person about all code.",
    ModeSays.CONTROL_WRITES: (
        "Your policy asks a person about code that may write to the control system."
    ),
    ModeSays.NO_CONTROL_WRITES: (
        "Your policy approves code that writes nothing to the control system."
    ),
    ModeSays.CODE_IS_OFF: "Your policy asks nobody about code.",
    ModeSays.CODE_MODE_IS_OFF: "Your policy asks nobody about code.",
    ModeSays.ALL_MEMORY: "Your policy asks a person about all memory changes.",
    ModeSays.MEMORY_IS_OFF: "Your policy asks nobody about memory changes.",
}
_ANSWERS = {
    Says.APPROVES: "Rule “{}” approves it without asking.",
    Says.REJECTS: "Rule “{}” rejects it.",
}
IN_DOUBT = "Not all of it could be read or followed, so a person is asked."
TOOLS = {
    ToolSays.IRREVERSIBLE: "The tool is classed as irreversible, so a person is asked.",
    ToolSays.CLASSED_OTHERWISE: (
        "The tool was classed with another schema or spelling, and nobody has classed it with "
        "this one, so a person is asked."
    ),
    ToolSays.UNLISTED: (
        "The agent has named more tools than are listed, so nobody can have classed this one, and "
        "a person is asked."
    ),
    ToolSays.UNCLASSED: (
        "Nobody has classed the tool, and a rule rejects by class, so a person is asked."
    ),
}
_READINGS = {
    "tools": "This is another spelling of a tool that the rule names, and counts as that tool.",
    "arguments": (
        "A tool could read an argument as the value that the rule names, so the rule holds."
    ),
    "content_matches": "A value within the content may match the pattern, so the rule holds.",
    "memory_operations": "This is another spelling of an operation that the rule names.",
    "memory_users": "This is another spelling of a user that the rule names.",
}
"""Why a rule that does not approve holds where a value can be read in more ways than one."""
STOPPED = "All approving was stopped, so a person is asked."
TREATED = {
    "findings": "This rule treats it as if it had the finding.",
    "no_findings_above": "This rule treats it as if nothing graver was found.",
    "languages": "This rule treats it as if it were in that language.",
}
UNCLASSED = "Nobody has classed the tool. This rule treats it as if it were of its class."
NOT_APPROVED = "So this rule does not approve it."
NOT_REJECTED = "This rule does not reject for that."


def plainly(grounds: Grounds, required: Required | None) -> list[str]:
    """Say why a person is asked, or is not.

    Args:
        required: What the review asks for; None where there is none.
    """
    asking = grounds.saying(Says.ASKS, Says.DEMANDS)
    sentences = [*grounds.told, *_sentences(grounds)]
    if required is not None and (asking or required != Required()):
        sentences.append(_demanding(asking, required_in_words(required)))
    return sentences


def why_unclear(ground: UnclearGround) -> str:
    """Say what could not be judged, and how the rule takes it."""
    if ground.field == "tool_classes":
        return UNCLASSED
    if ground.field in _READINGS and ground.counts and not (ground.unseen or ground.error):
        return _READINGS[ground.field]
    if not ground.unseen:
        failed = f" ({ground.error})" if ground.error else ""
        problem = f"Its condition {ground.field!r} cannot be judged{failed}"
        if ground.counts:
            return f"{problem}, which counts as holding."
        return f"{problem}, so it does not approve."
    reason = f"{unseen_sentence(Unseen(ground.unseen), _finding_of(ground))}."
    if ground.counts:
        return f"{reason} {TREATED[ground.field]}"
    return f"{reason} {NOT_APPROVED if ground.effect == Effect.APPROVE else NOT_REJECTED}"


def _finding_of(ground: UnclearGround) -> Finding | None:
    if not ground.finding:
        return None
    return Finding(ground.finding, Severity.HIGH, 0, 0, ground.code, kept=ground.kept)


def _demanding(rules: Sequence[str], demanded: str) -> str:
    names = " and ".join(f"“{name}”" for name in rules)
    if not names:
        return f"{demanded[0].upper()}{demanded[1:]}."
    return f"Rule{'s' if len(rules) > 1 else ''} {names}: {demanded}."


def _sentences(grounds: Grounds) -> Iterator[str]:
    for unclear in grounds.unclear:
        yield f"Rule '{unclear.rule}': {why_unclear(unclear)}"
    for ground in grounds.rules:
        if ground.says in _ANSWERS:
            yield _ANSWERS[ground.says].format(ground.rule)
    for says in grounds.modes:
        if says in MODES:
            yield MODES[says]
        elif not _has_answer(grounds):
            yield NOT_COVERED[grounds.kind]
    if grounds.doubts:
        yield IN_DOUBT
    yield from map(TOOLS.__getitem__, grounds.tool)
    if grounds.held:
        yield STOPPED


def _has_answer(grounds: Grounds) -> bool:
    return any(ground.says is not Says.DEMANDS for ground in grounds.rules)
