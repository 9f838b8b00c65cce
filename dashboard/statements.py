"""Statements of the ORM whose SQL is made once and then only bound: for agents, and for pages.

To build the SQL of a queryset takes Django about ten times as long as SQLite takes to answer it,
and it builds it anew each time. Here a queryset is written as anywhere else, in a function whose
parameters stand for values that come later. It is compiled when it is first used, once for each
engine; a call binds its values and makes the models' rows.

Nothing that is kept up does this: Django keeps no compiled queries, ``raw()`` leaves the SQL to
whoever writes it, a driver's prepared statements spare the database its planning and not Django
its building, and packages such as cacheops and cachalot keep *rows*, which a gate must not.

What a call does is what the ORM does with the same queryset and values: the same SQL, with locks
where the engine has them, values bound by the type of their field, the same rows.
``tests/test_statements.py`` compares each statement in ``PREPARED`` with the ORM on both engines.

Threads may share a statement: of two that compile it at once, both make the same.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import signature
from typing import Any, Generic, NamedTuple, ParamSpec, Protocol, TypeVar

from django.db import connection
from django.db.models import Expression, Field, Lookup, Model, QuerySet
from django.db.models.query import FlatValuesListIterable, ModelIterable, ValuesListIterable
from django.db.models.sql import InsertQuery, UpdateQuery
from django.db.transaction import TransactionManagementError

P = ParamSpec("P")
M = TypeVar("M", bound=Model)
R = TypeVar("R")
T = TypeVar("T")


class Attribute(Protocol):
    """A field as its model has it, such as ``Agent.name``."""

    @property
    def field(self) -> Field[Any, Any]:
        """The field itself."""


class Many(NamedTuple):
    """Says of a parameter that it stands for any number of values of a field, for ``among``."""

    of: Attribute

    @property
    def field(self) -> Field[Any, Any]:
        """The field of each of them."""
        return self.of.field


@Field.register_lookup
class Among(Lookup):
    """``pk__among=ids`` is what ``pk__in=ids`` is, in one SQL for any number of values."""

    lookup_name = "among"
    prepare_rhs = False

    def as_sql(self, compiler: Any, connection: Any) -> Any:
        """Compare with an array, or on SQLite with the values of a JSON array."""
        column, params = self.process_lhs(compiler, connection)
        values = (self.rhs,)
        if not isinstance(self.rhs, _Slot):
            values = (_array(self.lhs.output_field, self.rhs),)
        if connection.vendor == "postgresql":
            return f"{column} = ANY(%s)", (*params, *values)
        sql = f"{column} IN (SELECT value FROM json_each(%s))"  # noqa: S608 - no values
        return sql, (*params, *values)


def _array(field: Field[Any, Any], values: Iterable[Any]) -> Any:
    prepared = [field.get_db_prep_value(value, connection, prepared=False) for value in values]
    return prepared if connection.vendor == "postgresql" else json.dumps(prepared)


class _Slot(Expression):
    """Stands in a statement for the value of one parameter."""

    def __init__(self, field: Field[Any, Any], name: str) -> None:
        super().__init__(output_field=field)
        self.name = name

    def as_sql(self, compiler: Any, connection: Any) -> Any:
        del compiler, connection
        return "%s", (self,)


class _Bound(NamedTuple):
    """SQL, and what it is bound with: values that are always the same, and slots."""

    sql: str
    params: tuple[Any, ...]

    def values(self, arguments: Mapping[str, Any]) -> list[Any]:
        """Return the parameters with the given values in their places."""
        return [arguments[p.name] if isinstance(p, _Slot) else p for p in self.params]


class _Parameters:
    """The parameters of a function that builds a statement, each with the field of its values."""

    def __init__(self, build: Callable[..., Any], fields: Sequence[Attribute]) -> None:
        attributes = dict(zip(signature(build).parameters, fields, strict=True))
        self.fields = {name: of.field for name, of in attributes.items()}
        self._many = {name for name, of in attributes.items() if isinstance(of, Many)}

    def slots(self) -> list[_Slot]:
        return [_Slot(field, name) for name, field in self.fields.items()]

    def bind(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values as the database takes them.

        Raises:
            TypeError: One is missing, or None: NULL equals nothing, so it would find nothing.
        """
        arguments = dict(zip(self.fields, args, strict=False), **kwargs)
        if arguments.keys() != self.fields.keys() or len(args) + len(kwargs) != len(self.fields):
            raise TypeError(f"The parameters are {', '.join(self.fields)}.")
        if nulls := [name for name, value in arguments.items() if value is None]:
            raise TypeError(f"{', '.join(nulls)}: prepared statements do not accept None.")
        return {
            name: _array(field, arguments[name])
            if name in self._many
            else field.get_db_prep_value(arguments[name], connection, prepared=False)
            for name, field in self.fields.items()
        }


