"""What a reviewer changed: taken by who said so, refused by everybody else."""

import asyncio
import json
from contextlib import nullcontext

import pytest

from approval_client import ApprovalRequest, Asked, DigestMismatch, Pending, requires_approval
from approval_client.testing import FakeDashboard, approve
from approval_client.wire import digest, parse_json

STEPS = [{"tool": "a", "arguments": {}}, {"tool": "b", "arguments": {}}]
ASKED = {
    "code": ApprovalRequest.code("x", "python", accepts_edits=True),
    "tool": ApprovalRequest.tool_call("move", {"x": 1}, accepts_edits=True),
    "memory": ApprovalRequest.memory("save", "u", "likes tea", accepts_edits=True),
    "plan": ApprovalRequest.plan(STEPS, accepts_edits=True),
}
GOOD = {
    "code": {"code": "y", "language": "python"},
    "tool": {"tool": "move", "arguments": {"x": 2, "fast": True}},
    "memory": {"operation": "save", "user_id": "u", "content": "", "existing": None},
    "plan": {"steps": [STEPS[1]]},
}
BAD = [
    ("code", {"code": "y", "language": "bash"}),
    ("code", {"code": "y"}),
    ("tool", {"tool": "drop", "arguments": {"x": 1}}),
    ("tool", {"tool": "move", "arguments": {"x": 1}, "more": 1}),
    ("memory", {"operation": "save", "user_id": "v", "content": "", "existing": None}),
    ("plan", {"steps": [{"tool": "c", "arguments": {}}]}),
    ("plan", {"steps": [STEPS[1], STEPS[0]]}),
    ("plan", {"steps": []}),
    ("code", "y"),
    ("code", {"code": ["y"], "language": "python"}),
    ("tool", {"tool": "move", "arguments": None}),
    ("memory", {"operation": "save", "user_id": "u", "content": {"a": 1}, "existing": None}),
    ("plan", {"steps": {"0": STEPS[1]}}),
]
ALLOWED, HELD, REFUSED = "allowed", "held", "refused"


def answered(kind, content, **more):
    return FakeDashboard.scripted(approve(content=content, **more))


@pytest.mark.parametrize("kind", list(GOOD))
def test_an_edit_of_what_may_change_is_taken(kind):
    response = answered(kind, GOOD[kind]).client().request_approval(ASKED[kind])

    assert (response.approved, response.edited, response.content) == (True, True, GOOD[kind])
    assert response.digest == digest(ASKED[kind].kind, GOOD[kind])


@pytest.mark.parametrize(("kind", "content"), BAD)
def test_an_edit_of_anything_else_opens_nothing(kind, content):
    dashboard = answered(kind, content)

    with pytest.raises(DigestMismatch, match="Nothing was approved"):
        dashboard.client().request_approval(ASKED[kind])

    assert dashboard.approvals[0].started == 0


@pytest.mark.parametrize(("kind", "content"), BAD)
async def test_neither_does_it_for_the_asynchronous_client(kind, content):
    with pytest.raises(DigestMismatch):
        await answered(kind, content).async_client().request_approval(ASKED[kind])


@pytest.mark.parametrize("accepts", [True, False])
def test_a_change_that_comes_only_with_the_start_opens_nothing(stage, say_for, accepts):
    request = ApprovalRequest.code("x", accepts_edits=accepts)
    say = say_for(request)
    other = say.started(decision={"content": {"code": "y"}})

    with pytest.raises(DigestMismatch, match="Nothing was run"):
        stage(say.approved(), other).ask(request)


def test_what_became_of_the_steps_is_told():
    steps = [{"index": 0, "answer": "held", "note": "Later."}, {"index": 1, "answer": "allowed"}]

    response = answered("plan", GOOD["plan"], steps=steps).client().request_approval(ASKED["plan"])

    assert list(response.steps) == steps


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, {0: ALLOWED, 1: REFUSED}),
        (None, {0: ALLOWED}),
        (None, {0: ALLOWED, 1: ALLOWED, 2: HELD}),
        (None, {0: ALLOWED, 1: ALLOWED, -1: HELD}),
        (GOOD["plan"], {0: ALLOWED, 1: ALLOWED}),
        (GOOD["plan"], {0: ALLOWED, 1: HELD}),
    ],
)
def test_steps_that_contradict_what_is_approved_open_nothing(content, words):
    steps = [{"index": index, "answer": answer} for index, answer in words.items()]
    dashboard = answered("plan", content, steps=steps)

    with pytest.raises(DigestMismatch, match="Nothing was approved"):
        dashboard.client().request_approval(ASKED["plan"])

    assert dashboard.approvals[0].started == 0


def test_two_answers_to_one_step_open_nothing():
    steps = [{"index": index, "answer": ALLOWED} for index in (0, 1, 1)]

    with pytest.raises(DigestMismatch):
        answered("plan", None, steps=steps).client().request_approval(ASKED["plan"])


def test_answers_to_steps_of_what_is_no_plan_open_nothing():
    steps = [{"index": 0, "answer": ALLOWED}]

    with pytest.raises(DigestMismatch):
        answered("code", None, steps=steps).client().request_approval(ASKED["code"])


