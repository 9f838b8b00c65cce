"""What people send about many requests. What is allowed is for the services to say."""

from __future__ import annotations

from uuid import UUID

from django import forms
from django.http import QueryDict

from dashboard.approvals.rules.bulk import MOST
from dashboard.web.forms import LONGEST_REASON
from dashboard.wire import Status

_VERDICTS = {"approve": Status.APPROVED, "reject": Status.REJECTED}


class BulkForm(forms.Form):
    """One answer to many, with one reason."""

    verdict = forms.ChoiceField(choices=list(_VERDICTS.items()))
    reason = forms.CharField(max_length=LONGEST_REASON, required=False)
    end_seen = forms.CharField(max_length=3, required=False)

    @property
    def status(self) -> Status:
        """The answer, in the words of the domain."""
        return _VERDICTS[self.cleaned_data["verdict"]]

    @property
    def end_was_seen(self) -> str:
        """``"yes"`` if the end of the page was in sight, else empty."""
        return "yes" if self.cleaned_data["end_seen"] == "yes" else ""


def ids(address: QueryDict) -> list[UUID]:
    """Read which requests are asked for; what names none is left out."""
    field, found = forms.UUIDField(required=False), list[UUID]()
    for text in address.getlist("id")[:MOST]:
        try:
            found.append(field.clean(text))
        except forms.ValidationError:
            continue
    return [one for one in found if one]
