"""How we talk to the provider: no redirects, seconds at most, a megabyte at most."""

from __future__ import annotations

import time
from typing import Any

import requests

from dashboard.accounts.errors import ProviderUnreachable

TIMEOUT_S = 5
"""For connecting, and between two pieces of an answer."""
LONGEST_S = 10
"""For a whole answer."""
LARGEST_BYTES = 1024 * 1024
ODDITIES = (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError)
"""What comes of reading an answer that is not as the standards have it."""
_PIECE_BYTES = 16 * 1024


class ProviderSession(requests.Session):
    """A session of ``requests`` whose answers are bounded and read when it returns."""

    def request(self, method: str, url: str, **options: Any) -> requests.Response:  # type: ignore[override]
        """Send a request.

        Raises:
            RequestException: It could not be sent, took too long, or its answer was too large.
        """
        ends_s = time.monotonic() + LONGEST_S
        options |= {"timeout": TIMEOUT_S, "allow_redirects": False, "stream": True}
        response = super().request(method, url, **options)
        content = bytearray()
        # As it comes: of a whole piece that is waited for, each drop would have its own timeout.
        while piece := response.raw.read1(_PIECE_BYTES, decode_content=True):
            content += piece
            if len(content) > LARGEST_BYTES:
                raise requests.exceptions.ContentDecodingError("The answer is larger than 1 MiB.")
            if time.monotonic() > ends_s:
                raise requests.exceptions.ReadTimeout(f"No whole answer within {LONGEST_S} s.")
        response._content = bytes(content)  # noqa: SLF001 - where requests keeps what it has read
        return response


def get_json(url: str) -> Any:
    """Fetch a document of the provider.

    Raises:
        ProviderUnreachable: No answer, or none that can be read.
    """
    try:
        with ProviderSession() as session:
            response = session.get(url, headers={"Accept": "application/json"})
            if response.status_code != requests.codes.ok:
                raise ProviderUnreachable(f"{url} answered {response.status_code}.")
            return response.json()
    except requests.RequestException as error:
        raise ProviderUnreachable(f"{url} could not be read ({error}).") from error
