"""How fast the audit log is verified, from the database."""

from tests import serving

FILL = """
import time
from django.db import transaction
from dashboard.approvals import guards
from dashboard.audit import services
from dashboard.audit.models import AuditEntry, AuditHead
guards.remove()
alice = services.Actor("user:alice", "session:password")
event = services.AuditEvent("approval.approved", "0" * 36, "d" * 64, {{"reason": "Seen."}})
with transaction.atomic():
    head = services._lock_head()
    rows = []
    for _ in range({entries}):
        rows.append(services._entry(head, services.timezone.now(), alice, event))
        head.seq, head.hash = rows[-1].seq, rows[-1].hash
    AuditEntry.objects.bulk_create(rows, batch_size=2000)
    head.save()
guards.install()
began = time.process_time()
assert services.verify() is None
print(head.seq / (time.process_time() - began))
"""


def verification(entries):
    """Write ``entries`` links and walk them."""
    with serving.serve() as house:
        said = house.manage("shell", "-v0", "-c", FILL.format(entries=entries))
        assert said.returncode == 0, said.stderr
        rate = f"{float(said.stdout):,.0f} entries a second of CPU, asked 100,000"
        return {"audit log verified": rate}
