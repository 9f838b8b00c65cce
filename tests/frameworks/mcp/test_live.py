"""``approvals mcp`` as a process, the SDK's client mcp 2.3.0 over stdio, and a real dashboard."""

import asyncio
import json
import os
import signal
import subprocess
import sys

import pytest
from mcp import StdioServerParameters

from tests.frameworks.mcp.test_adapter import BASH, DEPLOY, Host

COMMAND = [sys.executable, "-m", "approval_client.command", "mcp"]
HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


@pytest.fixture
def environment(house):
    return {"DASHBOARD_URL": house.url, "DASHBOARD_TOKEN": house.tokens[0]}


@pytest.fixture
def host(environment):
    parameters = StdioServerParameters(command=COMMAND[0], args=COMMAND[1:], env=environment)
    return Host(parameters)


@pytest.fixture
def process(environment):
    """The server as a process whose host has said hello."""
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen(COMMAND, env=os.environ | environment, **pipes) as process:
        says(process, id=1, method="initialize", params=HELLO)
        process.stdout.readline()
        says(process, method="notifications/initialized")
        yield process
        process.kill()


def says(process, **message):
    process.stdin.write(json.dumps({"jsonrpc": "2.0"} | message).encode() + b"\n")
    process.stdin.flush()


def asks(process):
    says(
        process,
        id=2,
        method="tools/call",
        params={"name": "request_approval", "arguments": DEPLOY},
    )


def status(house, approval_id):
    with house.agent(0) as api:
        return api.get(f"/api/v1/approvals/{approval_id}").json()["status"]


async def test_a_yes_of_a_person_at_the_page_is_told(host, person):
    person.approves(reason="Go on.")

    told = await host.asks()

    assert (told["approved"], told["status"], told["decided_by"]) == (True, "approved", "alice")


async def test_a_no_of_a_person_at_the_page_is_told_with_its_reason(host, person):
    person.rejects("Not on a Sunday.")

    told = await host.asks()

    assert told["approved"] is False
    assert told["reason"].startswith("Not on a Sunday.")


async def test_a_permission_is_given_by_a_person_at_the_page(host, person):
    person.approves()

    assert await host.prompts() == {"behavior": "allow", "updatedInput": BASH["input"]}


async def test_a_call_that_waits_survives_a_server_that_is_killed(house, host, person):
    def kill_and_restart():
        house.server.kill()
        house.start()

    person.approves(after=kill_and_restart)

    assert (await host.asks())["approved"] is True


async def test_what_nobody_decided_yet_is_found_by_the_next_process(host, person):
    question = await host.asks(wait_s=0.05)
    person.approves()

    assert (await host.checks(question))["approved"] is True


async def test_a_question_is_taken_back_when_its_host_cancels(house, host, person):
    answer = asyncio.create_task(host.asks())
    approval_id = await asyncio.to_thread(person.find)

    answer.cancel()
    await asyncio.wait([answer])

    assert status(house, approval_id) == "cancelled"


def test_a_question_is_taken_back_when_its_host_goes(house, process, person):
    asks(process)
    approval_id = person.find()

    process.stdin.close()

    assert process.wait(10) == 130
    assert status(house, approval_id) == "cancelled"


def test_a_question_is_taken_back_when_the_server_is_stopped(house, process, person):
    asks(process)
    approval_id = person.find()

    process.send_signal(signal.SIGTERM)

    assert process.wait(10) == 143
    assert status(house, approval_id) == "cancelled"


def test_nothing_but_the_protocol_reaches_standard_output(process):
    process.stdin.write(b"nonsense\n")
    says(process, id=3, method="tools/list")

    answers = [json.loads(process.stdout.readline())]
    process.stdin.close()
    answers += [json.loads(line) for line in process.stdout]

    assert {answer["jsonrpc"] for answer in answers} == {"2.0"}
    assert [answer["id"] for answer in answers if "result" in answer] == [3]


async def test_a_server_without_a_dashboard_denies_and_says_why(host):
    host.server.env = {}

    told = await host.prompts()

    assert told["behavior"] == "deny"
    assert "Set DASHBOARD_URL" in told["message"]
