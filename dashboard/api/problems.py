"""Every refusal of the agents' API: ``application/problem+json`` (RFC 9457), stable codes."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from functools import wraps
from http import HTTPStatus
from typing import Any, NamedTuple

from django.core.exceptions import RequestDataTooBig
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError, ValidationError

from approval_client.wire import UNSUPPORTED_PROTOCOL, JsonError
from dashboard.approvals.errors import BodyTooLarge, NotebookTooLarge, Refused
from dashboard.approvals.rules.content import NOT_ONE_LINE, ONE_LINE
from dashboard.metrics import PROCESS, REFUSALS

CONTENT_TYPE = "application/problem+json"
KEY = r"^[\x21-\x7e]+$"
"""The pattern of an idempotency key."""
_LONGEST_NAME = 100
STATUS_OF = {
    "already_closed": 409,
    "already_finished": 409,
    "already_started": 409,
    "approval_expired": 409,
    "clock_behind": 409,
    "database_in_doubt": 409,
    "digest_mismatch": 409,
    "idempotency_conflict": 409,
    "invalid": 422,
    "method_not_allowed": 405,
    "not_a_notebook": 422,
    "not_approved": 409,
    "not_found": 404,
    "not_permitted": 403,
    "not_started": 409,
    "notebooks_full": 409,
    "on_hold": 409,
    "taken_back": 409,
    "too_large": 413,
    "too_many_pending": 429,
    "too_many_requests": 429,
    "too_many_waits": 429,
    "unauthorized": 401,
    "unavailable": 503,
    "unsupported_media_type": 415,
    UNSUPPORTED_PROTOCOL: 400,
    # what strict JSON refuses
    "duplicate_key": 400,
    "lone_surrogate": 400,
    "not_finite": 400,
    "not_json": 400,
    "not_utf8": 400,
    "nul_character": 400,
    "number_too_long": 400,
    "too_deep": 400,
}


class Problem(NamedTuple):
    """A refusal, ready to be sent. ``retry_after_s`` is in seconds."""

    code: str
    detail: str
    errors: list[dict[str, Any]] | None = None
    retry_after_s: int | None = None

    @property
    def status(self) -> int:
        """The HTTP status of this code."""
        return STATUS_OF[self.code]

    @property
    def headers(self) -> Mapping[str, str]:
        """Headers to send with it."""
        headers = {"Content-Type": CONTENT_TYPE, "Cache-Control": "no-store"}
        if self.code == "unauthorized":
            headers["WWW-Authenticate"] = "Bearer"
        if self.retry_after_s is not None:
            headers["Retry-After"] = str(self.retry_after_s)
        return headers

    def body(self) -> bytes:
        """The JSON to send, which counts as one refusal more."""
        REFUSALS.labels(PROCESS, self.code).inc()
        fields: dict[str, Any] = {
            "type": "about:blank",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "code": self.code,
            "detail": self.detail,
        }
        if self.errors is not None:
            fields["errors"] = self.errors
        return json.dumps(fields).encode()

    def response(self) -> HttpResponse:
        """The Django response to send."""
        return HttpResponse(self.body(), status=self.status, headers=dict(self.headers))


UNAUTHORIZED = Problem(
    "unauthorized",
    "Send 'Authorization: Bearer <token>' with a token that was issued to an agent and still "
    "works. Nothing was done.",
)
NOT_FOUND = Problem("not_found", "There is nothing here. Nothing was done.")
NOT_ALLOWED = Problem(
    "method_not_allowed",
    "This address takes other methods, which the header Allow names. Nothing was done.",
)
TOO_LARGE = Problem("too_large", str(BodyTooLarge()))
NOTEBOOK_TOO_LARGE = Problem("too_large", str(NotebookTooLarge()))
TOO_MANY_WAITS = Problem(
    "too_many_waits",
    (
        "This token or this server has too many open waits. Nothing was changed. Wait for "
        "fewer requests at a time."
    ),
    retry_after_s=2,
)
UNAVAILABLE = Problem(
    "unavailable",
    "The database did not answer in time. Send the same request again: nothing is done twice.",
    retry_after_s=2,
)

COMPRESSED = Problem(
    "unsupported_media_type",
    "Send the notebook as it is, without Content-Encoding. It was not kept.",
)

log = logging.getLogger(__name__)


class UnsupportedMediaType(Exception):
    """The body does not say that it is JSON."""


class Compressed(Exception):
    """The body of a notebook is not sent as it is."""


def of_refusal(error: Refused) -> Problem:
    """Turn a refusal of the domain into a problem."""
    retry_after_s = getattr(error, "retry_after_s", None)
    return Problem(error.code, str(error), retry_after_s=retry_after_s)


def install(api: NinjaAPI) -> None:
    """Have ``api`` answer every refusal as a problem."""
    handlers: dict[type[Exception], Callable[[HttpRequest, Any], HttpResponse]] = {
        Refused: lambda _, error: of_refusal(error).response(),
        Compressed: lambda *_: COMPRESSED.response(),
        ValidationError: _on_invalid,
        RequestDataTooBig: lambda *_: TOO_LARGE.response(),
        HttpError: _on_http_error,
        AuthenticationError: lambda *_: UNAUTHORIZED.response(),
        Http404: lambda *_: NOT_FOUND.response(),
        OperationalError: _on_no_database,
        InterfaceError: _on_no_database,
    }
    for error, handler in handlers.items():
        api.add_exception_handler(error, handler)


def told(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Have a view of ninja refuse a method as a problem, which it does in plain text."""

    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        response = view(request, *args, **kwargs)
        if response.status_code != HTTPStatus.METHOD_NOT_ALLOWED:
            return response
        refusal = NOT_ALLOWED.response()
        refusal["Allow"] = response["Allow"]
        return refusal

    return answer


