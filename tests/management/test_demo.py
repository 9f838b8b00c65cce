"""The demo agent asks, heeds the answers, and touches nothing."""

import ast
import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

import dashboard.management.demo
from approval_client import ApprovalRequest, TokenRefused
from approval_client.testing import FakeDashboard
from approval_client.wire import Kind, Status
from dashboard.inspection.fences import parse_fences
from dashboard.inspection.hidden import hidden_characters
from dashboard.management.demo import agent as demo
from dashboard.management.demo.agent import DemoAgent
from dashboard.management.demo.analysis import ORBIT_DRIFT
from dashboard.management.demo.questions import QUESTIONS, DemoQuestion
from tests.management.running import ROOT

FOLDER = Path(dashboard.management.demo.__file__).parent
ASKED = ApprovalRequest.code("one()", objective="Do one thing.")
INSTEAD = ApprovalRequest.code("less()", objective="Do less.")
PRINTED = DemoQuestion(run="r", request=ASKED, instead=INSTEAD, exit_code=3, output="out")


@pytest.fixture
def pursue():
    """Have the agent pursue a question; returns the dashboard and what the agent told."""

    async def pursue(fake, question=PRINTED):
        async def sleep(_):
            await asyncio.sleep(0)

        told = []
        await DemoAgent(fake.async_client(), tell=told.append, sleep=sleep).pursue(question)
        return fake.approvals, told

    return pursue


async def test_what_is_approved_is_reported_as_started_and_finished(pursue):
    (approval,), told = await pursue(FakeDashboard.approving())

    assert approval.started == 1
    assert approval.finished == {"exit_code": 3, "output_head": "out", "duration_s": 2.0}
    assert told == ["approved by reviewer · Do one thing."]


async def test_after_a_rejection_a_changed_version_is_asked_in_the_same_run(pursue):
    (first, second), told = await pursue(FakeDashboard.rejecting("Too much."))

    assert [first.content, second.content] == [ASKED.content, INSTEAD.content]
    assert first.body["run_id"] == second.body["run_id"]
    assert [line.partition(" by ")[0] for line in told] == ["rejected", "rejected"]


async def test_a_question_without_another_version_ends_with_a_rejection(pursue):
    approvals, _ = await pursue(
        FakeDashboard.rejecting("No."), DemoQuestion(run="r", request=ASKED)
    )

    assert len(approvals) == 1


async def test_what_expires_is_let_go(pursue):
    (approval,), told = await pursue(FakeDashboard.silent())

    assert (approval.status, approval.started) == (Status.EXPIRED, 0)
    assert told == ["expired · Do one thing."]


async def test_two_runs_of_a_question_have_names_of_their_own(pursue):
    (first,), _ = await pursue(fake := FakeDashboard.approving())
    await pursue(fake)

    assert first.body["run_id"].startswith("r-")
    assert first.body["run_id"] != fake.approvals[1].body["run_id"]


async def test_what_it_loses_patience_with_is_withdrawn_with_a_reason(pursue):
    question = DemoQuestion(run="r", request=ASKED, patience_s=75)

    (approval,), told = await pursue(FakeDashboard.manual(), question)

    assert (approval.status, approval.cancel_reason) == (
        Status.CANCELLED,
        "The shift is over; this can wait.",
    )
    assert told == ["cancelled · Do one thing."]


async def test_a_dashboard_that_stays_away_is_told_and_survived(pursue):
    approvals, told = await pursue(FakeDashboard.unreachable())

    assert (approvals, told) == ([], ["no answer · Do one thing."])


async def test_a_hold_at_the_start_is_told(pursue):
    fake = FakeDashboard.approving()
    fake.on_hold = True

    assert (await pursue(fake))[1] == ["OnHold · Do one thing."]


@pytest.fixture
def at_work():
    """Start an agent on a dashboard that answers by hand; pauses are as short as can be."""
    tasks = []

    async def sleep(_):
        await asyncio.sleep(0.001)

    def at_work(fake):
        agent = DemoAgent(fake.async_client(), tell=lambda _: None, sleep=sleep)
        tasks.append(asyncio.ensure_future(agent.work()))
        return agent, tasks[-1]

    yield at_work
    for task in tasks:
        task.cancel()


async def until(true):
    async with asyncio.timeout(10):
        while not true():
            await asyncio.sleep(0.001)


async def test_never_more_than_ten_are_pending(at_work):
    agent, _ = at_work(fake := FakeDashboard.manual())

    await until(lambda: agent.pending == demo.MOST_PENDING)
    await asyncio.sleep(0.05)

    assert sum(a.status is Status.PENDING for a in fake.approvals) <= demo.MOST_PENDING


