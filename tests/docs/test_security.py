"""The table of what an agent can change names every field, and says of each what is so."""

import json
import re

import pytest

from approval_client.wire import Kind
from dashboard.api.schemas import SubmitIn
from dashboard.approvals.rules.content import CONTENTS
from dashboard.inspection.findings import Report
from dashboard.policies.evaluate import Effect, PolicyError, evaluate, parse_rule
from dashboard.policies.rules.facts import Question
from dashboard.policies.rules.rule import CLAIMS
from tests.docs.reading import ROOT
from tests.policies.ask import NOON, silent

PAGE = (ROOT / "docs" / "security.md").read_text()
ROWS = {
    field: (names == "yes", approves == "yes")
    for field, names, approves in re.findall(
        r"^\| `([\w.]+)` \| (\w+) \| (\w+) \|", PAGE, re.MULTILINE
    )
}
WHOLE = {
    Kind.CODE: {"code": "1", "language": "python"},
    Kind.TOOL_CALL: {"tool": "t", "arguments": {"a": 1}},
    Kind.PLAN: {"steps": [{"task": "x"}]},
    Kind.MEMORY: {"operation": "add", "user_id": "u", "content": "c", "existing": "b"},
}
CHANGED = {
    "content.code": "2",
    "content.language": "bash",
    "content.tool": "u",
    "content.arguments": {"a": 2},
    "content.steps": [{"task": "y"}],
    "content.operation": "update",
    "content.user_id": "v",
    "content.content": "d",
    "content.existing": "e",
    "capability": "other",
    "objective": "Because",
    "evidence": {"execution_mode": "write_access", "x": 1},
    "run_id": "r",
    "time_limit_s": 60,
    "max_wait_s": 60,
    "accepts_edits": True,
    "accepts_grants": True,
}


def kind_of(field):
    name = field.removeprefix("content.")
    is_content = field.startswith("content.")
    return next((k for k, c in WHOLE.items() if is_content and name in c), Kind.CODE)


def asked(kind, **changes):
    content = {**WHOLE[kind], **changes.pop("content", {})}
    body = {"kind": str(kind), "capability": "c", "content": content, **changes}
    return SubmitIn.model_validate_json(json.dumps(body)).submission()


def changed(field):
    name = field.removeprefix("content.")
    value = CHANGED[field]
    return {"content": {name: value}} if field != name else {name: value}


def question(submission):
    return Question(
        kind=submission.kind,
        content=submission.content,
        report=Report(),
        agent="a",
        asked_at=NOON,
        capability=submission.capability,
        execution_mode=submission.evidence.get("execution_mode", ""),
        run_id=submission.run_id,
    )


def test_every_field_that_an_agent_sends_has_a_row():
    within = {f"content.{name}" for shape in CONTENTS.values() for name in shape.model_fields}

    assert set(ROWS) == (set(SubmitIn.model_fields) - {"content"}) | within


@pytest.mark.parametrize("field", ROWS)
def test_a_row_says_whether_the_field_names_the_question(field):
    kinds = (Kind.CODE, Kind.PLAN) if field == "kind" else (kind_of(field),) * 2
    changes = {} if field == "kind" else changed(field)

    before, after = asked(kinds[0]), asked(kinds[1], **changes)

    assert (before.digest != after.digest) is ROWS[field][0]


@pytest.mark.parametrize("field", [field for field, (_, approves) in ROWS.items() if not approves])
def test_no_field_that_cannot_approve_makes_an_answer_laxer(field):
    kind = kind_of(field)
    before, after = asked(kind), asked(kind, **changed(field))
    rules = [
        {"name": "approve", "effect": "approve", "when": {"kinds": [str(kind)]}},
        *(
            {
                "name": claim,
                "effect": "review",
                "when": {claim: 1 if claim == "repeated" else ["*"]},
            }
            for claim in CLAIMS
        ),
    ]
    judged = silent(*map(parse_rule, rules))

    effects = [evaluate(judged, question(submission)).effect for submission in (before, after)]

    order = [Effect.APPROVE, Effect.REVIEW, Effect.REJECT]
    assert order.index(effects[1]) >= order.index(effects[0])


@pytest.mark.parametrize("claim", CLAIMS)
def test_no_rule_that_approves_may_rest_on_what_an_agent_says_of_itself(claim):
    when = {claim: 1 if claim == "repeated" else ["x"]}

    with pytest.raises(PolicyError, match="cannot rest on it"):
        parse_rule({"name": "r", "effect": "approve", "when": when})
