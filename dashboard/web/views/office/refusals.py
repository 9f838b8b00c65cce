"""How refusals reach the form that they are about."""

from __future__ import annotations

from http import HTTPStatus

from django.core.exceptions import ValidationError
from django.forms import Form


def status_of(*forms: Form) -> HTTPStatus:
    """Return 422 if one of ``forms`` was sent and is wrong, else 200."""
    wrong = any(form.is_bound and not form.is_valid() for form in forms)
    return HTTPStatus.UNPROCESSABLE_ENTITY if wrong else HTTPStatus.OK


def messages_of(error: Exception) -> list[str]:
    """Return the sentences of a refusal."""
    return error.messages if isinstance(error, ValidationError) else [str(error)]
