"""Client and server of different versions: a sentence says so, and nothing is approved."""

import httpx2
import pytest

from approval_client import (
    ApprovalRequest,
    AsyncClient,
    Client,
    DashboardError,
    ProtocolMismatch,
    _calls,
    _driver,
)
from approval_client.command.codes import Code, code_of_error
from approval_client.testing import FakeDashboard
from approval_client.wire import PROTOCOL_HEADER, Status, protocol_version

NEWER = (
    "The dashboard speaks version 2 of the protocol and this approval-client speaks version 1. "
    "Nothing was approved. Upgrade approval-client."
)
STRANGE = (
    "The dashboard speaks 'one' of the protocol and this approval-client speaks version 1. "
    "Nothing was approved. Check that DASHBOARD_URL is the dashboard's own address."
)
OLDER = (
    "The dashboard does not say which version of the protocol it speaks, so it is older than this "
    "approval-client, which speaks version 1. Nothing was approved. Upgrade the server."
)


@pytest.fixture
def fake():
    return FakeDashboard.approving()


def through(fake, change):
    """Return a client of ``fake`` whose answers are changed on the way."""

    def carry(request):
        response = fake._carry(request)
        change(response)
        return response

    return Client(
        fake.url,
        fake.token,
        transport=httpx2.MockTransport(carry),
        clock=fake.clock,
        sleep=fake.advance,
    )


def without(response):
    del response.headers[PROTOCOL_HEADER]


def says(version):
    def change(response):
        response.headers[PROTOCOL_HEADER] = version

    return change


@pytest.mark.parametrize(
    ("header", "version"),
    [("1", 1), ("1.0", 1), ("1.12", 1), ("2", 2), ("10", 10)]
    + [(text, 0) for text in ("", "0", "01", "-1", "1.", "v1", " 1", "1\n", "1,1", "\u0661")],
)
def test_the_major_version_is_what_counts(header, version):
    assert protocol_version(header) == version


def test_every_call_names_the_version(fake, question):
    named = []

    def carry(request):
        named.append(request.headers.get(PROTOCOL_HEADER))
        return fake._carry(request)

    client = Client(fake.url, fake.token, transport=httpx2.MockTransport(carry))
    client.report_finished(client.request_approval(question), exit_code=0)

    assert named == ["1"] * 4


async def test_the_asynchronous_client_names_it_too(fake, question):
    named = []

    async def carry(request):
        named.append(request.headers.get(PROTOCOL_HEADER))
        return await fake._carry_async(request)

    client = AsyncClient(fake.url, fake.token, transport=httpx2.MockTransport(carry))
    assert (await client.request_approval(question)).approved

    assert named == ["1"] * 3


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (without, OLDER),
        (says("2"), NEWER),
        (says("2.1"), NEWER),
        (says("one"), STRANGE),
    ],
)
def test_a_server_of_another_version_approves_nothing(fake, question, change, told):
    with pytest.raises(ProtocolMismatch) as caught:
        through(fake, change).request_approval(question)

    assert str(caught.value) == told
    assert [approval.started for approval in fake.approvals] == [0]


def test_a_minor_version_may_differ(fake, question):
    assert through(fake, says("1.4")).request_approval(question).approved


@pytest.mark.parametrize("verb", ["get", "wait", "cancel", "iter_decided"])
def test_whatever_else_is_asked_of_it_is_an_error_too(question, verb):
    fake = FakeDashboard.approving()
    pending = fake.client().submit(question)
    client = through(fake, without)
    calls = {
        "get": lambda: client.get(pending.id),
        "wait": lambda: client.wait(pending),
        "cancel": lambda: client.cancel(pending.id),
        "iter_decided": lambda: list(client.iter_decided(None)),
    }

    with pytest.raises(ProtocolMismatch):
        calls[verb]()

    assert [approval.started for approval in fake.approvals] == [0]


def test_what_an_older_server_took_is_withdrawn(question):
    fake = FakeDashboard.silent()

    with pytest.raises(ProtocolMismatch):
        through(fake, without).request_approval(question)

    assert [approval.status for approval in fake.approvals] == [Status.CANCELLED]


def test_a_server_that_does_not_speak_ours_is_heard_and_took_nothing(fake, question, monkeypatch):
    monkeypatch.setattr(_driver, "PROTOCOL", 2)
    monkeypatch.setattr(_calls, "PROTOCOL", 2)

    with pytest.raises(ProtocolMismatch, match="Nothing was approved"):
        through(fake, says("2")).request_approval(question)

    assert fake.approvals == []


def test_a_dashboard_behind_a_proxy_with_a_page_of_its_own_is_tried_again(question):
    fake = FakeDashboard.approving()
    pages = [httpx2.Response(200, content=b"<html>") for _ in range(2)]

    def carry(request):
        return pages.pop() if pages else fake._carry(request)

    client = Client(
        fake.url,
        fake.token,
        transport=httpx2.MockTransport(carry),
        clock=fake.clock,
        sleep=fake.advance,
    )
    client.contact.reached = True
    assert client.request_approval(question).approved


def test_to_a_model_it_is_a_rejection_that_says_what_to_upgrade(fake):
    class Event:
        code = "print(1)"
        context = ()

    response = through(fake, without).approval_func(Event())

    assert (response.approved, OLDER in response.reason) == (False, True)


def test_a_notebook_is_not_left_out_for_it(fake):
    question = ApprovalRequest.code("x", notebook=b'{"nbformat": 4, "cells": []}')

    with pytest.raises(ProtocolMismatch):
        through(fake, without).request_approval(question)

    assert fake.approvals == []


def test_it_is_an_error_like_the_others_and_has_a_code_for_shells():
    error = ProtocolMismatch("No.")

    assert isinstance(error, DashboardError)
    assert code_of_error(error) is Code.REFUSED
