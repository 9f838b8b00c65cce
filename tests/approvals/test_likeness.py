import pytest

from approval_client.wire import Kind, canonical_json
from dashboard.approvals.rules.likeness import ALIKE, likeness, sketch

LOOP = "for step in (0.05, 0.05, -0.10):\n    caput(CORRECTOR, step)\n"


def like(one, other, kind=Kind.CODE):
    return likeness(*(sketch(kind, canonical_json(content)) for content in (one, other)))


def test_the_same_is_wholly_alike():
    assert like({"code": LOOP}, {"code": LOOP}) == 1.0


@pytest.mark.parametrize(
    ("old", "new"),
    [("print(1)", "print(2)"), (LOOP, LOOP.replace("0.10", "0.20")), (LOOP, "#" + LOOP)],
)
def test_a_small_change_leaves_code_alike(old, new):
    assert like({"code": old}, {"code": new}) >= ALIKE


@pytest.mark.parametrize("new", ["import shutil\nshutil.rmtree('/srv')", "x", LOOP * 9])
def test_other_code_is_not_alike(new):
    assert like({"code": LOOP}, {"code": new}) < ALIKE


def test_how_alike_two_are_does_not_depend_on_their_order():
    one, other = {"code": LOOP}, {"code": LOOP + "print('done')"}

    assert like(one, other) == like(other, one)


def test_another_tool_with_the_same_arguments_is_not_alike():
    calls = [{"tool": tool, "arguments": {"to": "everybody"}} for tool in ("mail", "page")]

    assert like(*calls, kind=Kind.TOOL_CALL) == 0.0


def test_the_same_words_in_another_memory_are_not_alike():
    whose = [{"operation": "set", "user_id": u, "content": LOOP} for u in ("a", "b")]

    assert like(*whose, kind=Kind.MEMORY) == 0.0


@pytest.mark.parametrize("kind", list(Kind))
def test_content_of_no_known_shape_can_be_compared(kind):
    assert like({}, {}, kind) == 1.0
