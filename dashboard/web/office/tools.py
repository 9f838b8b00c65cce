"""Every tool that an agent asked to call, and how admins class them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Page, Paginator
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.safestring import SafeString
from django.views.decorators.http import require_http_methods

from approval_client.wire import parse_json
from dashboard.approvals.models import Tool
from dashboard.approvals.queries.tool import ToolCalls, calls_of, tools_like
from dashboard.approvals.services import ClassChange, class_tools
from dashboard.policies.rules.rule import ToolClass
from dashboard.policies.rules.wording import CLASSES
from dashboard.web.access import admins_only, auth
from dashboard.web.drawing.markup import untrusted
from dashboard.web.http import PersonRequest

PAGE = 200
_LONGEST_SEARCH = 200
_NUMBER = re.compile(r"[0-9]{1,18}")
_NUMBERED = {str(tool_class): number for number, tool_class in enumerate(ToolClass, 1)}
CHOICES = [
    ("", "0 · nobody has classed it"),
    *((name, f"{number} · {CLASSES[name]}") for name, number in _NUMBERED.items()),
]
"""In a list that has the focus, a digit chooses. So two hundred are classed by keyboard."""

_CLAIMS = {
    ("readOnlyHint", True): "only reads",
    ("readOnlyHint", False): "changes something",
    ("destructiveHint", True): "destroys",
    ("destructiveHint", False): "destroys nothing",
    ("idempotentHint", True): "may be repeated",
    ("openWorldHint", True): "reaches outside",
    ("openWorldHint", False): "stays inside",
}


class BadClasses(ValueError):
    """The form says something that no page of ours asks. Nothing was changed."""


@dataclass(frozen=True)
class ToolRow:
    """One tool of the table.

    Attributes:
        name: The agent's word.
        schema: The beginning of its digest; empty where the agent sent none.
        claims: What the agent, or its MCP server, claims of it.
        history: Leads to the calls of it.
    """

    tool: Tool
    name: SafeString
    schema: str
    claims: str
    calls: ToolCalls
    history: str

    @property
    def last_asked_at(self) -> datetime:
        """When a call of it was asked for last."""
        return self.calls.last_asked_at or self.tool.first_asked_at


@admins_only
@require_http_methods(["GET", "HEAD", "POST"])
def tools(request: PersonRequest) -> HttpResponse:
    """List the tools, those first that nobody has classed, and class them."""
    if request.method == "POST":
        return _save(request)
    search = request.GET.get("q", "")[:_LONGEST_SEARCH].replace("\0", "")
    only_unclassed = request.GET.get("show") == "unclassed"
    found_tools = tools_like(search)
    counts = {
        "all": found_tools.count(),
        "unclassed": found_tools.filter(tool_class="").count(),
    }
    listed = found_tools.filter(tool_class="") if only_unclassed else found_tools
    page = Paginator(listed, PAGE).get_page(request.GET.get("page"))
    context = {
        "page": page,
        "rows": list(_rows(page)),
        "choices": CHOICES,
        "search": search,
        "show": "unclassed" if only_unclassed else "",
        "counts": counts,
        "query": urlencode({"q": search}) if search else "",
    }
    return render(request, "office/tools.html", context)


def _rows(page: Page[Tool]) -> Iterator[ToolRow]:
    calls = calls_of([tool.pk for tool in page])
    for tool in page:
        query = urlencode({"agent": tool.agent.name, "tool": tool.name})
        yield ToolRow(
            tool=tool,
            name=untrusted(tool.name),
            schema=tool.schema_digest[:8],
            claims=_claims(tool.claims),
            calls=calls[tool.pk],
            history=f"{reverse('web:history')}?{query}",
        )


def _claims(text: str) -> str:
    hints: Mapping[str, Any] = parse_json(text)
    return ", ".join(_CLAIMS[hint] for hint in hints.items() if hint in _CLAIMS)


def _save(request: PersonRequest) -> HttpResponse:
    back = _back(request.POST)
    try:
        changes = dict(_changes(request.POST))
        outcome = class_tools(changes, by=request.user, auth=auth(request))
    except BadClasses as error:
        messages.error(request, str(error))
        return redirect(back)
    for tool in outcome.stale:
        messages.warning(
            request,
            f"Tool “{tool.name}” of {tool.agent.name} was classed by somebody else in the "
            "meantime. Its class was not changed: look at it again.",
        )
    count = len(outcome.classed)
    if count:
        messages.success(request, f"{count} tool{'s are' if count > 1 else ' is'} classed.")
    elif not outcome.stale:
        messages.info(request, "No class was changed.")
    return redirect(back)


def _changes(fields: QueryDict) -> Iterator[tuple[int, ClassChange]]:
    """Yield what differs from what the page showed.

    Raises:
        BadClasses: A field names no tool, or no class.
    """
    for field, tool_class in fields.items():
        if not field.startswith("class-"):
            continue
        number = field.removeprefix("class-")
        shown_class = fields.get(f"shown-{number}")
        if not _NUMBER.fullmatch(number):
            raise BadClasses("A field of this form names no tool. No class was changed.")
        if shown_class is None or not {tool_class, shown_class} <= {"", *ToolClass}:
            raise BadClasses(
                f"“{tool_class[:40]}” is not a class of tools. No class was changed: reload the "
                "page and choose again."
            )
        if tool_class != shown_class:
            yield int(number), ClassChange(str(shown_class), str(tool_class))


def _back(fields: QueryDict) -> str:
    kept_fields = {name: str(fields[name]) for name in ("q", "show", "page") if fields.get(name)}
    query = f"?{urlencode(kept_fields)}" if kept_fields else ""
    return f"{reverse('web:tools')}{query}"
