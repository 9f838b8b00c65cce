"""Why something about people or agents was refused; each message says what was not done."""

from __future__ import annotations

from math import ceil


class AccountError(Exception):
    """Base of the refusals of this room."""


class NotPermitted(AccountError):
    """The person lacks the right, or has lost it."""


class TooManyAttempts(AccountError):
    """Signing in failed too often lately.

    Attributes:
        retry_after_s: When to try again, in whole seconds, never too early.
    """

    def __init__(self, retry_after_s: float) -> None:
        self.retry_after_s = max(1, ceil(retry_after_s))
        super().__init__(
            "Too many attempts failed. Nothing was checked. Try again in "
            f"{ceil(self.retry_after_s / 60)} min."
        )


class LinkNotValid(AccountError):
    """The sign-in link was used, has expired or never existed."""


class LastAdmin(AccountError):
    """The change would leave nobody to administer the dashboard."""


class ChangedMeanwhile(AccountError):
    """What is to be replaced is not what the person was shown."""


class NameTaken(AccountError):
    """Somebody or something has that name already."""


class Retired(AccountError):
    """The agent was shut out, so nothing new is given to it."""


class ProviderRefused(AccountError):
    """What the provider of single sign-on sent is not accepted."""


class ProviderUnreachable(AccountError):
    """The provider of single sign-on did not answer, or not with what can be read."""


class SignInCancelled(AccountError):
    """Somebody did not sign in at the provider, and came back."""


class NotRecognised(AccountError):
    """The provider knows the person, and no account here is theirs."""


class NotSigned(AccountError):
    """What a device was to sign was not signed, or not as it has to be."""
