"""What is passed by mistake is named in words, and nobody is asked."""

import re
from types import MappingProxyType

import pytest

from approval_client import ApprovalRequest, Asked, Pending, requires_approval
from approval_client.adapters._pauses import Asker
from approval_client.adapters.ag2 import approval_required
from approval_client.adapters.autogen import for_agent
from approval_client.testing import FakeDashboard

TIMES = ["time_limit_s", "max_wait_s"]
NOT_SECONDS = [
    ("ten", TypeError, "str"),
    (b"5", TypeError, "bytes"),
    (True, TypeError, "bool"),
    (-1, ValueError, "-1"),
    (float("nan"), ValueError, "nan"),
    (float("inf"), ValueError, "inf"),
    pytest.param(10**400, ValueError, "one so large", id="huge"),
    pytest.param(-(10**5000), ValueError, "one so large", id="below"),
]


def test_the_steps_of_a_plan_may_be_any_mappings():
    steps = [MappingProxyType({"do": "a"})]

    assert ApprovalRequest.plan(steps).content == {"steps": [{"do": "a"}]}


@pytest.fixture
def fake():
    return FakeDashboard.approving()


@pytest.mark.parametrize("name", TIMES)
@pytest.mark.parametrize(("value", "error", "named"), NOT_SECONDS)
def test_a_time_is_a_number_of_seconds(name, value, error, named):
    told = rf"^{name} takes a number of seconds.* not {named}\. Nobody was asked\.$"

    with pytest.raises(error, match=told):
        ApprovalRequest.code("x", **{name: value})


@pytest.mark.parametrize("name", TIMES)
@pytest.mark.parametrize(("value", "error", "named"), NOT_SECONDS)
def test_a_decorator_refuses_it_before_any_call(name, value, error, named):
    with pytest.raises(error, match=f"^{name} takes .* not {named}"):

        @requires_approval(**{name: value})
        def deploy():
            """Never called."""


@pytest.mark.parametrize(("value", "error", "named"), NOT_SECONDS)
def test_so_do_adapters_and_what_another_process_asked(fake, value, error, named):
    client = fake.async_client()
    makers = [
        lambda: Asker(client=client, names=["run"], max_wait_s=value),
        lambda: Asked(digest="0" * 64, max_wait_s=value),
        lambda: for_agent("coder", client=client, time_limit_s=value),
    ]

    for make in makers:
        with pytest.raises(error, match=f"_s takes .* not {named}"):
            make()


def test_ag2_takes_no_text_as_a_time():
    with pytest.raises(
        TypeError, match=r"^time_limit_s takes a number of seconds or None, not str"
    ):
        approval_required(time_limit_s="ten")


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (
            lambda: ApprovalRequest.code(b"x"),
            "code takes a text, not bytes. Nobody was asked. Dec",
        ),
        (lambda: ApprovalRequest.code("x", 3), "language takes a text or None, not int."),
        (
            lambda: ApprovalRequest.code("x", evidence="text"),
            "evidence takes an object, such as a",
        ),
        (lambda: ApprovalRequest.code("x", evidence=None), "evidence takes an object, such as a"),
        (
            lambda: ApprovalRequest.code("x", objective=5),
            "objective takes a text or None, not int.",
        ),
        (
            lambda: ApprovalRequest.tool_call("t", [1, 2]),
            "arguments takes an object, such as a dict",
        ),
        (
            lambda: ApprovalRequest.tool_call("t", ["ab"]),
            "arguments takes an object, such as a dict",
        ),
        (lambda: ApprovalRequest.tool_call(b"t", {}), "tool takes a text, not bytes."),
        (lambda: ApprovalRequest.plan("do it"), "steps takes a sequence of objects, not str. Nob"),
        (lambda: ApprovalRequest.plan({"do": 1}), "steps takes a sequence of objects, not dict."),
        (lambda: ApprovalRequest.plan(5), "steps takes a sequence of objects, not int."),
        (
            lambda: ApprovalRequest.plan(["do"]),
            "steps.0 takes an object, such as a dict, not str.",
        ),
        (lambda: ApprovalRequest.memory("save", 7, "tea"), "user_id takes a text, not int."),
        (lambda: ApprovalRequest.memory("save", "u", b"t"), "content takes a text, not bytes."),
        (
            lambda: ApprovalRequest.memory("save", "u", "t", 1),
            "existing takes a text or None, not",
        ),
        (lambda: ApprovalRequest(kind="code", content="x"), "content takes an object, such as a"),
        (lambda: Asked(digest=5), "digest takes a text, not int."),
    ],
)
def test_a_question_names_what_is_of_a_wrong_type(make, told):
    with pytest.raises(TypeError, match=f"^{re.escape(told)}"):
        make()


