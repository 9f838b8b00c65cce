"""AutoGen: whatever is approved is what the executor gets, and nothing else reads like it."""

import asyncio
import os
from itertools import combinations, islice, product

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from approval_client.testing import FakeDashboard
from tests.frameworks.autogen.kit import UNGATED
from tests.frameworks.autogen.test_odd import Recorder, execute, gated
from tests.frameworks.random_calls import EXAMPLES

JOINT = "\n```\n\n```"
CODES = st.lists(
    st.sampled_from(["a", "sh", " ", "\n", "\n", "\r", "`", "~~~", "é", "```", JOINT]), max_size=6
).map("".join)
LANGUAGES = st.sampled_from(["", "sh", "python", "PYTHON", "c++"] * 3 + ["sh\n", "a b", "`"])
BLOCKS = st.lists(st.tuples(LANGUAGES, CODES), max_size=3)
MOST = 40


def run(blocks):
    """Have everything be approved; returns what was shown, and what the executor got."""
    fake, executor = FakeDashboard.approving(), Recorder()
    asyncio.run(execute(gated(fake.async_client(), executor), blocks))
    return [one.content["code"] for one in fake.approvals], executor.got


def readings(text):
    """Return all lists of blocks that AutoGen joins to ``text``."""
    joints = [at for at in range(len(text)) if text.startswith(JOINT, at)]
    for count in range(len(joints) + 1):
        for chosen in combinations(joints, count):
            starts = [3, *(at + len(JOINT) for at in chosen)]
            ends = [*chosen, len(text) - 4]
            bodies = [text[start:end] for start, end in zip(starts, ends, strict=True)]
            yield from product(*map(_blocks, bodies))


def _blocks(body):
    # The line end after the language may be any, for nothing says where a language ends.
    return [(body[:at], body[at + 1 :]) for at in range(len(body)) if body[at] == "\n"]


@pytest.mark.filterwarnings(UNGATED)
def test_what_is_approved_is_what_the_executor_gets_and_the_only_reading():
    count = {"asked": 0, "told": 0, "other readings": 0}

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize="EXAMPLES" not in os.environ,
        suppress_health_check=list(HealthCheck),
    )
    @given(BLOCKS)
    def what_is_approved_is_run(blocks):
        shown, got = run(blocks)
        if not shown:
            assert got == []
            count["told"] += 1
            return
        assert got == [blocks]
        assert shown == ["\n\n".join(f"```{lang}\n{code}\n```" for lang, code in blocks)]
        others = [one for one in islice(readings(shown[0]), MOST) if list(one) != blocks]
        assert [run(list(other)) for other in others] == [([], [])] * len(others)
        count["asked"] += 1
        count["other readings"] += len(others)

    what_is_approved_is_run()
    assert min(count.values()) > EXAMPLES / 10, count  # it tries all
    print(count)  # noqa: T201 - shown with -s
