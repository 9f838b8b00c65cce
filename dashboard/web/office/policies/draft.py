"""An admin's draft of the policy: modes, import, starters, publishing."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from approval_client.capabilities import ApprovalMode
from dashboard.accounts.errors import NotPermitted
from dashboard.policies import queries
from dashboard.policies.errors import DraftRefused, PolicyRefusal
from dashboard.policies.evaluate import Policy, PolicyError
from dashboard.policies.formats.policy_yaml import Import, YamlError, from_yaml
from dashboard.policies.models import PolicyRevision
from dashboard.policies.services import current_revision, drafts
from dashboard.policies.starters import STARTERS
from dashboard.web.access import action, actor, admins_only, refused
from dashboard.web.forms import area
from dashboard.web.http import PersonRequest
from dashboard.web.office.policies.fields import WholeForm
from dashboard.web.office.policies.policy import compare, known_names, policy_summary, read_policy
from dashboard.web.office.policies.publishing import (
    PublishForm,
    put_refusal,
    tell_what_was_published,
)

LARGEST_IMPORT = 256 * 1024

_UNSET = "unset"


def _radio(label: str, choices: list[tuple[str, str]], help_text: str = "") -> forms.ChoiceField:
    # Named choices and no boxes: a form that arrives incomplete must not switch asking off.
    return forms.ChoiceField(
        label=label, choices=choices, help_text=help_text, widget=forms.RadioSelect
    )


class ModesForm(WholeForm):
    """Everything of a policy but its rules. Every choice is required."""

    global_mode = _radio(
        "Global mode",
        [
            ("all_capabilities", "Ask about code and memory (all_capabilities)"),
            ("selective", "Ask where switched on below (selective)"),
            ("disabled", "Ask nobody about anything (disabled)"),
        ],
        "Tools and plans have no mode: without a rule, a person is asked.",
    )
    python = _radio(
        "Asking about code",
        [
            ("on", "On"),
            ("off", "Off: approved, unless a rule says otherwise"),
            (_UNSET, "Not set: the rules decide"),
        ],
        "Any language, shell included (python_execution.enabled).",
    )
    python_mode = _radio(
        "Which code",
        [
            (ApprovalMode.ALL_CODE.value, "All code (all_code)"),
            (
                ApprovalMode.EPICS_WRITES.value,
                "Code that may write to the control system, or is not Python (epics_writes)",
            ),
            (ApprovalMode.DISABLED.value, "No code: approved without asking (disabled)"),
        ],
    )
    memory = _radio(
        "Asking about memory",
        [
            ("on", "On"),
            ("off", "Off: approved, unless a rule says otherwise"),
            (_UNSET, "Not set: the rules decide"),
        ],
        "memory.enabled",
    )
    owner_may_approve = _radio(
        "Owners may approve requests of their own agents",
        [("no", "No, another reviewer must"), ("yes", "Yes")],
    )
    stamp = forms.CharField(required=False, max_length=50, widget=forms.HiddenInput)

    def policy(self) -> Policy:
        """Return a policy without rules that does what was chosen."""
        chosen = self.cleaned_data
        python = {"enabled": chosen["python"] == "on", "mode": chosen["python_mode"]}
        memory = {"enabled": chosen["memory"] == "on"}
        capabilities = {
            "python_execution": None if chosen["python"] == _UNSET else python,
            "memory": None if chosen["memory"] == _UNSET else memory,
        }
        modes = {"global_mode": chosen["global_mode"], "capabilities": capabilities}
        return Policy(modes=modes, owner_may_approve=chosen["owner_may_approve"] == "yes")


def modes_of(policy: Policy) -> dict[str, str]:
    """Return what ``ModesForm`` shows for a policy."""
    config, capabilities = policy.config, policy.modes.get("capabilities", {})

    def switch(name: str, *, enabled: bool) -> str:
        if name in capabilities and capabilities[name] is None:
            return _UNSET
        return "on" if enabled else "off"

    return {
        "global_mode": config.global_mode,
        "python": switch("python_execution", enabled=config.python_execution.enabled),
        "python_mode": config.python_execution.mode.value,
        "memory": switch("memory", enabled=config.memory.enabled),
        "owner_may_approve": "yes" if policy.owner_may_approve else "no",
    }


class ImportForm(forms.Form):
    """A policy as YAML, typed or from a file; the file is taken if there are both."""

    text = forms.CharField(
        label="Paste YAML",
        required=False,
        strip=False,
        max_length=LARGEST_IMPORT,
        widget=area(12, placeholder="global_mode: selective\nrules:\n  - name: …"),
    )
    file = forms.FileField(
        label="Or choose a file",
        required=False,
        help_text=f"Up to {LARGEST_IMPORT // 1024} KiB.",
        widget=forms.ClearableFileInput(attrs={"accept": ".yaml,.yml,.json"}),
    )
    stamp = forms.CharField(required=False, max_length=50, widget=forms.HiddenInput)

    def clean_file(self) -> str:
        """Read the file."""
        file = self.cleaned_data["file"]
        if not file:
            return ""
        if file.size > LARGEST_IMPORT:
            raise ValidationError(
                f"This file has {file.size:,} bytes; the most are {LARGEST_IMPORT:,}. Nothing "
                "was imported."
            )
        try:
            text: str = file.read().decode()
        except UnicodeDecodeError:
            raise ValidationError("This file is not UTF-8 text. Nothing was imported.") from None
        return text

    def clean(self) -> None:
        """Take one of the two."""
        chosen = self.cleaned_data.get("file") or self.cleaned_data.get("text")
        if not chosen and not self.errors:
            self.add_error("text", "Paste a policy, or choose a file. Nothing was imported.")
        self.cleaned_data["yaml"] = chosen


@admins_only
@require_http_methods(["GET", "HEAD"])
def draft(request: PersonRequest) -> HttpResponse:
    """Show the draft, what it would change, and where it can be published."""
    return draft_page(request)


@admins_only
@action("web:draft")
def begin(request: PersonRequest) -> HttpResponse:
    """Begin a draft from the policy in force, or go on with the one there is."""
    drafts.begin_draft(request.user)
    return redirect("web:draft")


@admins_only
@action("web:draft")
def begin_from(request: PersonRequest) -> HttpResponse:
    """Make an old revision the draft."""
    number = request.POST.get("revision", "")
    is_number = number.isdecimal() and len(number) < len(str(2**63))
    which = get_object_or_404(PolicyRevision, pk=int(number) if is_number else 0)
    policy = read_policy(which.document)
    if policy is None:
        return redirect("web:revision", which.number)
    sentence = f"The draft is what revision {which.number} said."
    return replace_draft(request, policy, sentence, based_on=which.number)


@admins_only
@action("web:draft")
def save_modes(request: PersonRequest) -> HttpResponse:
    """Change everything but the rules."""
    form = ModesForm(request.POST, auto_id="modes_%s")
    if not form.is_valid():
        return draft_page(request, modes_form=form, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    try:
        drafts.save_modes(request.user, form.policy(), stamp=form.cleaned_data["stamp"])
    except DraftRefused as error:
        form.add_error(None, str(error))
        return draft_page(request, modes_form=form, status=HTTPStatus.CONFLICT)
    messages.success(request, "The modes are saved in the draft. Nothing is published yet.")
    return redirect("web:draft")


@admins_only
@action("web:draft")
def discard(request: PersonRequest) -> HttpResponse:
    """Throw the draft away."""
    try:
        drafts.discard_draft(request.user, stamp=request.POST.get("stamp", ""))
    except DraftRefused as error:
        return draft_refused(request, error)
    messages.success(request, "The draft is discarded. The policy in force did not change.")
    return redirect("web:policies")


@admins_only
@action("web:draft")
def publish(request: PersonRequest) -> HttpResponse:
    """Publish the draft that was shown."""
    present, saved_draft = current_revision(), queries.draft_of(request.user)
    policy = read_policy(saved_draft.document) if saved_draft else None
    form = PublishForm(
        compare(queries.policy_in_force(), policy).word if policy else "", request.POST
    )
    if not form.is_valid():
        return draft_page(request, form=form, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    try:
        published = drafts.publish_draft(
            request.user,
            stamp=form.cleaned_data["stamp"],
            based_on=form.cleaned_data["based_on"],
            note=form.cleaned_data["note"],
            confirmed=form.cleaned_data["confirm"],
            by=actor(request),
        )
    except NotPermitted:
        return refused(request, "admins")
    except PolicyRefusal as error:
        return draft_page(request, form=form, status=put_refusal(form, error))
    tell_what_was_published(request, published, present=present.number)
    return redirect("web:policies")


def replace_draft(
    request: PersonRequest, policy: Policy, sentence: str, *, based_on: int | None = None
) -> HttpResponse:
    """Make ``policy`` the draft, unless the draft is another one than the page showed."""
    stamp = request.POST.get("stamp", "")
    try:
        drafts.replace_draft(request.user, policy, stamp=stamp, based_on=based_on)
    except DraftRefused as error:
        return draft_refused(request, error)
    messages.success(request, f"{sentence} Nothing is published yet.")
    return redirect("web:draft")


def draft_refused(request: PersonRequest, error: DraftRefused) -> HttpResponse:
    """Show the draft as it is now, and that nothing was done to it."""
    messages.error(request, str(error))
    return draft_page(request, status=HTTPStatus.CONFLICT)


def draft_page(
    request: PersonRequest,
    *,
    modes_form: ModesForm | None = None,
    form: PublishForm | None = None,
    status: HTTPStatus = HTTPStatus.OK,
) -> HttpResponse:
    """Show the draft, with forms that were perhaps refused."""
    saved_draft, present = queries.draft_of(request.user), current_revision()
    policy = read_policy(saved_draft.document) if saved_draft else None
    context: dict[str, Any] = {
        "draft": saved_draft,
        "stamp": drafts.stamp_of(saved_draft),
        "present": present,
    }
    if policy:
        comparison = compare(queries.policy_in_force(), policy)
        context |= {
            "summary": policy_summary(policy, known_names()),
            "comparison": comparison,
            "modes_form": modes_form or ModesForm(initial=modes_of(policy), auto_id="modes_%s"),
            "form": form or PublishForm(comparison.word),
            "starters": STARTERS,
            "two_people": settings.POLICY_TWO_PEOPLE,
        }
    return render(request, "office/policy/draft.html", context, status=status)


@admins_only
@require_http_methods(["GET", "HEAD", "POST"])
def import_yaml(request: PersonRequest) -> HttpResponse:
    """Show what YAML means, and make it the draft once that was confirmed."""
    if request.method != "POST":
        return _import_page(request, ImportForm(), {})
    form = ImportForm(request.POST, request.FILES)
    yaml_import = _imported(form) if form.is_valid() else None
    if yaml_import is None:
        return _import_page(request, form, {}, HTTPStatus.UNPROCESSABLE_ENTITY)
    if request.POST.get("take") == "yes":
        return replace_draft(request, yaml_import.policy, "The draft is what you imported.")
    context = {
        "found": yaml_import,
        "yaml": form.cleaned_data["yaml"],
        "summary": policy_summary(yaml_import.policy, known_names()),
        "comparison": compare(queries.policy_in_force(), yaml_import.policy),
    }
    return _import_page(request, ImportForm(initial={"text": form.cleaned_data["yaml"]}), context)


@admins_only
@action("web:draft")
def take_starter(request: PersonRequest) -> HttpResponse:
    """Add the rules of a starter policy to the draft, or begin with it."""
    starters_by_key = {starter.key: starter for starter in STARTERS}
    starter = starters_by_key.get(request.POST.get("starter", ""))
    if starter is None:
        raise Http404
    if request.POST.get("how") == "replace":
        return replace_draft(
            request, starter.policy, f"The draft is the starter {starter.title!r}."
        )
    if queries.draft_of(request.user) is None:
        return redirect("web:draft")
    try:
        drafts.add_starter(request.user, starter, stamp=request.POST.get("stamp", ""))
    except DraftRefused as error:
        return draft_refused(request, error)
    except PolicyError as error:  # too many rules together
        messages.error(request, f"{error} Nothing was added.")
        return draft_page(request, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    messages.success(
        request, f"The rules of {starter.title!r} are in the draft. Nothing is published yet."
    )
    return redirect("web:draft")


def _imported(form: ImportForm) -> Import | None:
    try:
        return from_yaml(form.cleaned_data["yaml"])
    except PolicyError as error:
        sentences = [
            f"{where}: {sentence}" if where else sentence for where, sentence in error.problems
        ]
        form.add_error("text", [*sentences, "Nothing was imported."])
    except YamlError as error:
        form.add_error("text", [str(error), "Nothing was imported."])
    return None


def _import_page(
    request: PersonRequest,
    form: ImportForm,
    view: dict[str, Any],
    status: HTTPStatus = HTTPStatus.OK,
) -> HttpResponse:
    draft = queries.draft_of(request.user)
    stamp = request.POST.get("stamp") or drafts.stamp_of(draft)
    context = {"form": form, "draft": draft, "stamp": stamp, **view}
    return render(request, "office/policy/import.html", context, status=status)