@pytest.mark.parametrize(("word", "opens"), [(ALLOWED, True), (HELD, False)])
def test_of_a_plan_whose_steps_are_not_known_all_have_to_be_allowed(word, opens):
    client = answered("plan", None, steps=[{"index": 0, "answer": word}]).client()
    pending = client.submit(ApprovalRequest.plan(STEPS[:1]))
    known = Pending(request=Asked(digest=pending.request.digest), id=pending.id)

    with nullcontext() if opens else pytest.raises(DigestMismatch):
        assert client.wait(known).approved is opens


def test_a_plan_whose_steps_are_all_allowed_is_approved():
    steps = [{"index": index, "answer": ALLOWED} for index in (0, 1)]

    assert answered("plan", None, steps=steps).client().request_approval(ASKED["plan"]).approved


def test_an_unknown_word_about_a_step_is_no_answer():
    steps = [{"index": 0, "answer": "maybe"}]
    dashboard = answered("plan", GOOD["plan"], steps=steps)
    request = ApprovalRequest.plan(STEPS, accepts_edits=True, max_wait_s=5)

    with pytest.raises(Exception, match="not a known value"):
        dashboard.client().request_approval(request)


def test_autogen_never_takes_an_edit():
    response = answered("code", GOOD["code"]).client().approval_func(ASKED["code"])

    assert not response.approved


def gated(*, accepts_edits=True):
    @requires_approval(accepts_edits=accepts_edits)
    def add(a, b=2, *rest, scale=1, **more):
        return (a + b + sum(rest)) * scale, more

    return add


def edited(**changes):
    arguments = {"a": 1, "b": 2, "rest": [], "scale": 1, "more": {}} | changes
    tool = f"{__name__}.gated.<locals>.add"
    return FakeDashboard.scripted(approve(content={"tool": tool, "arguments": arguments}))


def test_a_function_runs_with_the_edited_arguments():
    with edited(b=5, rest=[10], scale=2, more={"unit": "mm"}).installed():
        assert gated()(1) == (32, {"unit": "mm"})


def test_a_function_that_did_not_say_so_takes_no_edit():
    with edited(b=5).installed(), pytest.raises(DigestMismatch, match="accepts_edits=True"):
        gated(accepts_edits=False)(1)


@pytest.mark.parametrize("changes", [{"c": 1}, {"rest": 3}, {"more": []}])
def test_arguments_that_do_not_fit_run_nothing(changes):
    with edited(**changes).installed(), pytest.raises(DigestMismatch, match="Nothing was run"):
        gated()(1)


@pytest.mark.parametrize("number", ["9007199254740993.0", "1e-400"])
def test_a_number_that_python_reads_as_another_runs_nothing(number):
    with edited(b=parse_json(number)).installed(), pytest.raises(DigestMismatch, match="number"):
        gated()(1)


@pytest.mark.parametrize("name", ["client", "async_client"])
def test_neither_does_any_client_take_it(name):
    content = {"tool": "move", "arguments": {"x": [parse_json("1e-400")]}}
    dashboard = answered("tool", content)

    def ask():
        response = getattr(dashboard, name)().request_approval(ASKED["tool"])
        return asyncio.run(response) if name == "async_client" else response

    with pytest.raises(DigestMismatch, match="the number 1e-400, which Python reads"):
        ask()

    assert dashboard.approvals[0].started == 0


@pytest.mark.parametrize(("number", "sum_"), [("1.50", 2.5), ("1e3", 1001.0), ("0.1", 1.1)])
def test_a_number_that_is_written_otherwise_is_the_same(number, sum_):
    with edited(b=parse_json(number)).installed():
        assert gated()(1)[0] == sum_


def test_one_argument_is_not_edited_under_cover_of_the_others():
    ran = []
    content = {"tool": "f", "arguments": {"dry": True, "more": {"dry": False}}}

    @requires_approval(client=answered("tool", content).client(), tool="f", accepts_edits=True)
    def run(*, dry: bool, **more):
        ran.append((dry, more))

    with pytest.raises(DigestMismatch, match="Nothing was run"):
        run(dry=True, more=1)
    assert ran == []


async def test_an_asynchronous_function_runs_with_them_too():
    @requires_approval(accepts_edits=True, tool="double")
    async def double(n):
        return 2 * n

    content = {"tool": "double", "arguments": {"n": 21}}
    with FakeDashboard.scripted(approve(content=content)).installed():
        assert await double(1) == 42


def test_edited_arguments_are_plain_values():
    @requires_approval(accepts_edits=True, tool="kind_of")
    def kind_of(n):
        return type(n)

    content = {"tool": "kind_of", "arguments": json.loads('{"n": 7}')}
    with FakeDashboard.scripted(approve(content=content)).installed():
        assert kind_of(1) is int


def test_arguments_of_ones_own_cannot_be_edited():
    with pytest.raises(TypeError, match="edited"):
        requires_approval(accepts_edits=True, arguments=lambda x: {"x": x})(lambda x: x)
