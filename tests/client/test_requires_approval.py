"""``requires_approval``: a function runs only when its call was approved."""

import asyncio
import inspect

import httpx2
import pytest

from approval_client import (
    ApprovalRequest,
    Client,
    DigestMismatch,
    Expired,
    NotApproved,
    Rejected,
    Unreachable,
    requires_approval,
)
from approval_client.adapters._core import telling
from approval_client.testing import FakeDashboard
from approval_client.wire import Status


@pytest.fixture
def approving():
    with FakeDashboard.approving().installed() as fake:
        yield fake


@pytest.fixture
def rejecting():
    with FakeDashboard.rejecting("Not that one.").installed() as fake:
        yield fake


@requires_approval
def add(a, b=2, *rest, scale=1, **more):
    """Add things."""
    return (a + b + sum(rest)) * scale


@requires_approval
async def add_async(a, b=2):
    return a + b


def test_an_approved_call_runs(approving):
    assert add(1) == 3


async def test_an_approved_async_call_runs(approving):
    assert await add_async(1) == 3


def test_reviewers_see_the_function_and_every_argument(approving):
    add(1, 2, 3, scale=4, unit="mm")

    body = approving.approvals[0].body
    body.pop("evidence")  # the schema of the function
    assert body == {
        "kind": "tool_call",
        "accepts_grants": True,
        "capability": f"{__name__}.add",
        "content": {
            "tool": f"{__name__}.add",
            "arguments": {"a": 1, "b": 2, "rest": [3], "scale": 4, "more": {"unit": "mm"}},
        },
    }


def test_defaults_are_shown_too(approving):
    add(1)

    assert approving.approvals[0].content["arguments"]["b"] == 2


def test_what_is_said_at_the_decorator_is_asked(approving):
    gate = requires_approval(
        tool="rm",
        capability="files",
        objective="Tidy up.",
        time_limit_s=60,
        max_wait_s=90,
        accepts_grants=False,
    )

    gate(lambda path: path)("/x")

    body = approving.approvals[0].body
    assert body.pop("content") == {"tool": "rm", "arguments": {"path": "/x"}}
    body.pop("evidence")  # the schema of the function
    assert body == {
        "kind": "tool_call",
        "capability": "files",
        "objective": "Tidy up.",
        "time_limit_s": 60,
        "max_wait_s": 90,
    }


def test_a_rejected_call_does_not_run(rejecting):
    ran = []

    with pytest.raises(Rejected, match=r"one\. Nothing was run\. Do not ask for") as caught:
        requires_approval(lambda: ran.append(1))()

    assert (ran, caught.value.response.reason) == ([], "Not that one.")


async def test_a_rejected_async_call_does_not_run(rejecting):
    with pytest.raises(NotApproved):
        await add_async(1)


def test_silence_is_not_a_yes():
    with FakeDashboard.silent().installed(), pytest.raises(Expired):
        add(1)


def test_an_unreachable_dashboard_is_not_a_yes():
    with FakeDashboard.unreachable().installed(), pytest.raises(Unreachable):
        add(1)


def test_an_argument_that_changed_during_the_wait_does_not_run(approving):
    paths, removed = ["/a"], []

    def remove(paths):
        removed.extend(paths)

    def change(request):
        if request.url.path.endswith("/wait"):
            paths.append("/home")
        return approving._carry(request)

    client = Client(approving.url, approving.token, transport=httpx2.MockTransport(change))

    with pytest.raises(DigestMismatch, match="changed while it waited for approval"):
        requires_approval(client=client)(remove)(paths)

    assert removed == []


async def test_an_argument_that_changed_during_an_async_wait_does_not_run(asked):
    fake, paths = FakeDashboard.manual(), ["a"]
    gated = requires_approval(client=fake.async_client())(listing)
    task = asyncio.create_task(gated(paths))
    await asked(fake)

    paths.append("b")
    fake.approve_next()

    with pytest.raises(DigestMismatch):
        await task


@pytest.mark.parametrize("steps", [{"1": "close", "2": "open"}, [{"1": "close", "2": "open"}]])
def test_a_member_that_moved_during_the_wait_does_not_run(approving, steps):
    done = []

    def move(_):
        members = steps if isinstance(steps, dict) else steps[0]
        members["1"] = members.pop("1")

    def do(steps):
        done.append(steps)

    with pytest.raises(DigestMismatch, match="changed while it waited for approval"):
        requires_approval(client=approving.client(), on_decided=move)(do)(steps)

    assert done == []


def test_members_are_handed_on_in_the_order_of_the_call(approving):
    got = []

    def keep(steps, **more):
        got.extend([*steps, *more])

    requires_approval(client=approving.client())(keep)({"b": 1, "a": 2}, d=3, c=4)

    assert got == ["b", "a", "d", "c"]


async def listing(paths):
    return list(paths)


@pytest.mark.parametrize("argument", [object(), {1: "x"}, float("nan"), "\0", b"x", {1, 2}])
def test_an_argument_that_is_not_json_is_a_type_error_and_nothing_is_asked(approving, argument):
    with pytest.raises(TypeError, match=r"cannot be shown to a reviewer: .* Pass arguments="):
        add(argument)

    assert approving.calls == []


