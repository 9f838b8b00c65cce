"""What every test may ask for: people, an agent with its token, and quick settings."""

import gc
import os
import signal
import sys
import time

import pytest
from django.conf import settings as django_settings
from django.db import connection
from django.db.models.sql.compiler import SQLUpdateCompiler
from django.test import override_settings
from hypothesis import settings as hypothesis_settings
from xdist.scheduler import LoadScopeScheduling

from dashboard.accounts.models import User
from dashboard.approvals.queries.hold import doubt_database
from dashboard.audit import heads
from dashboard.live import push
from dashboard.policies import inspections
from tests import locking, make

pytest_plugins = ["tests.chromium", "tests.not_run"]

# Tests start more than a hundred processes: what one of them has compiled, the others read.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


gc.disable()  # until everything is collected: what is made meanwhile stays


def pytest_addoption(parser):
    """Let whoever changes what is raced, killed or read try it as hard as the product promises."""
    parser.addoption(
        "--long",
        action="store_true",
        help="full numbers for races, kills, stops and random examples: more than an hour",
    )
    parser.addoption(
        "--rounds", type=int, help="how often to kill and stop (1, 2 with CI=true, 10 with --long)"
    )


def pytest_configure(config):
    """Choose how many random examples are tried."""
    in_checks = os.environ.get("CI") == "true"
    examples = 1000 if config.getoption("--long") else 100 if in_checks else 25
    # How long an example takes says something of the machine, and nothing of what is tested.
    hypothesis_settings.register_profile("untimed", deadline=None, max_examples=examples)
    hypothesis_settings.load_profile("untimed")


def pytest_sessionstart():
    """The test database lies in the data folder, which a fresh checkout does not have."""
    django_settings.DATA_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)
    for layer in django_settings.CHANNEL_LAYERS.values():
        if "prefix" in layer.get("CONFIG", {}):  # workers share a Redis, and not their bells
            layer["CONFIG"]["prefix"] += os.environ.get("PYTEST_XDIST_WORKER", "")
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # of who started the tests in background
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(config, items):
    """Leave out what is about the other database."""
    vendor = connection.vendor
    other = [i for i in items if (m := i.get_closest_marker("engine")) and m.args != (vendor,)]
    if other:
        config.hook.pytest_deselected(items=other)
        items[:] = [item for item in items if item not in other]
    if config.getoption("--long"):  # as long as it takes
        for item in items:
            item.add_marker(pytest.mark.timeout(0))


def pytest_collection_finish():
    """What was collected is there to the end: to look through it again finds no garbage."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)
    gc.enable()


class Rooms(LoadScopeScheduling):
    """Gives whole files to workers, because tests of one file share what it sets up.

    What kills servers takes long, and its files have few tests: each by itself would come last,
    and one worker would wait for the other. So they are two pieces, which take as long.
    """

    def _split_scope(self, nodeid):
        path = nodeid.partition("::")[0]
        if not path.startswith("tests/faults/"):
            return path
        return "faults, a to o" if path < "tests/faults/test_p" else "faults, p to z"


def pytest_xdist_make_scheduler(config, log):
    """Say which tests run one after the other."""
    return Rooms(config, log)


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup, django_db_blocker):
    """Close the pool before the test database is dropped; PostgreSQL needs a moment for it."""
    yield
    if connection.vendor == "postgresql":
        with django_db_blocker.unblock():
            connection.close()
            connection.close_pool()
            # The limits are for the product: a busy disk may take longer to drop a database.
            connection.settings_dict["OPTIONS"]["options"] = "-c statement_timeout=0"
            _until_nobody_is_left()


def _until_nobody_is_left():
    # Threads that served tests keep a connection, and a visited database cannot be dropped.
    name = [connection.settings_dict["NAME"]]
    visitors = "FROM pg_stat_activity WHERE datname = %s"
    with connection._nodb_cursor() as cursor:
        cursor.execute(f"SELECT pg_terminate_backend(pid) {visitors}", name)
        for _ in range(200):
            cursor.execute(f"SELECT count(*) {visitors}", name)
            if cursor.fetchone() == (0,):
                return
            time.sleep(0.02)


@pytest.fixture(scope="session", autouse=True)
def _quick(tmp_path_factory):
    static = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    with (
        pytest.MonkeyPatch.context() as patch,
        override_settings(
            PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
            STATIC_ROOT=tmp_path_factory.mktemp("static"),  # each test's browser would read it all
            STORAGES={**django_settings.STORAGES, "staticfiles": static},
        ),
    ):
        # On a busy machine no inspection shall be stopped that a test does not want stopped.
        patch.setattr(inspections, "DEADLINE_S", 30.0)
        patch.setattr(inspections, "COMPUTING_S", 5.0)
        doubt_database("")  # the hubs of tests have no database to look at
        # What a server keeps that was started in this checkout is not of the test database.
        patch.setattr(heads, "beside", lambda: tmp_path_factory.getbasetemp() / "audit_head")
        yield


@pytest.fixture(autouse=True)
def _hubs_end():
    """Close the connections of hubs whose loop ended with the test. Garbage would warn later."""
    yield
    push.company()


@pytest.fixture(autouse=True)
def _locks_before_the_log():
    """Fail where a row is locked after the head of the log: two may wait for each other so."""
    if connection.vendor != "postgresql":
        yield
        return
    with locking.watched() as late:
        yield
    assert not late, f"Locked after the log: {late}"


@pytest.fixture(scope="session", autouse=True)
def _updates_look_again():
    """Refuse an UPDATE whose conditions reach into other tables, which Django makes a subquery.

    PostgreSQL does not ask a subquery again when it has waited for the row, so two processes that
    take the same row would both get it. Such conditions belong into ``pk__in``, beside the others.
    """
    prepare = SQLUpdateCompiler.pre_sql_setup

    def prepare_one_table(self):
        self.query.get_initial_alias()
        assert self.query.count_active_tables() == 1, f"UPDATE through a join: {self.query.where}"
        return prepare(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SQLUpdateCompiler, "pre_sql_setup", prepare_one_table)
        yield


@pytest.fixture
def alice(db) -> User:
    """A reviewer."""
    return make.person("alice", reviewer=True)


@pytest.fixture
def bob(db) -> User:
    """Another reviewer."""
    return make.person("bob", reviewer=True)


@pytest.fixture
def ada(db) -> User:
    """An admin who does not review."""
    return make.person("ada", admin=True)


@pytest.fixture
def agent(db):
    """An agent without owner."""
    return make.agent("beamline")


@pytest.fixture
def token(agent):
    """A token of ``agent``."""
    return make.token(agent)
