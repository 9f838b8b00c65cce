"""Makes the old databases that ``test_upgrades.py`` upgrades: ``python tests/upgrades/make.py``.

Each is written by the code of a commit, with its own services, as SQLite and as PostgreSQL have
it. Run it in a checkout with its history, beside a PostgreSQL that ``DATABASE_URL`` names, and
where ``pg_dump`` is; and only to add a version: what is there stands for what people have.
"""

from __future__ import annotations

import gzip
import json
import os
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
from io import BytesIO
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

HERE = Path(__file__).parent
COMMITS = {
    "0001": "eadd460",  # the last with this migration as its newest
    "0003": "7d443ed",
    "0008": "fe52533",  # the last whose log holds what people and agents wrote
    "0011": "2d96658",  # the last without headlines and grounds
}
SEED = """
import json
from dashboard.approvals import services
from dashboard.audit.models import AuditHead
from dashboard.audit.services import Actor
from dashboard.policies.evaluate import EVERYTHING_TO_A_PERSON, Policy, parse_rule
from dashboard.policies.services import current_revision, publish
from tests import make, notebooks

Kind, OutcomeState, Status = make.Kind, make.OutcomeState, make.Status  # of that version
Scope = getattr(make, "GrantScope", None) or make.Scope
Terms = getattr(make, "GrantTerms", None) or make.Terms
AUTH = "session:password"
ada = make.person("ada", admin=True, reviewer=True)
bob = make.person("bob", reviewer=True)
token = make.token(make.agent("beamline"))
rules = [
    {"name": "Two", "effect": "review", "when": {"tools": ["move"]}, "demands": {"approvals": 2}},
    {"name": "Fast", "effect": "approve", "when": {"tools": ["read"]}},
    {"name": "Never", "effect": "reject", "when": {"tools": ["dump"]}},
    make.REMEMBERS,
]
policy = Policy(modes=EVERYTHING_TO_A_PERSON.modes, rules=tuple(map(parse_rule, rules)))
publish(
    policy, author=ada, note="For the upgrade", by=Actor("user:ada", AUTH),
    based_on=current_revision().number, confirmed="loosen",
)

def call(tool, **more):
    content = {"tool": tool, "arguments": {"x": 1}}
    return make.pending(token, kind=Kind.TOOL_CALL, capability=tool, content=content, **more)

approved = make.approved(token, bob, run_id="run 1", evidence={"context": "as asked"})
make.report(approved, token)
make.report(approved, token, OutcomeState.FINISHED, key="f", duration_s=1)
make.decided(make.pending(token), bob, Status.REJECTED, reason="Too risky.")
moved = call("move")
make.decided(moved, ada, reason="Moves little.")
make.decided(moved, bob)
make.decided(call("move", time_limit_s=5), ada)  # open, and overdue whenever it is upgraded
call("read")
call("dump")
services.cancel(approval_id=make.pending(token).pk, token=token, reason="Not needed.")
asked = make.pending(token, accepts_edits=True)
make.decided(asked, bob, basis=make.basis(asked, make.edited(asked, ada)))
same = {"content": {"code": "print(5)", "language": "python"}, "accepts_grants": True}
terms = Terms(scope=Scope.CONTENT, this_run=False, most_uses=10)
make.decided(make.pending(token, **same), bob, remember=terms)
make.pending(token, **same)  # answered by what was remembered
handed = make.pending(token, time_limit_s=5)
services.hand_over(approval_id=handed.pk, person=ada, auth=AUTH, to=bob, note="You know it.")
services.place_hold(by=ada, auth=AUTH, reason="beam dump")
services.lift_hold(by=ada, auth=AUTH)
body = notebooks.notebook(notebooks.code("print(6)"))
services.send_notebook(token=token, digest=notebooks.digest_of(body), body=body)
make.pending(
    token, content={"code": "print(6)"}, evidence={"notebook": notebooks.digest_of(body)},
    time_limit_s=5,
)
head = AuditHead.objects.get()
print("HEAD", json.dumps([head.seq, head.hash]))
"""


def main() -> None:
    """Write every database, and the heads of their logs."""
    heads = {}
    for name, commit in COMMITS.items():
        with tempfile.TemporaryDirectory() as folder:
            tree, data = Path(folder, "tree"), Path(folder, "data")
            packed = subprocess.check_output(["git", "archive", commit])
            with tarfile.open(fileobj=BytesIO(packed)) as archive:
                archive.extractall(tree, filter="data")
            heads[f"{name}.sqlite"] = _seed(tree, data, "")
            with sqlite3.connect(data / "dashboard.sqlite3") as database:
                _write(f"{name}.sqlite", "\n".join(database.iterdump()))
            url = _database()
            heads[f"{name}.postgresql"] = _seed(tree, data, url)
            dump = ["pg_dump", "--inserts", "--no-owner", "--no-privileges", url]
            _write(f"{name}.postgresql", subprocess.check_output(dump, text=True))
            _administer(f"DROP DATABASE {urlsplit(url).path[1:]}")
    (HERE / "heads.json").write_text(json.dumps(heads, indent=2) + "\n")


def _seed(tree: Path, data: Path, url: str) -> list[object]:
    environment = os.environ | {
        "PYTHONPATH": f"{tree}:{tree / 'client'}",
        "DASHBOARD_DATA_DIR": str(data),
        "DATABASE_URL": url,
    }
    environment.pop("REDIS_URL", None)
    data.mkdir(exist_ok=True)
    for command in (["migrate", "-v0"], ["shell", "-v0", "-c", SEED]):
        run = [sys.executable, "manage.py", *command]
        said = subprocess.check_output(run, cwd=tree, env=environment, text=True)
    head: list[object] = json.loads(said.rpartition("HEAD ")[2])
    return head


def _database() -> str:
    name = f"upgrade_{uuid4().hex}"
    _administer(f"CREATE DATABASE {name} TEMPLATE template0")
    return urlunsplit(urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{name}"))


def _administer(statement: str) -> None:
    import psycopg  # noqa: PLC0415 - of the extra for PostgreSQL

    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as connection:
        connection.execute(statement)


def _write(name: str, sql: str) -> None:
    # No name and no time, so that the same database makes the same file.
    packed = gzip.compress(sql.encode(), 9, mtime=0)
    (HERE / f"{name}.sql.gz").write_bytes(packed)


if __name__ == "__main__":
    main()
