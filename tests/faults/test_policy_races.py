"""A stricter policy, or a hold, against what is approved at that moment: the log's order holds.

Whatever stands in the log after a publication was judged by the new policy, and nothing was
approved or started between a hold and its end. SQLite has one writer, so it shows on PostgreSQL.
"""

import random
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from itertools import count

import pytest
from django.db import connection, transaction

from approval_client.wire import Kind, parse_json
from dashboard.approvals import services
from dashboard.approvals.errors import Refused
from dashboard.approvals.models import Judgement
from dashboard.approvals.services import end_forbidden_grants, judge_pending_again
from dashboard.audit.models import AuditEntry
from dashboard.policies.evaluate import EVERYTHING_TO_A_PERSON, Policy, parse_rule
from dashboard.policies.services import (
    current_revision,
    lock_for_change,
    lock_for_judging,
    publish,
)
from tests import make
from tests.faults.conftest import IN_CHECKS
from tests.faults.test_races import at_once

AUTH = "session:password"
RULES = [
    {"name": "Looks", "effect": "approve", "when": {"kinds": ["tool_call"], "tools": ["look"]}},
    {"name": "May", "effect": "review", "demands": {"grants_allowed": True}},
]
TWO_PEOPLE = {"name": "Two", "effect": "review", "demands": {"approvals": 2}}
LENIENT = Policy(EVERYTHING_TO_A_PERSON.modes, rules=tuple(map(parse_rule, RULES)))
STRICT = Policy(EVERYTHING_TO_A_PERSON.modes, rules=(parse_rule(TWO_PEOPLE),))

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def how_many(in_full, settings):
    settings.PENDING_PER_TOKEN = 10_000
    return 500 if in_full else 15 if IN_CHECKS else 5


@pytest.fixture
def scene(token, alice, ada):
    return Scene(token, alice, ada)


class Scene:
    """An agent and people, and what they do at the same moment."""

    def __init__(self, token, reviewer, admin):
        self.token, self.reviewer, self.admin = token, reviewer, admin
        self._number = count()

    def ask(self, tool="move", **arguments):
        content = {"tool": tool, "arguments": arguments or {"number": next(self._number)}}
        fields = {"kind": Kind.TOOL_CALL, "capability": "files", "accepts_grants": True}
        return make.pending(self.token, content=content, **fields)

    def remember(self):
        """Have an approval remembered that answers ``ask(again=self.again)``."""
        self.again = next(self._number)
        terms = make.GrantTerms(scope=make.GrantScope.CONTENT, this_run=False, most_uses=10_000)
        make.decided(self.ask(again=self.again), self.reviewer, remember=terms)

    def publish(self, policy, confirmed=""):
        publish(policy, author=self.admin, note="", by=make.BY, confirmed=confirmed)

    def against(self, change):
        """Do everything that approves or starts something, while ``change`` is made."""
        asked, used = self.ask(), make.approved(self.token, self.reviewer)

        def change_it():
            time.sleep(random.uniform(0, 0.02))  # noqa: S311 - any moment will do
            change()

        at_once(
            change_it,
            lambda: _unless_refused(make.decided, asked, self.reviewer),
            lambda: self.ask("look"),
            lambda: self.ask(again=self.again),
            lambda: _unless_refused(make.report, used, self.token),
        )


def _unless_refused(work, *arguments):
    with suppress(Refused):
        work(*arguments)


def out_of_order():
    """Entries of the log that do not follow from those before them."""
    present, held = "policy:1", False
    for entry in AuditEntry.objects.order_by("seq"):
        details = parse_json(entry.details)
        match entry.action:
            case "policy.published":
                present = entry.subject
            case "hold.placed" | "hold.lifted":
                held = entry.action == "hold.placed"
            case "approval.judged" if present not in (entry.actor, entry.auth):
                yield entry.seq, entry.action, entry.actor
            case "approval.approved":
                judgement = Judgement.objects.get(pk=details["judgement"])
                if held or f"policy:{judgement.revision_id}" != present:
                    yield entry.seq, entry.action, entry.actor
            case "outcome.started" if held:
                yield entry.seq, entry.action, entry.actor


def seen(action):
    """How often something stands in the log, to see that both sides of the races were met."""
    return AuditEntry.objects.filter(action=action).count()


def test_nothing_is_approved_by_a_policy_after_a_stricter_one_was_published(scene, how_many):
    for _ in range(how_many):
        scene.publish(LENIENT, confirmed="loosen")
        scene.remember()
        scene.against(lambda: scene.publish(STRICT))

    print(f"{how_many} publications, {seen('approval.approved')} approved")  # noqa: T201 - a figure
    assert list(out_of_order()) == []


def test_nothing_is_approved_or_started_on_hold(scene, how_many):
    scene.publish(LENIENT, confirmed="loosen")
    scene.remember()
    for _ in range(how_many):
        scene.against(lambda: services.place_hold(by=scene.admin, auth=AUTH))
        services.lift_hold(by=scene.admin, auth=AUTH)

    print(f"{how_many} holds, {seen('approval.approved')} approved")  # noqa: T201 - a figure
    assert list(out_of_order()) == []


def test_all_verbs_that_judge_and_change_the_policy_at_once_lock_nobody_out(scene, how_many):
    scene.publish(LENIENT, confirmed="loosen")
    over = []

    def until_over(work):
        while not over:
            with suppress(Refused):
                work()

    def approve():
        make.decided(scene.ask(), scene.reviewer)

    def change():
        try:
            for _ in range(how_many):
                services.place_hold(by=scene.admin, auth=AUTH)
                scene.publish(STRICT)
                services.lift_hold(by=scene.admin, auth=AUTH)
                scene.publish(LENIENT, confirmed="loosen")
        finally:
            over.append(True)

    judging = [approve, approve, approve, lambda: scene.ask("look"), judge_pending_again]
    at_once(change, end_forbidden_grants, *(partial(until_over, work) for work in judging))

    assert seen("policy.published") == 2 * how_many + 1
    assert list(out_of_order()) == []


@pytest.mark.engine("postgresql")
def test_whoever_judges_waits_behind_a_change_that_waits_already():
    """Or under load a hold would wait for all who come later."""
    done = []

    def take(lock):
        try:
            with transaction.atomic():
                lock()
                done.append(lock)
        finally:
            connection.close()

    current_revision()
    with ThreadPoolExecutor(2) as pool, transaction.atomic():
        lock_for_judging()
        for number, lock in enumerate([lock_for_change, lock_for_judging], 1):
            pool.submit(take, lock)
            until_waiting(number)

    assert done == [lock_for_change, lock_for_judging]


def until_waiting(count):
    waiting = (
        "SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database"
        " WHERE NOT granted AND datname = current_database()"
    )
    with connection.cursor() as cursor:
        for _ in range(100):
            cursor.execute(waiting)
            if cursor.fetchone() == (count,):
                return
            time.sleep(0.01)
