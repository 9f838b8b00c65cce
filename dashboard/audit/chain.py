"""The chain of the audit log: each link's hash covers the link before it. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from json.encoder import encode_basestring_ascii
from typing import NamedTuple

GENESIS = "0" * 64
"""Stands where the first link names its predecessor."""


class Link(NamedTuple):
    """One audit entry as the chain sees it; every field but ``hash`` is covered by the hash.

    ``at`` is the moment as ISO 8601 in UTC with microseconds, ``details`` canonical JSON text.
    """

    seq: int
    at: str
    actor: str
    auth: str
    action: str
    subject: str
    digest: str
    details: str
    prev: str
    hash: str = ""


class Break(NamedTuple):
    """The first place where the chain does not hold."""

    seq: int
    reason: str


def link_hash(link: Link) -> str:
    """Return the SHA-256 of a link, as 64 hexadecimal digits.

    The fields are hashed as one JSON array, so no two different links share a text.
    """
    # As json.dumps writes it, at a third of its time: a log has millions of links.
    texts = ",".join(map(encode_basestring_ascii, link[1:-1]))
    return hashlib.sha256(f"[{link.seq:d},{texts}]".encode()).hexdigest()


def _fits(link: Link) -> bool:
    try:
        return link.hash == link_hash(link)
    except (TypeError, ValueError):  # holds what is no text, which was never written so
        return False


class Walk:
    """Follows a chain from its start and remembers where it stands.

    Attributes:
        seq: Sequence number of the last link that held; 0 before the first.
        hash: That link's hash.

    Args:
        seq: Where an earlier walk came to, to go on from there.
        hash: The hash of that link.
    """

    def __init__(self, seq: int = 0, hash: str = GENESIS) -> None:  # noqa: A002 - a link's word
        self.seq = seq
        self.hash = hash

    def first_break(
        self, links: Iterable[Link], expect: Mapping[int, AbstractSet[str]]
    ) -> Break | None:
        """Return the first link that does not hold, or None when all of ``links`` hold.

        Reads each link once, so it suits an iterator over millions of rows. It cannot see by
        itself that links were cut off the end or all hashed anew.

        Args:
            links: The chain, in order.
            expect: Hashes kept elsewhere, by sequence number, that must still be there. Of one
                number there may be several, and two that differ are a break.
        """
        for link in links:
            if link.seq != self.seq + 1:
                return Break(self.seq + 1, f"entry {self.seq + 1} is missing")
            if link.prev != self.hash:
                return Break(link.seq, f"entry {link.seq} does not follow the entry before it")
            if not _fits(link):
                return Break(link.seq, f"entry {link.seq} was changed")
            hashes = expect.get(link.seq, {link.hash})
            if hashes != {link.hash}:
                unexpected = f"entry {link.seq} is not the one that was expected"
                differ = f"two heads of entry {link.seq} differ"
                return Break(link.seq, differ if len(hashes) > 1 else unexpected)
            self.seq, self.hash = link.seq, link.hash
        cut_off = [seq for seq in expect if seq > self.seq]
        if cut_off:
            return Break(self.seq + 1, f"the log was cut off after entry {self.seq}")
        return None
