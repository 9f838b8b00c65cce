"""The shape of a policy's rules: what they match on and what they ask for. Data only.

Every model refuses what it does not know, so that a misspelled condition cannot match everything.
"""

from __future__ import annotations

import re
from datetime import datetime, time
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import (
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    StrictBool,
    StrictInt,
)

from approval_client.wire import Kind
from dashboard.inspection.findings import Severity, Unseen
from dashboard.policies.rules.patterns import names_something

DEFAULT_TIME_LIMIT_S = 1800
"""How long a request waits where neither the policy nor the agent names a time limit."""

MOST_RULES = 200
MOST_EXAMPLES = 20
CLAIMS = ("capabilities", "execution_modes", "runs", "repeated")
"""Conditions on what the agent says of itself: no approving rule may name one."""

Name = Annotated[str, Field(min_length=1, max_length=100)]
Pattern = Annotated[str, Field(min_length=1, max_length=1000)]
Glob = Annotated[str, Field(min_length=1, max_length=200)]


def _not_empty(value: object) -> object:
    # Left out, a list means any. Written and empty, it would mean the same and reads as none.
    if value == []:
        raise ValueError("This is an empty list, which would mean any. Name some, or leave it out")
    return value


NotEmpty = BeforeValidator(_not_empty)
Globs = Annotated[tuple[Glob, ...], NotEmpty, Field(max_length=50)]
Day = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]


_TIME = re.compile(r"([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?", re.ASCII)


def _time_of_day(value: object) -> time:
    # A number would be read as seconds, which is what an unquoted 10:00 is in YAML 1.1.
    if isinstance(value, time) and value.tzinfo is None and not value.microsecond:
        return value
    if isinstance(value, str) and _TIME.fullmatch(value):
        return time.fromisoformat(value)
    raise ValueError('This must be a time of day between "00:00" and "23:59", in quotes')


def _moment(value: object) -> object:
    if isinstance(value, datetime | str):
        return value
    raise ValueError("This must be a date and time with a time zone, in quotes")


DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


def clock(moment: time) -> str:
    """Return a time of day as people write it: ``9:30`` without seconds, unless there are some."""
    return moment.isoformat("seconds" if moment.second else "minutes")


TimeOfDay = Annotated[time, BeforeValidator(_time_of_day), PlainSerializer(clock)]
Moment = Annotated[AwareDatetime, BeforeValidator(_moment), PlainSerializer(datetime.isoformat)]


