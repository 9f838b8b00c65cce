"""The agents' door: a schema in, one service, an answer out."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from ninja import Header, NinjaAPI, Query, Router
from ninja.openapi.schema import OpenAPISchema
from ninja.parser import Parser

from approval_client.wire import PROTOCOL, PROTOCOL_HEADER, parse_json
from dashboard.api import agent, answers, decisions, notebooks, problems
from dashboard.api.auth import AgentBearer, AgentRequest
from dashboard.api.schemas import AnswerOut, CancelIn, OutcomeIn, ProblemOut, SubmitIn
from dashboard.approvals import services
from dashboard.approvals.queries.agent import Answerable
from dashboard.tracing import TRACEPARENT

MAX_HOLD_S = 50.0
DEFAULT_HOLD_S = 25.0  # for programs whose own time limit is 30 seconds
"""Below the idle limit of common proxies and clients (60 s, 30 s)."""

Key = Annotated[
    str,
    Header(
        alias="Idempotency-Key",
        description="Names this one question or report, so that a retry does not repeat it.",
        min_length=1,
        max_length=200,
        pattern=problems.KEY,
    ),
]
Hold = Annotated[
    float,
    Query(ge=0, le=MAX_HOLD_S, description="How long to wait for a decision, in seconds."),
]


def _errors(*statuses: int) -> dict[int, Any]:
    return dict.fromkeys((401, 422, *statuses), ProblemOut)


class StrictParser(Parser):
    """Reads JSON bodies strictly; numbers keep the digits that their sender wrote."""

    def parse_body(self, request: HttpRequest) -> Any:
        """Return the body as JSON values."""
        if request.content_type != "application/json":
            raise problems.UnsupportedMediaType
        return parse_json(request.body)


class AgentsAPI(NinjaAPI):
    """Documents refusals as the problems that they are."""

    def get_openapi_schema(self, **kwargs: Any) -> OpenAPISchema:
        """Return the OpenAPI document."""
        schema = super().get_openapi_schema(**kwargs)
        for path in schema["paths"].values():
            for operation in path.values():
                for status, response in operation["responses"].items():
                    if int(status) >= 400:  # noqa: PLR2004 - where refusals begin
                        content = response["content"].pop("application/json")
                        response["content"][problems.CONTENT_TYPE] = content
        return schema


router = Router(auth=AgentBearer(), tags=["approvals"])


@router.post(
    "/approvals",
    response={201: AnswerOut, 200: AnswerOut, **_errors(400, 403, 409, 413, 415, 429)},
    summary="Ask for approval",
)
def submit(request: AgentRequest, body: SubmitIn, key: Key) -> HttpResponse:
    """Ask. Asking again with the same key and content returns the first request."""
    parent = request.headers.get("traceparent", "")
    answerable, created = services.submit(
        token=request.auth,
        idempotency_key=key,
        submission=body.submission(),
        traceparent=parent if TRACEPARENT.fullmatch(parent) else None,
    )
    return _answer(answerable, status=201 if created else 200)


@router.get("/approvals/{approval_id}", response={200: AnswerOut, **_errors(404)}, summary="Look")
def get(request: AgentRequest, approval_id: UUID) -> HttpResponse:
    """Return a request of this agent as it stands."""
    return _answer(services.of_agent(approval_id, request.auth.agent_id))


@router.get(
    "/approvals/{approval_id}/wait",
    response={200: AnswerOut, **_errors(404, 429, 503)},
    summary="Wait for the decision",
)
def wait(request: AgentRequest, approval_id: UUID, hold: Hold = DEFAULT_HOLD_S) -> HttpResponse:
    """Return the request as soon as it is closed, or as it stands after ``hold`` seconds.

    The server answers this before Django (``api.waiting``); this view only describes it, and
    answers at once where something else serves Django.
    """
    del hold
    problems.refuse_other_parameters(request, "hold")
    return get(request, approval_id)


@router.post(
    "/approvals/{approval_id}/cancel",
    response={200: AnswerOut, **_errors(400, 404, 409, 413, 415)},
    summary="Cancel a request",
)
def cancel(request: AgentRequest, approval_id: UUID, body: CancelIn) -> HttpResponse:
    """Withdraw an open request. Withdrawing it twice changes nothing."""
    services.cancel(approval_id=approval_id, token=request.auth, reason=body.reason)
    return _answer(services.of_agent(approval_id, request.auth.agent_id))


@router.post(
    "/approvals/{approval_id}/outcome",
    response={200: AnswerOut, **_errors(400, 404, 409, 413, 415)},
    summary="Report what became of it",
)
def outcome(request: AgentRequest, approval_id: UUID, body: OutcomeIn, key: Key) -> HttpResponse:
    """Report ``started`` before anything runs: it succeeds once. Report ``finished`` after."""
    reported = services.report_outcome(
        approval_id=approval_id, token=request.auth, idempotency_key=key, report=body.report()
    )
    return _answer(reported)


def _answer(answerable: Answerable, status: int = 200) -> HttpResponse:
    headers = {"Content-Type": "application/json", "Cache-Control": "no-store"}
    return HttpResponse(answers.to_json(answerable), status=status, headers=headers)


api = AgentsAPI(
    title="Approvals",
    version="1",
    description=(
        "Ask a person before you act. Submit, wait, and run only what was approved, after "
        "reporting `started`. Everything but `approved` means no. A call can name the version "
        f"of this protocol in the header `{PROTOCOL_HEADER}: {PROTOCOL}`, and every answer "
        "does. Without the header, a call counts as version 1. Another version is refused with "
        "the code `unsupported_protocol`."
    ),
    urls_namespace="api",
    parser=StrictParser(),
)
api.add_router("", router)
api.add_router("", agent.router)
api.add_router("", decisions.router)
api.add_router("", notebooks.router)
problems.install(api)
