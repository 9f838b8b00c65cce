"""Random policies and questions from a small vocabulary, so that they often meet."""

from datetime import UTC, datetime

from hypothesis import strategies as st

from approval_client.wire import Kind
from dashboard.inspection.findings import Finding, Report, Severity
from dashboard.policies.evaluate import Policy
from dashboard.policies.rules.facts import Question
from dashboard.policies.rules.rule import (
    Argument,
    Demands,
    FindingsMatch,
    Hours,
    Rule,
    ToolClass,
    When,
)

names = st.sampled_from(["a", "b", "ab", "A"])
globs = st.lists(st.sampled_from(["a", "b", "*", "a*", "?", "[ab]", "B", "[!a]"]), max_size=2).map(
    tuple
)
severities = st.sampled_from(Severity)
seen = st.sampled_from(["control-system-write", "file-read", "file-write"])
languages = st.lists(st.sampled_from(["go", "sql", "*", "g*", "[gs]*"]), max_size=2).map(tuple)
unseen = st.sampled_from(["too-large", "does-not-parse", "cannot-be-followed", "unknown-call"])
finding_names = st.one_of(seen, seen, seen, unseen)
groups = st.lists(st.sampled_from(["x", "y", "z"]), max_size=2, unique=True).map(tuple)
bools = st.booleans()


def maybe(strategy):
    """Nothing, mostly: rules with many conditions match nothing."""
    return st.one_of(st.none(), st.none(), st.none(), strategy)


def seldom(strategy):
    return st.one_of(st.just(()), st.just(()), st.just(()), strategy)


arguments = st.one_of(
    st.builds(
        Argument,
        path=st.sampled_from(["a", "b.*", "*"]),
        test=st.sampled_from(["over", "under", "equals"]),
        value=st.sampled_from([1, 2]),
    ),
    st.builds(
        Argument, path=st.sampled_from(["a", "b"]), test=st.sampled_from(["present", "absent"])
    ),
    st.builds(
        Argument, path=st.just("a"), test=st.just("glob"), value=st.sampled_from(["a", "*"])
    ),
    st.builds(
        Argument,
        path=st.sampled_from(["a", "b"]),
        test=st.just("within"),
        value=st.sampled_from(["/srv", "/srv/a", ["/srv/a", "/tmp"]]),  # noqa: S108 - a path
    ),
    st.builds(
        Argument,
        path=st.sampled_from(["a", "b"]),
        test=st.just("host_is"),
        value=st.sampled_from(["a.example", "*.example", ["b.example:80", "a.example"]]),
    ),
    st.builds(Argument, path=st.just("a"), test=st.just("one_of"), value=st.just([1, "a"])),
    st.builds(Argument, path=st.just("a"), test=st.just("matches"), value=st.just("a|2")),
)
hours = st.builds(Hours, days=st.just(("mon", "wed")), until=st.sampled_from(["12:00", "00:00"]))
classes = st.sampled_from([ToolClass.READS, ToolClass.MONEY, ToolClass.IRREVERSIBLE])
class_lists = st.lists(classes, max_size=2, unique=True).map(tuple)
tested = {
    "agents": seldom(globs),
    "kinds": seldom(st.lists(st.sampled_from(Kind), max_size=2).map(tuple)),
    "tools": seldom(globs),
    "languages": seldom(languages),
    "arguments": seldom(st.lists(arguments, max_size=2).map(tuple)),
    "content_matches": maybe(st.sampled_from(["a", "b+", ".*"])),
    "larger_than": maybe(st.sampled_from([10, 30])),
    "smaller_than": maybe(st.sampled_from([35, 50])),
    "memory_operations": seldom(globs),
    "findings": maybe(
        st.builds(
            FindingsMatch,
            names=st.lists(finding_names | st.just("*"), min_size=1, max_size=2).map(tuple),
            at_least=severities,
        )
    ),
    "no_findings_above": maybe(severities),
    "hours": maybe(hours),
}
claimed = {
    "repeated": maybe(st.sampled_from([1, 3])),
    "capabilities": seldom(globs),
    "execution_modes": seldom(globs),
    "runs": seldom(globs),
}
classed = {"tool_classes": seldom(class_lists)}
unclaiming = st.builds(When, **tested)
whens = st.one_of(
    unclaiming, st.builds(When, **tested, **classed), st.builds(When, **tested, **claimed)
)
naming = st.builds(
    When,
    **tested | {"tools": st.sampled_from([("a",), ("a*",), ("b", "*")])},
    tool_classes=st.sampled_from([(ToolClass.READS,), (ToolClass.READS, ToolClass.MONEY)]),
)
demands = st.builds(
    Demands,
    approvals=st.sampled_from([1, 1, 2]),
    groups=groups,
    owner_may_approve=st.sampled_from([None, None, True, False]),
    editor_may_approve=bools,
    time_limit_s=st.sampled_from([None, None, 60, 600]),
    escalate_to=st.sampled_from([None, "z"]),
    reason_required=bools,
    grants_allowed=bools,
    whole_content=bools,
    reveal_required=bools,
    proof=st.sampled_from([None, None, "passkey"]),
)
demands = st.one_of(st.just(Demands()), demands)
rejecting = st.builds(
    Rule,
    name=st.just("r"),
    when=whens,
    effect=st.just("reject"),
    also_if_not_followed=bools,
)
reviewing = st.builds(
    Rule, name=st.just("r"), when=whens, effect=st.just("review"), demands=demands
)
approving = st.builds(
    Rule,
    name=st.just("r"),
    when=st.one_of(unclaiming, unclaiming, naming),
    effect=st.just("approve"),
)
rules = st.one_of(rejecting, reviewing, approving)
python = st.one_of(
    st.none(),
    st.builds(
        lambda enabled, mode: {"enabled": enabled, "mode": mode},
        bools,
        st.sampled_from(["all_code", "epics_writes", "disabled"]),
    ),
)
memory = st.one_of(st.none(), bools.map(lambda enabled: {"enabled": enabled}))
modes = st.builds(
    lambda mode, python, memory: {
        "global_mode": mode,
        "capabilities": {"python_execution": python, "memory": memory},
    },
    st.sampled_from(["selective", "selective", "all_capabilities", "disabled"]),
    python,
    memory,
)


