"""Why a person is asked, in plain sentences, from the sentences that are kept. Pure.

What is kept with a judgement, and what agents are told, are exact texts: some are Osprey's, and
agents compare them. People read these instead. A sentence that is not known here is left as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from dashboard.policies.demands import Required
from dashboard.policies.rule_wording import required_in_words

PLAIN = {
    "Nobody is asked about anything.": "Your policy asks nobody about anything.",
    "All code requires approval.": "Your policy asks a person about all code.",
    "Code contains EPICS write operations.": (
        "Your policy asks a person about code that may write to the control system."
    ),
    "Code contains no EPICS writes (read-only or pure Python).": (
        "Your policy approves code that writes nothing to the control system."
    ),
    "Python execution approval is disabled.": "Your policy asks nobody about code.",
    "Approval mode is disabled.": "Your policy asks nobody about code.",
    "Memory operations require approval.": "Your policy asks a person about all memory changes.",
    "Memory operation approval is disabled.": "Your policy asks nobody about memory changes.",
    "No mode covers code: a person is asked.": "No rule covers this code, so a person is asked.",
    "No mode covers a tool call: a person is asked.": (
        "No rule covers this tool call, so a person is asked."
    ),
    "No mode covers a plan: a person is asked.": "No rule covers this plan, so a person is asked.",
    "No mode covers memory: a person is asked.": (
        "No rule covers this memory change, so a person is asked."
    ),
}
_MODE = re.compile(r"Global mode is '[a-z_]+'\.", re.ASCII)
_DOUBT = re.compile(
    r"Not all of it could be read or followed \([^()]*\): a person is asked\.", re.DOTALL
)
_ASKS = re.compile(
    r"Rule '(.*)' (?:asks for a review(, because of what the agent says of itself)?"
    r"|says what the review asks for)\.",
    re.DOTALL,
)
_ANSWERS = re.compile(r"Rule '(.*)' (approves|rejects)\.", re.DOTALL)
_ANSWERED = {"approves": "approves it without asking", "rejects": "rejects it"}


def plainly(trace: Sequence[str], required: Required | None) -> list[str]:
    """Say why a person is asked, or is not.

    Args:
        trace: The sentences of an evaluation, as they are kept.
        required: What the review asks for; None where there is none.
    """
    asking = [found[1] for found in map(_ASKS.fullmatch, trace) if found]
    said = list(_sentences(trace))
    if required is not None and (asking or required != Required()):
        said.append(_demanding(asking, required_in_words(required)))
    return said


def _demanding(rules: Sequence[str], demanded: str) -> str:
    named = " and ".join(f"“{name}”" for name in rules)
    if not named:
        return f"{demanded[0].upper()}{demanded[1:]}."
    return f"Rule{'s' if len(rules) > 1 else ''} {named}: {demanded}."


def _sentences(trace: Sequence[str]) -> Iterator[str]:
    for sentence in trace:
        if _MODE.fullmatch(sentence) or _ASKS.fullmatch(sentence):
            continue
        if answered := _ANSWERS.fullmatch(sentence):
            yield f"Rule “{answered[1]}” {_ANSWERED[answered[2]]}."
        elif _DOUBT.fullmatch(sentence):
            yield "Not all of it could be read or followed, so a person is asked."
        else:
            yield PLAIN.get(sentence, sentence)
