from datetime import timedelta

from django.contrib.sessions.models import Session
from django.utils import timezone

from dashboard.accounts.models import SignInLink
from dashboard.accounts.services.sessions import forget_expired


def test_what_is_over_is_forgotten_and_what_is_not_is_kept(alice):
    over, open_ = timezone.now() - timedelta(seconds=1), timezone.now() + timedelta(hours=1)
    for key, end in (("over", over), ("open", open_)):
        Session.objects.create(session_key=key, session_data="", expire_date=end)
        SignInLink.objects.create(person=alice, hash=key, expires_at=end)

    forget_expired()

    assert [session.pk for session in Session.objects.all()] == ["open"]
    assert [link.hash for link in SignInLink.objects.all()] == ["open"]
