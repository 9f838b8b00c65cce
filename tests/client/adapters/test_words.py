"""An earlier word for a parameter still works, and says how it is called now."""

import asyncio
import inspect
from importlib import import_module

import pytest

from approval_client.adapters._words import also, formerly

ADAPTERS = ("ag2", "agent_framework", "langgraph", "openai_agents", "osprey", "pydantic_ai")
OLD = {"wait_s", "allow_always", "timeout"}


@formerly(wait_s="max_wait_s")
def look(max_wait_s=None):
    return max_wait_s


@formerly(wait_s="max_wait_s")
async def alook(max_wait_s=None):
    return max_wait_s


@also(timeout="time_limit_s")
def asks(time_limit_s=None):
    return time_limit_s


@pytest.mark.parametrize("function", [look, lambda **given: asyncio.run(alook(**given))])
def test_an_earlier_word_works_and_warns(function):
    with pytest.warns(DeprecationWarning, match="^wait_s is called max_wait_s now"):
        assert function(wait_s=0) == 0
    assert function(max_wait_s=5) == 5


def test_a_frameworks_own_word_works_and_does_not_warn():
    assert asks(timeout=7) == 7


@pytest.mark.parametrize(("function", "word"), [(look, "wait_s"), (asks, "timeout")])
def test_both_words_at_once_are_refused(function, word):
    (now,) = inspect.signature(function).parameters

    with pytest.raises(TypeError, match=f"was given {word} and {now}, which are the same"):
        function(**{word: 1, now: 2})


def test_the_warning_is_about_the_line_that_used_the_word():
    with pytest.warns(DeprecationWarning, match="max_wait_s") as warned:
        look(wait_s=1)

    assert warned[0].filename == __file__


@pytest.mark.parametrize("name", ADAPTERS)
def test_no_signature_of_an_adapter_has_an_old_word(name):
    module = import_module(f"approval_client.adapters.{name}")
    public = [getattr(module, one) for one in getattr(module, "__all__", vars(module))]
    named = {
        parameter
        for one in public
        if callable(one) and getattr(one, "__module__", "").startswith("approval_client")
        if not (isinstance(one, type) and issubclass(one, Exception))
        for parameter in inspect.signature(one).parameters
    }

    assert named & OLD == set()
    assert named != set()