class _Shape(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class Effect(StrEnum):
    """What happens to a request, from the laxest to the strictest."""

    APPROVE = "approve"
    REVIEW = "review"
    REJECT = "reject"


class ToolClass(StrEnum):
    """What calling a tool does, as an admin classed it."""

    READS = "reads"
    REVERSIBLE = "reversible"
    IRREVERSIBLE = "irreversible"
    EXTERNAL = "external"
    MONEY = "money"
    CONTROL_SYSTEM = "control_system"


class Argument(_Shape):
    """A condition on one argument of a tool call.

    ``path`` walks the arguments: ``"account.limits.0"``; ``*`` stands for any key or position.
    """

    path: Annotated[str, Field(min_length=1, max_length=500)]
    test: Literal[
        "present",
        "absent",
        "equals",
        "one_of",
        "glob",
        "matches",
        "within",
        "host_is",
        "over",
        "under",
    ]
    value: Any = None


class FindingsMatch(_Shape):
    """Any finding whose name fits one of the globs and which is at least this severe."""

    names: Annotated[tuple[Glob, ...], Field(max_length=50)] = ("*",)
    at_least: Severity = Severity.INFO


class Hours(_Shape):
    """A time window, by the moment at which the agent asked.

    ``until`` before ``from_`` means over midnight; the day is the one on which it began.
    """

    days: tuple[Day, ...] = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
    from_: TimeOfDay = Field(default=time(0, 0), alias="from")
    until: TimeOfDay = time(0, 0)  # midnight means the end of the day
    timezone: Name = "UTC"


class When(_Shape):
    """What a rule matches on: all of what is given must hold. Nothing given matches everything.

    The last four, ``CLAIMS``, are what the agent says of itself. They can make an answer stricter,
    never laxer: no approving rule may name one.
    """

    agents: Globs = ()
    kinds: Annotated[tuple[Kind, ...], NotEmpty] = ()
    tools: Globs = ()
    tool_classes: Annotated[tuple[ToolClass, ...], NotEmpty, Field(max_length=len(ToolClass))] = ()
    languages: Globs = ()
    arguments: Annotated[tuple[Argument, ...], NotEmpty] = ()
    content_matches: Pattern | None = None
    larger_than: Annotated[StrictInt, Field(ge=0)] | None = None  # bytes of canonical content
    smaller_than: Annotated[StrictInt, Field(ge=1)] | None = None
    memory_operations: Globs = ()
    memory_users: Globs = ()
    findings: FindingsMatch | None = None
    no_findings_above: Severity | None = None
    hours: Hours | None = None
    repeated: Annotated[StrictInt, Field(ge=1)] | None = (
        None  # asked as often before in the same run
    )
    capabilities: Globs = ()
    execution_modes: Globs = ()
    runs: Globs = ()

    @property
    def rests_on_claims(self) -> bool:
        """Whether a condition is about what the agent says of itself."""
        return any(getattr(self, name) for name in CLAIMS)


class Demands(_Shape):
    """What a review asks for, beyond one approval.

    Attributes:
        approvals: How many distinct people have to approve.
        groups: Whose votes count; empty means every reviewer's.
        owner_may_approve: Whether the agent's owner counts; None leaves it to the policy.
        editor_may_approve: Whether who edited the content counts.
        time_limit_s: The longest time limit; the agent's own may be shorter.
        escalate_to: A group whose votes count too from half of the time limit on: of this one,
            or of the default. What the agent says of its own moves nothing.
        reason_required: Whether Approve needs a reason.
        grants_allowed: Whether a reviewer may remember the approval.
        whole_content: Whether Approve arms only when the end of the content was in sight.
        reveal_required: Whether Approve needs every masked secret revealed. Without it, a token
            of a known form, such as an access key of AWS, may stay masked.
        proof: ``"passkey"`` where the device of each person who approves has to sign what they
            approve. Such an approval is never remembered.
    """

    approvals: Annotated[StrictInt, Field(ge=1, le=10)] = 1
    groups: Annotated[tuple[Name, ...], NotEmpty] = ()
    owner_may_approve: StrictBool | None = None
    editor_may_approve: StrictBool = False
    time_limit_s: Annotated[StrictInt, Field(ge=5, le=30 * 24 * 3600)] | None = None
    escalate_to: Name | None = None
    reason_required: StrictBool = False
    grants_allowed: StrictBool = False
    whole_content: StrictBool = True
    reveal_required: StrictBool = False
    proof: Literal["passkey"] | None = None


class Example(_Shape):
    """A question that a rule has to match, or must not. ``content`` is as an agent submits it."""

    kind: Kind
    content: dict[str, Any]
    agent: str = "example"
    capability: str = ""
    execution_mode: str = ""
    run_id: str = ""
    tool_class: ToolClass | None = None
    repeated: Annotated[StrictInt, Field(ge=0)] = 0
    asked_at: Moment | None = None  # without it the example is taken to be within the hours


class Rule(_Shape):
    """One line of a policy."""

    name: Name
    when: When = When()
    effect: Effect
    reason: Annotated[str, Field(max_length=1000)] = ""  # what a rejected agent receives
    also_if_not_followed: StrictBool = False  # of a rejecting rule, see ``holds_on``
    demands: Demands = Demands()
    match: Annotated[tuple[Example, ...], Field(max_length=MOST_EXAMPLES)] = ()
    not_match: Annotated[tuple[Example, ...], Field(max_length=MOST_EXAMPLES)] = ()

    @property
    def tools(self) -> tuple[str, ...]:
        """What the name of a tool has to fit.

        In an approving rule only what names something counts: ``*`` fits whatever an agent calls
        its tools.
        """
        if self.effect is not Effect.APPROVE:
            return self.when.tools
        return tuple(filter(names_something, self.when.tools))

    @property
    def takes_no_calls(self) -> bool:
        """Whether it is about no call of a tool: it approves, and names no tool."""
        return self.effect is Effect.APPROVE and not self.tools

    @property
    def looks_at_findings(self) -> bool:
        """Whether a condition is about what our inspection saw."""
        when = self.when
        return bool(when.findings or when.no_findings_above or when.languages)

    @property
    def holds_on(self) -> frozenset[Unseen]:
        """What may be unseen where such a condition is taken to hold all the same."""
        if self.effect is Effect.APPROVE:
            return frozenset()
        if self.effect is Effect.REVIEW or self.also_if_not_followed:
            return frozenset(Unseen)
        return frozenset({Unseen.NOT_READ})
