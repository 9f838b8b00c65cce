"""Runs everything once, on the engine that the environment names, and prints the figures."""

import argparse
import asyncio
import os
import resource
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import NamedTuple

import httpx2

from tests import serving
from tests.benchmarks import (
    asking,
    audit,
    backtesting,
    crowd,
    desk,
    freezing,
    inspecting,
    latency,
    onlookers,
    screen,
    throughput,
)
from tests.benchmarks.figures import show

SHAPES = ["names of arguments: markup", "steps: hidden and not", "memory: keys", "49 blocks"]


class Bare(NamedTuple):
    """The server of the floor."""

    url: str
    pid: int


def main():
    options = _options()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 16_384), hard))
    serving.MANAGE[1:] = ["-m", "tests.benchmarks.server"]
    limits = {"PENDING_PER_TOKEN": "100000", "WAITS_PER_PROCESS": "10000"}
    with serving.serve(environment=limits) as house, floor() as bare:
        engine = "PostgreSQL" if serving.POSTGRESQL else "SQLite"
        show({"engine": engine, "load of the machine before": f"{os.getloadavg()[0]:.1f}"})
        asyncio.run(measure(house, bare, options))
        show(asking.overhead(house, min(options.rounds, 100)))
    show(asking.importing())
    show(audit.verification(options.entries))
    show(inspecting.inspections(options.rounds))
    show(backtesting.replaying(options.requests))
    show(desk.pages(options.pending, min(options.rounds, 20)))
    with serving.serve(environment=limits) as house:
        for kept, pending in ((0, 0), (options.kept, 0), (0, min(options.pending, 1000))):
            onlookers.filled(house, kept, pending)
            show(onlookers.while_nobody_asks(house, idle_s=options.idle))
        show(asyncio.run(onlookers.beside_pages(house, pages=20, rate=5, seconds=5, turns=3)))
    with serving.serve(environment=limits) as house:
        show(asyncio.run(freezing.measure(house, seconds=5, words=options.shapes)))
    if screen.CHROMIUM.exists():
        show(screen.to_the_screen(min(options.rounds, 50)))


async def measure(house, bare, options):
    rounds = options.rounds
    await latency.to_the_agent(house, 50)  # warm
    show(await latency.of_the_floor(bare.url, rounds))
    show(await latency.to_the_agent(house, rounds))
    show(await latency.to_the_page(house, rounds))
    for agents in (1, 4):
        show(await throughput.of_the_floor(bare.url, agents, rounds))
        show(await throughput.cycles(house, agents, rounds))
    show(await crowd.of_the_floor(bare, options.waits))
    show(await crowd.waits(house, options.waits))


@contextmanager
def floor():
    listener = socket.create_server(("127.0.0.1", 0), backlog=2048)
    command = [sys.executable, "-m", "tests.benchmarks.echo", str(listener.fileno())]
    process = subprocess.Popen(command, pass_fds=[listener.fileno()])
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    try:
        _until_answered(url)
        yield Bare(url, process.pid)
    finally:
        process.terminate()
        process.wait()
        listener.close()


def _until_answered(url):
    for _ in range(200):
        try:
            httpx2.get(url, trust_env=False)
        except httpx2.TransportError:
            time.sleep(0.05)
        else:
            return


def _options():
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks")
    parser.add_argument("--rounds", type=int, default=400, help="of everything that is timed")
    parser.add_argument("--waits", type=int, default=2000, help="agents who wait at once")
    parser.add_argument("--entries", type=int, default=200_000, help="of the audit log")
    parser.add_argument("--requests", type=int, default=10_000, help="that a policy is tried on")
    parser.add_argument("--pending", type=int, default=5000, help="that the desk's queue holds")
    parser.add_argument("--kept", type=int, default=5000, help="closed requests, when idle")
    parser.add_argument("--idle", type=int, default=10, help="seconds that nobody asks anything")
    parser.add_argument("--shapes", nargs="*", default=SHAPES, help="of hostile content, by name")
    return parser.parse_args()


if __name__ == "__main__":
    main()
