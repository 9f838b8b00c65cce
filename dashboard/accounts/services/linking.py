"""Which account of the provider of single sign-on is whose."""

from __future__ import annotations

from allauth.socialaccount.models import SocialAccount

from dashboard.accounts.models import User
from dashboard.accounts.provider.metadata import provider_id


def linked_person(subject: str) -> User | None:
    """Return the person whom the provider calls ``subject``, if anybody is linked to it."""
    accounts = SocialAccount.objects.select_related("user")
    account = accounts.filter(provider=provider_id(), uid=subject).first()
    return account.user if account else None


def is_linked(person: User) -> bool:
    """Whether a person signs in by single sign-on, with this provider or one that was set before.

    So a password does not come back to life where another provider is set, or none.
    """
    return bool(SocialAccount.objects.filter(user=person).exists())
