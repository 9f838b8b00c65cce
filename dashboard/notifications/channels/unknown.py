"""What a channel is taken for whose kind another release knew: nothing is sent to it."""

from __future__ import annotations

from dashboard.notifications.channels.kind import ChannelKind, Parcel
from dashboard.notifications.errors import AddressRefused
from dashboard.notifications.sending import Sent


def _missing() -> str:
    return (
        "This release does not know this kind of channel. Remove it, or start the other release."
    )


def _check(_: str) -> None:
    raise AddressRefused(_missing())


def _where(_: str) -> str:
    return "unknown"


def _parcel(*_: object) -> Parcel:
    return Parcel(address="", headers={}, body=b"")


async def _send(_: Parcel) -> Sent:
    return Sent(taken=False, said=f"{_missing()} Nothing was sent.")


KIND = ChannelKind(
    label="Unknown",
    about="Of another release.",
    address_label="Address",
    example="",
    help="",
    missing=_missing,
    check=_check,
    where=_where,
    parcel=_parcel,
    send=_send,
)
