"""Traces that were kept before judgements had grounds. Only the backfill reads this.

A trace is the text that agents were told; older versions kept nothing else. A sentence that is not
known here is kept as it was.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from approval_client.wire import Kind
from dashboard.policies.judgements.grounds import Grounds, ModeSays, RuleGround, Says

_GLOBAL_MODE = re.compile(r"Global mode is '[a-z_]+'\.", re.ASCII)
_RULE = re.compile(
    r"Rule '(.*)' (asks for a review|says what the review asks for|approves|rejects)"
    r"(, because of what the agent says of itself)?\.",
    re.DOTALL,
)
_SAYS = {
    "asks for a review": Says.ASKS,
    "says what the review asks for": Says.DEMANDS,
    "approves": Says.APPROVES,
    "rejects": Says.REJECTS,
}
_DOUBTS = re.compile(r"Not all of it could be read or followed \(([^()]*)\): a person is asked\.")
_NOT_COVERED = re.compile(
    r"No mode covers (?:code|a tool call|a plan|memory)(?:: a person is asked)?\."
)
_HELD = "Everything is on hold: a person is asked."
_MODES = {
    "Nobody is asked about anything.": ModeSays.ASKS_NOBODY,
    "All code requires approval.": ModeSays.ALL_CODE,
    "Code contains EPICS write operations.": ModeSays.CONTROL_WRITES,
    "Code contains no EPICS writes (read-only or pure Python).": ModeSays.NO_CONTROL_WRITES,
    "Python execution approval is disabled.": ModeSays.CODE_IS_OFF,
    "Approval mode is disabled.": ModeSays.CODE_MODE_IS_OFF,
    "Memory operations require approval.": ModeSays.ALL_MEMORY,
    "Memory operation approval is disabled.": ModeSays.MEMORY_IS_OFF,
}
_BY_MODES = {
    "approve": {
        ModeSays.ASKS_NOBODY,
        ModeSays.NO_CONTROL_WRITES,
        ModeSays.CODE_IS_OFF,
        ModeSays.CODE_MODE_IS_OFF,
        ModeSays.MEMORY_IS_OFF,
    },
    "review": {ModeSays.ALL_CODE, ModeSays.CONTROL_WRITES, ModeSays.ALL_MEMORY},
    "reject": set[ModeSays](),
}


def grounds_of_trace(kind: Kind, effect: str, trace: Sequence[str]) -> Grounds:
    """Return what a judgement rests on, from the sentences that agents were told."""
    grounds = Grounds(kind=kind)
    for sentence in trace:
        if not _GLOBAL_MODE.fullmatch(sentence):
            grounds = _with(grounds, sentence)
    return replace(grounds, by_modes=bool(_BY_MODES[effect].intersection(grounds.modes)))


def _with(grounds: Grounds, sentence: str) -> Grounds:
    if rule := _RULE.fullmatch(sentence):
        ground = RuleGround(rule[1], _SAYS[rule[2]], bool(rule[3]))
        return replace(grounds, rules=(*grounds.rules, ground))
    if doubts := _DOUBTS.fullmatch(sentence):
        return replace(grounds, doubts=(*grounds.doubts, *doubts[1].split(", ")))
    not_covered = ModeSays.NOTHING if _NOT_COVERED.fullmatch(sentence) else None
    if mode := _MODES.get(sentence, not_covered):
        return replace(grounds, modes=(*grounds.modes, mode))
    if sentence == _HELD:
        return replace(grounds, held=True)
    return replace(grounds, told=(*grounds.told, sentence))
