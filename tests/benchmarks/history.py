"""What requests that are kept and requests that wait cost everybody else."""

import asyncio
import time

from tests.benchmarks.callers import Agent, Reviewer
from tests.benchmarks.figures import cpu_s, middle, milliseconds, times
from tests.benchmarks.pressing import CYCLE, Side, alternating

CYCLES, SUBMISSIONS = 6, 20
SETTLES_S = 1
TIMES_ASKED, PAGE_ASKED_MS, LOOKS = 1.5, 300, 3
PAGES = {
    "/": "the queue",
    "/?show=decided": "what was decided",
    "/insight": "insight",
    "/history": "history",
    "/mine": "the badge",
}
COUNT = (
    "SELECT count(*), count(CASE WHEN status = 'pending' THEN 1 END)"
    " FROM dashboard_approvalrequest"
)


async def beside_the_empty(empty, full, *, rounds):
    """The same cycles with nothing kept and with ``full``, in turns."""
    names = [said(house) for house in (empty, full)]
    sides = [Side(house) for house in (empty, full)]
    await alternating(sides, {1: CYCLES}, rounds=rounds, verb_by_verb=CYCLES)
    bare, kept = sides
    figures = [
        (f"press → agent, {name}", milliseconds(side.pressed(1)))
        for name, side in zip(names, sides, strict=True)
    ]
    each = [side.of_rounds(1, lambda took: middle(took.pressed)) for side in (kept, bare)]
    figures.append(("  p50, to the empty one's", times(*each, TIMES_ASKED)))
    for verb in [*CYCLE, "page"]:
        ratio = times(kept.cpu_s[verb], bare.cpu_s[verb], TIMES_ASKED)
        cpu = f"{middle(kept.cpu_s[verb]) * 1000:.1f} ms"
        figures.append((f"  CPU of {verb}", f"{cpu}: {ratio}"))
    return figures + [figure async for figure in _pages(bare, kept)]


async def _pages(bare, kept):
    """The CPU of the pages that read what is kept."""
    for path, name in PAGES.items():
        took = []
        for side in (bare, kept):
            reviewer = await Reviewer.of(side.house)
            await reviewer.get(path)  # warm
            before = cpu_s(side.pid)
            for _ in range(LOOKS):
                await reviewer.get(path)
            took.append((cpu_s(side.pid) - before) / LOOKS)
            reviewer.close()
        said = f"{took[0] * 1000:.0f} ms, then {took[1] * 1000:.0f} ms, asked {PAGE_ASKED_MS} ms"
        yield f"  CPU of {name}", said


async def while_nobody_asks(house, *, idle_s):
    """The CPU of a server that nobody asks anything, and how submissions fare after that."""
    name, pid = said(house), house.server.process.pid
    await asyncio.sleep(SETTLES_S)
    before = cpu_s(pid)
    await asyncio.sleep(idle_s)
    share = (cpu_s(pid) - before) / idle_s
    agent, took = await Agent.of(house, 1), []
    for _ in range(SUBMISSIONS):
        began = time.perf_counter()
        await agent.submit()  # which fails if it is refused
        took.append(time.perf_counter() - began)
    agent.close()
    return [
        (f"CPU when idle, {name}", f"{share:.1%} of a core, asked 3 %"),
        ("  a submission after that", milliseconds(took)),
    ]


def said(house):
    """How much there is."""
    [(requests, pending)] = house.rows(COUNT)
    return f"{requests - pending:,} closed and {pending:,} pending"
