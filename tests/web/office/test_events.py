"""Each event of the log is a sentence: whatever is recorded anywhere has one."""

import pytest
from django.db import transaction
from django.utils.html import strip_tags

from approval_client.wire import Status
from dashboard.approvals import guards
from dashboard.approvals.models import Decision
from dashboard.approvals.services import mark_viewed
from dashboard.audit.actions import Action
from dashboard.audit.models import AuditEntry
from dashboard.audit.services import Actor, AuditEvent, record
from dashboard.web.office.events import SENTENCES, named_in, sentence
from tests import make


def told(action, subject="", *, actor="user:ana", **details):
    with transaction.atomic():
        record(Actor(actor), AuditEvent(action, subject, details=details))
    entry = AuditEntry.objects.latest("seq")
    return sentence(entry, named_in([entry]))


def words(*args, **details):
    return strip_tags(told(*args, **details))


def test_every_action_that_can_be_recorded_has_a_sentence():
    assert sorted(Action) == sorted(SENTENCES)


@pytest.mark.django_db
@pytest.mark.parametrize("action", sorted(SENTENCES))
def test_no_event_needs_details_to_be_told(action):
    assert words(action, "user:ben").strip()


def test_an_approval_names_the_request_its_agent_and_who_saw_all_of_it(token, alice):
    approval = make.pending(token, content={"code": "print(1)", "language": "python"})
    make.decided(approval, alice, reason="Fine.")
    entry = AuditEntry.objects.get(action="approval.approved")

    said = sentence(entry, named_in([entry]))

    assert strip_tags(said) == (
        "alice approved Python, 1 line of beamline, with its end in view: “Fine.”"
    )
    assert f'href="/approvals/{approval.pk}"' in said
    assert 'href="/audit?agent=beamline"' in said


def test_a_reason_that_was_changed_since_is_told_so(token, alice):
    make.decided(make.pending(token), alice, Status.REJECTED, reason="Too risky.")
    guards.remove()
    Decision.objects.update(reason="Fine.")
    entry = AuditEntry.objects.get(action="approval.rejected")

    said = sentence(entry, named_in([entry]))

    assert strip_tags(said).endswith(": “Fine.” (not as logged)")


def test_opening_is_told_without_the_word_of_the_machine(token, alice):
    approval = make.pending(token, content={"code": "print(1)", "language": "python"})
    mark_viewed(approval_id=approval.pk, person=alice, auth="")
    entry = AuditEntry.objects.latest("seq")

    said = strip_tags(sentence(entry, named_in([entry])))

    assert said == "alice opened Python, 1 line of beamline"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("event", "said"),
    [
        (("hold.placed", "", {"reason": "drill"}), "ana put everything on hold: “drill”"),
        (
            ("policy.published", "policy:4", {"loosened": ["x"]}),
            ("ana published revision 4 of the policy, which loosens the policy"),
        ),
        (
            ("person.roles_changed", "user:ben", {"before": [], "roles": ["admin"]}),
            ("ana changed the roles of ben from none to admin"),
        ),
        (("sign_in_link.made", "user:ana", {}), "ana made a sign-in link"),
        (("sign_in_link.made", "user:ben", {}), "ana made a sign-in link for ben"),
        (
            ("audit.verified", "", {"entries": 7, "problem": ""}),
            ("ana verified the audit log: whole up to entry 7"),
        ),
        (
            ("audit.verified", "", {"problem": "entry 3 is missing"}),
            ("ana verified the audit log. It is broken: entry 3 is missing"),
        ),
        (
            ("webhook.added", "agent:bot", {"host": "https://a.example"}),
            ("ana set up the webhook of bot: https://a.example"),
        ),
        (("something.new", "thing:1", {}), "ana: something.new thing:1"),
    ],
)
def test_sentences(event, said):
    action, subject, details = event

    assert words(action, subject, **details) == said


@pytest.mark.django_db
def test_nothing_that_somebody_wrote_can_act_in_a_sentence():
    said = told("hold.placed", reason="<script>\u202e", actor="agent:<b>")

    assert "<script>" not in said
    assert "\u202e" not in said
    assert "<b>" not in said
