"""What people send. Forms check shapes; what is allowed is for the services to say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.utils.safestring import SafeString

from dashboard.approvals.rules.grant import DEFAULT_FOR_S, MOST_USES, GrantScope, GrantTerms
from dashboard.wire import Status

LONGEST_REASON = 2000
USES = 10
"""How often a yes is used at most, unless its giver says otherwise."""

_REMEMBER = {f"remember-{scope}": scope for scope in GrantScope}
_VERDICTS = {
    "approve": Status.APPROVED,
    "reject": Status.REJECTED,
    **dict.fromkeys(_REMEMBER, Status.APPROVED),
    "same-approve": Status.APPROVED,
    "same-reject": Status.REJECTED,
}
_HOUR, _DAY = 3600, 86_400
_LENGTHS = [
    (_HOUR, "1 hour"),
    (DEFAULT_FOR_S, "8 hours"),
    (_DAY, "1 day"),
    (7 * _DAY, "7 days"),
    (30 * _DAY, "30 days"),
]
_HOW_OFTEN = (
    f"Say how often this yes may be used, between once and {MOST_USES} times, or tick that any "
    "number is meant. Nothing was recorded."
)
_TOO_LONG = (
    f"The reason is longer than {LONGEST_REASON} characters. Nothing was recorded; say it in "
    "fewer words."
)


def _reason() -> forms.CharField:
    return forms.CharField(
        max_length=LONGEST_REASON, required=False, error_messages={"max_length": _TOO_LONG}
    )


class DecisionForm(forms.Form):
    """An answer, with the basis that the page showed. Each answer has a reason of its own."""

    verdict = forms.ChoiceField(choices=list(_VERDICTS.items()))
    digest = forms.RegexField(r"\A[0-9a-f]{64}\Z")
    judgement = forms.IntegerField(min_value=1)
    shown = forms.CharField(max_length=10_000)
    end_seen = forms.CharField(max_length=3, required=False)
    same_as = forms.IntegerField(min_value=1, required=False)  # the decision to give again
    despite = forms.CharField(max_length=100, required=False)  # who else is on it
    allow_steps = forms.BooleanField(required=False)
    approve_reason = _reason()
    reason = _reason()

    @property
    def what_is_wrong_with_the_reason(self) -> str:
        """What the person can mend; everything else comes from our own page."""
        errors = [*self["approve_reason"].errors, *self["reason"].errors]
        return " ".join(map(str, errors))

    @property
    def status(self) -> Status:
        """The answer, in the words of the domain."""
        return _VERDICTS[self.cleaned_data["verdict"]]

    @property
    def scope(self) -> GrantScope | None:
        """What is to be allowed from now on; None if the answer is for this once."""
        return _REMEMBER.get(self.cleaned_data["verdict"])

    @property
    def repeats(self) -> bool:
        """Whether an earlier answer is given again."""
        return str(self.cleaned_data["verdict"]).startswith("same-")

    @property
    def said(self) -> str:
        """The reason that belongs to the answer; what was typed for the other one is dropped."""
        name = "approve_reason" if self.status is Status.APPROVED else "reason"
        return str(self.cleaned_data[name])

    @property
    def end_was_seen(self) -> str:
        """``"yes"`` if the end of the content was in sight, else empty."""
        return "yes" if self.cleaned_data["end_seen"] == "yes" else ""


class RememberForm(forms.Form):
    """For how much more a yes is to count.

    Args:
        has_run: Whether the request belongs to a run.
        pins: What the arguments are, each drawn; their positions are what is sent.
    """

    where = forms.ChoiceField(
        choices=[("run", "Only in this run"), ("agent", "In any run of this agent")],
        widget=forms.RadioSelect,
    )
    for_s = forms.TypedChoiceField(label="For how long", choices=_LENGTHS, coerce=int)
    most_uses = forms.IntegerField(
        label="How often at most",
        required=False,
        min_value=1,
        max_value=MOST_USES,
    )
    any_number = forms.BooleanField(label="Any number of times", required=False)
    pinned = forms.TypedMultipleChoiceField(
        coerce=int, required=False, widget=forms.CheckboxSelectMultiple
    )

    def __init__(self, *, has_run: bool, pins: Sequence[SafeString], data: Any = None) -> None:
        start = {"where": "run", "for_s": DEFAULT_FOR_S, "most_uses": USES}
        every = list(range(len(pins)))
        super().__init__(data, initial={**start, "pinned": every}, auto_id="remember-%s")
        self.fields["pinned"].choices = list(enumerate(pins))  # type: ignore[attr-defined] # of its field
        if not has_run:
            del self.fields["where"]

    def clean(self) -> dict[str, Any]:
        """Refuse a number that was left out: without limit has to be said."""
        chosen = self.cleaned_data
        self.errors.pop("most_uses", None)
        if not chosen.get("any_number") and chosen.get("most_uses") is None:
            self.add_error("most_uses", _HOW_OFTEN)
        return chosen

    @property
    def what_is_wrong(self) -> str:
        """What the person can mend; everything else comes from our own page."""
        return " ".join(map(str, self["most_uses"].errors))

    def terms(self, scope: GrantScope, names: Sequence[str]) -> GrantTerms:
        """Return what is to be allowed; ``names`` are those of the arguments, in their order."""
        chosen = self.cleaned_data
        pinned = tuple(names[index] for index in chosen["pinned"])
        return GrantTerms(
            scope=scope,
            this_run=chosen.get("where") == "run",
            arguments=pinned if scope is GrantScope.ARGUMENTS else (),
            for_s=chosen["for_s"],
            most_uses=None if chosen["any_number"] else chosen["most_uses"],
        )
