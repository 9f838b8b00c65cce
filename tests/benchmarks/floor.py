"""The floor: what a server written by hand for this one job would take, with the same guarantees.

One process on the same stack: Daphne, a pool of threads, SQL in text through ``sqlite3`` or
``psycopg``. It works on a database that the dashboard's own migrations made, so the same guards,
constraints and indexes stand behind each row. Kept as in the dashboard:

- one transaction a verb, which writes the same rows: the request, its inspection and judgement;
  vote, decision and closing; outcomes; and the entries of the log, chained by the same hash,
  behind the same head row. Its log is a whole chain.
- the same locks in the same order, and what a verb rests on is read under them: the token, the
  person's right, the hold, the policy's revision, the judgement that the page showed.
- the same durability: SQLite with the dashboard's pragmas, PostgreSQL with
  ``synchronous_commit``.
- the session is looked up for each decision, the form's signature and origin are checked, and one
  conditional UPDATE says who won.
- a wait is a future, entered before the request is read, and answered straight after the commit.

Left out, so the dashboard takes at least as much: templates (the page is three fields and the
answer to a press is empty), policies (every request is sent to a person, and one approval is
enough), inspection (the report is empty), permissions beyond those above, limits on what one agent
may ask, retries of the same request, expiry, revoked tokens while waiting, what the reviewer saw,
open pages, other processes, and everything that runs beside.

It must not change with the dashboard: it is what the dashboard is measured by.
"""

import asyncio
import base64
import hashlib
import hmac
import json
import os
import re
import secrets
import sqlite3
import sys
import zlib
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import partial
from threading import local
from urllib.parse import parse_qs
from uuid import UUID, uuid4

from daphne.server import Server

URL, DATA = os.environ["PUBLIC_URL"], os.environ["DASHBOARD_DATA_DIR"]
DATABASE_URL = os.environ.get("DATABASE_URL", "")
# SQLite has one writer: one thread is the fairest queue for it. PostgreSQL has many.
THREADS = 6 if DATABASE_URL else 1
JUDGING = 3_735_928_560  # the dashboard's name for the lock
SECRET = secrets.token_bytes(32)
HOLD_S = 25
DEMANDS = (
    '{"approvals":1,"circles":[],"editor_may_approve":false,"grants_allowed":false,'
    '"owner_may_approve":false,"reason_required":false,"time_limit_s":null,"whole_content":true}'
)
TRACE = ["Global mode is 'all_capabilities'.", "All code requires approval."]
SHOWN = (
    '{"finding_count":0,"findings":[],"inspector":"4","lines":1,"masked":0,'
    '"renderer":"4 pygments-2.21.0 unicode-14.0.0","texts":[],"view":"'
    f'{"0" * 64}","warning_count":0,"warnings":[],"whole":true}}'
)
PLACE = re.compile(r"(?:/api/v1)?/approvals(?:/([0-9a-f-]{36}))?(?:/(\w+))?")

