"""Whether the condition of a statement of SQL is none, because it holds for every row."""

from __future__ import annotations

import re
from itertools import combinations, starmap

from sqlglot import expressions as exp

_TESTS = (exp.EQ, exp.GTE, exp.LTE, exp.NullSafeEQ)
_LIKES = (exp.Like, exp.ILike, exp.SimilarTo, exp.RegexpLike)
_ANYTHING = re.compile(r"%+|\^?(?:\.[*+]?)?\$?")
_COMPARED = 8
_OPPOSITES = ({exp.EQ, exp.NEQ}, {exp.GT, exp.LTE}, {exp.LT, exp.GTE})
_DIFFERENCES = (exp.NEQ, exp.GT, exp.LT)
_VARYING = (exp.Column, exp.Subquery, exp.Exists, exp.Placeholder)


def always_true(condition: exp.Expr | None, table: str) -> bool:
    """Whether a condition holds for every row of a table, as far as it shows."""
    inner = _whole(condition)
    match inner:
        case exp.Or():
            # Flat, because a condition may have thousands of parts.
            parts = list(inner.flatten())
            pairs = combinations(parts[:_COMPARED], 2)
            return any(always_true(c, table) for c in parts) or any(starmap(_exclude, pairs))
        case exp.And():
            return all(always_true(c, table) for c in inner.flatten())
        case exp.Not():
            different = _whole(inner.this)
            equal = isinstance(different, _DIFFERENCES) and _is_same(*_sides(different))
        case _:
            equal = _test_holds(inner, table)
    return equal or inner.find(*_VARYING) is None


def _test_holds(test: exp.Expr, table: str) -> bool:
    match test:
        case exp.Between():
            return bool(test.this == test.args["low"] == test.args["high"])
        case exp.In():
            return test.this in test.expressions or _is_whole(test.args.get("query"), table)
        case exp.Exists():
            return test.find(exp.Where) is None
        case exp.EQ(expression=exp.Any(this=query)):
            return _is_whole(query, table)
        case _ if isinstance(test, _LIKES):
            return _ANYTHING.fullmatch(_sides(test)[1].name) is not None
        case _:
            return isinstance(test, _TESTS) and _is_same(*_sides(test))


def _sides(test: exp.Expr) -> tuple[exp.Expr, exp.Expr]:
    return _whole(test.this), _whole(test.args.get("expression"))


def _whole(part: exp.Expr | None) -> exp.Expr:
    """Return an expression without parentheses; what did not parse may have none."""
    inner = part.unnest() if part is not None else None
    return exp.Null() if inner is None else inner


def _is_same(left: exp.Expr, right: exp.Expr) -> bool:
    """Whether two expressions are the same, or name the same column with and without its table."""
    if isinstance(left, exp.Column) and isinstance(right, exp.Column):
        tables = {left.table.lower(), right.table.lower()}
        return left.name.lower() == right.name.lower() and (len(tables) == 1 or "" in tables)
    return bool(left == right)


def _exclude(left: exp.Expr, right: exp.Expr) -> bool:
    """Whether one of two conditions holds wherever the other does not."""
    left, right = _whole(left), _whole(right)
    sides = [(c.this, c.args.get("expression")) for c in (left, right)]
    opposites = {type(left), type(right)} in _OPPOSITES
    if isinstance(left, exp.Is) and isinstance(right, exp.Is):
        opposites = bool(left.args.get("negate")) != bool(right.args.get("negate"))
    if opposites:
        return sides[0] == sides[1]
    negated = ((a, b) for a, b in ((left, right), (right, left)) if isinstance(a, exp.Not))
    return any(_whole(a.this) == b for a, b in negated)


def _is_whole(query: exp.Expr | None, table: str) -> bool:
    """Whether a query returns every row of a table."""
    source = query.find(exp.Table) if query else None
    narrows = query.find(exp.Where, exp.Join, exp.Limit, exp.Having) if query else None
    return source is not None and narrows is None and source.name == table
