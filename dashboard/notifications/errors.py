"""Why something about webhooks or channels was refused. Each message says what was not done."""

from __future__ import annotations


class WebhookError(Exception):
    """Base of the refusals of this room."""


class AddressRefused(WebhookError):
    """Nothing is sent to this address."""


class ChangeNotAllowed(WebhookError):
    """The person has not the role for it."""

    def __init__(self, sentence: str = "Only admins can do this. Nothing was changed.") -> None:
        super().__init__(sentence)


class ChangedMeanwhile(WebhookError):
    """What is to be replaced is not what the person was shown."""

    def __init__(self) -> None:
        super().__init__("This was changed in the meantime. Nothing was saved: look at it again.")


class ReceiverNotFound(WebhookError):
    """There is no such webhook, channel or message."""

    def __init__(self) -> None:
        super().__init__("There is no such webhook or channel. Nothing was changed.")


class NotSent(WebhookError):
    """It cannot be sent again now."""


class ChannelRefused(WebhookError):
    """A channel cannot be as somebody wants it."""


class CodeRefused(WebhookError):
    """What somebody entered does not prove that an address is theirs."""


class SecretLost(WebhookError):
    """``SECRET_KEY`` is not the one that the secret was made with."""

    def __init__(self) -> None:
        super().__init__(
            "Nothing was sent: SECRET_KEY has changed, so the secret that the receiver knows "
            "no longer works. Make a new secret and give it to the receiver."
        )
