"""What the first migration names; migrations are never edited, and nobody else imports this."""

from approval_client.wire import Status

__all__ = ["Status"]
