"""Databases that earlier versions wrote are upgraded, verify to the same head, and go on."""

import gzip
import json
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from tests.serving import MANAGE, POSTGRESQL, ROOT, create_database, drop_database, environment_of
from tests.upgrades import schema

HERE = Path(__file__).parent
HEADS = json.loads((HERE / "heads.json").read_text())
ENGINE = "postgresql" if POSTGRESQL else "sqlite"
VERSIONS = sorted({name.partition(".")[0] for name in HEADS})
MIGRATE = "call_command('migrate', verbosity=0)"
BACKFILL = "call_command('backfill')"
SCHEMA = (
    "import json; from tests.upgrades import schema; print('SCHEMA', json.dumps(schema.parts()))"
)
VERIFY = "call_command('verify_audit', expect='HEAD')"
GO_ON = """
from approval_client.wire import Status
from dashboard.accounts.models import Agent, User
from dashboard.approvals import guards, services
from dashboard.approvals.models import ApprovalRequest, Decision
from tests import make

assert guards.missing() == [], guards.missing()
bob = User.objects.get(username="bob")
old = set(ApprovalRequest.objects.values_list("log_key", flat=True))
expired = services.expire_overdue()
new = make.pending(make.token(Agent.objects.get()), content={"code": "print(7)"})
make.decided(new, bob, Status.REJECTED, reason="New.")
told = Decision.objects.filter(reason__in=["Too risky.", "Not needed."]).count()
print("SAID", old == {""}, expired, len(new.log_key), told)
"""
PAGES = """
import re
from django.conf import settings
from django.test import Client
from dashboard.accounts.models import User
from dashboard.approvals.models import ApprovalRequest
from dashboard.approvals.services import left_to_backfill
from dashboard.web.drawing.summary import title_of

host = settings.PUBLIC_URL.partition("://")[2]
client = Client(HTTP_HOST=host)
client.force_login(User.objects.get(username="ada"))
approvals = ApprovalRequest.objects.select_related("headline")
lists = ["/", "/?show=decided", "/history", "/audit", "/insight?by=rule", "/grants"]
pages = lists + [f"/approvals/{approval.pk}" for approval in approvals]
wrong = [page for page in pages if client.get(page, follow=True).status_code != 200]
titles = sorted({re.sub("<[^>]+>", "", title_of(approval)) for approval in approvals})
print("PAGES", len(pages), wrong, left_to_backfill(), titles)
"""


class Old:
    """A database as an earlier version left it."""

    def __init__(self, name, folder):
        self.name, self.folder, self.url = name, folder, create_database()
        seq, hash_ = HEADS[f"{name}.{ENGINE}"]
        self.head = f"{seq}:{hash_}"
        sql = gzip.decompress((HERE / f"{name}.{ENGINE}.sql.gz").read_bytes()).decode()
        if POSTGRESQL:
            import psycopg  # noqa: PLC0415 - not installed where only SQLite is used

            # Lines for psql alone begin with a backslash.
            plain = "\n".join(line for line in sql.split("\n") if not line.startswith("\\"))
            with psycopg.connect(self.url, autocommit=True) as connection:
                connection.execute(plain)
        else:
            with closing(sqlite3.connect(folder / "dashboard.sqlite3")) as database:
                database.executescript(sql)

    def run(self, *steps):
        """Run these in one process of the present version; returns what it printed."""
        environment = environment_of(self.folder, self.url, "http://127.0.0.1:8000")
        script = "\n".join(["from django.core.management import call_command", *steps])
        run = [*MANAGE, "shell", "-v0", "-c", script.replace("HEAD", self.head)]
        done = subprocess.run(
            run, cwd=ROOT, env=environment, check=False, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@pytest.fixture
def old(request, tmp_path):
    made = Old(request.param, tmp_path)
    yield made
    drop_database(made.url)


@pytest.mark.parametrize("old", VERSIONS, indirect=True)
def test_it_is_upgraded_verifies_to_the_same_head_and_goes_on(old, db):
    said = old.run(MIGRATE, VERIFY, GO_ON, VERIFY, SCHEMA)

    [upgraded] = [line for line in said.splitlines() if line.startswith("SCHEMA ")]
    assert json.loads(upgraded.removeprefix("SCHEMA ")) == schema.parts()  # as a new one has it
    has_no_keys = old.name < "0009"
    assert said.count("The audit log is whole.") == 2
    assert f"\nSAID {has_no_keys} 3 64 2\n" in said


@pytest.mark.parametrize("old", VERSIONS, indirect=True)
def test_every_page_opens_before_and_after_what_is_missing_was_made(old):
    said = old.run(MIGRATE, PAGES, BACKFILL, PAGES, VERIFY)
    pages = [line for line in said.splitlines() if line.startswith("PAGES ")]
    before, after = [line.removeprefix("PAGES ").split(" ", 3) for line in pages]

    count, rows = before[0], before[2]
    assert before == [count, "[]", rows, "['Code', 'Tool call']"]
    assert f"Done. {rows} rows were made." in said
    assert after[:3] == [count, "[]", "0"]
    assert after[3] == (
        "['Code, 1 line: not fully inspected', 'Python, 1 line', 'dump', 'move', 'read']"
    )