REVISION = "SELECT max(number) FROM dashboard_policyrevision"
TOKEN = f"""
SELECT t.id, t.prefix, t.agent_id, a.name, ({REVISION})
FROM dashboard_agenttoken t JOIN dashboard_agent a ON a.id = t.agent_id
WHERE t.hash = ? AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > ?)
AND a.is_active
"""
REQUEST = """
INSERT INTO dashboard_approvalrequest (id, agent_id, token_id, idempotency_key, submission_hash,
kind, capability, content, digest, objective, evidence, run_id, max_wait_s, accepts_edits,
accepts_grants, submitted_at, status, version, judged_under, expires_at, extensions, extended_s)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, '', '{}', '', NULL, ?, ?, ?, 'pending', 1, ?, ?, 0, 0)
"""
INSPECTION = """
INSERT INTO dashboard_inspection (approval_id, digest, report, repeated, inspected_at)
VALUES (?, ?, '{"findings":[],"inspector":"4","languages":["python"]}', 0, ?) RETURNING id
"""
JUDGEMENT = """
INSERT INTO dashboard_judgement (approval_id, inspection_id, revision_id, effect, demands, trace,
judged_at) VALUES (?, ?, ?, 'review', ?, ?, ?) RETURNING id
"""
WAITED_FOR = """
SELECT r.status, r.digest, r.version, d.reason, d.decided_at, d.valid_until, u.username
FROM dashboard_agenttoken t JOIN dashboard_agent a ON a.id = t.agent_id
JOIN dashboard_approvalrequest r ON r.agent_id = a.id
LEFT JOIN dashboard_decision d ON d.approval_id = r.id
LEFT JOIN dashboard_user u ON u.id = d.decided_by_id
WHERE t.hash = ? AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > ?)
AND a.is_active AND r.id = ?
"""
SESSION = "SELECT session_data FROM django_session WHERE session_key = ? AND expire_date > ?"
LOCK_AGENT = """
SELECT a.id FROM dashboard_agent a JOIN dashboard_approvalrequest r ON r.agent_id = a.id
WHERE r.id = ? FOR UPDATE OF a
"""
LOCK_REQUEST = "SELECT id FROM dashboard_approvalrequest WHERE id = ? FOR UPDATE"
LOCK_JUDGING = f"SELECT pg_advisory_xact_lock_shared({JUDGING})"
DECIDED_UPON = """
SELECT r.status, r.expires_at, r.digest, r.agent_id, r.version, j.id, j.revision_id, u.username,
(SELECT max(number) FROM dashboard_policyrevision),
EXISTS (SELECT 1 FROM dashboard_hold WHERE active)
FROM dashboard_approvalrequest r
JOIN dashboard_judgement j
ON j.id = (SELECT max(id) FROM dashboard_judgement WHERE approval_id = r.id)
JOIN dashboard_user u ON u.id = ? AND u.is_active AND u.is_reviewer
WHERE r.id = ?
"""
VOTE = """
INSERT INTO dashboard_vote (approval_id, person_id, judgement_id, edit_id, digest, reason,
end_seen, shown, voted_at) VALUES (?, ?, ?, NULL, ?, ?, ?, ?, ?)
"""
DECISION = """
INSERT INTO dashboard_decision (approval_id, status, source, reason, decided_by_id, decided_at,
digest, valid_until, judgement_id, grant_id, edit_id, steps, shown, counted, repeats_id)
VALUES (?, 'approved', 'reviewer', ?, ?, ?, ?, ?, ?, NULL, NULL, '[]', ?, ?, NULL)
"""
APPROVE = """
UPDATE dashboard_approvalrequest SET status = 'approved', version = version + 1
WHERE id = ? AND status = 'pending'
"""
ATTENTION = [
    f"DELETE FROM dashboard_{table} WHERE approval_id = ?"
    for table in ("assignment", "snooze", "viewing")
]
CLOSING = (
    "INSERT INTO dashboard_closing (seq, approval_id, agent_id, decided_at) VALUES (?, ?, ?, ?)"
)
APPROVED = """
SELECT t.prefix, a.name, r.digest, r.version, d.valid_until,
EXISTS (SELECT 1 FROM dashboard_hold WHERE active),
(SELECT count(*) FROM dashboard_outcome WHERE approval_id = r.id)
FROM dashboard_agenttoken t JOIN dashboard_agent a ON a.id = t.agent_id
JOIN dashboard_approvalrequest r ON r.agent_id = a.id
JOIN dashboard_decision d ON d.approval_id = r.id AND d.status = 'approved'
WHERE t.hash = ? AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > ?)
AND a.is_active AND r.id = ?
"""
OUTCOME = """
INSERT INTO dashboard_outcome (approval_id, state, idempotency_key, report_hash, digest, exit_code,
error, duration_s, output_head, reported_at) VALUES (?, ?, ?, ?, ?, NULL, '', NULL, '', ?)
"""
RAISE = "UPDATE dashboard_approvalrequest SET version = version + 1 WHERE id = ?"
HEAD = "SELECT seq, hash FROM dashboard_audithead WHERE id = 1"
ENTRY = """
INSERT INTO dashboard_auditentry (seq, at, actor, auth, action, subject, digest, details, prev,
hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
MOVE_HEAD = "UPDATE dashboard_audithead SET seq = ?, hash = ? WHERE id = 1"


class Refused(Exception):
    """Nothing was recorded."""


class SQLite:
    """One connection to the file, as the dashboard opens it."""

    locks = False  # BEGIN IMMEDIATE is the lock

    def __init__(self):
        self.connection = sqlite3.connect(
            f"{DATA}/dashboard.sqlite3", timeout=20, isolation_level=None, check_same_thread=False
        )
        wal = sqlite3.sqlite_version_info >= (3, 51, 3)
        self.connection.executescript(
            f"PRAGMA journal_mode={'WAL' if wal else 'PERSIST'}; PRAGMA synchronous=FULL;"
            "PRAGMA recursive_triggers=ON; PRAGMA trusted_schema=OFF; PRAGMA foreign_keys=ON;"
        )
        self.run = self.connection.execute

    def __enter__(self):
        self.run("BEGIN IMMEDIATE")

    def __exit__(self, kind, *_):
        self.run("ROLLBACK" if kind else "COMMIT")

    def now(self):
        return datetime.now(UTC)

    @staticmethod
    def moment(at):
        """As Django stores it."""
        return at.replace(tzinfo=None).isoformat(" ")

    @staticmethod
    def read(text):
        """Read a moment back."""
        return text and datetime.fromisoformat(text).replace(tzinfo=UTC)

    @staticmethod
    def key(approval_id):
        """As Django stores a UUID."""
        return approval_id.hex


class PostgreSQL:
    """One connection to the server; statements are prepared at their second use."""

    locks = True

    def __init__(self):
        import psycopg  # noqa: PLC0415 - not installed where only SQLite is used

        options = "-c lock_timeout=5s -c statement_timeout=10s -c synchronous_commit=on -c jit=off"
        self.connection = psycopg.connect(
            DATABASE_URL, autocommit=True, prepare_threshold=1, options=options
        )
        self._asked = {}

    def run(self, statement, values=()):
        asked = self._asked.get(statement)
        if asked is None:
            asked = self._asked[statement] = statement.replace("?", "%s")
        return self.connection.execute(asked, values)

    def __enter__(self):
        self.run("BEGIN")

    def __exit__(self, kind, *_):
        self.run("ROLLBACK" if kind else "COMMIT")

    def now(self):
        """Return the moment of the call by the database's clock, as the dashboard does."""
        return self.run("SELECT clock_timestamp()").fetchone()[0].astimezone(UTC)

    @staticmethod
    def moment(at):
        return at

    @staticmethod
    def read(at):
        return at

    @staticmethod
    def key(approval_id):
        return approval_id


