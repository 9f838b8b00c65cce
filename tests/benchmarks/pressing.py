"""How soon the agent has its answer, and what a cycle costs, in turns with the floor.

The clock starts when a signed-in browser has sent the last byte of the page's own form, and stops
when the agent has read its answer. Each cycle submits one request and answers an earlier one whose
page was opened before: drawing a page takes as long as all the rest and is measured separately.
"""

import asyncio
import time
from collections import defaultdict
from contextlib import contextmanager

from tests.benchmarks.callers import Agent, Reviewer
from tests.benchmarks.figures import cpu_s, middle, milliseconds, part_of, times

AT_ONCE = {1: 8, 4: 16, 8: 24}
"""How many agents ask at once, and how many cycles they take in a round."""
WARM, ENTERS_S = 4, 0.25
P50_ASKED, P99_ASKED, CPU_ASKED = {1: 2}, {8: 4}, 2.2
"""How often as much as the floor's issue 13 asks for at the most, by how many ask at once."""
CYCLE = ["submit", "wait", "decide", "started", "finished"]
TOLD, DRAWN = ["submit", "wait", "decide"], "decide and draw the bar"
"""The verbs before the agent knows; and the last of them as a browser with scripts asks for it."""


class Side:
    """One server under load, and what each round took of it."""

    def __init__(self, house):
        self.house, self.pid = house, house.server.process.pid
        self.opened = defaultdict(list)
        self.rounds, self.cpu_s = defaultdict(list), defaultdict(list)

    async def fill(self, at_once, count):
        """Have ``count`` requests of each of ``at_once`` agents whose pages a person opened."""
        reviewer = await Reviewer.of(self.house)
        for number in range(at_once):
            agent, opened = await Agent.of(self.house, number), self.opened[number]
            while len(opened) < count:
                opened.append(await agent.submit())
            for approval in opened:
                if "form" not in approval:
                    await reviewer.read(approval)
            agent.close()
        reviewer.close()

    async def cycle(self, at_once, count):
        """Let ``at_once`` agents take ``count`` cycles together, each as soon as it can."""
        await self.fill(at_once, count // at_once)
        took, desks = Round(), [await Desk.of(self, number) for number in range(at_once)]
        before, began = cpu_s(self.pid), time.perf_counter()
        await asyncio.gather(*[desk.answer(count // at_once, took) for desk in desks])
        took.each_s = (time.perf_counter() - began) / count
        took.cpu_s = (cpu_s(self.pid) - before) / count
        for desk in desks:
            desk.close()
        self.rounds[at_once].append(took)

    async def verb_by_verb(self, count):
        """Take ``count`` requests through one verb after the other, for the CPU of each."""
        agent, reviewer = await Agent.of(self.house), await Reviewer.of(self.house)
        waiting = [await Agent.of(self.house) for _ in range(count)]
        with self._cpu_of("submit", count):
            asked = [await agent.submit() for _ in range(count)]
        with self._cpu_of("page", count):
            for approval in asked:
                await reviewer.read(approval)
        with self._cpu_of("wait", count):
            pairs = zip(waiting, asked, strict=True)
            waits = [asyncio.create_task(one.wait(approval)) for one, approval in pairs]
            await asyncio.sleep(ENTERS_S)
        for verb, draws, part in (("decide", False, asked[::2]), (DRAWN, True, asked[1::2])):
            with self._cpu_of(verb, len(part)):
                for approval in part:
                    await reviewer.decide(approval, draws=draws)
        await asyncio.gather(*waits)
        for state in ("started", "finished"):
            with self._cpu_of(state, count):
                for approval in asked:
                    await agent.report(approval, state)
        for one in (agent, reviewer, *waiting):
            one.close()

    @contextmanager
    def _cpu_of(self, verb, count):
        before = cpu_s(self.pid)
        yield
        self.cpu_s[verb].append((cpu_s(self.pid) - before) / count)

    def of_rounds(self, at_once, figure):
        """One figure of each round."""
        return [figure(took) for took in self.rounds[at_once]]

    def of_verbs(self, verbs):
        """The CPU of some verbs together in each round."""
        return [sum(each) for each in zip(*[self.cpu_s[verb] for verb in verbs], strict=True)]

    def pressed(self, at_once):
        """Every time from a press to its agent, in seconds."""
        return [one for took in self.rounds[at_once] for one in took.pressed]


class Round:
    """What some cycles took: seconds from press to agent, and a cycle's time and CPU."""

    def __init__(self):
        self.pressed, self.each_s, self.cpu_s = [], 0.0, 0.0


class Desk:
    """An agent with its two connections, and the person who answers it."""

    def __init__(self, opened, asking, waiting, reviewer):
        self.opened, self.asking, self.waiting = opened, asking, waiting
        self.reviewer = reviewer

    @classmethod
    async def of(cls, side, number):
        asking, waiting = [await Agent.of(side.house, number) for _ in range(2)]
        return cls(side.opened[number], asking, waiting, await Reviewer.of(side.house))

    async def answer(self, count, took):
        for approval in [self.opened.pop(0) for _ in range(count)]:
            waits = asyncio.create_task(self._told_at(approval))
            self.opened.append(await self.asking.submit())
            self.reviewer.connection.send(*self.reviewer.press(approval))
            began = time.perf_counter()
            took.pressed.append(await waits - began)
            status, bar = await self.reviewer.connection.receive()
            assert status == 200, (status, bar[:500])
            for state in ("started", "finished"):
                await self.asking.report(approval, state)

    async def _told_at(self, approval):
        answer = await self.waiting.wait(approval)
        now = time.perf_counter()
        assert answer["status"] == "approved", answer
        return now

    def close(self):
        for one in (self.asking, self.waiting, self.reviewer):
            one.close()


async def beside_the_floor(house, floor, *, rounds, more):
    """Alternate between the dashboard and the floor; a round has ``more`` times the cycles."""
    ours, theirs = Side(house), Side(floor)
    await alternating(
        [ours, theirs],
        {at_once: count * more for at_once, count in AT_ONCE.items()},
        rounds=rounds,
        verb_by_verb=AT_ONCE[1] * more,
    )
    return [*_latency(ours, theirs), *_throughput(ours, theirs), *_cpu(ours, theirs)]


async def alternating(sides, at_once, *, rounds, verb_by_verb=0):
    """Give each side its turn in each round, and begin each round with another one."""
    for side in sides:
        await side.cycle(1, WARM)
        side.rounds.clear()
    for number in range(rounds):
        for side in sides[number % len(sides) :] + sides[: number % len(sides)]:
            for agents, count in at_once.items():
                await side.cycle(agents, count)
            if verb_by_verb:
                await side.verb_by_verb(verb_by_verb)


def _latency(ours, theirs):
    for at_once in AT_ONCE:
        pressed = [side.pressed(at_once) for side in (ours, theirs)]
        yield f"press → agent, {at_once} at once", milliseconds(pressed[0])
        yield "  the floor", milliseconds(pressed[1])
        rounds = [side.of_rounds(at_once, lambda r: middle(r.pressed)) for side in (ours, theirs)]
        yield "  p50, to the floor's", times(*rounds, P50_ASKED.get(at_once))
        slow = [[part_of(one, 0.99)] for one in pressed]
        yield "  p99, to the floor's", times(*slow, P99_ASKED.get(at_once))


def _throughput(ours, theirs):
    for at_once in AT_ONCE:
        each = [side.of_rounds(at_once, lambda r: r.each_s) for side in (ours, theirs)]
        rates = [f"{1 / middle(seconds):.0f} a second" for seconds in each]
        yield f"cycles, {at_once} at once", f"{rates[0]}, the floor {rates[1]}"
        yield "  time of a cycle, to the floor's", times(*each)
    cpu = [side.of_rounds(1, lambda r: r.cpu_s) for side in (ours, theirs)]
    yield "CPU of a cycle", f"{_of_both(*cpu)}"


def _cpu(ours, theirs):
    for verb in [*CYCLE, DRAWN]:
        yield f"CPU of {verb}", _of_both(ours.cpu_s[verb], theirs.cpu_s[verb])
    for verbs in (TOLD, [*TOLD[:-1], DRAWN]):
        told = [side.of_verbs(verbs) for side in (ours, theirs)]
        yield f"CPU of {' + '.join(verbs)}", _of_both(*told, CPU_ASKED)
    yield "CPU of opening a page", f"{middle(ours.cpu_s['page']) * 1000:.1f} ms"


def _of_both(ours, theirs, asked=None):
    said = f"{middle(ours) * 1000:.1f} ms, the floor {middle(theirs) * 1000:.1f} ms"
    return f"{said}: {times(ours, theirs, asked)}"
