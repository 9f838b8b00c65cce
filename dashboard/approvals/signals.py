"""What happened to an approval request, told to whoever listens, after commit."""

from django.dispatch import Signal

approval_changed = Signal()
"""Sent with ``approval_id`` (UUID), ``version`` (int), ``closed`` and ``in_queue`` after commit.

``closed`` is the request with its decision if this change closed it, else None. What it says of
both is committed and never changes, so nobody has to read it again; it is not to be changed.
``in_queue`` is whether a list of requests may show the change. What an agent reports of its run
shows on the page of the request alone.
"""

hold_changed = Signal()
"""Sent after a hold was placed or lifted, once the change can be read."""
