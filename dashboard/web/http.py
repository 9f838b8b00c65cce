"""Requests as our views get them."""

from __future__ import annotations

from django.http import HttpRequest

from dashboard.accounts.models import User


class PersonRequest(HttpRequest):
    """A request of somebody who signed in."""

    user: User
