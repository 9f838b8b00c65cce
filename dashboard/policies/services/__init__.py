"""Write policies: publish them, propose them to a second admin, draft them. One file a noun."""

from dashboard.policies.services.checking import word_for
from dashboard.policies.services.publish import publish
from dashboard.policies.services.revisions import (
    current_revision,
    lock_for_change,
    lock_for_judging,
    published_revision,
)

__all__ = [
    "current_revision",
    "lock_for_change",
    "lock_for_judging",
    "publish",
    "published_revision",
    "word_for",
]
