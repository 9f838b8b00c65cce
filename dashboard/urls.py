"""The composition root of everything that Django answers."""

from __future__ import annotations

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, URLResolver, include, path

from dashboard.api import problems
from dashboard.api.views import api
from dashboard.web import errors


def _without_sign_in(patterns: list[URLPattern | URLResolver]) -> list[URLPattern | URLResolver]:
    # The agents' door has its own lock; a redirect to the sign-in page would mean nothing there.
    for pattern in patterns:
        if isinstance(pattern, URLPattern):
            pattern.callback = login_not_required(problems.told(pattern.callback))
    return patterns


handler400 = errors.unreadable
handler403 = errors.forbidden
handler500 = errors.broken


@login_not_required
def handler404(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 404: as a problem in JSON under ``/api/``, otherwise as a page."""
    if request.path.startswith("/api/"):
        return problems.NOT_FOUND.response()
    return errors.not_found(request, exception)


_api_patterns, _app_name, _namespace = api.urls
urlpatterns = [
    path("api/v1/", (_without_sign_in(_api_patterns), _app_name, _namespace)),
    path("", include("dashboard.web.urls")),
]
