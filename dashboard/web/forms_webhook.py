"""What admins type about webhooks."""

from __future__ import annotations

from django import forms

from dashboard.notifications.addresses import LONGEST_URL


class WebhookForm(forms.Form):
    """Where an agent's host is called back."""

    url = forms.CharField(
        label="Address of the host",
        max_length=LONGEST_URL,
        help_text="https, on the public internet or in a network that WEBHOOK_NETWORKS names.",
        widget=forms.TextInput(
            attrs={
                "autocomplete": "off",
                "autocapitalize": "none",
                "spellcheck": "false",
                "inputmode": "url",
                "placeholder": "https://host.example.org/approvals",
            }
        ),
    )


class NewSecretForm(forms.Form):
    """Whether the secret before the new one is worth anything still."""

    at_once = forms.BooleanField(
        label="The present secret is known to others: end it at once",
        required=False,
        help_text="Otherwise it signs beside the new one for a day.",
    )
