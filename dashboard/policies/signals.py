"""What happened to the policy, told to whoever listens, after commit."""

from django.dispatch import Signal

policy_published = Signal()
"""Sent with ``number`` (int) once the revision can be read."""