async def test_what_is_pending_is_withdrawn_when_it_ends(at_work):
    _, task = at_work(fake := FakeDashboard.manual())
    await until(lambda: len(fake.approvals) >= demo.AT_ONCE)

    task.cancel()
    await asyncio.wait([task])

    assert task.cancelled()
    assert {approval.status for approval in fake.approvals} == {Status.CANCELLED}


async def test_it_ends_when_its_token_is_refused(at_work):
    fake = FakeDashboard.approving()
    client = fake.async_client()
    fake.token = "dash_another"

    with pytest.raises(ExceptionGroup) as ended:
        await DemoAgent(client, tell=lambda _: None).work()

    assert ended.group_contains(TokenRefused)


async def test_six_questions_come_at_once_and_then_one_at_a_time():
    async def sleep(seconds):
        pauses.append(seconds)
        if len(pauses) == 8:
            raise asyncio.CancelledError

    pauses, client = [], FakeDashboard.approving().async_client()
    with pytest.raises(asyncio.CancelledError):
        await DemoAgent(client, tell=lambda _: None, sleep=sleep).work()

    assert pauses[:5] == [demo.GREETING_PAUSE_S] * 5
    assert all(10 <= pause <= 20 for pause in pauses[5:])


def requests():
    return [r for q in QUESTIONS for r in (q.request, q.instead) if r is not None]


def codes():
    return [r.content["code"] for r in requests() if r.kind is Kind.CODE]


def test_all_four_kinds_are_asked():
    assert {request.kind for request in requests()} == set(Kind)


def test_the_first_six_show_most_of_what_there_is():
    kinds = [question.request.kind for question in QUESTIONS[: demo.AT_ONCE]]

    assert set(kinds) == {Kind.CODE, Kind.TOOL_CALL, Kind.PLAN}


def test_one_is_fenced_like_autogens_with_a_python_and_a_shell_block():
    fenced = [blocks for code in codes() if (blocks := parse_fences(code))]

    assert [block.language for block in fenced[0]] == ["python", "sh"]


def test_one_hides_characters():
    assert any("\u202e" in code and "\u200b" in code for code in codes())
    assert any(hidden_characters(code) for code in codes())


def test_one_is_long_and_says_all_that_an_agent_can_say():
    long = next(r for r in requests() if r.content.get("code") == ORBIT_DRIFT)

    assert len(ORBIT_DRIFT.splitlines()) >= 80
    assert long.evidence.keys() >= {
        *("analysis_details", "execution_mode", "expected_results"),
        *("notebook_link", "notebook_path", "safety_concerns"),
    }
    assert long.evidence["notebook_link"].startswith("https://")


def test_one_writes_to_the_control_system():
    assert any("caput(" in code for code in codes())


def test_each_waits_long_enough_to_be_met_and_one_is_withdrawn():
    limits_s = [request.time_limit_s for request in requests() if request.time_limit_s]
    assert min(limits_s) >= 300
    assert any(question.patience_s for question in QUESTIONS)


def test_every_request_says_what_it_is_for():
    assert all(request.objective for request in requests())


def test_nothing_that_it_imports_could_touch_the_machine():
    trees = [ast.parse(path.read_text()) for path in FOLDER.glob("*.py")]
    found = [node for tree in trees for node in ast.walk(tree)]
    names = {n.module for n in found if isinstance(n, ast.ImportFrom)}
    names |= {alias.name for n in found if isinstance(n, ast.Import) for alias in n.names}

    ours = {name for name in names if name.startswith("dashboard.management.demo")}
    assert names - ours - {"approval_client", "approval_client.wire", "__future__"} <= {
        *("asyncio", "collections.abc", "contextlib", "dataclasses", "itertools"),
        *("logging", "os", "secrets", "signal", "sys"),
        *("base64", "json", "math", "struct", "typing", "zlib"),  # a notebook and its picture
    }


def test_without_a_dashboard_it_says_what_to_set():
    done = subprocess.run(
        [sys.executable, "-m", "dashboard.management.demo"],
        cwd=ROOT,
        env={"PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout) == (1, "")
    assert "Set DASHBOARD_URL and DASHBOARD_TOKEN in the environment" in done.stderr


def test_one_sends_the_notebook_that_holds_what_would_run():
    sent = [r for r in requests() if r.notebook]

    assert len(sent) >= 2  # the one after a rejection too
    for request in sent:
        sources = [cell["source"] for cell in json.loads(request.notebook)["cells"]]
        assert request.content["code"] in sources