def _with_slots(build: Callable[..., T], slots: Sequence[_Slot]) -> T:
    # A function for types: what is built is typed by the values that are bound later.
    return build(*slots)


class _Select(NamedTuple):
    """A compiled query, and how one of its rows becomes a model's row."""

    bound: _Bound
    locks: bool
    make: Callable[[Sequence[Any]], Any]


class Rows(Generic[P, R]):
    """A query for rows of a model, with what it joins and annotates, or for some of its columns.

    Made by ``rows()``.
    """

    def __init__(self, build: Callable[P, QuerySet[Any, R]], fields: Sequence[Attribute]) -> None:
        self.build = build
        self._parameters = _Parameters(build, fields)
        self._compiled: dict[str, _Select] = {}
        PREPARED.append(self)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> list[R]:
        """Return the rows that the queryset has with these values.

        Raises:
            TransactionManagementError: It locks rows, and there is no transaction.
        """
        select, values = self.compiled(), self._parameters.bind(args, kwargs)
        if select.locks and connection.get_autocommit():
            raise TransactionManagementError("Rows are locked inside a transaction only.")
        with connection.cursor() as cursor:
            cursor.execute(select.bound.sql, select.bound.values(values))
            return [select.make(row) for row in cursor.fetchall()]

    def first(self, *args: P.args, **kwargs: P.kwargs) -> R | None:
        """Return the first of the rows, or None."""
        rows = self(*args, **kwargs)
        return rows[0] if rows else None

    def compiled(self) -> _Select:
        """Return the statement as the present engine takes it."""
        vendor = connection.vendor
        if vendor not in self._compiled:
            self._compiled[vendor] = _compile(_with_slots(self.build, self._parameters.slots()))
        return self._compiled[vendor]


def rows(*fields: Attribute) -> Callable[[Callable[P, QuerySet[Any, R]]], Rows[P, R]]:
    """Prepare the queryset that a function returns, whose parameters are values of ``fields``.

    ::

        @rows(Agent.name)
        def _by_name(name: str) -> QuerySet[Agent]:
            return Agent.objects.filter(name=name)

        agent = _by_name.first("beamline")

    The function is called once, with stand-ins: it may pass its parameters to filters and
    annotations, and do nothing else with them. One that stands for many values is given as
    ``Many(Agent.name)`` and compared with ``name__among``.
    """
    return lambda build: Rows(build, fields)


def _compile(queryset: Any) -> _Select:
    if queryset._prefetch_related_lookups or queryset._known_related_objects:
        raise TypeError(f"{queryset.model.__name__}: What is fetched beside it is not prepared.")
    compiler = queryset.query.get_compiler(connection=connection)
    bound = _Bound(*compiler.as_sql())
    converters = list(compiler.get_converters([column[0] for column in compiler.select]).items())
    make_of = _of_values(queryset, compiler)

    def make(row: Sequence[Any]) -> Any:
        values = list(row)
        for place, (convert, expression) in converters:
            for converter in convert:
                values[place] = converter(values[place], expression, connection)
        return make_of(values)

    locks = queryset.query.select_for_update and connection.features.has_select_for_update
    return _Select(bound, bool(locks), make)