# --- the verbs, each one transaction -------------------------------------------------------------


def submit(database, secret, idempotency_key, body):
    asked = json.loads(body)
    content = _json(asked["content"])
    digest = hashlib.sha256(_json([asked["kind"], content]).encode()).hexdigest()
    approval_id = uuid4()
    key = database.key(approval_id)
    with database:
        now = database.now()
        at = database.moment(now)
        locked = f"{TOKEN} FOR UPDATE OF a, t" if database.locks else TOKEN
        row = database.run(locked, (_hash(secret), at)).fetchone()
        if row is None:
            raise Refused
        token_id, prefix, agent_id, name, revision = row
        if database.locks:
            database.run(LOCK_JUDGING)
            revision = database.run(REVISION).fetchone()[0]
        expires_at = database.moment(now + timedelta(seconds=asked["time_limit_s"]))
        submitted = (idempotency_key, _hash(body.decode()), asked["kind"], asked["capability"])
        rest = (content, digest, False, False, at, revision, expires_at)
        database.run(REQUEST, (key, agent_id, token_id, *submitted, *rest))
        inspection = database.run(INSPECTION, (key, digest, at)).fetchone()[0]
        judged = (key, inspection, revision, DEMANDS, _json(TRACE), at)
        judgement = database.run(JUDGEMENT, judged).fetchone()[0]
        details = {"effect": "review", "trace": TRACE, "demands": DEMANDS, "findings": []}
        _record(
            database,
            (f"agent:{name}", f"token:{prefix}", "approval.submitted", approval_id, digest, {}),
            (f"policy:{revision}", "", "approval.judged", approval_id, digest, details),
        )
    return {
        "id": str(approval_id),
        "status": "pending",
        "digest": digest,
        "version": 1,
        "submitted_at": _iso(now),
        "policy": {"revision": revision, "trace": TRACE},
        "judgement": judgement,
        "decision": None,
    }


def look(database, secret, approval_id):
    """Return what there is to answer: the request with its decision, if it has one."""
    now = database.moment(datetime.now(UTC))
    row = database.run(WAITED_FOR, (_hash(secret), now, database.key(approval_id))).fetchone()
    if row is None:
        raise Refused
    status, digest, version, reason, decided_at, valid_until, by = row
    told = (reason, database.read(decided_at), database.read(valid_until), by, digest)
    return _answer(approval_id, status, version, told if decided_at else None)


