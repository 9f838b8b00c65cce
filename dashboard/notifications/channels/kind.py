"""What each kind of channel brings."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from dashboard.notifications.models import Channel
from dashboard.notifications.notices import Notice
from dashboard.notifications.sending import Sent


@dataclass(frozen=True, kw_only=True)
class Parcel:
    """A notice as its kind sends it, made where the database may be read.

    ``is_own``: a person entered its address for themselves, and no admin looked at it. So it goes
    to the public internet alone, whatever ``WEBHOOK_NETWORKS`` names.
    """

    address: str
    headers: Mapping[str, str]
    body: bytes
    is_own: bool = False


@dataclass(frozen=True, kw_only=True)
class ChannelKind:
    """One kind of channel.

    Attributes:
        label: What people call it.
        about: One sentence about what it is for.
        address_label: What its address is called in a form.
        example: An address as it looks.
        help: One sentence about the address.
        is_signed: It has a secret, which is shown once.
        is_for_people: A person may have one of their own. Many requests within a few seconds are
            then told in one message, in the house's channels too.
        has_secret: Its address is a secret or holds one, so only ``where`` of it is shown.
        missing: Returns what an operator has to do before anything can be sent; empty if nothing.
        check: Raises ``AddressRefused`` where nothing can be sent to an address of this kind.
        where: Returns the part of an address that may be drawn and logged.
        parcel: Makes what is sent of one or more notices, and of the id of their message. Raises
            ``SecretLost`` if it cannot be signed.
        send: Sends it. Whatever goes wrong is told and not raised. It ends within a minute.
    """

    label: str
    about: str
    address_label: str
    example: str
    help: str
    is_signed: bool = False
    is_for_people: bool = True
    has_secret: bool = True
    missing: Callable[[], str]
    check: Callable[[str], object]
    where: Callable[[str], str]
    parcel: Callable[[Channel, Sequence[Notice], UUID], Parcel]
    send: Callable[[Parcel], Awaitable[Sent]]
