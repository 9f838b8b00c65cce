"""Columns that hold one of our words, and constraints that say so."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from approval_client.wire import Kind, OutcomeState, Source, Status


def choices(words: type[Kind | Status | Source | OutcomeState]) -> list[tuple[str, str]]:
    return [(word.value, word.value.replace("_", " ")) for word in words]


def one_of(field: str, words: list[str], name: str) -> models.CheckConstraint:
    return models.CheckConstraint(condition=Q(**{f"{field}__in": words}), name=name)
