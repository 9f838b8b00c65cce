"""What happened to an approval request, told to whoever listens, after commit."""

from django.dispatch import Signal

approval_changed = Signal()
"""Sent with ``approval_id`` (UUID) and ``version`` (int) once the change can be read."""

hold_changed = Signal()
"""Sent after a hold was placed or lifted, once the change can be read."""
