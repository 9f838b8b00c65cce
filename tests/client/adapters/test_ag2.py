"""What AG2's adapter refuses before AG2 is even there."""

import pytest

from approval_client.adapters.ag2 import approval_required
from approval_client.testing import FakeDashboard


@pytest.mark.parametrize("timeout", [0, 4.9, -1, float("inf"), float("nan")])
def test_a_time_that_no_person_has_is_refused(timeout):
    with pytest.raises(ValueError, match="people get 5 seconds at least"):
        approval_required(timeout=timeout)


@pytest.mark.parametrize("message", ["{", "{other}", "{0}"])
def test_a_message_that_cannot_be_filled_in_is_refused(message):
    with pytest.raises(ValueError, match="cannot be filled in"):
        approval_required(message)


def test_a_client_that_blocks_is_refused():
    with pytest.raises(TypeError, match="AsyncClient"):
        approval_required(client=FakeDashboard.approving().client())