def _of_values(queryset: Any, compiler: Any) -> Callable[[list[Any]], Any]:
    """Return what makes of the values of one row what the queryset yields."""
    if queryset._iterable_class is FlatValuesListIterable:
        return lambda values: values[0]
    if queryset._iterable_class is ValuesListIterable:
        return tuple
    if queryset._iterable_class is not ModelIterable:
        raise TypeError(f"{queryset.model.__name__}: Only rows and lists of values are prepared.")
    annotations = list((compiler.annotation_col_map or {}).items())
    model = _maker(compiler.klass_info or {}, compiler.select)

    def make(values: list[Any]) -> Any:
        row = model(values)
        for name, place in annotations:
            setattr(row, name, values[place])
        return row

    return make


def _maker(info: Mapping[str, Any], select: Sequence[Any]) -> Callable[[Sequence[Any]], Any]:
    """Return what makes a model's row, with the rows that it is joined with, of a row's values."""
    model: type[Model] = info["model"]
    start, end = info["select_fields"][0], info["select_fields"][-1] + 1
    names = [column[0].target.attname for column in select[start:end]]
    key = start + names.index(model._meta.pk.attname)
    joined = [
        (_maker(related, select), related["local_setter"], related["remote_setter"])
        for related in info.get("related_klass_infos", ())
    ]

    def make(values: Sequence[Any]) -> Any:
        if values[key] is None:  # of an outer join that found nothing
            return None
        row = model.from_db(connection.alias, names, values[start:end])
        for of_joined, set_here, set_there in joined:
            joined_row = of_joined(values)
            set_here(row, joined_row)
            if joined_row is not None:
                set_there(joined_row, row)
        return row

    return make


def fetched(row: Model, name: str, found: Iterable[Model]) -> None:
    """Let ``row.name.all()`` be what was found, as after ``prefetch_related(name)``."""
    manager = getattr(row, name)
    queryset = manager.model._default_manager.all()
    queryset._result_cache, queryset._prefetch_done = list(found), True
    vars(row).setdefault("_prefetched_objects_cache", {})[name] = queryset


class _Update(NamedTuple):
    """A compiled update; ``told`` reads what it tells where the engine cannot return it."""

    bound: _Bound
    told: _Bound | None


class Change(Generic[P]):
    """A change of one row that tells what became of it. Made by ``change()``."""

    def __init__(
        self,
        build: Callable[P, tuple[QuerySet[Any], dict[str, Any]]],
        fields: Sequence[Attribute],
        returning: Sequence[Any],
    ) -> None:
        self.build, self.returning = build, returning
        self._parameters = _Parameters(build, fields)
        self._compiled: dict[str, _Update] = {}
        PREPARED.append(self)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> tuple[Any, ...] | None:
        """Change the row, and return what it was asked to return; None if there was none."""
        update, values = self.compiled(), self._parameters.bind(args, kwargs)
        with connection.cursor() as cursor:
            cursor.execute(update.bound.sql, update.bound.values(values))
            if update.told and cursor.rowcount:
                cursor.execute(update.told.sql, update.told.values(values))
            elif not self.returning or update.told:
                return () if cursor.rowcount else None
            rows = cursor.fetchall()
            return rows[0] if rows else None

    def compiled(self) -> _Update:
        """Return the statement as the present engine takes it."""
        vendor = connection.vendor
        if vendor not in self._compiled:
            self._compiled[vendor] = self._compile()
        return self._compiled[vendor]

    def _compile(self) -> _Update:
        key, *_ = slots = self._parameters.slots()
        queryset, changes = _with_slots(self.build, slots)
        query: Any = queryset.query.chain(UpdateQuery)
        query.add_update_values(changes)
        compiler = query.get_compiler(connection=connection)
        update = _Bound(*compiler.as_sql())
        if not self.returning:
            return _Update(update, None)
        compiled = [
            compiler.compile(expression.resolve_expression(query)) for expression in self.returning
        ]
        columns = ", ".join(sql for sql, _ in compiled)
        params = tuple(param for _, more in compiled for param in more)
        if connection.features.can_return_columns_from_insert:
            sql = f"{update.sql} RETURNING {columns}"
            return _Update(_Bound(sql, (*update.params, *params)), None)
        # SQLite before 3.35, where nobody else writes until the transaction ends.
        quote, meta = connection.ops.quote_name, queryset.model._meta
        table, pk = quote(meta.db_table), quote(meta.pk.column)
        sql = f"SELECT {columns} FROM {table} WHERE {table}.{pk} = %s"  # noqa: S608 - no values
        return _Update(update, _Bound(sql, (*params, key)))


