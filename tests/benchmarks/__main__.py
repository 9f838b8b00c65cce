"""Measures the parts that are named, or all of them, on the engine that the environment names.

Prints figures and ratios. It fails where a count is beyond its limit, and never because of a time.
"""

import argparse
import asyncio
import math
import os
import resource
import signal
import sys
import time
from typing import NamedTuple

from tests import serving
from tests.benchmarks import (
    asking,
    audit,
    backtesting,
    beside,
    chains,
    counting,
    crowd,
    desk,
    flooding,
    freezing,
    history,
    houses,
    inspecting,
    onlookers,
    pressing,
    scraping,
    screen,
    telling,
)
from tests.benchmarks.figures import show

HANGS_AFTER_S = 600  # then a part fails, says where it stood, and ends its servers
SHAPES = ["names of arguments: markup", "steps: hidden and not", "memory: keys", "49 blocks"]


class Sizes(NamedTuple):
    """How much of everything."""

    rounds: int = 5  # in which two servers take turns
    more: int = 1  # times the usual cycles in a round
    waits: int = 1000  # agents who wait at once
    kept: int = 5000  # requests that were closed
    pending: int = 1000  # requests that are open
    asked: int = 25  # of what is only timed
    entries: int = 100_000  # of the audit log
    requests: int = 2000  # that a policy is tried on
    rate: int = 5  # requests a second beside open pages
    idle_s: int = 4


FULL = Sizes(
    rounds=5,
    more=5,
    waits=10_000,
    kept=100_000,
    pending=5000,
    asked=200,
    entries=200_000,
    requests=10_000,
    rate=20,
    idle_s=20,
)


def main():
    options = _options()
    signal.signal(signal.SIGALRM, _hangs)
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 32_768), hard))
    engine = "PostgreSQL" if serving.POSTGRESQL else "SQLite"
    show({"engine": engine, "load of the machine before": f"{os.getloadavg()[0]:.1f}"})
    sizes, began = FULL if options.full else Sizes(), time.perf_counter()
    sizes = sizes._replace(kept=options.kept or sizes.kept)
    wrong = []
    for name in options.parts or [name for name in PARTS if options.full or name not in ONLY_FULL]:
        at = time.perf_counter()
        if name != "counts" and at - began > options.within:
            show({f"--- {name}": f"left out: {at - began:.0f} s are gone"})
            continue
        if not options.full:
            signal.alarm(HANGS_AFTER_S)
        show({f"--- {name}": ""})
        wrong += PARTS[name](sizes) or []
        signal.alarm(0)
        show({f"    {name} took": f"{time.perf_counter() - at:.0f} s"})
    show({"everything took": f"{time.perf_counter() - began:.0f} s"})
    if wrong:
        sys.exit("\n".join(["Counts that are beyond their limits:", *wrong]))


def _hangs(*_):
    raise TimeoutError(f"It has not ended after {HANGS_AFTER_S} s.")


def _counts(_):
    figures, wrong = counting.counted()
    show(figures)
    return wrong


def _press(sizes):
    with houses.dashboard() as house, houses.floor() as floor:
        pressed = pressing.beside_the_floor(house, floor, rounds=sizes.rounds, more=sizes.more)
        show(asyncio.run(pressed))
        show(asyncio.run(screen.to_the_socket(house, sizes.asked)))
        show(asking.overhead(house, sizes.asked))
    show(asking.importing())


def _pages(sizes):
    with houses.dashboard() as house:
        beside = onlookers.beside_pages(
            house, pages=20, rate=sizes.rate, seconds=3 * sizes.more, rounds=2 * sizes.more
        )
        show(asyncio.run(beside))


def _history(sizes):
    with houses.dashboard() as empty, houses.dashboard(kept=sizes.kept) as full:
        show(asyncio.run(history.while_nobody_asks(full, idle_s=sizes.idle_s)))
        houses.filled(full, 0, sizes.pending)
        show(asyncio.run(history.while_nobody_asks(full, idle_s=sizes.idle_s)))
        show(asyncio.run(history.beside_the_empty(empty, full, rounds=sizes.rounds)))


def _crowd(sizes):
    with houses.floor(pending=sizes.waits) as floor:
        show(asyncio.run(crowd.waits(floor, "floor", answered=10)))
    with houses.dashboard(pending=sizes.waits) as house:
        show(asyncio.run(crowd.waits(house, "dashboard", answered=10)))


def _desk(sizes):
    show(desk.pages(sizes.pending, max(3, sizes.asked // 10)))


def _hostile(sizes):
    with houses.dashboard() as house:
        show(asyncio.run(freezing.measure(house, seconds=sizes.idle_s, words=SHAPES)))


def _flood(sizes):
    show(flooding.beside_a_flood(rounds=min(sizes.rounds, 3), seconds=sizes.idle_s))
    with houses.dashboard() as house:
        show(asyncio.run(_all(flooding.beside_a_crowd(house))))


async def _all(figures):
    return [figure async for figure in figures]


def _told(sizes):
    with houses.dashboard() as plain, telling.with_slow_channels() as told:
        show(asyncio.run(telling.beside_slow_channels(plain, told, sizes.rounds)))


def _scraped(sizes):
    environment = houses.LIMITS | {"METRICS_TOKEN": scraping.TOKEN}
    with serving.serve(environment=environment) as house:
        show(asyncio.run(scraping.beside_scrapes(house, sizes.rounds)))


def _screen(sizes):
    if screen.CHROMIUM.exists():
        show(screen.to_the_screen(sizes.asked))
    else:
        show({"question stored → on the screen": "not measured: there is no Chromium"})


def _others(sizes):
    with houses.dashboard() as house:
        show(asyncio.run(beside.in_turns(house, sizes.rounds)))


def _machinery(sizes):
    show(audit.verification(sizes.entries))
    show(inspecting.inspections(sizes.asked * 2))
    show(backtesting.replaying(sizes.requests))


def _chains(_):
    show(chains.compared())


PARTS = {
    "counts": _counts,
    "press": _press,
    "pages": _pages,
    "history": _history,
    "crowd": _crowd,
    "desk": _desk,
    "hostile": _hostile,
    "flood": _flood,
    "told": _told,
    "scraped": _scraped,
    "screen": _screen,
    "machinery": _machinery,
    "chains": _chains,
    "others": _others,
}
ONLY_FULL = {"chains", "others"}
"""What needs PostgreSQL, or other people's programs from PyPI."""


def _options():
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--full", action="store_true", help="large numbers; more than an hour")
    parser.add_argument(
        "--within",
        type=float,
        default=math.inf,
        metavar="SECONDS",
        help="begin nothing later than that, but for the counts",
    )
    parser.add_argument("--kept", type=int, help="closed requests, instead of the usual number")
    options = parser.parse_args()
    if unknown := set(options.parts) - PARTS.keys():
        parser.error(f"There is no part {', '.join(unknown)}; there are {', '.join(PARTS)}.")
    return options


if __name__ == "__main__":
    main()
