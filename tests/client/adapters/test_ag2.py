"""What AG2's adapter refuses before AG2 is even there."""

from types import SimpleNamespace

import pytest

from approval_client.adapters.ag2 import _asked_about, approval_required
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


A, B, X = (SimpleNamespace(id="c1", name=name, arguments="{}") for name in "ABX")
RESULT = SimpleNamespace(parent_id="c1")


async def asked_about(*events):
    """Return the call that the hook asks about after these events."""

    async def get_events():
        return [SimpleNamespace(id="m1"), *events]

    stream = SimpleNamespace(history=SimpleNamespace(get_events=get_events))
    request = SimpleNamespace(tool_call_id="c1")
    return await _asked_about(request, SimpleNamespace(stream=stream))


@pytest.mark.parametrize("events", [[B], [A, RESULT, B], [A, X, RESULT, RESULT, B]])
async def test_the_hook_asks_about_the_only_open_call_of_an_id(events):
    assert await asked_about(*events) is B


@pytest.mark.parametrize("events", [[A, B], [A, B, RESULT], [A, X, RESULT, B]])
async def test_the_hook_asks_about_none_of_several_open_calls_of_an_id(events):
    with pytest.raises(LookupError, match="Nobody was asked"):
        await asked_about(*events)
