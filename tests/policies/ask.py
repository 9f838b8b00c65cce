"""Questions, rules and policies in few words."""

from datetime import UTC, datetime

from approval_client.wire import Kind
from dashboard.inspection.findings import Finding, Report, Severity
from dashboard.policies.evaluate import Policy, evaluate, parse_rule
from dashboard.policies.rules.facts import Question

NOON = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)  # a Wednesday
CONTENTS = {
    Kind.CODE: {"code": "print(1)", "language": "python"},
    Kind.TOOL_CALL: {"tool": "pay", "arguments": {"amount": 5}},
    Kind.PLAN: {"steps": [{"task": "look"}]},
    Kind.MEMORY: {"operation": "save", "user_id": "ada", "content": "likes tea"},
}
WRITES = Finding("control-system-write", Severity.HIGH, 1, 1, "writes-control")
READS = Finding("file-read", Severity.INFO, 1, 1, "file-read")
DOUBT = Finding("does-not-parse", Severity.HIGH, 0, 0, "not-python")


def question(kind=Kind.CODE, content=None, *, findings=(), languages=None, **others):
    found = ("python",) if languages is None and kind is Kind.CODE else tuple(languages or ())
    given = {"agent": "robot", "asked_at": NOON, **others}
    content = CONTENTS[kind] if content is None else content
    return Question(kind=kind, content=content, report=Report(tuple(findings), found), **given)


def call(arguments, tool="pay", **others):
    return question(Kind.TOOL_CALL, {"tool": tool, "arguments": arguments}, **others)


def rule(effect="review", name="rule", *, demands=None, reason="", examples=None, **when):
    data = {"name": name, "when": when, "effect": effect, "reason": reason, **(examples or {})}
    return parse_rule({**data, "demands": demands} if demands else data)


def policy(*rules, python="all_code", memory=True, mode="selective", owners=False):
    capabilities = {
        "python_execution": python and {"enabled": True, "mode": python},
        "memory": memory if memory is None else {"enabled": memory},
    }
    modes = {"global_mode": mode, "capabilities": capabilities}
    return Policy(modes, owner_may_approve=owners, rules=rules)


def silent(*rules, **others):
    """A policy whose modes say nothing."""
    return policy(*rules, python=None, memory=None, **others)


def effect_of(policy, question):
    return evaluate(policy, question).effect
