"""What holds for every framework whose runs stop at a call instead of blocking.

Such a framework's tests have a ``Magnet``: an agent with a tool that needs approval,
``set_field``, which remembers what it was called with and says ``set to`` it. What a model writes
to call it is ``call(name, tesla)``.
"""

import asyncio
import os

import pytest

from approval_client import AsyncClient, Expired, OnHold, TooLate, Unreachable
from tests.frameworks.live import Person, live_house, missing


async def until(true):
    async with asyncio.timeout(10):
        while not true():
            await asyncio.sleep(0.001)


async def asked(gate, times=1):
    await until(lambda: len(gate.asked()) >= times)


def field(tesla):
    return {"tool": "set_field", "arguments": {"tesla": tesla}}


def errors(gate):
    return [end.get("error") for end in gate.finished()]


async def cancelled(turn):
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn


class Stopping:
    """Set ``make`` to the magnet's class and ``call`` to what makes a call.

    A magnet calls ``meanwhile`` inside of its tool. Given that, it makes one call after the other.
    """

    def two(self, **options):
        return self.make([self.call("c1", 1), self.call("c2", 2)], **options)

    async def test_a_tool_is_called_after_a_yes(self, gate):
        gate.approve_next()

        assert await self.make().told(gate) == ["set to 3"]
        assert gate.asked() == [field(3)]

    async def test_a_tool_is_not_called_after_a_no_and_the_model_reads_the_reason(self, gate):
        gate.reject_next("Wrong sector.")
        magnet = self.make()

        (told,) = await magnet.told(gate)

        assert told.startswith("Wrong sector.\n\nThis was rejected by")
        assert (magnet.calls, gate.started()) == ([], 0)

    async def test_nobody_answering_ends_the_run_and_calls_nothing(self, gate):
        magnet = self.make()
        turn = asyncio.create_task(magnet.told(gate))
        await asked(gate)

        gate.run_out()

        with pytest.raises(Expired):
            await turn
        assert magnet.calls == []

    async def test_a_dashboard_that_is_down_ends_the_run_and_calls_nothing(self, gate):
        gate.unplug()
        magnet = self.make()

        with pytest.raises(Unreachable):
            await magnet.told(gate)

        assert magnet.calls == []

    async def test_a_cancelled_run_takes_its_question_back_and_a_late_yes_calls_nothing(
        self, gate
    ):
        magnet = self.make()
        turn = asyncio.create_task(magnet.told(gate))
        await asked(gate)

        await cancelled(turn)
        gate.decide(0, "approve")
        gate.reject_next("Not any more.")
        later = self.make()
        await later.told(gate)

        assert gate.statuses() == ["cancelled", "rejected"]
        assert (magnet.calls, later.calls) == ([], [])

    async def test_how_long_people_have_can_be_said(self, gate):
        gate.approve_next()

        await self.make().told(gate, time_limit_s=60)

        assert gate.requests()[0]["time_limit_s"] == 60

    @pytest.mark.parametrize("order", [(1, 2), (2, 1)])
    async def test_two_calls_are_asked_at_once_and_each_gets_its_own_answer(self, gate, order):
        magnet = self.two()
        turn = asyncio.create_task(magnet.told(gate))
        await asked(gate, 2)

        for tesla in order:
            gate.decide_about(field(tesla), "Not two." if tesla == 2 else "")
            await asyncio.sleep(0.01)

        one, two = await turn
        assert (magnet.calls, one, two.splitlines()[0]) == ([1], "set to 1", "Not two.")

    async def half_answered(self, gate):
        """Start a run with two calls, and have one of them approved."""
        magnet = self.two()
        turn = asyncio.create_task(magnet.told(gate))
        await asked(gate, 2)
        gate.decide_about(field(1))
        await until(lambda: "approved" in gate.statuses())
        return magnet, turn

    async def test_nothing_is_called_before_all_have_an_answer(self, gate):
        magnet, turn = await self.half_answered(gate)

        gate.run_out()

        with pytest.raises(Expired):
            await turn
        assert (magnet.calls, gate.started()) == ([], 0)

    async def test_a_yes_that_waited_too_long_for_its_batch_calls_nothing(self, gate):
        magnet, turn = await self.half_answered(gate)
        gate.let_pass(700)
        gate.decide_about(field(2))

        with pytest.raises(TooLate):
            await turn

        assert (magnet.calls, gate.started()) == ([], 0)

    async def test_a_run_cancelled_between_two_answers_uses_no_approval(self, gate):
        magnet, turn = await self.half_answered(gate)

        await cancelled(turn)

        assert (magnet.calls, sorted(gate.statuses())) == ([], ["approved", "cancelled"])
        assert gate.started() == 0

    async def test_a_hold_between_two_calls_of_a_batch_stops_the_second(self, gate):
        gate.approve_next()
        gate.approve_next()
        magnet = self.two(meanwhile=gate.hold)

        with pytest.raises(OnHold):
            await magnet.told(gate)

        assert (len(magnet.calls), gate.started()) == (1, 1)

    async def test_an_approval_that_is_over_before_its_call_stops_it(self, gate):
        gate.approve_next()
        gate.approve_next()
        magnet = self.two(meanwhile=lambda: gate.let_pass(700))

        with pytest.raises(TooLate):
            await magnet.told(gate)

        assert (len(magnet.calls), gate.started()) == (1, 1)

    async def test_an_identical_retry_is_the_same_question_of_the_same_run(self, gate):
        gate.reject_next("No.")
        gate.reject_next("Still no.")

        await self.make([self.call("c1", 3)], [self.call("c2", 3)]).told(gate)

        first, second = gate.requests()
        assert (first, bool(first["run_id"])) == (second, True)

    async def test_two_runs_have_two_names(self, gate):
        gate.approve_next()
        gate.approve_next()

        await self.make().told(gate)
        await self.make().told(gate)

        assert len({request["run_id"] for request in gate.requests()}) == 2

    async def test_the_end_is_reported_with_what_was_returned(self, gate):
        gate.approve_next()

        await self.make().told(gate)

        assert gate.started() == 1
        assert gate.finished() == [{"exit_code": 0, "output_head": "set to 3"}]

    async def test_a_tool_that_is_cancelled_is_reported_with_that(self, gate):
        gate.approve_next()
        magnet = self.make([self.call("c1", 0)])
        turn = asyncio.create_task(magnet.told(gate))
        await until(lambda: magnet.calls == [0])

        await cancelled(turn)

        assert errors(gate)[0].startswith("CancelledError: ")


