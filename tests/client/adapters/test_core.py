"""What every adapter makes of the values that frameworks hand it."""

import pytest

from approval_client.adapters._core import jsonable


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ({1: "a", 2: "b"}, {"1": "a", "2": "b"}),
        ({1: "harmless", "1": "drop"}, {"1 <int>": "harmless", "1": "drop"}),
        ({"deep": {None: 0, "None": 1}}, {"deep": {"None <NoneType>": 0, "None": 1}}),
    ],
)
def test_no_argument_hides_behind_another_of_its_name(value, shown):
    assert jsonable(value) == shown
