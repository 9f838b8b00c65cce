"""What each kind of channel brings."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from uuid import UUID

from dashboard.notifications.models import Channel
from dashboard.notifications.notices import Notice
from dashboard.notifications.sending import Sent


@dataclass(frozen=True, kw_only=True)
class Parcel:
    """A notice as its kind sends it, made where the database may be read."""

    address: str
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One kind of channel.

    Attributes:
        label: What people call it.
        is_signed: It has a secret, which is shown once.
        check: Raises ``AddressRefused`` where nothing can be sent to an address of this kind.
        where: Returns the part of an address that may be drawn and logged.
        parcel: Makes what is sent of a notice, and of the id of its message. Raises
            ``SecretLost`` if it cannot be signed.
        send: Sends it. Whatever goes wrong is told and not raised.
    """

    label: str
    is_signed: bool
    check: Callable[[str], object]
    where: Callable[[str], str]
    parcel: Callable[[Channel, Notice, UUID], Parcel]
    send: Callable[[Parcel], Awaitable[Sent]]
