"""A host that is called back, and what is done to call it."""

from functools import partial

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.core import mail

from dashboard.clock import database_now
from dashboard.notifications.delivering import AGENTS, PEOPLE, Deliverer
from dashboard.notifications.models import Delivery, State
from dashboard.notifications.services import set_webhook
from tests.notifications.host import hosted


@pytest.fixture(autouse=True)
def _this_machine_may_be_called(settings):
    settings.WEBHOOK_NETWORKS = ["127.0.0.0/8"]


@pytest.fixture
def host():
    """A host that takes everything."""
    with hosted() as host:
        yield host


@pytest.fixture
def called_back(agent, ada):
    """Has the agent's host called back at an address; gives the secret."""
    return lambda url, of=agent: set_webhook(agent=of, url=url, by=ada, auth="session:password")[1]


async def read(work, *args):
    return await sync_to_async(work)(*args)


async def _deliver(source):
    deliverer = Deliverer(read, source)
    await deliverer.tick()
    await deliverer.idle()


@pytest.fixture
def deliver():
    """Does what the background does in one second to call hosts back."""
    return partial(async_to_sync(_deliver), AGENTS)


@pytest.fixture
def tell():
    """Does what the background does in one second to tell people."""
    return partial(async_to_sync(_deliver), PEOPLE)


@pytest.fixture
def hurry():
    """Has the time come for everything that waits."""

    def hurry():
        Delivery.objects.filter(state=State.WAITING).update(due_at=database_now())

    return hurry


@pytest.fixture
def mails(settings):
    """Has mail kept in a list instead of sent, and gives the list."""
    backend = "django.core.mail.backends.locmem.EmailBackend"
    settings.MAILERS = {"default": {"BACKEND": backend, "OPTIONS": {}}}
    mail.outbox = []
    return mail.outbox
