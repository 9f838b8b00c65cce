"""What the desk costs the server: a queue of thousands, content of thousands of lines."""

import json

from tests import serving

FILL = """
import json, os, random, time
from datetime import timedelta
from uuid import uuid4
from django.conf import settings
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from dashboard.accounts.models import AgentToken, User
from dashboard.audit.services import OPERATOR
from dashboard.accounts.services.people import create_person
from dashboard.approvals.models import ApprovalRequest, Inspection, Judgement, Poll
from dashboard.inspection.findings import Finding, Report, Severity
from dashboard.policies.rules.demands import Required
from dashboard.policies.services import current_revision
from approval_client.wire import canonical_json, digest

chance = random.Random(7)
now, token = timezone.now(), AgentToken.objects.select_related("agent").first()
revision = current_revision()
rita = create_person(username="rita", roles={"reviewer": True}, by=OPERATOR)
LINES = ["orders = read('s3://analytics/orders/')", "caput('SR:C01', x)", "print(f'{row.id}')"]

def question(number, code):
    what = {"code": code, "language": "python"}
    return ApprovalRequest(
        pk=uuid4(), agent=token.agent, token=token, idempotency_key=f"desk-{number}",
        submission_hash="0" * 64, kind="code", capability="python_execution",
        content=canonical_json(what), digest=digest("code", what), submitted_at=now,
        expires_at=now + timedelta(hours=1, seconds=number), run_id=f"run-{number // 3}",
        objective="Trim the corrector", evidence=json.dumps({"analysis_details": "y" * 400}),
    )

def report():
    severities = [Severity.LOW, Severity.MEDIUM, Severity.HIGH]
    found = [Finding("network", chance.choice(severities), n, n, "x")
             for n in range(1, chance.randint(1, 8))]
    return Report(tuple(found), ("python",)).to_json()

def write(asked):
    ApprovalRequest.objects.bulk_create(asked)
    waited = now + timedelta(hours=1)  # the agent waits for as long as this takes
    Poll.objects.bulk_create([Poll(approval=a, last_polled_at=waited) for a in asked])
    seen = Inspection.objects.bulk_create([
        Inspection(approval=a, digest=a.digest, report=report(), repeated=0,
                   inspected_at=now) for a in asked])
    Judgement.objects.bulk_create([
        Judgement(approval=s.approval, inspection=s, revision=revision, effect="review",
                  demands=Required().to_json(), trace="[]", judged_at=now) for s in seen])

for start in range(0, PENDING, 500):
    write([question(n, "\\n".join(chance.choices(LINES, k=60)) + f"\\nx_{n} = {n}")
           for n in range(start, min(start + 500, PENDING))])
long = question(900_001, "\\n".join(f"row_{n} = f({n})" for n in range(5_000)))
huge = question(900_002, "\\n".join(f"row_{n} = f({n})" for n in range(50_000)))
small = question(900_003, "row = f(1)")
write([small, long, huge])
os.sync()  # what was filled in is on the disk before a page has to wait for it

rita_s = Client(HTTP_HOST=settings.PUBLIC_URL.partition("://")[2])
rita_s.force_login(rita)
PAGES = {
    "/": "queue", "/queue": "list alone", "/?q=x_42": "search", "/?severity=high": "severity",
    "/?order=risk": "by risk", "/?mine=1": "needs me", "/?page=2": "page 2",
    f"/approvals/{long.pk}": "5,000 lines", f"/approvals/{huge.pk}": "50,000 lines",
    f"/approvals/{huge.pk}/lines?part=40": "50,000 lines, part 40",
    f"/approvals/{huge.pk}/lines?find=row_49999": "50,000 lines, search",
}

figures = {}
for path, name in PAGES.items():
    took = []
    rita_s.get(f"/approvals/{small.pk}")  # what is loaded once is not part of it
    for _ in range(ROUNDS):
        began, worked = time.perf_counter(), time.process_time()
        response = rita_s.get(path)
        took.append((time.perf_counter() - began, time.process_time() - worked))
        assert response.status_code in (200, 302), (path, response.status_code)
    with CaptureQueriesContext(connection) as queries:
        rita_s.get(path)
    figures[name] = {"took": took, "queries": len(queries), "bytes": len(response.content)}
print("FIGURES", json.dumps(figures))
"""


def pages(pending, rounds):
    """Fill a queue with ``pending`` requests and time its pages ``rounds`` times."""
    code = f"PENDING, ROUNDS = {pending}, {rounds}\n{FILL}"
    with serving.serve() as house:
        said = house.manage("shell", "-v0", "-c", code)
        assert said.returncode == 0, said.stderr
    found = json.loads(said.stdout.rpartition("FIGURES ")[2])
    return {f"desk of {pending:,} pending, {name}": _said(one) for name, one in found.items()}


def _said(one):
    walls, works = zip(*one["took"][1:] or one["took"], strict=True)
    middle, slow, work = (
        sorted(times)[int((len(times) - 1) * part)] * 1000
        for times, part in ((walls, 0.5), (walls, 0.95), (works, 0.5))
    )
    return (
        f"first {one['took'][0][0] * 1000:.0f} ms, p50 {middle:.0f} ms, p95 {slow:.0f} ms, "
        f"CPU {work:.0f} ms, {one['queries']} queries, {one['bytes'] // 1024} KiB"
    )
