"""Time runs out by itself, and an agent that vanished is not seen waiting any more."""

import asyncio
import json
import signal
import time
from datetime import datetime

import pytest

from dashboard.live.hub import WAITING_NOTED_EVERY_S
from tests.faults.talking import talking
from tests.serving import serve

SHORTEST_S = 5


async def test_a_wait_ends_at_the_deadline_by_itself(house, takes_long):
    async with talking(house) as (asker, _):
        agent = await asker()
        approval = await agent.submit(time_limit_s=SHORTEST_S)
        agent.begin_to_wait(approval)
        _, _, body = await agent.answer()
        late_s = time.time() - datetime.fromisoformat(approval["expires_at"]).timestamp()

    answer = json.loads(body)
    assert (answer["status"], answer["decision"]["source"]) == ("expired", "deadline")
    assert 0 < late_s < 1.5


async def test_an_agent_that_vanished_is_not_seen_waiting_any_more(house, takes_long):
    async with talking(house) as (asker, _):
        agent, stays = await asker(), await asker()
        gone, here = await agent.submit(), await stays.submit()
        agent.begin_to_wait(gone)
        stays.begin_to_wait(here)
        await asyncio.sleep(0.3)
        agent.close()
        cut_at = time.time()
        until = cut_at + 2 * WAITING_NOTED_EVERY_S + 5
        while (last_polled(house, here) or 0) < cut_at + 5 and time.time() < until:
            await asyncio.sleep(0.5)
        assert last_polled(house, here) > cut_at + 5
        assert last_polled(house, gone) < cut_at + 1


async def test_nobody_is_seen_waiting_for_what_belongs_to_another_agent(house):
    async with talking(house) as (asker, _):
        agent, stranger = await asker(0), await asker(1)
        approval = await agent.submit()
        stranger.begin_to_wait(approval, hold=0)
        assert (await stranger.answer())[0] == 404
    house.server.end()  # writes down what was noted
    house.start()

    assert last_polled(house, approval) is None


def last_polled(house, approval):
    where = "WHERE replace(CAST(approval_id AS text), '-', '') = ?"
    pk = approval["id"].replace("-", "")
    rows = house.rows(f"SELECT last_polled_at FROM dashboard_poll {where}", pk)
    if not rows:
        return None
    at = rows[0][0]
    at = at if isinstance(at, datetime) else datetime.fromisoformat(f"{at}+00:00")
    return at.timestamp()


@pytest.mark.engine("postgresql")
def test_a_worker_writes_down_what_expired_while_no_server_could(takes_long):
    with serve(worker=True) as house, house.agent() as agent:
        approval = house.submit(agent, time_limit_s=SHORTEST_S)
        house.server.send(signal.SIGSTOP)
        time.sleep(SHORTEST_S + 2)
        assert house.rows("SELECT status FROM dashboard_approvalrequest") == [("expired",)]
        house.server.send(signal.SIGCONT)
        answer = agent.get(f"/api/v1/approvals/{approval['id']}").json()
        assert answer["decision"]["source"] == "deadline"
        [worker] = house.workers
        code, took_s = worker.end()

    assert code == 0
    assert took_s < 3
