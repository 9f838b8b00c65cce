"""Who is assigned to a request: shown, taken, released, handed over."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django import forms
from django.utils.safestring import SafeString

from dashboard.accounts.models import User
from dashboard.accounts.queries import names_of_reviewers, reviewers
from dashboard.approvals import services
from dashboard.approvals.models import ApprovalRequest, Assignment
from dashboard.approvals.rules import snooze
from dashboard.approvals.rules.view import Presence, presence
from dashboard.policies.rules.demands import Required
from dashboard.web import times
from dashboard.web.access import auth
from dashboard.web.desk.extension import ExtensionOffer, extension_offer
from dashboard.web.desk.snooze import choice_in_words
from dashboard.web.desk.view import viewing_now
from dashboard.web.drawing import moments
from dashboard.web.drawing.markup import EMPTY
from dashboard.web.forms import cleaned
from dashboard.web.http import PersonRequest
from dashboard.web.times import Moment

LONGEST_NOTE = 500


class AssignForm(forms.Form):
    """Takes a request, perhaps from another reviewer."""

    over = forms.CharField(max_length=100, required=False)


class HandOverForm(forms.Form):
    """Gives a request to another reviewer."""

    to = forms.ModelChoiceField(
        queryset=reviewers(),
        to_field_name="username",
        error_messages={
            "required": "Choose a reviewer.",
            "invalid_choice": "There is no reviewer of that name.",
        },
    )
    note = forms.CharField(
        max_length=LONGEST_NOTE,
        required=False,
        error_messages={"max_length": f"A note has {LONGEST_NOTE} characters at the most."},
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Assigned:
    """Who is assigned to a request.

    Attributes:
        name: Who; the form sends it back, so that nobody is replaced unseen.
        said: The whole of it, in our words, without the time.
        note: What the person who handed it over said.
    """

    name: str
    is_mine: bool
    said: str
    since: Moment
    note: str


@dataclass(frozen=True, kw_only=True, slots=True)
class AssignmentPanel:
    """Who is assigned to a pending request, who views it, and what the reader can do about it.

    Attributes:
        viewing: Who else has it open, in a sentence; empty if nobody has.
        snoozed_until: Until when the reader snoozed it; empty if they did not.
        snooze_choices: Until when it can be snoozed: the form's value, and its label.
        people: The names of those that it can be handed to.
        stamp: Changes whenever something does that open pages have to show at once.
    """

    assigned: Assigned | None
    viewing: str
    snoozed_until: SafeString
    snooze_choices: list[tuple[str, SafeString]]
    people: list[str]
    extension: ExtensionOffer | None
    stamp: tuple[object, ...]


def assignment_panel(
    approval: ApprovalRequest,
    required: Required,
    person: User,
    now: datetime,
    *,
    known_presence: Presence | None,
    may_act: bool,
) -> AssignmentPanel:
    """Describe the assignment of a pending request for ``person``.

    ``known_presence`` says who attends to what, where that was read before.
    """
    people_here = known_presence or presence([approval.pk], person, now)
    assignment = people_here.assignments.get(approval.pk)
    back = people_here.snoozed_until.get(approval.pk)
    offered = snooze.choices(now, approval.expires_at) if may_act else []
    extra = extension_offer(approval, required, now) if may_act else None
    names = [name for name in names_of_reviewers() if name != person.username] if may_act else []
    whose = (assignment.person_id, assignment.assigned_at) if assignment else None
    return AssignmentPanel(
        assigned=_assigned(assignment, person, now) if assignment else None,
        viewing=viewing_now(people_here.viewing.get(approval.pk, [])),
        snoozed_until=moments.clock(back) if back else EMPTY,
        snooze_choices=[(str(choice.length), choice_in_words(choice)) for choice in offered],
        people=[
            name for name in names if assignment is None or name != assignment.person.username
        ],
        extension=extra,
        stamp=(whose, back, extra and extra.ends),
    )


def _assigned(assignment: Assignment, person: User, now: datetime) -> Assigned:
    return Assigned(
        name=assignment.person.username,
        is_mine=assignment.person_id == person.pk,
        said=_said(assignment, person),
        since=times.moment(assignment.assigned_at, now),
        note=assignment.note,
    )


def _said(assignment: Assignment, person: User) -> str:
    predecessor, name = assignment.after, assignment.person.username
    is_mine, was_mine = assignment.person_id == person.pk, predecessor == person
    if assignment.is_handed and predecessor:
        giver = "You" if was_mine else predecessor.username
        return f"{giver} assigned this to {'you' if is_mine else name}"
    if was_mine:
        return f"{name} took this over from you"
    return "Assigned to you" if is_mine else f"Assigned to {name}"


def assign(request: PersonRequest, approval_id: UUID) -> None:
    """Assign the request to the person who asks."""
    over = cleaned(AssignForm(request.POST))["over"]
    services.assign(approval_id=approval_id, person=request.user, auth=auth(request), over=over)


def release(request: PersonRequest, approval_id: UUID) -> None:
    """Make the request unassigned."""
    services.release(approval_id=approval_id, person=request.user, auth=auth(request))


def hand_over(request: PersonRequest, approval_id: UUID) -> None:
    """Assign the request to another reviewer."""
    fields = cleaned(HandOverForm(request.POST))
    services.hand_over(approval_id=approval_id, person=request.user, auth=auth(request), **fields)