def refuse_other_parameters(request: HttpRequest, *known: str) -> None:
    """Refuse unknown parameters of the address: a misspelt one would be ignored.

    Raises:
        ValidationError: There is a parameter besides those that are ``known``.
    """
    if unknown := request.GET.keys() - set(known):
        name, message = min(unknown), "Extra inputs are not permitted"
        raise ValidationError([{"loc": ("query", name), "msg": message}])


def _on_no_database(request: HttpRequest, error: Exception) -> HttpResponse:
    log.warning("No answer from the database for %s %s: %s", request.method, request.path, error)
    return UNAVAILABLE.response()


def _on_invalid(_: HttpRequest, error: ValidationError) -> HttpResponse:
    # The input itself is left out: it may be large, or hold secrets.
    errors = [{"where": _where(e["loc"]), "message": _message(e)} for e in error.errors]
    first_error = errors[0]
    where = ".".join(str(part) for part in first_error["where"])
    detail = f"{where}: {first_error['message']}. Nothing was done."
    return Problem("invalid", detail, errors=errors).response()


def _message(error: Mapping[str, Any]) -> str:
    if error.get("ctx", {}).get("pattern") in ONE_LINE:  # which nobody can read
        return f"This {NOT_ONE_LINE}"
    if error.get("ctx", {}).get("pattern") == KEY:
        return "This must be 1 to 200 visible ASCII characters, without a space"
    return str(error["msg"]).removesuffix(".")


def _where(location: tuple[str | int, ...]) -> list[str | int]:
    doubled = location[:2] == ("body", "body")  # ninja names the parameter, which is "body" too
    return [_readable(part) for part in (location[1:] if doubled else location)]


def _readable(part: str | int) -> str | int:
    """Return a name that an agent made up, in so many characters, all of which can be seen."""
    if isinstance(part, int):
        return part
    short = part[:_LONGEST_NAME]
    visible = short if short.isprintable() else ascii(short)[1:-1]
    return f"{visible}…" if short != part else visible


def _on_http_error(_: HttpRequest, error: HttpError) -> HttpResponse:
    # The only one that ninja raises by itself: the body could not be parsed.
    return _of_unread_body(error.__cause__).response()


def _of_unread_body(cause: BaseException | None) -> Problem:
    match cause:
        case JsonError():
            return Problem(cause.code, f"{cause} Nothing was done.")
        case UnsupportedMediaType():
            return Problem(
                "unsupported_media_type",
                "Send the body as 'Content-Type: application/json'. Nothing was done.",
            )
        case RequestDataTooBig():
            return TOO_LARGE
    return Problem("not_json", "The body could not be read. Nothing was done.")