def decide(database, session, approval_id, form, tell):
    now = datetime.now(UTC)
    row = database.run(SESSION, (session, database.moment(now))).fetchone()
    shown, digest, judgement_id = form["shown"], form["digest"], int(form["judgement"])
    if row is None or not _is_ours(shown, approval_id) or form["verdict"] != "approve":
        raise Refused
    person_id = int(_session(row[0])["_auth_user_id"])
    key, reason = database.key(approval_id), form.get("reason", "")
    seen = {**json.loads(_shown(shown)), "end_seen": form["end_seen"]}
    with database:
        if database.locks:
            for lock, values in ((LOCK_AGENT, (key,)), (LOCK_REQUEST, (key,)), (LOCK_JUDGING, ())):
                database.run(lock, values)
        now = database.now()
        row = database.run(DECIDED_UPON, (person_id, key)).fetchone()
        if row is None or row[0] != "pending" or row[9]:
            raise Refused
        _, expires_at, asked, agent_id, version, latest, revision, name, newest, _ = row
        is_stale = (digest, judgement_id, revision) != (asked, latest, newest)
        if is_stale or database.read(expires_at) <= now:
            raise Refused
        at, until = database.moment(now), now + timedelta(minutes=10)
        shown = _json(seen)
        database.run(VOTE, (key, person_id, latest, digest, reason, True, shown, at))
        closed = (database.moment(until), latest, shown, _json([name]))
        database.run(DECISION, (key, reason, person_id, at, digest, *closed))
        if database.run(APPROVE, (key,)).rowcount != 1:
            raise Refused
        for statement in ATTENTION:
            database.run(statement, (key,))
        details = {"source": "reviewer", "reason": reason, "judgement": latest}
        details["approved_by"] = [name]
        who = (f"user:{name}", "session:password")
        seq = _record(database, (*who, "approval.approved", approval_id, digest, details))
        database.run(CLOSING, (seq, key, agent_id, at))
    told = (reason, now, until, name, digest)
    tell(approval_id, _answer(approval_id, "approved", version + 1, told))


def report(database, secret, approval_id, idempotency_key, body):
    said = json.loads(body)
    key, is_start = database.key(approval_id), said["state"] == "started"
    with database:
        if database.locks:
            for lock in (LOCK_AGENT, LOCK_REQUEST):
                database.run(lock, (key,))
            if is_start:
                database.run(LOCK_JUDGING)
        now = database.now()
        at = database.moment(now)
        row = database.run(APPROVED, (_hash(secret), at, key)).fetchone()
        if row is None:
            raise Refused
        prefix, name, digest, version, valid_until, is_held, reported = row
        is_late = is_start and (is_held or now >= database.read(valid_until))
        if is_late or said["digest"] != digest or reported != (not is_start):
            raise Refused
        told = (said["state"], idempotency_key, _hash(_json(said)), digest)
        database.run(OUTCOME, (key, *told, at))
        database.run(RAISE, (key,))
        details = {"duration_s": None, "exit_code": None}
        who = (f"agent:{name}", f"token:{prefix}", f"outcome.{said['state']}")
        _record(database, (*who, approval_id, digest, details))
    outcome = {f"{said['state']}_at": _iso(now)}
    answer = {"id": str(approval_id), "status": "approved", "digest": digest}
    return {**answer, "version": version + 1, "outcome": outcome}


def _record(database, *events):
    """Append to the chain behind its head, which stays locked until the commit."""
    seq, last = database.run(f"{HEAD} FOR UPDATE" if database.locks else HEAD).fetchone()
    now = datetime.now(UTC)
    at = _iso(now)
    for actor, auth, action, subject, digest, details in events:
        seq, link = seq + 1, (actor, auth, action, str(subject), digest, _json(details), last)
        text = json.dumps([seq, at, *link], ensure_ascii=True, separators=(",", ":"))
        last = hashlib.sha256(text.encode()).hexdigest()
        database.run(ENTRY, (seq, database.moment(now), *link, last))
    database.run(MOVE_HEAD, (seq, last))
    return seq


def _answer(approval_id, status, version, told):
    answer = {"id": str(approval_id), "status": status, "version": version, "decision": None}
    if told:
        reason, decided_at, valid_until, by, digest = told
        answer["decision"] = {
            "status": status,
            "source": "reviewer",
            "reason": reason,
            "decided_by": by,
            "decided_at": _iso(decided_at),
            "valid_until": _iso(valid_until),
            "digest": digest,
        }
    return answer


# --- texts ---------------------------------------------------------------------------------------


def _json(value):
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def _iso(at):
    return at.isoformat(timespec="microseconds")


def _hash(text):
    return hashlib.sha256(text.encode()).hexdigest()


def _sign(text, approval_id):
    return hmac.new(SECRET, f"{approval_id}{text}".encode(), hashlib.sha256).hexdigest()


def _is_ours(shown, approval_id):
    text, _, signature = shown.partition(":")
    return hmac.compare_digest(signature, _sign(text, approval_id))


def _shown(signed):
    return base64.urlsafe_b64decode(signed.partition(":")[0])


