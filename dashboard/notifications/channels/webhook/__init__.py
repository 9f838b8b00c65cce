"""Signed webhooks for a house's own programs, as Standard Webhooks specify them."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from approval_client.wire import canonical_json
from dashboard.clock import database_now
from dashboard.notifications.addresses import checked_url, shown_url
from dashboard.notifications.channels.kind import ChannelKind, Parcel
from dashboard.notifications.models import Channel
from dashboard.notifications.notices import Notice
from dashboard.notifications.secrets import signed_headers, signing_keys
from dashboard.notifications.sending import Sent, send


def _parcel(channel: Channel, notices: Sequence[Notice], message_id: UUID) -> Parcel:
    [notice] = notices  # each is of its own for a program
    body = canonical_json(notice.as_json()).encode()
    keys = signing_keys(channel, database_now())
    return Parcel(
        address=channel.address, headers=signed_headers(keys, message_id, body), body=body
    )


async def _send(parcel: Parcel) -> Sent:
    return await send(parcel.address, parcel.headers, parcel.body)


KIND = ChannelKind(
    label="Signed webhook",
    about="For a program of your own. Each event is one signed message.",
    address_label="Address of the program",
    example="https://host.example.org/approvals",
    help="https, public or in a network of WEBHOOK_NETWORKS.",
    is_signed=True,
    is_for_people=False,
    missing=str,
    check=checked_url,
    where=shown_url,
    parcel=_parcel,
    send=_send,
)