def change(
    *fields: Attribute, returning: Sequence[Any] = ()
) -> Callable[[Callable[P, tuple[QuerySet[Any], dict[str, Any]]]], Change[P]]:
    """Prepare an update of one row, whose primary key is the first parameter.

    The function returns the queryset of that row, and its new values. ``returning`` are
    expressions over the row as it is then: numbers, texts and ``Exists``, as the engine has them.
    """
    return lambda build: Change(build, fields, returning)


PREPARED: list[Rows[Any, Any] | Change[Any]] = []
"""Every statement that was prepared, so that the tests leave none out."""


class _Insert(NamedTuple):
    """A compiled insert of one row: the fields that it writes, and those that the engine fills."""

    sql: str
    fields: list[Field[Any, Any]]
    filled: list[Field[Any, Any]]

    def values(self, row: Model) -> list[Any]:
        """Return what is bound for a row.

        Raises:
            TypeError: One of them is an expression, which is part of the SQL.
        """
        values = [field.pre_save(row, add=True) for field in self.fields]
        if any(hasattr(value, "resolve_expression") for value in values):
            raise TypeError(f"Prepared inserts take values, and no expressions: {values}.")
        return [
            field.get_db_prep_save(value, connection)
            for field, value in zip(self.fields, values, strict=True)
        ]


_insertions: dict[tuple[type[Model], str], _Insert] = {}


def insert(row: M) -> M:
    """Insert a new row, as ``save(force_insert=True)`` does, and return it.

    Without Django's signals of models: nothing in this program listens to them.
    """
    row._prepare_related_fields_for_save("save")  # type: ignore[attr-defined]
    statement = _insertion(row)
    with connection.cursor() as cursor:
        cursor.execute(statement.sql, statement.values(row))
        for field, value in zip(statement.filled, _filled(cursor, statement), strict=False):
            setattr(row, field.attname, value)
    row._state.adding, row._state.db = False, connection.alias
    return row


def insert_all(new: Sequence[Model]) -> None:
    """Insert rows of one model whose keys are set, one after the other, as one call."""
    statement = _insertion(new[0])
    with connection.cursor() as cursor:
        cursor.executemany(statement.sql, [statement.values(row) for row in new])


def _filled(cursor: Any, statement: _Insert) -> Sequence[Any]:
    if not statement.filled:
        return ()
    if connection.features.can_return_columns_from_insert:
        return cursor.fetchall()[0]  # type: ignore[no-any-return]
    key = statement.filled[0]
    table = key.model._meta.db_table
    return (connection.ops.last_insert_id(cursor, table, str(key.column)),)


def _insertion(row: Model) -> _Insert:
    key = (type(row), connection.vendor)
    if key not in _insertions:
        _insertions[key] = _compiled_insert(row)
    return _insertions[key]


def _compiled_insert(row: Model) -> _Insert:
    meta = row._meta
    fields = [field for field in meta.local_concrete_fields if field is not meta.auto_field]
    query = InsertQuery(type(row))
    query.insert_values(fields, [row])
    compiler = query.get_compiler(connection=connection)
    compiler.returning_fields = meta.db_returning_fields
    [(sql, _)] = compiler.as_sql()
    return _Insert(sql, fields, list(meta.db_returning_fields))
