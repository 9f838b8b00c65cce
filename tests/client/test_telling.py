"""A blocked agent says so, and its host learns who decided and when."""

import asyncio
import logging
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from approval_client import ApprovalRequest, AsyncClient, Client, requires_approval
from approval_client._telling import ended
from approval_client.adapters.ag2 import approval_required
from approval_client.adapters.autogen import for_agent
from approval_client.testing import FakeDashboard
from approval_client.wire import Status

CODE = "print('hello')"


class Event:
    """What AutoGen hands over."""

    code = CODE
    context = ()


@pytest.fixture
def fake():
    return FakeDashboard.approving("Fine.")


def link(fake, number=0):
    return f"{fake.url}/approvals/{fake.approvals[number].id}"


def line(fake, end="Approved by reviewer"):
    waits = f"Waiting for a person to decide, for 30 min at most: {link(fake)}\n"
    return f"{waits}{end}: {link(fake)}\n"


def test_a_blocked_client_writes_one_line_with_the_link_and_one_at_the_end(fake, question, capsys):
    fake.client().request_approval(question)

    assert capsys.readouterr() == ("", line(fake))


async def test_so_does_the_asynchronous_one(fake, question, capsys):
    await fake.async_client().request_approval(question)

    assert capsys.readouterr() == ("", line(fake))


@pytest.mark.parametrize("value", ["1", "true", "YES", "on"])
def test_a_setting_silences_it(fake, question, capsys, monkeypatch, value):
    monkeypatch.setenv("DASHBOARD_QUIET", value)

    fake.client().request_approval(question)

    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("value", ["", "0", "no", "off"])
def test_a_setting_that_is_off_does_not(fake, question, capsys, monkeypatch, value):
    monkeypatch.setenv("DASHBOARD_QUIET", value)

    fake.client().request_approval(question)

    assert capsys.readouterr().err == line(fake)


def test_it_is_said_once_however_often_it_asks_again(question, capsys):
    fake = FakeDashboard.silent()

    fake.client().request_approval(question)

    assert capsys.readouterr().err.count("Waiting") == 1
    assert sum(call.endswith("/wait") for call in fake.calls) > 1


def test_what_nobody_has_to_decide_is_not_announced(stage, question, say, capsys):
    stage(say.approved(), say.started()).ask(question)

    assert capsys.readouterr().err == ""


def test_whoever_hears_every_answer_shows_it_and_no_line_is_written(fake, question, capsys):
    fake.client().request_approval(question, heard=lambda _: None)

    assert capsys.readouterr().err == ""


def test_a_link_cannot_do_anything_to_a_terminal(question, capsys):
    fake = FakeDashboard.approving()
    client = fake.client()
    fake.url = "http://localhost:8765/\x1b[2J\n"

    client.request_approval(question)

    told = capsys.readouterr().err
    assert ("\x1b" in told, told.count("\n")) == (False, 2)


def test_the_name_of_who_decided_cannot_either():
    answer = SimpleNamespace(
        status=Status.REJECTED, decision=SimpleNamespace(decided_by="eve\x1b[2J\n" + "x" * 200)
    )

    said = ended(answer)

    assert said.startswith("Rejected by eve\ufffd[2J\ufffdxx")
    assert len(said) < 120


@pytest.mark.parametrize(
    ("make", "end"),
    [
        (lambda: FakeDashboard.rejecting("No."), "Rejected by reviewer (No.)"),
        (FakeDashboard.silent, "Nobody decided in time"),
    ],
)
def test_every_end_is_said(question, capsys, make, end):
    fake = make()

    fake.client().request_approval(question)

    assert capsys.readouterr().err == line(fake, end)


def test_a_reason_of_several_lines_is_told_in_one(question, capsys):
    fake = FakeDashboard.rejecting("Not there.\n\n  Use staging\x1b[2J." + "x" * 5000)

    fake.client().request_approval(question)

    told = capsys.readouterr().err.splitlines()[1]
    assert told.startswith("Rejected by reviewer (Not there. Use staging\ufffd[2J.xx")
    assert len(told) < 400


def test_without_a_standard_error_it_still_asks(fake, question, monkeypatch):
    monkeypatch.setattr("sys.stderr", None)

    assert fake.client().request_approval(question).approved is True


def test_a_listener_takes_the_place_of_the_line(fake, question, capsys):
    heard = []

    fake.client().telling(on_pending=heard.append).request_approval(question)

    assert [answer.review_url for answer in heard] == [link(fake)]
    assert capsys.readouterr().err == ""


def test_a_host_learns_who_decided_and_when(fake, question):
    heard = []

    response = fake.client().telling(on_decided=heard.append).request_approval(question)

    (answer,) = heard
    assert (answer.id, answer.decision.decided_by, answer.decision.reason) == (
        response.id,
        "reviewer",
        "Fine.",
    )
    assert answer.decision.decided_at == response.decided_at == datetime(2026, 1, 1, tzinfo=UTC)


def test_it_learns_it_before_anything_is_started(fake, question):
    started = []
    client = fake.client().telling(on_decided=lambda _: started.append(fake.approvals[0].started))

    client.request_approval(question)

    assert (started, fake.approvals[0].started) == ([0], 1)


def test_it_learns_of_a_rejection_too(question):
    heard = []
    fake = FakeDashboard.rejecting("No.")

    fake.client().telling(on_decided=heard.append).request_approval(question)

    assert [answer.status for answer in heard] == ["rejected"]


async def test_an_asynchronous_client_awaits_its_listeners(fake, question):
    heard = []

    async def hear(answer):
        await asyncio.sleep(0)
        heard.append(str(answer.status))

    client = fake.async_client().telling(on_pending=hear, on_decided=hear)
    await client.request_approval(question)

    assert heard == ["pending", "approved"]


