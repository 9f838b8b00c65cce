"""How long it takes to try a policy on ten thousand past requests, from the database."""

from tests import serving

FILL = """
import json, random, time
from datetime import timedelta
from uuid import uuid4
from django.utils import timezone
from dashboard.accounts.models import Agent, AgentToken, User
from dashboard.approvals import guards
from dashboard.approvals.models import ApprovalRequest, Decision, Inspection, Judgement
from dashboard.inspection.findings import Finding, Report, Severity
from dashboard.policies.rules.demands import Required
from dashboard.policies.evaluate import EVERYTHING_TO_A_PERSON, Policy, parse_rule
from dashboard.policies.services import current_revision
from dashboard.web.office.policies.backtest import replay
from dashboard.web.office.policies.bench import Candidate
from approval_client.wire import canonical_json, digest

chance = random.Random(7)
now, token = timezone.now(), AgentToken.objects.select_related("agent").first()
revision, alice = current_revision(), User.objects.first()
LINES = [
    "orders = pd.read_parquet('s3://analytics/orders/2026-03/')",
    "late = orders[orders.shipped_at - orders.paid_at > pd.Timedelta(days=3)]",
    "caput('SR:C01-MG:G02A:HCor-SP', before + step, wait=True)",
    "for row in late.itertuples():",
    "    print(f'{{row.order_id}} {{row.total:.2f}}')",
]
NAMES = ["control-system-write", "file-write", "network", "unknown-import", "unknown-call"]

def content():
    if chance.random() < 0.3:
        text = "x" * chance.randint(500, 3500)
        arguments = {{"id": 12345678901234567, "limit": 1.50, "note": text, "tags": ["a"] * 20}}
        return "tool_call", {{"tool": "crm_update", "arguments": arguments}}
    size, lines = chance.randint(1000, 4000), []
    while sum(map(len, lines)) < size:
        lines.append(chance.choice(LINES))
    return "code", {{"code": "\\n".join(lines), "language": "python"}}

def report(kind):
    found = [
        Finding(chance.choice(NAMES), chance.choice(list(Severity)), n, n, "x")
        for n in range(1, chance.randint(1, 8))
    ]
    return Report(tuple(found), ("python",) if kind == "code" else ()).to_json()

def question(number):
    kind, what = content()
    at = now - timedelta(minutes=number)
    text = canonical_json(what)
    return ApprovalRequest(
        pk=uuid4(), agent=token.agent, token=token, idempotency_key=str(number),
        submission_hash="0" * 64, kind=kind, capability=kind, content=text,
        digest=digest(kind, what), submitted_at=at, expires_at=at + timedelta(hours=1),
        evidence=json.dumps({{"analysis_details": "y" * 400, "execution_mode": "readonly"}}),
        status=chance.choice(["approved", "rejected"]),
    )

guards.remove()
for start in range(0, {requests}, 500):
    asked = [question(number) for number in range(start, min(start + 500, {requests}))]
    ApprovalRequest.objects.bulk_create(asked)
    seen = Inspection.objects.bulk_create([
        Inspection(approval=a, digest=a.digest, report=report(a.kind), repeated=0,
                   inspected_at=a.submitted_at) for a in asked])
    Judgement.objects.bulk_create([
        Judgement(approval=s.approval, inspection=s, revision=revision, effect="review",
                  demands=Required().to_json(), trace="[]", judged_at=s.inspected_at)
        for s in seen])
    Decision.objects.bulk_create([
        Decision(approval=a, status=a.status, source="reviewer", decided_by=alice,
                 decided_at=a.submitted_at + timedelta(seconds=chance.randint(5, 900)),
                 digest=a.digest, valid_until=now if a.status == "approved" else None)
        for a in asked])
guards.install()

rules = [
    {{"name": f"tool {{n}}", "when": {{"tools": [f"admin_{{n}}_*"]}}, "effect": "reject"}}
    for n in range(8)
] + [
    {{"name": f"text {{n}}", "when": {{"content_matches": f"drop t{{n}}"}}, "effect": "reject"}}
    for n in range(4)
] + [
    {{"name": "controls", "when": {{"findings": {{"names": ["control-system-write"]}}}},
      "effect": "review", "demands": {{"approvals": 2}}}},
    {{"name": "modes", "when": {{"execution_modes": ["write*"]}}, "effect": "review"}},
    {{"name": "reads", "when": {{"kinds": ["code"], "languages": ["python"],
      "no_findings_above": "low"}}, "effect": "approve"}},
    {{"name": "crm", "when": {{"tools": ["crm_*"], "smaller_than": 3000}}, "effect": "approve"}},
]
rules = tuple(parse_rule(rule) for rule in rules)
policy = Policy({{"global_mode": "selective", "capabilities": {{
    "python_execution": None, "memory": None}}}}, rules=rules)
began = time.perf_counter()
result = replay(Candidate("the draft", policy), now - timedelta(days=30), alice, now)
assert result.total == {requests} and result.saved, result
print("SECONDS", time.perf_counter() - began)
"""


def replaying(requests):
    """Write ``requests`` requests of 1 to 4 KB that people answered, and try sixteen rules."""
    with serving.serve() as house:
        said = house.manage("shell", "-v0", "-c", FILL.format(requests=requests))
        assert said.returncode == 0, said.stderr
        seconds = float(said.stdout.rpartition("SECONDS")[2])
        return {f"backtest of {requests:,} requests, 16 rules": f"{seconds:.1f} s"}
