"""The ends that no reviewer makes: withdrawn, shut out, out of time."""

from uuid import uuid4

import pytest
from django.db import transaction
from django.db.utils import IntegrityError

from approval_client.wire import Source, Status
from dashboard.approvals import services
from dashboard.approvals.errors import AlreadyClosed, NotFound
from dashboard.approvals.models import Closing, Decision
from dashboard.approvals.queries import closing
from dashboard.approvals.queries.closing import decided
from dashboard.approvals.services import expire
from dashboard.audit.models import AuditEntry
from dashboard.clock import database_now
from tests import make

pytestmark = pytest.mark.django_db


def cancel(approval, token, reason="Changed my mind."):
    return services.cancel(approval_id=approval.pk, token=token, reason=reason)


def test_an_agent_takes_its_question_back(token):
    approval = cancel(make.pending(token), token)

    assert approval.status == Status.CANCELLED
    assert (approval.decision.source, approval.decision.reason) == (
        Source.AGENT,
        "Changed my mind.",
    )


def test_taking_it_back_twice_changes_nothing(token):
    approval = make.pending(token)
    cancel(approval, token)

    assert cancel(approval, token, "Again.").decision.reason == "Changed my mind."


def test_what_was_decided_cannot_be_taken_back(token, alice):
    approval = make.approved(token, alice)

    with pytest.raises(AlreadyClosed, match="was approved already"):
        cancel(approval, token)


def test_what_is_overdue_cannot_be_taken_back_and_is_expired(token):
    approval = make.overdue(token)

    with pytest.raises(AlreadyClosed, match="has expired already"):
        cancel(approval, token)

    approval.refresh_from_db()
    assert approval.status == Status.EXPIRED


def test_an_agent_cannot_take_back_what_another_asked(token):
    other = make.token(make.agent("other"))

    with pytest.raises(NotFound):
        cancel(make.pending(token), other)


def test_the_sweep_closes_what_is_overdue_and_nothing_else(token):
    late, open_ = make.overdue(token), make.pending(token)

    assert services.expire_overdue() == 1

    late.refresh_from_db()
    open_.refresh_from_db()
    assert (late.status, open_.status) == (Status.EXPIRED, Status.PENDING)
    assert late.decision.source == Source.DEADLINE


def test_a_second_sweep_finds_nothing(token):
    make.overdue(token)
    services.expire_overdue()

    assert services.expire_overdue() == 0


def test_whoever_looks_at_an_overdue_request_sees_it_expired(token):
    approval = make.overdue(token)

    assert services.current(approval.pk).status == Status.EXPIRED
    assert AuditEntry.objects.filter(action="approval.expired").count() == 1


def test_expired_cancelled_and_rejected_stay_three_different_things(token, alice):
    rejected = make.pending(token)
    make.decided(rejected, alice, Status.REJECTED)
    cancelled = cancel(make.pending(token), token)
    expired = services.current(make.overdue(token).pk)
    rejected.refresh_from_db()

    sources = [a.decision.source for a in (rejected, cancelled, expired)]
    assert sources == [Source.REVIEWER, Source.AGENT, Source.DEADLINE]


def test_revoking_a_token_closes_what_was_asked_with_it(agent, token):
    mine, others = make.pending(token), make.pending(make.token(agent))

    assert services.revoke_token(token, by=make.BY) == 1

    mine.refresh_from_db()
    others.refresh_from_db()
    assert (mine.status, mine.decision.source) == (Status.CANCELLED, Source.ADMIN)
    assert others.status == Status.PENDING


def test_retiring_an_agent_closes_everything_it_asked(agent, token):
    first, second = make.pending(token), make.pending(make.token(agent))

    assert services.retire_agent(agent, by=make.BY) == 2

    for approval in (first, second):
        approval.refresh_from_db()
        assert approval.decision.reason == "The agent was deactivated."


def ids(page):
    return [answerable.approval.pk for answerable in page.answers]


@pytest.fixture
def closed(token, alice):
    """Three requests that were decided in this order."""
    return [make.approved(token, alice).pk for _ in range(3)]


def test_what_was_decided_comes_in_that_order(agent, token, alice):
    first, second = make.pending(token), make.pending(token)
    make.decided(second, alice)
    make.decided(first, alice, Status.REJECTED, reason="No.")

    assert ids(decided(agent.pk)) == [second.pk, first.pk]


def test_whatever_closes_a_request_gives_it_a_place(agent, token):
    cancelled, overdue = make.pending(token), make.overdue(token)
    make.in_force({"name": "No", "effect": "reject"})
    refused = make.pending(token)
    services.cancel(approval_id=cancelled.pk, token=token)
    expire(overdue.pk)

    assert ids(decided(agent.pk)) == [refused.pk, cancelled.pk, overdue.pk]


def test_what_is_pending_has_no_place(agent, token):
    make.pending(token)

    assert decided(agent.pk) == ([], None, False)


def test_a_place_is_that_of_the_entry_in_the_log(closed):
    entries = AuditEntry.objects.filter(action="approval.approved").order_by("seq")

    assert list(Closing.objects.values_list("seq", flat=True)) == [e.seq for e in entries]


def test_reading_on_begins_after_the_last(agent, closed):
    assert ids(decided(agent.pk, after=closed[0])) == closed[1:]


def test_who_has_read_everything_keeps_their_place(agent, closed):
    assert decided(agent.pk, after=closed[2]) == ([], closed[2], False)


def test_a_page_says_whether_there_is_more(agent, closed):
    pages = [decided(agent.pk, limit=2), decided(agent.pk, after=closed[1], limit=2)]

    assert [ids(page) for page in pages] == [closed[:2], closed[2:]]
    assert [(page.last, page.more) for page in pages] == [(closed[1], True), (closed[2], False)]


def test_a_moment_is_where_reading_begins(agent, closed):
    since = Decision.objects.get(approval=closed[1]).decided_at

    assert ids(decided(agent.pk, since=since)) == closed[1:]


def test_a_moment_after_everything_finds_nothing_and_the_place_to_read_on(agent, closed):
    assert decided(agent.pk, since=database_now()) == ([], closed[2], False)


@pytest.mark.parametrize("after", [uuid4(), None])
def test_what_was_not_decided_is_no_place(agent, token, after):
    with pytest.raises(NotFound):
        decided(agent.pk, after=after or make.pending(token).pk)


def test_nobody_reads_of_anothers_requests(closed, alice):
    stranger = make.agent("stranger")

    assert decided(stranger.pk).answers == []
    with pytest.raises(NotFound):
        decided(stranger.pk, after=closed[0])


def test_a_page_of_long_edits_ends_early(agent, token, alice, bob, monkeypatch):
    monkeypatch.setattr(closing, "MAX_BODY_BYTES", 30)
    approvals = [make.pending(token, accepts_edits=True) for _ in range(2)]
    for approval in approvals:
        edit = make.edited(approval, alice)
        make.decided(approval, bob, basis=make.basis(approval, edit))

    page = decided(agent.pk)

    assert (ids(page), page.more) == ([approvals[0].pk], True)


@pytest.mark.parametrize("count", [1, 30])
def test_any_number_of_decisions_costs_as_many_queries(
    agent, token, alice, count, django_assert_num_queries
):
    for _ in range(count):
        make.approved(token, alice)

    with django_assert_num_queries(5):
        assert len(decided(agent.pk).answers) == count


def test_a_place_never_changes(closed):
    with pytest.raises(IntegrityError, match="never change"), transaction.atomic():
        Closing.objects.filter(approval=closed[0]).update(decided_at=database_now())
