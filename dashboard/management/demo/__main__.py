"""``python -m dashboard.management.demo [--insecure-http]``: ask until SIGTERM or SIGINT."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys

from approval_client import AsyncClient, NotConfigured, TokenRefused
from dashboard.management.demo.agent import DemoAgent, say

PARENT_CHECK_S = 1.0


def main() -> int:
    """Run the demo agent and return the exit status."""
    logging.getLogger("approval_client").setLevel(logging.CRITICAL)  # it tries again by itself
    try:
        client = AsyncClient(insecure_http="--insecure-http" in sys.argv[1:])
    except NotConfigured as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return asyncio.run(_until_stopped(DemoAgent(client)))


async def _until_stopped(agent: DemoAgent) -> int:
    loop = asyncio.get_running_loop()
    work = loop.create_task(agent.work())
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, work.cancel)
    parent = loop.create_task(_cancel_without_parent(work))
    await asyncio.wait({work})
    parent.cancel()
    if work.cancelled():
        return 0
    say(_why_it_ended(work.exception()))
    return 1


def _why_it_ended(error: BaseException | None) -> str:
    if isinstance(error, BaseExceptionGroup) and error.subgroup(TokenRefused):
        return "its token is refused, so it stops"
    return f"it stops: {error!r}"


async def _cancel_without_parent(work: asyncio.Task[None]) -> None:
    # A server that was killed cannot end us, and nobody else would.
    parent = os.getppid()
    while os.getppid() == parent:  # noqa: ASYNC110 - nothing rings when a parent dies
        await asyncio.sleep(PARENT_CHECK_S)
    work.cancel()


if __name__ == "__main__":
    sys.exit(main())
