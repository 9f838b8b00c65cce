import itertools
import re
from concurrent.futures import ThreadPoolExecutor
from enum import Enum
from threading import Barrier

import pytest
from hypothesis import given
from hypothesis import strategies as st

from approval_client.capabilities import create_approval_type
from approval_client.capabilities.approval_types import forget_approval_types

NAMES = st.text("ab_", min_size=1, max_size=4)


class Operation(str, Enum):  # noqa: UP042 - as older programs write it
    SAVE = "save"


def made_or_none(names):
    try:
        return create_approval_type(*names)
    except ValueError:
        return None


@pytest.mark.parametrize(
    ("names", "approval_type"),
    [
        (("python",), "python"),
        (("python", None), "python"),
        (("memory", "save"), "memory_save"),
        (("data_analysis", "execute_query"), "data_analysis_execute_query"),
        (("memory", Operation.SAVE), "memory_save"),
    ],
)
def test_a_type_is_made_of_capability_and_operation(names, approval_type):
    assert create_approval_type(*names) == approval_type


def test_the_names_have_ospreys_names():
    made = create_approval_type(capability_name="memory", operation_type="delete")
    assert made == "memory_delete"


def test_the_same_names_give_the_same_type_again():
    assert create_approval_type("a_b", "c") == create_approval_type("a_b", "c")


@pytest.mark.parametrize(
    ("first", "second"),
    list(itertools.permutations([("a_b", "c"), ("a", "b_c"), ("a_b_c", None)], 2)),
)
def test_other_names_never_give_the_same_type(first, second):
    create_approval_type(*first)
    message = (
        f"{second} would give the approval type 'a_b_c', which {first} has already. No approval "
        "type was made. Choose another name for one of them."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        create_approval_type(*second)


@pytest.mark.parametrize(
    "names",
    [("python", "executor"), ("orchestrator_plan",), ("memory_save",), ("channel", "write")],
)
def test_types_of_our_own_interrupts_are_taken_from_the_start(names):
    with pytest.raises(ValueError, match="would give the approval type"):
        create_approval_type(*names)


def test_a_refused_name_leaves_the_first_one_alone():
    create_approval_type("a", "b")
    with pytest.raises(ValueError, match="would give the approval type"):
        create_approval_type("a_b")
    assert create_approval_type("a", "b") == "a_b"


def test_tests_can_forget():
    create_approval_type("a_b", "c")
    forget_approval_types()
    assert create_approval_type("a", "b_c") == "a_b_c"


@pytest.mark.parametrize(
    "name",
    ["", " ", "a b", "a\n", "\ta", "a\u00a0b", "a\u200b", "a\u202eb", "\x00", None, 5, b"a"],
)
def test_a_capability_has_a_name_that_can_be_read(name):
    with pytest.raises(ValueError, match="capability_name must be a name") as refused:
        create_approval_type(name)
    assert str(refused.value) == (
        "capability_name must be a name without white space and hidden characters, got "
        f"{name!r}. No approval type was made."
    )


@pytest.mark.parametrize("name", ["", " ", "a b", "a\r\nb", "a\u2028", 5, False, ["a"]])
def test_so_has_an_operation(name):
    with pytest.raises(ValueError, match="operation_type must be a name without white space"):
        create_approval_type("memory", name)


def test_of_threads_that_want_the_same_type_one_gets_it():
    start = Barrier(8)

    def make(names):
        start.wait()
        return made_or_none(names)

    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(make, [("a_b", "c"), ("a", "b_c")] * 4))
    assert sorted(map(str, made)) == ["None"] * 4 + ["a_b_c"] * 4


@given(st.lists(st.tuples(NAMES, st.none() | NAMES), max_size=20))
def test_whatever_is_made_tells_its_names_apart(pairs):
    forget_approval_types()
    made = {}
    for pair in pairs:
        if approval_type := made_or_none(pair):
            made.setdefault(approval_type, set()).add(pair)
    assert all(len(names) == 1 for names in made.values())