def test_a_blocking_client_refuses_listeners_that_it_cannot_await(fake):
    async def hear(_):
        """Never called."""

    with pytest.raises(TypeError, match="cannot await"):
        fake.client().telling(on_pending=hear)


def fail(_):
    raise LookupError("No room.\n\x1b[2J" + "x" * 5000)


def test_both_listeners_can_fail_and_change_no_answer(fake, question, caplog):
    client = fake.client().telling(on_pending=fail, on_decided=fail)

    with caplog.at_level(logging.WARNING):
        response = client.request_approval(question)

    assert response.approved is True
    told = [record.getMessage() for record in caplog.records]
    assert [line[:50] for line in told] == [
        "on_pending failed (LookupError: No room. \ufffd[2Jxxxxx",
        "on_decided failed (LookupError: No room. \ufffd[2Jxxxxx",
    ]
    end = f"x). This changes no answer. The request: {link(fake)}"
    assert all(line.endswith(end) and len(line) < 400 for line in told)


def test_of_an_address_in_the_cause_only_the_host_is_told(fake, question, caplog):
    def post(_):
        raise OSError(
            "403 for 'https://a:b@hooks.example.org/T0/KEY?k=KEY' (see http://x.org/KEY)"
        )

    with caplog.at_level(logging.WARNING):
        fake.client().telling(on_decided=post).request_approval(question)

    told = caplog.messages[0]
    assert "403 for 'https://hooks.example.org/…' (see http://x.org/…" in told
    assert "KEY" not in told


@pytest.mark.parametrize("name", ["on_pending", "on_decided"])
def test_in_place_of_a_listener_that_fails_the_usual_lines_are_written(
    fake, question, capsys, name
):
    fake.client().telling(**{name: fail}).request_approval(question)

    assert capsys.readouterr().err == line(fake)


async def test_so_they_are_where_an_asynchronous_one_fails(fake, question, capsys):
    async def hear(answer):
        await asyncio.sleep(0)
        fail(answer)

    client = fake.async_client().telling(on_pending=hear, on_decided=hear)
    await client.request_approval(question)

    assert capsys.readouterr().err == line(fake)


def test_an_error_that_cannot_be_written_is_named(fake, question, caplog):
    class Unspeakable(Exception):
        def __str__(self):
            raise RuntimeError

    def hear(_):
        raise Unspeakable

    with caplog.at_level(logging.WARNING):
        fake.client().telling(on_pending=hear).request_approval(question)

    told = [record.getMessage() for record in caplog.records]
    assert told[0].startswith("on_pending failed (Unspeakable). This changes no answer.")


@pytest.mark.parametrize("name", ["on_pending", "on_decided"])
def test_what_cannot_be_called_is_no_listener(fake, name):
    with pytest.raises(TypeError, match=f"^{name} takes a function or None, not str. Nobody was"):
        fake.client().telling(**{name: "print"})


def test_clients_take_them_when_they_are_made():
    heard = []
    client = Client("http://localhost", "dash_x", on_pending=heard.append)

    assert client._listeners.on_pending == heard.append
    assert (
        AsyncClient("http://localhost", "dash_x", on_decided=print)._listeners.on_decided is print
    )


def test_the_client_it_was_made_of_stays_as_it_was(fake, question, capsys):
    client = fake.client()
    client.telling(on_pending=lambda _: None)

    client.request_approval(question)

    assert capsys.readouterr().err == line(fake)


def test_the_decorator_tells(fake):
    heard = []
    with fake.installed():

        @requires_approval(on_pending=heard.append, on_decided=heard.append)
        def deploy():
            return "done"

        assert deploy() == "done"

    assert [str(answer.status) for answer in heard] == ["pending", "approved"]


async def test_the_asynchronous_decorator_tells(fake):
    heard = []
    with fake.installed():

        @requires_approval(on_pending=heard.append, on_decided=heard.append)
        async def deploy():
            return "done"

        assert await deploy() == "done"

    assert [str(answer.status) for answer in heard] == ["pending", "approved"]


async def test_the_function_of_an_autogen_agent_tells(fake):
    heard = []
    ask = for_agent(
        "coder",
        client=fake.async_client(),
        on_pending=heard.append,
        on_decided=heard.append,
    )

    assert (await ask(Event())).approved is True
    assert [str(answer.status) for answer in heard] == ["pending", "approved"]


async def test_approval_func_writes_the_line(fake, capsys):
    from approval_client import approval_func  # noqa: PLC0415 - the module's own, as users take it

    with fake.installed():
        await approval_func(ApprovalRequest.code(CODE))

    assert capsys.readouterr().err == line(fake)


def test_every_adapter_takes_both():
    import inspect  # noqa: PLC0415 - for this one test

    from approval_client.adapters import (  # noqa: PLC0415 - for this one test
        ag2,
        agent_framework,
        autogen,
        langgraph,
        openai_agents,
        osprey,
        pydantic_ai,
    )

    entries = [
        *(ag2.ApprovalRequired.__init__, ag2.approval_required, ag2.hitl_hook),
        *(agent_framework.run_with_approvals, agent_framework.resume_workflow),
        *(agent_framework.gate, agent_framework.approval_rule),
        *(langgraph._desk, osprey._desk),
        *(openai_agents.run_with_approvals, pydantic_ai.run_with_approvals),
    ]
    both = {"on_pending", "on_decided"}
    assert [one for one in entries if not both <= inspect.signature(one).parameters.keys()] == []
    assert both <= autogen.GateOptions.__annotations__.keys()


def test_ag2_waits_as_long_as_people_have():
    assert approval_required()._time_limit_s is None
