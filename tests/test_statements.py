"""A prepared statement does what the ORM does with the same queryset and the same values."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from threading import Barrier
from types import SimpleNamespace
from uuid import UUID

import pytest
from django.apps import apps
from django.contrib.sessions.models import Session
from django.db import connection, transaction
from django.db.models import F, Model, Value
from django.db.models.functions import Concat
from django.db.transaction import TransactionManagementError
from django.utils import timezone

from approval_client.wire import Kind
from dashboard import statements, urls
from dashboard.accounts import sessions, tokens
from dashboard.accounts.models import Agent, AgentToken
from dashboard.api import waiting
from dashboard.approvals import guards
from dashboard.approvals.models import (
    ApprovalRequest,
    Assignment,
    Hold,
    Reveal,
    Snooze,
    Viewing,
    Vote,
)
from dashboard.audit.models import AuditEntry, AuditHead
from dashboard.management import background
from dashboard.notifications.models import Channel, Delivery, Message, NoticeEvent, Webhook
from dashboard.statements import PREPARED, Change, Many, Rows, change, insert, insert_all, rows
from tests import make

pytestmark = pytest.mark.django_db
_IMPORTED = (urls, waiting, background, sessions)  # every room, and so every statement

OURS = [one for one in PREPARED if one.build.__module__.startswith("dashboard.")]


def name_of(statement):
    return f"{statement.build.__module__.removeprefix('dashboard.')}.{statement.build.__name__}"


LONG_AGO = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
VALUES = {
    "accounts.tokens._by_hash": lambda case: [case.token.hash],
    "accounts.queries._groups_of": lambda case: [case.person.pk],
    "accounts.queries._names": lambda _: [],
    "accounts.queries._tokens": lambda case: [[case.token.pk, 5]],
    "accounts.queries.names_of_reviewers": lambda _: [],
    "audit.services._head": lambda _: [],
    "audit.services._move_head": lambda _: [1, 7, "f" * 64, LONG_AGO],
    "policies.services.revisions._newest": lambda _: [],
    "approvals.queries.agent.token_asking": lambda case: [case.token.hash, case.pending.pk],
    "approvals.queries.agent._as_told": lambda case: [case.approved.pk, case.token.agent_id],
    "approvals.queries.agent.outcomes_of": lambda case: [case.approved.pk],
    "approvals.queries.answer._standing": lambda case: [case.person.pk],
    "approvals.queries.answer._judged": lambda case: [case.pending.pk, case.person.pk],
    "approvals.queries.answer.votes_of": lambda case: [case.approved.pk],
    "approvals.queries.hold._active_hold": lambda _: [],
    "approvals.queries.hold._stops": lambda _: [],
    "approvals.queries.present._present": lambda _: [],
    "approvals.queries.closing._last_closing": lambda _: [],
    "approvals.queries.closing.closed_since": lambda _: [0],
    "approvals.queries.request._edits": lambda case: [[case.pending.pk]],
    "approvals.queries.request._headlines": lambda case: [[case.pending.pk]],
    "approvals.queries.request._grants_made": lambda case: [case.grants],
    "approvals.queries.request._inspections": lambda case: [[case.judgement.inspection_id]],
    "approvals.queries.request._judgements_alone": lambda case: [
        [case.pending.pk, case.approved.pk]
    ],
    "approvals.queries.request._outcomes": lambda case: [[case.approved.pk]],
    "approvals.queries.request._votes": lambda case: [[case.approved.pk]],
    "approvals.queries.queue._votes_for_open": lambda case: [case.now],
    "approvals.queries.request._whole": lambda case: [[case.pending.pk, case.approved.pk]],
    "approvals.rules.likeness._answered": lambda case: [*case.before, case.digest],
    "approvals.rules.likeness._before": lambda case: case.before,
    "approvals.rules.likeness._equal_before": lambda case: [*case.before, case.digest],
    "approvals.rules.likeness._with_text": lambda case: [[case.pending.pk, case.approved.pk]],
    "approvals.rules.queue._light": lambda case: [[case.pending.pk]],
    "approvals.rules.queue._waiting": lambda case: [case.now, case.now],
    "approvals.rules.snooze._snoozed_by": lambda case: [case.person.pk, case.now],
    "approvals.rules.view._assigned": lambda _: [],
    "approvals.rules.view._assigned_among": lambda case: [[case.pending.pk]],
    "approvals.rules.view._reveals": lambda case: [case.pending.pk, case.person.pk],
    "approvals.rules.view._viewing": lambda _: [LONG_AGO],
    "approvals.rules.view._viewing_among": lambda case: [LONG_AGO, [case.pending.pk]],
    "approvals.services.assignment._lost": lambda _: [],
    "approvals.services.closing._agent_of": lambda case: [case.pending.pk],
    "approvals.services.closing._request": lambda case: [case.pending.pk],
    "approvals.services.closing._count": lambda case: [case.pending.pk],
    "approvals.services.closing._move": lambda case: [case.pending.pk, "rejected"],
    "approvals.services.closing._overdue": lambda case: [case.later],
    "approvals.services.grant._in_force_of": lambda case: [case.token.agent_id, LONG_AGO],
    "approvals.services.judgement._outdated": lambda _: [99],
    "approvals.services.report._reported": lambda case: [case.approved.pk],
    "approvals.services.submit._earlier": lambda case: [case.token.agent_id, "key"],
    "approvals.services.submit._lock_agent": lambda case: [case.token.agent_id],
    "approvals.services.submit._asking": lambda case: [
        case.token.pk,
        "key",
        case.pending.digest,
        case.pending.run_id,
        LONG_AGO,
        LONG_AGO,
        case.tool.name,
        case.tool.spelling,
        case.tool.schema_digest,
    ],
    "accounts.sessions._person": lambda case: [case.person.pk],
    "accounts.sessions._session": lambda case: ["key", case.now],
    "notifications.services.outbox._called_back": lambda _: [],
    "notifications.services.outbox._waiting": lambda _: [],
    "notifications.services.telling._waiting": lambda _: [],
    "web.desk.queue._described": lambda case: [[case.pending.pk, case.approved.pk]],
}
"""What each statement is tried with: something that it finds."""


@pytest.fixture
def case(alice, bob, token):
    """Something of all that a statement may be about."""
    call = {"kind": Kind.TOOL_CALL, "content": {"tool": "read", "arguments": {}}}
    granted = make.granted(token, bob, capability="read", **call)
    approved, pending = make.pending(token), make.pending(token, key="key", accepts_edits=True)
    make.decided(approved, alice)
    make.report(approved, token)
    edit = make.edited(pending, bob)
    first, second = (make.pending(token, key=key, run_id="run") for key in ("first", "second"))
    make.decided(first, alice)
    make.group("operators", alice)
    now = timezone.now()
    on_it = {"approval": pending, "person": alice}
    judgement = pending.judgements.get()
    guards.remove()  # so that a status may move alone
    Vote.objects.create(
        **on_it, judgement=judgement, digest=pending.digest, end_seen=True, voted_at=now
    )
    Hold.objects.create(placed_by=bob, placed_at=now, active=True)
    Assignment.objects.create(**on_it, assigned_at=now)
    Viewing.objects.create(**on_it, last_seen_at=now)
    Snooze.objects.create(**on_it, until=now + timedelta(minutes=1))
    Reveal.objects.create(**on_it, revealed_at=now)
    told = {"made_at": now, "due_at": now}
    calls = Webhook.objects.create(
        agent=token.agent, url="https://host", after=0, changed_by=bob, changed_at=now
    )
    Delivery.objects.create(webhook=calls, approval=approved, **told)
    channel = Channel.objects.create(
        kind="email", address="ada@host", events="[]", after=0, changed_by=bob, changed_at=now
    )
    Message.objects.create(channel=channel, event=NoticeEvent.TEST, seq=0, **told)
    departed = make.person("dan")
    Assignment.objects.create(approval=second, person=departed, assigned_at=now)
    Session.objects.create(session_key="key", expire_date=now + timedelta(hours=1))
    yield SimpleNamespace(
        token=token,
        person=alice,
        pending=pending,
        approved=approved,
        edit=edit,
        judgement=judgement,
        now=now,
        later=now + timedelta(days=31),
        before=[token.agent_id, "run", second.kind, second.submitted_at, LONG_AGO, second.pk],
        digest=second.digest,
        grants=[granted.made_from_id],
        tool=granted.made_from.tool,
    )
    guards.install()


def written(value):
    """Write a value so that equal ones are written alike: bytes are bound by where they lie."""
    return repr(value.tobytes() if isinstance(value, memoryview) else value)


@contextmanager
def recorded():
    """Collect what is sent to the database: the SQL, and what it is bound with."""
    sent = []

    def wrapper(execute, sql, params, many, context):
        # A stand-in is set in parentheses, a value is not.
        sent.append((sql.replace("(%s)", "%s"), [*map(written, params or ())]))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(wrapper):
        yield sent


def described(row, seen=()):
    """Everything that a row knows without asking the database, except what time it is."""
    if not isinstance(row, Model):
        return row if isinstance(row, tuple | str | int | UUID) else type(row)
    if id(row) in seen:
        return type(row)
    seen = (*seen, id(row))
    known = {name: value for name, value in vars(row).items() if name not in {"_state", "now"}}
    joined = {name: described(other, seen) for name, other in row._state.fields_cache.items()}
    return type(row), known, joined, row._state.adding, row._state.db


def all_of(kind):
    found = [one for one in OURS if isinstance(one, kind)]
    return pytest.mark.parametrize("statement", found, ids=map(name_of, found))


def test_every_statement_is_compared():
    assert {name_of(one) for one in OURS} == set(VALUES)


@all_of(Rows)
@pytest.mark.parametrize("time", ["compiled", "compiled before"])
def test_a_query_is_the_same_as_the_orms(statement, time, case):
    values = VALUES[name_of(statement)](case)
    with transaction.atomic():
        if time == "compiled":
            statement._compiled.clear()
        with recorded() as sent:
            ours = statement(*values)
        with recorded() as orms:
            theirs = list(statement.build(*values))

    assert sent == orms
    assert [described(row) for row in ours] == [described(row) for row in theirs]
    assert ours


def tried(work):
    """Return what some work returns, and undo it."""
    with transaction.atomic():
        result = work()
        transaction.set_rollback(True)
    return result


@all_of(Change)
def test_a_change_is_the_same_as_the_orms(statement, case):
    key, *_ = values = VALUES[name_of(statement)](case)
    queryset, changes = statement.build(*values)

    def left(work):
        return work(), described(queryset.model.objects.get(pk=key))

    with recorded() as sent:
        told, ours = tried(lambda: left(lambda: statement(*values)))
    with recorded() as orms:
        changed, theirs = tried(lambda: left(lambda: queryset.update(**changes)))

    [[sql, params]] = [one for one in sent if one[0].startswith("UPDATE")]
    [[orms_sql, orms_params]] = [one for one in orms if one[0].startswith("UPDATE")]
    assert sql.partition(" RETURNING ")[0] == orms_sql
    assert params[: len(orms_params)] == orms_params
    assert (len(told), changed) == (len(statement.returning), 1)
    assert ours == theirs


@all_of(Change)
def test_a_change_tells_the_same_where_the_engine_returns_nothing(statement, case, monkeypatch):
    """SQLite before 3.35, which some systems have."""
    values, told = VALUES[name_of(statement)](case), []
    for can_return in (True, False):
        monkeypatch.setattr(connection.features, "can_return_columns_from_insert", can_return)
        statement._compiled.clear()
        told.append(tried(lambda: statement(*values)))
    statement._compiled.clear()

    assert told[0] == told[1] is not None


@all_of(Change)
def test_a_change_of_no_row_is_told(statement, case):
    key, *others = VALUES[name_of(statement)](case)
    nobodys = UUID(int=5) if isinstance(key, UUID) else 999

    assert statement(nobodys, *others) is None


MODELS = list(apps.get_app_config("dashboard").get_models())


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_an_insert_is_the_same_as_the_orms(model, monkeypatch):
    """Whatever a row holds; only the SQL is compared, and what it is bound with."""
    monkeypatch.setattr(timezone, "now", lambda: LONG_AGO)
    sent = []
    for save in (insert, lambda row: row.save(force_insert=True)):
        row = model(**{f.attname: value_for(f) for f in model._meta.concrete_fields if wants(f)})
        with recorded() as statement, pytest.raises(Stopped), stopped():
            save(row)
        sent += statement

    assert sent[0] == sent[1]


class Stopped(Exception):
    pass


@contextmanager
def stopped():
    """Send nothing to the database."""

    def wrapper(*_):
        raise Stopped

    with connection.execute_wrapper(wrapper):
        yield


def wants(field):
    return field is not field.model._meta.auto_field and not getattr(field, "auto_now_add", False)


def value_for(field):
    kind = field.target_field if field.is_relation else field
    samples = {
        "BigAutoField": 5,
        "BigIntegerField": 5,
        "BinaryField": b"x",
        "BooleanField": True,
        "DateField": LONG_AGO.date(),
        "DateTimeField": LONG_AGO,
        "FloatField": 0.5,
        "IntegerField": 5,
        "PositiveIntegerField": 5,
        "PositiveSmallIntegerField": 5,
        "SmallIntegerField": 5,
        "UUIDField": UUID(int=5),
    }
    return samples.get(kind.get_internal_type(), "x")


def test_an_inserted_row_is_as_if_it_was_saved(token):
    new = {"agent": token.agent, "prefix": "p", "created_by": None}

    inserted = insert(AgentToken(hash="1", **new))
    saved = AgentToken(hash="2", **new)
    saved.save(force_insert=True)

    assert saved.pk == inserted.pk + 1
    assert (inserted._state.adding, inserted._state.db) == (False, "default")
    assert described(AgentToken.objects.get(hash="1"))[1] == described(inserted)[1]


@pytest.mark.engine("postgresql")
def test_a_statement_is_not_compiled_where_nothing_is_known_of_the_tables(db):
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL jit_above_cost = 0")
        cursor.execute("EXPLAIN (ANALYZE) SELECT count(*) FROM dashboard_approvalrequest")
        plan = "\n".join(line for [line] in cursor.fetchall())

    assert "JIT" not in plan


@pytest.mark.engine("sqlite")
def test_a_row_has_its_key_where_the_engine_returns_nothing(token, monkeypatch):
    """SQLite before 3.35, which some systems have."""
    monkeypatch.setattr(connection.features, "can_return_columns_from_insert", False)
    monkeypatch.setattr(statements, "_insertions", {})

    made = insert(AgentToken(agent=token.agent, prefix="p", hash="1"))

    assert AgentToken.objects.get(hash="1").pk == made.pk


def test_an_expression_is_not_inserted(token):
    """Its SQL would be kept for the rows after it."""
    with pytest.raises(TypeError, match="no expressions"):
        insert(AgentToken(agent=token.agent, prefix=Value("p"), hash="1"))


def test_rows_that_are_inserted_together_keep_their_order(token):
    before = AuditHead.objects.get().seq
    entries = list(AuditEntry.objects.order_by("seq"))

    make.pending(token)

    added = AuditEntry.objects.filter(seq__gt=before).order_by("seq")
    assert [entry.seq for entry in added] == [before + 1, before + 2]
    assert added[0].prev == entries[-1].hash
    with pytest.raises(Exception, match="follows"), transaction.atomic():
        insert_all(list(reversed(added)))


@rows(Agent.name)
def by_name(name):
    return Agent.objects.filter(name=name)


@change(Agent.id, Agent.name, returning=(F("name"),))
def rename(pk, name):
    return Agent.objects.filter(pk=pk), {"name": name}


def test_values_are_bound_and_never_part_of_the_sql(agent):
    text = "x' OR 1=1 -- %s %(name)s \\"

    assert by_name(text) == []
    assert rename(agent.pk, text) == (text,)
    assert by_name.first(text).pk == agent.pk
    assert by_name.first(name=text).pk == agent.pk


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [((), {}), (("a", "b"), {}), (("a",), {"name": "a"}), ((), {"other": "a"}), ((None,), {})],
)
def test_a_value_that_is_missing_or_none_is_refused(args, kwargs):
    with pytest.raises(TypeError):
        by_name(*args, **kwargs)


def test_each_value_needs_its_field():
    with pytest.raises(ValueError, match="zip"):
        rows()(by_name.build)


@pytest.mark.parametrize(
    "queryset",
    [
        lambda: Agent.objects.values("name"),
        lambda: Agent.objects.prefetch_related("tokens"),
        lambda: Agent.objects.get().tokens.filter(prefix="p"),
    ],
)
def test_what_is_fetched_beside_rows_is_not_prepared(queryset, agent):
    with pytest.raises(TypeError, match=r"Agent.* prepared"):
        rows()(queryset)()


def test_values_are_prepared_in_the_order_that_is_asked_for(agent):
    asked = Agent.objects.annotate(twice=Concat("name", "name"))

    pairs = rows()(lambda: asked.values_list("twice", "pk", "name"))()
    names = rows()(lambda: asked.values_list("twice", flat=True))()

    assert pairs == [(agent.name * 2, agent.pk, agent.name)]
    assert names == [agent.name * 2]


@rows(Many(Agent.name))
def by_names(names):
    return Agent.objects.filter(name__among=names)


@rows(Many(ApprovalRequest.id))
def agents_asking(ids):
    return Agent.objects.filter(approvals__id__among=ids)


@pytest.mark.parametrize("count", [0, 1, 2, 5000])
def test_any_number_of_values_is_bound_at_once(agent, count):
    names = [agent.name, "x' OR 1=1 --", '"]', *(f"other {n}" for n in range(count))][:count]

    found = by_names(names)

    assert found == list(Agent.objects.filter(name__in=names[:100]))
    assert found == list(Agent.objects.filter(name__among=names))
    assert [one.pk for one in found] == [agent.pk][:count]


def test_many_ids_are_bound_as_the_engine_keeps_them(token):
    approval = make.pending(token)

    assert agents_asking([approval.pk, UUID(int=5)]) == [token.agent]
    assert agents_asking({}) == []


@pytest.mark.django_db(transaction=True)
@pytest.mark.engine("postgresql")
def test_rows_are_locked_in_a_transaction_only(agent):
    locked = rows()(lambda: Agent.objects.select_for_update(of=("self",)))
    for _ in range(2):  # when it is compiled, and after
        with pytest.raises(TransactionManagementError):
            locked()
        with transaction.atomic():
            assert "FOR UPDATE OF" in locked.compiled().bound.sql


@pytest.mark.django_db(transaction=True)
def test_threads_share_a_statement(agent):
    statement, start = rows(Agent.name)(by_name.build), Barrier(4)

    def ask(_):
        start.wait()
        try:
            return statement.first("beamline").pk
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(ask, range(4))) == {agent.pk}


def test_a_token_is_looked_up_by_one_statement(agent, django_assert_num_queries):
    secret = make.secret(agent)

    with django_assert_num_queries(1):
        assert tokens.find(secret).agent == agent


@pytest.fixture(autouse=True)
def _no_others():
    """Leave no statements behind that only a test made."""
    before = list(PREPARED)
    yield
    PREPARED[:] = before


def test_requests_are_made_without_signals():
    """``insert`` sends none, so nothing may listen to them."""
    from django.db.models import signals  # noqa: PLC0415 - only here

    for signal in (signals.pre_save, signals.post_save):
        assert not signal.has_listeners(ApprovalRequest)
