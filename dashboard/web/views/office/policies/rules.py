"""The rules of a draft, one at a time."""

from __future__ import annotations

from http import HTTPStatus

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from dashboard.policies import queries
from dashboard.policies.errors import DraftMoved, ExamplesFail
from dashboard.policies.evaluate import PolicyError
from dashboard.policies.models import PolicyDraft
from dashboard.policies.rules import Rule
from dashboard.policies.services import drafts
from dashboard.policies.wording import rule_sentence
from dashboard.web.access import action, admins_only
from dashboard.web.forms_policy_editor import RuleEditor
from dashboard.web.http import PersonRequest
from dashboard.web.presenting.policies import known_groups, read
from dashboard.web.views.office.policies.draft import moved

_METHODS = ["GET", "HEAD", "POST"]


@admins_only
@require_http_methods(_METHODS)
def new_rule(request: PersonRequest) -> HttpResponse:
    """Write a rule and put it after the others."""
    if queries.draft_of(request.user) is None:
        return redirect("web:draft")
    if request.method == "POST":
        return _save(request, RuleEditor(known_groups(), request.POST), None)
    return _page(request, RuleEditor(known_groups()), None)


@admins_only
@require_http_methods(_METHODS)
def rule(request: PersonRequest, index: int) -> HttpResponse:
    """Change one rule of the draft."""
    present = _rule(queries.draft_of(request.user), index)
    if request.method == "POST":
        return _save(request, RuleEditor(known_groups(), request.POST, present), index)
    if present is None:
        return redirect("web:draft")
    return _page(request, RuleEditor(known_groups(), rule=present), index)


@admins_only
@action("web:rule")
def move_rule(request: PersonRequest, index: int) -> HttpResponse:
    """Exchange a rule with its neighbour."""
    up, stamp = request.POST.get("to") == "up", request.POST.get("stamp", "")
    try:
        drafts.move_rule(request.user, index, up=up, stamp=stamp)
    except DraftMoved as error:
        return moved(request, error)
    return redirect(f"{reverse('web:draft')}#rule-{index + (0 if up else 2)}")


@admins_only
@action("web:rule")
def remove_rule(request: PersonRequest, index: int) -> HttpResponse:
    """Take a rule out of the draft."""
    removed = _rule(queries.draft_of(request.user), index)
    try:
        drafts.remove_rule(request.user, index, stamp=request.POST.get("stamp", ""))
    except DraftMoved as error:
        return moved(request, error)
    if removed:
        messages.success(request, f"The rule {removed.name!r} is out of the draft.")
    return redirect("web:draft")


def _rule(draft: PolicyDraft | None, index: int) -> Rule | None:
    policy = read(draft.document) if draft else None
    rules = policy.rules if policy else ()
    return rules[index] if index < len(rules) else None


def _save(request: PersonRequest, editor: RuleEditor, index: int | None) -> HttpResponse:
    stamp, status = request.POST.get("stamp", ""), HTTPStatus.UNPROCESSABLE_ENTITY
    if not editor.is_valid():
        return _page(request, editor, index, status)
    try:
        if index is None:
            drafts.add_rule(request.user, editor.rule, stamp=stamp)
        else:
            drafts.change_rule(request.user, index, editor.rule, stamp=stamp)
    except ExamplesFail as error:
        editor.form.add_error(None, [*error.failures, "Nothing was saved."])
    except PolicyError as error:
        editor.add_problems(error)
    except DraftMoved as error:
        editor.form.add_error(None, str(error))
        status = HTTPStatus.CONFLICT
    else:
        messages.success(request, f"The rule {editor.rule.name!r} is saved in the draft.")
        return redirect("web:draft")
    return _page(request, editor, index, status)


def _page(
    request: PersonRequest,
    editor: RuleEditor,
    index: int | None,
    status: HTTPStatus = HTTPStatus.OK,
) -> HttpResponse:
    draft = queries.draft_of(request.user)
    present = None if index is None else _rule(draft, index)
    context = {
        "editor": editor,
        "index": index,
        "sentence": rule_sentence(present) if present else "",
        "stamp": request.POST.get("stamp") or drafts.stamp_of(draft),
    }
    return render(request, "office/policy/rule.html", context, status=status)