@pytest.mark.parametrize("evidence", ["text", lambda: ["text"]])
def test_the_evidence_of_a_function_is_an_object(fake, evidence):
    def deploy():
        """Never called."""

    with fake.installed(), pytest.raises(TypeError, match=r"^evidence takes an object"):
        requires_approval(evidence=evidence)(deploy)()
    assert fake.calls == []


def test_what_arguments_returns_is_an_object(fake):
    @requires_approval(arguments=lambda: "text")
    def deploy():
        """Never called."""

    with fake.installed(), pytest.raises(TypeError, match=r"^arguments .* takes an object"):
        deploy()
    assert fake.calls == []


CALLS = [
    ("request_approval", ("print(1)",), "request takes only ApprovalRequest, not str."),
    (
        "request_approval",
        (Asked(digest="0" * 64),),
        "request takes only ApprovalRequest, not Asked",
    ),
    ("submit", ({"code": "x"},), "request takes only ApprovalRequest, not dict."),
    ("wait", ("a1",), "pending takes only Pending, not str."),
    ("decided", ("a1",), "pending takes only Pending, not str."),
    ("wait", (Pending(request="x", id="a1"),), "request takes only ApprovalRequest or Asked, not"),
    ("start", ("a1",), "response takes only ApprovalResponse, not str."),
    ("get", (5,), "approval_id takes a text, not int."),
    ("cancel", (5,), "approval_id takes a text, not int."),
]


@pytest.mark.parametrize(("verb", "arguments", "told"), CALLS)
def test_a_client_says_what_its_verbs_take(fake, verb, arguments, told):
    with pytest.raises(TypeError, match=f"^{re.escape(told)}.*Nobody was asked"):
        getattr(fake.client(), verb)(*arguments)
    assert fake.calls == []


@pytest.mark.parametrize(("verb", "arguments", "told"), CALLS)
async def test_so_does_the_asynchronous_one(fake, verb, arguments, told):
    with pytest.raises(TypeError, match=f"^{re.escape(told)}.*Nobody was asked"):
        await getattr(fake.async_client(), verb)(*arguments)
    assert fake.calls == []


@pytest.mark.parametrize(
    ("end", "error", "told"),
    [
        ({"duration_s": "x"}, TypeError, "duration_s takes a number of seconds or None, not str."),
        ({"duration_s": float("nan")}, ValueError, "duration_s takes a number of seconds from 0"),
        ({"exit_code": "0"}, TypeError, "exit_code takes a whole number or None, not str."),
        ({"exit_code": True}, TypeError, "exit_code takes a whole number or None, not bool."),
        ({"error": ValueError("x")}, TypeError, "error takes a text, not ValueError."),
        ({"output_head": b"x"}, TypeError, "output_head takes a text, not bytes."),
        ({"within_s": "5"}, TypeError, "within_s takes a number of seconds or None, not str."),
    ],
)
def test_an_end_of_a_wrong_type_is_not_reported(fake, question, end, error, told):
    client = fake.client()
    response = client.request_approval(question)
    calls = len(fake.calls)

    with pytest.raises(error, match=f"^{re.escape(told)}.*Nothing was reported"):
        client.report_finished(response, **end)
    assert len(fake.calls) == calls


def test_only_an_approval_is_reported_as_finished(fake):
    told = "^response takes only ApprovalResponse, not NoneType. Nothing was reported. Pass the"
    with pytest.raises(TypeError, match=told):
        fake.client().report_finished(None)


def test_how_long_to_try_is_a_number(fake):
    with pytest.raises(TypeError, match=r"^within_s takes a number of seconds"):
        fake.client().check(within_s="5")