def _session(stored):
    """Read a session as Django stores it; who can write to the database needs no signature."""
    text = stored.partition(":")[0]
    raw = base64.urlsafe_b64decode(text.lstrip(".") + "=" * (-len(text.lstrip(".")) % 4))
    return json.loads(zlib.decompress(raw) if text.startswith(".") else raw)


def _page(approval_id, digest, judgement):
    text = base64.urlsafe_b64encode(SHOWN.encode()).decode()
    shown = f"{text}:{_sign(text, approval_id)}"
    fields = {"digest": digest, "judgement": judgement, "shown": shown}
    return "".join(f'<input name="{k}" value="{v}">' for k, v in fields.items()).encode()


# --- HTTP ----------------------------------------------------------------------------------------


class Application:
    """Raw ASGI: SQL in the threads, waits on the loop."""

    def __init__(self):
        self.threads, self.mine = ThreadPoolExecutor(THREADS), local()
        self.waits = {}
        self.engine = PostgreSQL if DATABASE_URL else SQLite

    async def __call__(self, scope, receive, send):
        try:
            status, body = await self.answer(scope, await self.read(receive))
        except Refused:
            status, body = 409, b"{}"
        kind = b"text/html" if body[:1] == b"<" else b"application/json"
        headers = [(b"content-type", kind), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def read(self, receive):
        body, more = b"", True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        return body

    async def answer(self, scope, body):
        place = PLACE.fullmatch(scope["path"])
        if place is None:
            return 200, b"{}"
        approval_id, verb = place[1] and UUID(place[1]), place[2]
        headers = dict(scope["headers"])
        if verb == "decide":
            await self.press(headers, approval_id, body)
            return 200, b""
        if scope["path"].startswith("/api/"):
            return await self.of_agent(headers, approval_id, verb, body)
        return 200, b"" if verb else await self.in_thread(self.page, approval_id)

    async def of_agent(self, headers, approval_id, verb, body):
        secret = headers.get(b"authorization", b"").decode().partition(" ")[2]
        key = headers.get(b"idempotency-key", b"").decode()
        if verb == "wait":
            return 200, _json(await self.wait(secret, approval_id)).encode()
        if verb == "outcome":
            told = await self.in_thread(report, secret, approval_id, key, body)
            return 200, _json(told).encode()
        return 201, _json(await self.in_thread(submit, secret, key, body)).encode()

    async def press(self, headers, approval_id, body):
        cookies = dict(one.strip().split("=", 1) for one in headers[b"cookie"].decode().split(";"))
        form = {name: value[0] for name, value in parse_qs(body.decode()).items()}
        session, csrf = sorted(cookies, key=len)  # the longer name is that of the form's
        is_theirs = form["csrfmiddlewaretoken"] == cookies[csrf]
        if headers.get(b"origin", b"").decode() != URL or not is_theirs:
            raise Refused
        tell = partial(asyncio.get_running_loop().call_soon_threadsafe, self.tell)
        await self.in_thread(decide, cookies[session], approval_id, form, tell)

    async def wait(self, secret, approval_id):
        future = asyncio.get_running_loop().create_future()
        self.waits.setdefault(approval_id, set()).add(future)
        try:
            answer = await self.in_thread(look, secret, approval_id)
            if answer["status"] == "pending":
                async with asyncio.timeout(HOLD_S):
                    answer = await future
        except TimeoutError:
            pass
        finally:
            self.waits[approval_id].discard(future)
            if not self.waits[approval_id]:
                del self.waits[approval_id]
        return answer

    def tell(self, approval_id, answer):
        """Answer who waits; the thread that committed has it called on the loop."""
        for future in self.waits.get(approval_id, ()):
            if not future.done():
                future.set_result(answer)

    async def in_thread(self, work, *arguments):
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self.threads, self._work, work, arguments)

    def _work(self, work, arguments):
        if not hasattr(self.mine, "database"):
            self.mine.database = self.engine()
        return work(self.mine.database, *arguments)

    @staticmethod
    def page(database, approval_id):
        row = database.run(
            "SELECT r.digest, max(j.id) FROM dashboard_approvalrequest r"
            " JOIN dashboard_judgement j ON j.approval_id = r.id WHERE r.id = ? GROUP BY r.digest",
            (database.key(approval_id),),
        ).fetchone()
        return _page(approval_id, *row)


if __name__ == "__main__":
    print("Stop it with Ctrl+C.", flush=True)  # noqa: T201 - tests.serving waits for these words
    Server(Application(), endpoints=[f"fd:fileno={sys.argv[1]}"], verbosity=0).run()
