"""What our inspectors and the starters say of a text."""

from datetime import UTC, datetime
from functools import lru_cache

from approval_client.wire import Kind
from dashboard.inspection.findings import Severity
from dashboard.inspection.inspector import inspect_content
from dashboard.policies.evaluate import Effect, evaluate
from dashboard.policies.rules.facts import Question
from dashboard.policies.starters import DANGEROUS, READ_ONLY

_ASKED_AT = datetime(2026, 1, 1, tzinfo=UTC)


@lru_cache(maxsize=4096)
def report_on(code, language):
    """Return what is found in a text."""
    return inspect_content(Kind.CODE, {"code": code, "language": language})


def raises_alarm(code, language):
    """Say whether anything of medium severity was found, or something could not be followed."""
    report = report_on(code, language)
    return report.has_doubts or _is_grave(report)


def is_approved(code, language):
    """Say whether the starter *Read-only Python approved* approves it without a person."""
    return _effect(READ_ONLY, code, language) is Effect.APPROVE


def is_rejected(code, language):
    """Say whether the starter *Dangerous commands rejected* rejects it without a person."""
    return _effect(DANGEROUS, code, language) is Effect.REJECT


def _is_grave(report):
    return (report.highest or Severity.INFO).rank >= Severity.MEDIUM.rank


def _effect(starter, code, language):
    question = Question(
        kind=Kind.CODE,
        content={"code": code, "language": language},
        report=report_on(code, language),
        agent="agent",
        asked_at=_ASKED_AT,
    )
    return evaluate(starter.policy, question).effect
