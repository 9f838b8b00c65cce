"""A person approves what an agent asks, both with nothing but the wheels.

``python -m tests.packaging.from_the_wheels LOG PYTHON FOLDER``: LOG is what ``start --demo`` of
the installed server printed, PYTHON has the client's wheel, and the agent works in FOLDER.
``.ci/run wheel`` makes all three. The person begins at the printed link, and from there only
clicks.
"""

import asyncio
import os
import sys
from pathlib import Path

from playwright.async_api import async_playwright

from tests.chromium import ARGUMENTS, CHROMIUM, WIDE
from tests.journeys.conftest import signs_in
from tests.journeys.people import Person
from tests.journeys.product import first_link, settings_for_agents

AGENT = """
import asyncio
import approvals, client, dashboard
from importlib.metadata import version
from approval_client import ApprovalRequest, approval_func

assert approvals.theirs and client.theirs and dashboard.theirs, "these are not the agent's own"
assert version("their-dashboard") == "1.0", "no installed package has the name of the server's"
question = ApprovalRequest.code("print('from the wheels')", "python", time_limit_s=600)
print("asking", flush=True)
answer = asyncio.run(approval_func(question))
print("approved" if answer.approved else f"rejected: {answer.reason}")
if answer.approved:
    print("from the wheels")
"""
ENDS_WITHIN_S = 60


async def main(printed, python, folder):
    """Have the agent ask, the person approve, and the agent go on."""
    agent = await asyncio.create_subprocess_exec(
        *(python, "-c", AGENT),
        cwd=folder,
        env=os.environ | settings_for_agents(printed),
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        assert await agent.stdout.readline() == b"asking\n"
        await approve(first_link(printed))
        async with asyncio.timeout(ENDS_WITHIN_S):
            said, _ = await agent.communicate()
        assert (agent.returncode, said) == (0, b"approved\nfrom the wheels\n"), said
    finally:
        if agent.returncode is None:
            agent.kill()
            await agent.wait()


async def approve(link):
    """Sign in with the link, find the agent's request among those of the demo, and approve it."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        page = await browser.new_page(viewport=WIDE, reduced_motion="reduce")
        person = Person(page)
        await person.begins_at(link)
        await signs_in(person, "admin")
        await person.opens("from the wheels")
        await person.approves()
        await person.goes()


if __name__ == "__main__":
    log, *agent = sys.argv[1:]
    asyncio.run(main(Path(log).read_text(), *agent))