class Resuming:
    """A magnet's ``paused`` stops where somebody has to decide, and returns what was saved."""

    async def test_a_saved_pause_finds_its_question_and_its_answer(self, gate):
        saved = await self.make().paused(gate)
        gate.approve_next()
        later = self.make.later()

        assert await later.resumed(gate, saved) == ["set to 3"]
        assert (later.calls, len(gate.asked())) == ([3], 1)

    async def test_a_rejection_that_came_while_nobody_waited_is_found(self, gate):
        saved = await self.make().paused(gate)
        gate.reject_next("No.")
        later = self.make.later()

        (told,) = await later.resumed(gate, saved)

        assert (told[:3], later.calls, len(gate.asked())) == ("No.", [], 1)

    async def test_an_answer_that_was_used_before_a_crash_is_asked_for_again(self, gate):
        saved = await self.make().paused(gate)
        gate.approve_next()
        await self.make.later().resumed(gate, saved)

        gate.reject_next("It was set already.")
        later = self.make.later()
        await later.resumed(gate, saved)

        assert (later.calls, len(gate.asked())) == ([], 2)
        assert gate.evidence()[1]["asked_again"].startswith("Asked again: ")


class Live:
    """The same with a real dashboard: what a person decides in the page is what happens."""

    @pytest.fixture(scope="class")
    @classmethod
    def house(cls):
        if why := missing():
            (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(f"Not run: {why}")
        with live_house() as house:
            yield house

    @pytest.fixture
    def person(self, house):
        with Person(house) as person:
            yield person

    @pytest.fixture
    def gate(self, house):
        return House(house)

    async def test_a_tool_is_called_after_a_person_approved_it(self, gate, person):
        person.approves()

        assert await self.make().told(gate) == ["set to 3"]

    async def test_a_tool_is_not_called_after_a_rejection(self, gate, person):
        person.rejects("Wrong sector.")
        magnet = self.make()

        (told,) = await magnet.told(gate)

        assert (told.splitlines()[0], magnet.calls) == ("Wrong sector.", [])

    async def test_each_of_two_calls_gets_its_own_answer(self, gate, person):
        person.answers("approve", "Not this one.")
        magnet = self.make([self.call("c1", 1), self.call("c2", 2)])

        told = await magnet.told(gate)

        (yes,) = magnet.calls
        answers = {tesla: said.splitlines()[0] for tesla, said in enumerate(told, start=1)}
        assert answers == {yes: f"set to {yes}", 3 - yes: "Not this one."}

    async def test_a_call_that_waits_survives_a_server_that_is_killed(self, house, gate, person):
        def kill_and_restart():
            house.server.kill()
            house.start()

        person.approves(after=kill_and_restart)

        assert await self.make().told(gate) == ["set to 3"]

    async def test_a_cancelled_run_takes_its_question_back(self, house, gate, person):
        turn = asyncio.create_task(self.make().told(gate))
        approval_id = await asyncio.to_thread(person.find)

        await cancelled(turn)

        with house.agent(0) as api:
            answer = api.get(f"/api/v1/approvals/{approval_id}").json()
        assert (answer["status"], answer["decision"]["source"]) == ("cancelled", "agent")

    async def test_what_was_saved_is_decided_and_taken_up_later(self, gate, person):
        saved = await self.make().paused(gate)

        person.approves()

        assert await self.make.later().resumed(gate, saved) == ["set to 3"]


class House:
    """The real dashboard, with what a magnet needs of it."""

    def __init__(self, house):
        self.client = AsyncClient(house.url, house.tokens[0])
