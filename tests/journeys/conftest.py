"""The product as it is started, people at browsers, and agents that wait for them."""

from contextlib import AsyncExitStack

import pytest
import pytest_asyncio

from tests.chromium import TOUCH, WIDE
from tests.journeys.agents import Agent
from tests.journeys.people import Person
from tests.journeys.product import started


@pytest.fixture(scope="session")
def product(installed):
    """One product for all journeys of this process."""
    with started() as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session")
async def agent(product):
    """An agent with the token that was printed for the first one."""
    asking = Agent(product.settings)
    yield asking
    await asking.go()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browse(chromium):
    """Give somebody a browser: ``await browse(address, state)``."""

    async def open_browser(address, state=None, **options):
        context = await chromium.new_context(
            **{"viewport": WIDE, "reduced_motion": "reduce", "storage_state": state, **options}
        )
        person = Person(await context.new_page())
        await person.begins_at(address)
        return person

    return open_browser


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def admin_state(product, browse):
    """What the browser of the first person keeps, who signed in with the printed link."""
    person = await browse(product.first_link)
    await signs_in(person, "admin")
    return await state_of(person)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def ben_state(product, browse, admin_state):
    """What the browser of a second person keeps, whom the first one invited."""
    return await invited("ben", browse, admin_state, product)


async def invited(name, browse, admin_state, product):
    """Have the admin invite somebody, who signs in with the link."""
    admin = await browse(product.address, admin_state)
    await admin.goes_to("People")
    await admin.types(name, admin.page.get_by_label("Name", exact=True).first)
    await admin.presses(admin.page.get_by_label("Reviewer: decides requests"))
    await admin.presses(admin.button("Add and show a sign-in link"))
    await admin.sees(f"Sign-in link for {name}")
    link = await admin.page.locator("#link").text_content()
    await admin.goes()
    person = await browse(link)
    await signs_in(person, name)
    return await state_of(person)


async def signs_in(person, name):
    """Use a sign-in link that is open, and choose no password now."""
    await person.presses(person.button(f"Sign in as {name}"))
    await person.presses(person.link("Not now"))
    await person.page.locator("#list").wait_for()


async def state_of(person):
    state = await person.page.context.storage_state()
    await person.goes()
    return state


@pytest_asyncio.fixture(loop_scope="session")
async def arrives(product, browse):
    """Have somebody open the printed address; at the end of the journey nothing went wrong."""
    product.troubles()
    async with AsyncExitStack() as ends:

        async def arrive(state, **options):
            person = await browse(product.address, state, **options)
            ends.push_async_callback(person.goes)
            return person

        yield arrive
    assert not (troubles := product.troubles()), "\n".join(troubles)


@pytest_asyncio.fixture(loop_scope="session")
async def admin(arrives, admin_state):
    """The first person, at a desk, with the queue open."""
    return await arrives(admin_state)


@pytest_asyncio.fixture(loop_scope="session")
async def on_a_phone(arrives, admin_state):
    """The first person, with a phone."""
    return await arrives(admin_state, **TOUCH)


@pytest_asyncio.fixture(loop_scope="session")
async def ben(arrives, ben_state):
    """The second person, at a desk."""
    return await arrives(ben_state)


@pytest_asyncio.fixture(loop_scope="session")
async def cara(arrives, browse, admin_state, product):
    """A third person, invited for one journey: their session is theirs alone."""
    return await arrives(await invited("cara", browse, admin_state, product))
