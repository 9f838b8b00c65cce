"""How hard the tests here try, and what they need."""

import os

import pytest
from django.db import connection

from tests.serving import REDIS_URL, serve

IN_CHECKS = os.environ.get("CI") == "true"
NEEDS_REDIS = "Not run: set REDIS_URL to test what happens between processes and without Redis."


def pytest_collection_modifyitems(config, items):
    """Leave out what takes long, and on SQLite in the checks, where no Redis is, what needs it."""
    without = set() if IN_CHECKS or config.getoption("--long") else {"takes_long"}
    if IN_CHECKS and connection.vendor == "sqlite" and not REDIS_URL:
        without.add("redis_url")
    other = [item for item in items if without & set(getattr(item, "fixturenames", ()))]
    config.hook.pytest_deselected(items=other)
    items[:] = [item for item in items if item not in other]


@pytest.fixture(scope="session")
def redis_url():
    if not REDIS_URL:
        (pytest.fail if IN_CHECKS else pytest.skip)(NEEDS_REDIS)
    return REDIS_URL


@pytest.fixture(scope="session")
def rounds(request):
    """How often to try what may go wrong once in a while."""
    return request.config.getoption("--rounds") or (
        10 if _is_long(request) else 2 if IN_CHECKS else 1
    )


@pytest.fixture(scope="session")
def takes_long():
    """For what takes longer than ten seconds: tried where CI=true, and with --long."""


@pytest.fixture(scope="session")
def in_full(request):
    """Whether to try with as many as the product promises."""
    return _is_long(request)


@pytest.fixture(scope="session")
def house():
    """One dashboard for all tests that leave it as they found it."""
    with serve() as house:
        yield house
        assert house.audit_is_whole() is True
        assert house.errors() == []


@pytest.fixture(scope="session")
def rough():
    """One dashboard for tests that kill it and lock its database, so that errors are logged."""
    with serve(environment={"WEBHOOK_NETWORKS": "127.0.0.0/8"}) as rough:
        yield rough
        assert rough.audit_is_whole() is True


@pytest.fixture
def rough_house(rough):
    """The same; it runs, whatever the test before left of it."""
    rough.start()
    return rough


def _is_long(request):
    return request.config.getoption("--long")