def named(rules):
    """Give each rule a name of its own."""
    return tuple(rule.model_copy(update={"name": f"r{i}"}) for i, rule in enumerate(rules))


policies = st.builds(
    Policy,
    modes=modes,
    owner_may_approve=bools,
    rules=st.lists(rules, max_size=4).map(named),
)

values = st.sampled_from(
    [0, 1, 2, 3, "a", "1", "b", None, True, [1, 3], {"a": 2}, [], "A ", ["a"], '["a"]', {"B": [2]}]
)
places = st.sampled_from(
    [
        "/srv/a/x",
        "/srv/A",
        "/srv/../etc",
        "/etc",
        "C:\\a",
        "https://a.example/x",
        "b.example:80",
        "https://a.example@b.example",
        "x.a.example",
        "https://127.1",
    ]
)
contents = {
    Kind.CODE: st.builds(lambda code: {"code": code}, st.sampled_from(["a", "b", "xax", ""])),
    Kind.TOOL_CALL: st.builds(
        lambda tool, arguments: {"tool": tool, "arguments": arguments},
        names,
        st.dictionaries(st.sampled_from(["a", "b"]), values | places),
    ),
    Kind.PLAN: st.builds(lambda step: {"steps": [step]}, names),
    Kind.MEMORY: st.builds(
        lambda operation, user: {"operation": operation, "user_id": user, "content": ""},
        names,
        names,
    ),
}
findings = st.builds(
    Finding,
    name=finding_names,
    severity=severities,
    line=st.just(1),
    end_line=st.just(1),
    code=st.just("x"),
)
reports = st.builds(
    Report,
    findings=st.lists(findings, max_size=2).map(tuple),
    languages=st.lists(st.sampled_from(["python", "go", "sql", ""]), max_size=2).map(tuple),
)
moments = st.sampled_from(
    [datetime(2026, 3, day, hour, tzinfo=UTC) for day in (4, 5) for hour in (9, 15)]
)


@st.composite
def questions(draw):
    kind = draw(st.sampled_from(Kind))
    return Question(
        kind=kind,
        content=draw(contents[kind]),
        report=draw(reports),
        agent=draw(names),
        asked_at=draw(moments),
        capability=draw(st.sampled_from(["", "a", "b"])),
        execution_mode=draw(st.sampled_from(["", "a"])),
        run_id=draw(st.sampled_from(["", "a"])),
        repeated=draw(st.sampled_from([0, 1, 5])),
        tool_class=draw(st.none() | classes) if kind is Kind.TOOL_CALL else None,
    )


@st.composite
def edited(draw, policy):
    """A policy that differs from another one by a few edits."""
    rows = list(policy.rules)
    for _ in range(draw(st.integers(1, 2))):
        place = draw(st.integers(0, len(rows)))
        edit = draw(st.sampled_from(["add", "remove", "change", "move"]))
        if edit == "add":
            rows.insert(place, draw(rules))
        elif rows:
            row = rows.pop(min(place, len(rows) - 1))
            if edit == "move":
                rows.insert(draw(st.integers(0, len(rows))), row)
            elif edit == "change":
                rows.insert(place, _changed(draw, row))
    changed = draw(st.sampled_from([policy.modes, policy.modes, draw(modes)]))
    owners = draw(st.sampled_from([policy.owner_may_approve, draw(bools)]))
    return Policy(changed, owner_may_approve=owners, rules=named(rows))


def _changed(draw, row):
    other = draw(rules)
    if row.effect == other.effect:
        update = draw(
            st.sampled_from(
                [
                    {"when": other.when},
                    {"demands": other.demands},
                    {"also_if_not_followed": other.also_if_not_followed},
                ]
            )
        )
        return row.model_copy(update=update)
    claims = other.model_copy(update={"when": row.when})
    return other if other.effect == "approve" else claims
