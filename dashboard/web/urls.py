"""The people's door."""

from django.urls import path

from dashboard.web import health
from dashboard.web.urls_desk import desk
from dashboard.web.urls_office import office
from dashboard.web.urls_policy import policy

app_name = "web"
urlpatterns = [
    *desk,
    *office,
    *policy,
    path("readyz", health.ready, name="readyz"),
]
