"""kill -9 while agents wait and people decide: nothing is lost and nothing happens twice."""

import asyncio
import random
from uuid import UUID

from approval_client import ApprovalRequest, AsyncClient
from tests.faults.talking import talking

VERDICTS = {"approve": "approved", "reject": "rejected"}


async def test_everybody_is_answered_after_the_restart_and_nothing_happened_twice(
    rough_house, rounds, in_full
):
    agents = 50 if in_full else 15
    for number in range(rounds):
        told, acked = await one_round(rough_house, f"round-{number}", agents)

        closed = statuses(rough_house, f"round-{number}")
        assert len(told) == len(closed) == agents
        assert told == {pk: status == "approved" for pk, status in closed.items()}
        assert acked.items() <= closed.items()
        assert starts(rough_house, told) == [pk for pk in sorted(told) if told[pk]]
        print(f"kill -9: {len(acked)} of {agents} decisions acked")  # noqa: T201 - a figure


async def one_round(house, run_id, count):
    """Kill the server meanwhile; returns {id: may it run} as agents were told, and what people
    were told: {id: status}."""
    async with asyncio.TaskGroup() as group:
        agents = [group.create_task(asked(house, run_id, number)) for number in range(count)]
        group.create_task(killed_and_restarted(house))
        deciding = group.create_task(decided_by_and_by(house, run_id, count))
    answers = [agent.result() for agent in agents]
    return {answer.id: answer.approved for answer in answers}, deciding.result()


async def asked(house, run_id, number):
    client = AsyncClient(house.url, house.tokens[number % 5])
    question = ApprovalRequest.code(f"print({number})", run_id=run_id, time_limit_s=120)
    return await client.request_approval(question)


async def killed_and_restarted(house):
    await asyncio.sleep(random.uniform(0.3, 1.5))  # noqa: S311 - any moment will do
    await asyncio.to_thread(house.server.kill)
    await asyncio.to_thread(house.start)


async def decided_by_and_by(house, run_id, count):
    """Answer whatever is pending until nothing is; returns what people were told."""
    acked = {}
    while len(known := statuses(house, run_id)) < count or "pending" in known.values():
        async with talking(house) as (_, decider):
            person = await decider()
            for pk, status in known.items():
                if status == "pending":
                    await decide(person, pk, acked)
        await asyncio.sleep(0.05)
    return acked


async def decide(person, pk, acked):
    verdict = random.choice(list(VERDICTS))  # noqa: S311 - either will do
    if await person.read({"id": pk}):
        person.decide(verdict)
        status, _, _ = await person.answer()
        if status == 303:
            acked[pk] = VERDICTS[verdict]


def statuses(house, run_id):
    rows = house.rows("SELECT id, status FROM dashboard_approvalrequest WHERE run_id = ?", run_id)
    return {str(UUID(str(pk))): status for pk, status in rows}


def starts(house, told):
    rows = house.rows("SELECT approval_id FROM dashboard_outcome WHERE state = 'started'")
    return sorted(pk for pk in (str(UUID(str(row[0]))) for row in rows) if pk in told)
