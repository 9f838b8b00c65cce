"""Wires the rooms together when Django starts."""

from django.apps import AppConfig


class DashboardConfig(AppConfig):
    """The one app: one label, one migration history."""

    name = "dashboard"
    verbose_name = "Approvals"

    def ready(self) -> None:
        """Connect what reacts: guards around migrations, pushes after changes."""
        from dashboard import metrics  # noqa: PLC0415 - needs the settings
        from dashboard.approvals import guards  # noqa: PLC0415 - needs the app registry
        from dashboard.live import receivers  # noqa: PLC0415 - needs the app registry

        guards.connect()
        metrics.connect()
        receivers.connect()
