"""What is run within the server of the pictures, to bring it to a state."""

MAKE = "from tests import make\nfrom dashboard.accounts.models import *\n"
POLICY = (
    MAKE
    + """
make.group("operators", User.objects.get(username="alice"), User.objects.get(username="bob"))
make.in_force(
    {"name": "Deletes need two", "effect": "review", "when": {"capabilities": ["delete_*"]},
     "demands": {"approvals": 2, "reason_required": True}},
    {"name": "Memory may be remembered", "effect": "review", "when": {"kinds": ["memory"]},
     "demands": {"grants_allowed": True}},
)
"""
)
PROPOSED = (
    MAKE
    + """
from django.utils import timezone
from dashboard.policies.models import PolicyProposal, PolicyRevision
proposal = PolicyProposal.objects.create(document=PolicyRevision.objects.get(pk=1).document,
    author=make.person("ed", admin=True), based_on=2, proposed_at=timezone.now())
print("PROPOSAL", proposal.pk)
"""
)
PAST = (
    MAKE
    + """
from datetime import timedelta
from dashboard.approvals import guards
from dashboard.approvals.models import *
from approval_client.wire import Status
token = make.token(make.agent("night-shift"))
people = list(User.objects.filter(is_reviewer=True, is_active=True))
for n in range(36):
    approval = make.pending(token, content={"code": f"print({n % 5})", "language": "python"})
    no = n % 7 == 3
    make.decided(approval, people[n % 2], Status.REJECTED if no else Status.APPROVED,
                 reason="Not during user time." if no else "", shown={"lines": 40})
    guards.remove()
    days = timedelta(days=n % 24, minutes=n * 7)
    for table, field in ((ApprovalRequest, "submitted_at"), (ApprovalRequest, "expires_at")):
        row = table.objects.get(pk=approval.pk)
        table.objects.filter(pk=row.pk).update(**{field: getattr(row, field) - days})
    at = approval.submitted_at - days + timedelta(seconds=3 + n * n % 90)
    Decision.objects.filter(approval=approval).update(decided_at=at)
    Vote.objects.filter(approval=approval).update(voted_at=at)
    seen = at - timedelta(seconds=n % 3 + 0.3)
    View.objects.create(approval=approval, person=people[n % 2], seen_at=seen)
    guards.install()
"""
)
DOUBTED = """
from django.utils import timezone
from dashboard.audit.models import AuditVerification
now, said = timezone.now(), "it was decided by user:bob, and the log says user:alice"
AuditVerification.objects.create(asked_by="operator", asked_at=now, until=42, hash="0" * 64,
    ended_at=now, problem=f"request 6f1c8b1e-1d0a-4b7e-9a53-2f0d5f6a7c11: {said}")
"""
WEBHOOK = (
    MAKE
    + """
from datetime import timedelta
from django.utils import timezone
from dashboard.approvals.models import ApprovalRequest, Closing
from dashboard.notifications.models import Delivery, State
from dashboard.notifications.services import set_webhook
agent, root = Agent.objects.get(name="night-shift"), User.objects.get(username="root")
url = "https://control-room.example.org/approvals/decided"
webhook = set_webhook(agent=agent, url=url, by=root, auth="session:password")[0]
now = timezone.now()
told = [
    (State.DELIVERED, 1, "It answered 204."),
    (State.WAITING, 2, "It did not answer within 10 s."),
    (State.GIVEN_UP, 10, "Its certificate is not trusted: certificate has expired."),
    (State.DROPPED, 0, "The webhook was switched off."),
    (State.DELIVERED, 3, "It answered 200."),
]
for n, (state, attempts, said) in enumerate(told):
    at = now - timedelta(minutes=7 * n)
    Delivery.objects.create(webhook=webhook, state=state, attempts=attempts, said=said,
        approval=agent.approvals.exclude(status="pending").order_by("submitted_at")[n],
        made_at=at, due_at=now + timedelta(hours=2), tried_at=at if attempts else None)
print("AGENT", agent.pk)
"""
)
CHANNELS = (
    MAKE
    + """
from datetime import timedelta
from django.utils import timezone
from dashboard.approvals.models import ApprovalRequest
from dashboard.notifications.models import Channel, Message, NoticeEvent, State
from dashboard.notifications.services import Wish, add_channel, add_own
alice, root = (User.objects.get(username=name) for name in ("alice", "root"))
now = timezone.now()
def channel(kind, name, address):
    return add_channel(kind=kind, wish=Wish(name=name, address=address), by=root,
        auth="session:password")[0]
def message(channel, event, approval, minutes, state, attempts, said):
    at = now - timedelta(minutes=minutes)
    Message.objects.create(channel=channel, event=event, approval=approval, seq=-minutes - 1,
        made_at=at, due_at=now + timedelta(minutes=20), tried_at=at if attempts else None,
        state=state, attempts=attempts, said=said)
mail = channel("email", "On call", "oncall@example.org")
slack = channel("chat", "Ops in Slack", "https://hooks.slack.com/services/T0AAAAAAA/B0AAAAAAA/abc123")
channel("webhook", "Control room", "https://control-room.example.org/approvals")
some = list(ApprovalRequest.objects.order_by("submitted_at")[:3])
took = "The mail server took it."
message(mail, NoticeEvent.TEST, None, 1, State.DELIVERED, 1, took)
message(mail, NoticeEvent.ASKS, some[0], 3, State.DELIVERED, 1,
    took + " In one message with 4 more.")
message(mail, NoticeEvent.LAST_MINUTE, some[1], 9, State.DROPPED, 0,
    "It was decided, withdrawn or over before this was sent.")
message(mail, NoticeEvent.HELD, None, 30, State.DELIVERED, 2, took)
message(slack, NoticeEvent.TEST, None, 2, State.GIVEN_UP, 1, "It answered 403.")
message(slack, NoticeEvent.ASKS, some[2], 4, State.WAITING, 3, "It answered 403.")
Channel.objects.filter(pk=slack.pk).update(failures=6)
Channel.objects.filter(name="Control room").update(is_active=False)
own = add_own(person=alice, kind="email", address="alice@example.org", choice="assigned",
    auth="session:password")
Channel.objects.filter(pk=own.pk).update(confirmed_at=now)
other = add_own(person=alice, kind="chat", address="ntfys://ntfy.sh/alice-a71f", choice="high",
    auth="session:password")
Message.objects.filter(event=NoticeEvent.CODE).update(state=State.DELIVERED, attempts=1,
    tried_at=now, said="It answered 200.")
Channel.objects.update(after=10**12)  # so that nothing more is told
print("CHANNELS", mail.pk, slack.pk)
"""
)
LINK = (
    MAKE
    + """
from dashboard.accounts.services.signing_in import make_link
print("LINK", make_link(User.objects.get(username="bob"), by=make.BY))
"""
)
UNAVAILABLE = "from dashboard.web import errors\nprint(errors._unavailable().content.decode())"
