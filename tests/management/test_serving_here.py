"""A data folder is not restored under a server, and no server starts under a restore."""

import pytest

from dashboard.management.preflight import CannotStart
from dashboard.management.serving_here import alone, in_use


def test_servers_share_a_folder_and_keep_a_restore_out(place):
    with in_use(), in_use(), alone() as is_alone:
        assert is_alone is False
    with alone() as is_alone:
        assert is_alone is True


def test_no_server_starts_while_it_is_restored(place):
    place.mkdir(parents=True)
    with alone(), pytest.raises(CannotStart, match="being restored"), in_use():
        pytest.fail("It started.")
