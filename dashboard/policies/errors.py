"""Why a policy was not published, or a draft not changed; each message says what was not done."""

from __future__ import annotations

from collections.abc import Sequence

from dashboard.policies.models import PolicyRevision


class PolicyRefusal(Exception):
    """Base of the refusals of this room."""


class Outdated(PolicyRefusal):
    """Somebody published in between, and what they changed would be undone unseen.

    Attributes:
        present: The revision that holds.
    """

    def __init__(self, present: PolicyRevision) -> None:
        self.present = present
        super().__init__(
            f"Revision {present.number} was published since this page was shown. Nothing was "
            "published. Compare with the policy in force, then publish again."
        )


class NotConfirmed(PolicyRefusal):
    """The policy asks less than the one in force, and nobody typed that this is meant.

    Attributes:
        word: What has to be typed.
        loosened: The sentences that say what is asked less about.
    """

    def __init__(self, word: str, loosened: Sequence[str]) -> None:
        self.word, self.loosened = word, tuple(loosened)
        super().__init__(
            f"This policy is looser than the one in force: {' '.join(loosened)} Nothing was "
            f"published. Type {word} to confirm that this is what you want."
        )


class ExamplesFail(PolicyRefusal):
    """A rule does not do what its own examples say.

    Attributes:
        failures: One sentence an example, which names the rule, the example and the reason.
    """

    def __init__(self, failures: Sequence[str], *, not_done: str) -> None:
        self.failures = tuple(failures)
        super().__init__(f"{' '.join(failures)} {not_done}. Correct the rule or its examples.")


class DraftRefused(PolicyRefusal):
    """The draft was neither changed nor published."""


class DraftMoved(DraftRefused):
    """The draft was changed, published or discarded in another tab since the page was shown."""


class DraftUnreadable(DraftRefused):
    """The draft was written by a version of the program that read policies differently."""

    def __init__(self) -> None:
        super().__init__(
            "This version of the program cannot read the draft. Nothing was saved or published. "
            "Discard it and begin again."
        )


class NotOpen(PolicyRefusal):
    """The proposal was published or withdrawn already."""


class SamePerson(PolicyRefusal):
    """Two people are needed, and this would be one."""
