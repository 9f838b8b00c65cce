"""What happened to an approval request, told to whoever listens, after commit."""

from django.dispatch import Signal

approval_changed = Signal()
"""Sent with ``approval_id`` (UUID) and ``version`` (int) once the change can be read."""

gate_changed = Signal()
"""Sent after the hold or the policy changed, once the change can be read."""