def test_arguments_may_be_described_by_a_function(approving):
    gate = requires_approval(arguments=lambda data: {"bytes": len(data)})

    assert gate(lambda data: data)(b"abc") == b"abc"
    assert approving.approvals[0].content["arguments"] == {"bytes": 3}


def test_wrong_arguments_fail_as_they_always_did(approving):
    with pytest.raises(TypeError, match="missing a required argument: 'a'"):
        add()

    assert approving.calls == []


def test_start_and_end_are_reported(approving):
    add(1)

    approval = approving.approvals[0]
    told = {"exit_code": 0, "duration_s": approval.finished["duration_s"], "output_head": "3"}
    assert (approval.started, approval.finished) == (1, told)


def test_it_is_started_before_it_runs(approving):
    seen = requires_approval(lambda: approving.approvals[0].started)

    assert seen() == 1


def test_an_exception_is_reported_and_raised(approving):
    with pytest.raises(ZeroDivisionError):
        requires_approval(lambda: 1 / 0)()

    finished = approving.approvals[0].finished
    assert finished["exit_code"] == 1
    assert finished["error"] == "ZeroDivisionError: division by zero"


async def test_a_cancelled_function_is_reported_and_stays_cancelled(approving):
    @requires_approval
    async def forever():
        await asyncio.Event().wait()

    with pytest.raises(TimeoutError):
        await asyncio.wait_for(forever(), 0.03)

    assert approving.approvals[0].finished["error"] == "CancelledError: "


def _decorated(client, act):
    return requires_approval(client=client)(act)


def _of_an_adapter(client, act):
    async def call():
        response = await client.request_approval(ApprovalRequest.code("pay()"))
        return await telling(client, response, act)

    return call


@pytest.mark.parametrize("gate", [_decorated, _of_an_adapter])
async def test_a_cancellation_while_the_end_is_reported_loses_no_report(gate):
    fake, moments = FakeDashboard.approving(), []
    on_time, is_open = fake._route, asyncio.Event()

    def slow(call):
        if b'"finished"' in call.content:
            moments.append("reporting")
            while not is_open.is_set():
                yield
        return (yield from on_time(call))

    async def pay():
        return "paid"

    fake._route = slow
    task = asyncio.create_task(gate(fake.async_client(), pay)())
    while not moments:
        await asyncio.sleep(0.001)
    task.cancel()
    await asyncio.sleep(0.001)
    is_open.set()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert fake.approvals[0].finished["output_head"] == "paid"


def test_a_report_that_fails_changes_nothing(approving):
    def cut_off():
        approving.reachable = False
        return "done"

    assert requires_approval(cut_off)() == "done"
    assert approving.approvals[0].finished == {}


async def test_an_async_report_that_fails_changes_nothing(approving):
    @requires_approval
    async def cut_off():
        approving.reachable = False
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        await cut_off()


def test_a_result_that_cannot_be_shown_is_returned_all_the_same(approving):
    class Shy:
        def __repr__(self):
            raise ValueError

    shy = Shy()

    assert requires_approval(lambda: shy)() is shy
    assert approving.approvals[0].finished["output_head"] == "<Shy>"


def test_the_wrapper_looks_like_the_function():
    assert (add.__name__, add.__doc__) == ("add", "Add things.")
    assert inspect.iscoroutinefunction(add_async)
    assert not inspect.iscoroutinefunction(add)


class Callable:
    def __call__(self):
        """It has a state that nobody is shown."""


@pytest.mark.parametrize("thing", [object(), int, Callable()])
def test_only_functions_can_be_gated(thing):
    with pytest.raises(TypeError, match="takes a function"):
        requires_approval(thing)


def generator():
    yield 1


async def async_generator():
    yield 1


@pytest.mark.parametrize("function", [generator, async_generator])
def test_a_generator_cannot_be_gated(function):
    with pytest.raises(TypeError, match="runs piece by piece"):
        requires_approval(function)


def test_the_client_must_be_of_the_functions_kind():
    fake = FakeDashboard.approving()

    with pytest.raises(TypeError, match="needs a client of type AsyncClient"):
        requires_approval(client=fake.client())(listing)
    with pytest.raises(TypeError, match="needs a client of type Client"):
        requires_approval(client=fake.async_client())(lambda: None)


def test_an_unknown_option_is_refused():
    with pytest.raises(TypeError, match=r"has no option approve_all\."):
        requires_approval(approve_all=True)(lambda: None)


class LyingClient(Client):
    """A client whose answer is truthy and no approval."""

    def request_approval(self, request, **_):
        class Answer:
            approved = "yes"
            status = Status.APPROVED
            reason = "Sure."
            digest = request.digest

        return Answer()


def test_a_truthy_answer_is_not_a_yes():
    client = LyingClient("https://a.example", "dash_x")

    with pytest.raises(NotApproved):
        requires_approval(client=client)(lambda: None)()


def test_an_integer_of_400_digits_is_asked_and_run(approving):
    given = []

    requires_approval(lambda n: given.append(n) or n)(10**400)

    assert given == [10**400]
    assert approving.approvals[0].content["arguments"] == {"n": 10**400}
