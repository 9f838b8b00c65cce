"""Reads of the audit log for pages."""

from __future__ import annotations

from django.db.models import QuerySet

from dashboard.audit.models import AuditEntry, AuditHead


def newest(limit: int = 100, before: int | None = None) -> QuerySet[AuditEntry]:
    """The newest entries first, from ``before`` backwards."""
    entries = AuditEntry.objects.order_by("-seq")
    return (entries.filter(seq__lt=before) if before else entries)[:limit]


def about(subject: str) -> QuerySet[AuditEntry]:
    """Everything that was recorded about one subject, oldest first."""
    return AuditEntry.objects.filter(subject=subject).order_by("seq")


def head() -> AuditHead | None:
    """The last link of the chain, or None before anything was recorded."""
    return AuditHead.objects.filter(pk=1).first()
