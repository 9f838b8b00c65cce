"""Real dashboards in processes of their own, on the engine that the environment names.

Nothing of the server is imported here: what tests see is what agents and browsers see. Every
dashboard has a data folder and a database of its own, and ends only what it started.
"""

import atexit
import json
import os
import random
import re
import shutil
import signal
import socket
import sqlite3
import ssl
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import httpx2

from dashboard.cookies import cookie_names

ROOT = Path(__file__).resolve().parents[1]
MANAGE = [sys.executable, "manage.py"]
STARTS_WITHIN_S, ENDS_WITHIN_S = 60, 20
PEOPLE, AGENTS = ("alice", "bob", "carol", "dan"), 12
CSRF = "c" * 32  # what a browser would have got as its cookie
PLAIN = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""For clients of http, each of which would read the list of authorities: 25 ms of a processor."""

DATABASE_URL, REDIS_URL = os.environ.get("DATABASE_URL", ""), os.environ.get("REDIS_URL", "")
POSTGRESQL = urlsplit(DATABASE_URL).scheme.startswith("postgres")

PREPARE = f"""
import json
from importlib import import_module
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.utils import timezone
from dashboard.accounts import tokens
from dashboard.accounts.models import User
from dashboard.accounts.services.agents import create_agent
from dashboard.audit.services import OPERATOR
from dashboard.accounts.services.people import create_person
from dashboard.management.prepare import prepare

def sign_in(name):
    person = create_person(username=name, roles={{"reviewer": True}}, by=OPERATOR)
    session = import_module(settings.SESSION_ENGINE).SessionStore()
    session[SESSION_KEY] = str(person.pk)
    session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    session[HASH_SESSION_KEY] = person.get_session_auth_hash()
    session["auth"] = "password"
    session.create()
    return session.session_key

def issue(number):
    return tokens.issue(create_agent(name=f"agent-{{number}}", by=OPERATOR), by=OPERATOR)[1]

list(prepare())
known = {{
    "people": {{name: sign_in(name) for name in {PEOPLE!r}}},
    "tokens": [issue(number) for number in range({AGENTS})],
}}
User.objects.update(last_login=timezone.now())
print(json.dumps(known))
"""


class Server:
    """One ``manage.py start``, which may be killed and started again."""

    def __init__(self, command, log, environment, descriptors=()):
        self.command, self.log, self.environment = command, log, environment
        self.descriptors = descriptors
        self.process = None

    def start(self):
        with self.log.open("a") as log:
            self._began_at = log.tell()
            self.process = subprocess.Popen(
                self.command,
                cwd=ROOT,
                env=self.environment,
                stdout=log,
                stderr=subprocess.STDOUT,
                pass_fds=self.descriptors,
            )

    def has_said(self, words):
        """Whether it has written ``words`` since it was started."""
        return words.encode() in self.log.read_bytes()[self._began_at :]

    def send(self, number):
        if self.process and self.process.poll() is None:
            self.process.send_signal(number)

    def ended(self, within_s=ENDS_WITHIN_S):
        """Wait for the end; returns (exit code, seconds that it took)."""
        began = time.monotonic()
        code = self.process.wait(within_s)
        return code, time.monotonic() - began

    def kill(self):
        if self.process:
            self.send(signal.SIGKILL)
            self.process.wait()

    def end(self):
        """Stop it in the ordinary way; returns (exit code, seconds that it took)."""
        self.send(signal.SIGTERM)
        return self.ended()

    @property
    def rss_mb(self):
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024


class House:
    """A running dashboard: servers behind one address, tokens of agents, people signed in."""

    def __init__(self, folder, database_url, known, options):
        self.folder, self.database_url = folder, database_url
        self.tokens, self.sessions = known.get("tokens"), known.get("people")
        self.listener = None if options["listens_itself"] else _listen(0)
        port = self.listener.getsockname()[1] if self.listener else _free_port()
        self.url = f"http://{options['name']}:{port}"
        self.environment = environment_of(folder, database_url, self.url) | options["environment"]
        shared = ["--fd", str(self.listener.fileno())] if self.listener else []
        limited = ["sh", "-c", f'ulimit -n {options["files"]} && exec "$@"', "sh"]
        self.program = [*(limited if options["files"] else []), *MANAGE]
        command = ["start", *(shared or ["--port", str(port)])]
        extras = options["each"] or [{}] * options["processes"]
        self.servers = [
            self._server(command, f"server-{n}", extra) for n, extra in enumerate(extras)
        ]
        self.workers = [self._server(["run_worker"], "worker", {})] * options["worker"]

    # --- processes ------------------------------------------------------------------------------

    @property
    def server(self):
        """The only one."""
        [server] = self.servers
        return server

    def start(self):
        """Start what does not run, and wait until every server would approve."""
        for server in [*self.servers, *self.workers]:
            if server.process is None or server.process.poll() is not None:
                server.start()
        for server in self.servers:
            self.until_ready(server)

    @contextmanager
    def only(self, server):
        """Connections that are opened in here are with ``server``.

        Nothing is asked in here that needs the database: a server that is stopped may hold it.
        """
        others = [other for other in self.servers if other is not server]
        for other in others:
            other.send(signal.SIGSTOP)
        try:
            yield
        finally:
            for other in others:
                other.send(signal.SIGCONT)

    def connected_to(self, server, client):
        """Open ``client``'s one connection to ``server``, where it stays."""
        with self.only(server):
            assert client.get("/healthz").status_code == 200
        return client

    def end_servers(self):
        """Stop what runs, in the ordinary way."""
        for server in [*self.servers, *self.workers]:
            if server.process and server.process.poll() is None:
                server.end()

    def end(self):
        for server in [*self.servers, *self.workers]:
            server.kill()
        if self.listener:
            self.listener.close()

    def logs(self):
        return "\n".join(f"--- {p.name}\n{p.read_text()}" for p in self.folder.glob("*.log"))

    def errors(self):
        """Lines of the logs that tell of something unforeseen."""
        return re.findall(
            r"^.*(?: ERROR | CRITICAL |Traceback|Error:).*$", self.logs(), re.MULTILINE
        )

    # --- agents and people ----------------------------------------------------------------------

    def agent(self, number=0, **options):
        """An agent's HTTP client: one connection unless told otherwise."""
        headers = {"Authorization": f"Bearer {self.tokens[number]}"}
        return self._client(httpx2.Client, headers, options)

    def browser(self, name="alice", kind=httpx2.Client, **options):
        """The HTTP client of somebody who is signed in."""
        return self._client(kind, self.headers_of(name), options)

    def headers_of(self, name):
        """What the browser of a person sends with everything."""
        session, csrf = self.cookie_names
        cookies = f"{session}={self.sessions[name]}; {csrf}={CSRF}"
        return {"Cookie": cookies, "Origin": self.url}

    @property
    def cookie_names(self):
        """What this dashboard calls the cookies of its sessions and forms."""
        kept = self.folder / "secret_key"
        key = self.environment.get("SECRET_KEY") or kept.read_text().strip()
        return cookie_names(key, https=False)

    def submit(self, agent, key="", **more):
        """Ask; returns what the API answers."""
        reply = agent.post("/api/v1/approvals", **question(key, **more))
        assert reply.status_code in {200, 201}, reply.text
        return reply.json()

    def form(self, browser, approval):
        """Read the page of a request; returns what its form would send, without the answer."""
        page = browser.get(f"/approvals/{approval['id']}")
        assert page.status_code == 200, page.text
        return fields_of(page.text)

    def decide(self, browser, approval, verdict="approve", form=None):
        """Answer as a person would, with the page's own form; returns the HTTP response."""
        form = {**(form or self.form(browser, approval)), "verdict": verdict}
        return browser.post(f"/approvals/{approval['id']}/decide", data=form)

    # --- behind the doors -----------------------------------------------------------------------

    def manage(self, *command):
        return subprocess.run(
            [*MANAGE, *command],
            cwd=ROOT,
            env=self.environment,
            check=False,
            capture_output=True,
            text=True,
        )

    def audit_is_whole(self):
        done = self.manage("verify_audit")
        return done.returncode == 0 or done.stderr

    def rows(self, sql, *parameters):
        """Read, or do, something in the database itself; in SQL that both engines know."""
        with self.database() as connection:
            if POSTGRESQL:
                sql = sql.replace("?", "%s")
            done = connection.execute(sql, parameters)
            return done.fetchall() if done.description else []

    @contextmanager
    def database(self):
        """Open a connection to the database; what was done is committed at the end."""
        if POSTGRESQL:
            import psycopg  # noqa: PLC0415 - not installed where only SQLite is used

            with psycopg.connect(self.database_url, autocommit=True) as connection:
                yield connection
            return
        connection = sqlite3.connect(
            self.folder / "dashboard.sqlite3", timeout=20, isolation_level=None
        )
        try:
            yield connection
        finally:
            connection.close()

    @contextmanager
    def nobody_writes(self):
        """Hold what every decision needs, so that all of them wait until the end of this."""
        lock = "SELECT * FROM dashboard_audithead FOR UPDATE" if POSTGRESQL else "SELECT 1"
        with self.database() as connection:
            connection.execute("BEGIN" if POSTGRESQL else "BEGIN IMMEDIATE")
            connection.execute(lock)
            yield
            connection.execute("ROLLBACK")

    def _server(self, command, name, extra):
        descriptors = [self.listener.fileno()] if self.listener else []
        command, environment = [*self.program, *command], self.environment | extra
        return Server(command, self.folder / f"{name}.log", environment, descriptors)

    def _client(self, kind, headers, options):
        limits = httpx2.Limits(max_connections=options.pop("connections", 1))
        options = {"timeout": 40, "headers": headers, "limits": limits, "verify": PLAIN} | options
        return kind(base_url=self.url, trust_env=False, **options)

    def until_ready(self, server):
        """Wait until it would approve, whoever else shares the address."""
        gives_up_at = time.monotonic() + STARTS_WITHIN_S
        while time.monotonic() < gives_up_at and server.process.poll() is None:
            if server.has_said("Stop it with"):
                with suppress(httpx2.TransportError), self.only(server):
                    with self._client(httpx2.Client, {}, {"timeout": 5}) as client:
                        if client.get("/readyz").is_success:
                            return
            # The servers that `only` stops may hold the database's lock: let them finish.
            time.sleep(0.1)
        raise AssertionError(f"The dashboard did not start.\n{server.log.read_text()[-2000:]}")


def question(key="", **more):
    """What an agent sends to ask something, as arguments for an HTTP client."""
    body = {
        "kind": "code",
        "capability": "python_execution",
        "content": {"code": "print('Hello')", "language": "python"},
        "time_limit_s": 600,
    }
    headers = {"Idempotency-Key": key or uuid4().hex, "Content-Type": "application/json"}
    return {"content": json.dumps(body | more).encode(), "headers": headers}


def fields_of(page):
    """What the form of a request's page brings along by itself."""
    hidden = re.findall(r'name="(digest|judgement|shown)" value="([^"]+)"', page)
    assert len(hidden) == 3, page
    return {**dict(hidden), "csrfmiddlewaretoken": CSRF, "end_seen": "yes"}


@contextmanager
def serve(
    *,
    processes=1,
    worker=False,
    environment=None,
    each=(),
    fresh=False,
    listens_itself=False,
    files=0,
    name="127.0.0.1",
):
    """Run a dashboard; shows its logs when the test fails.

    Args:
        processes: How many servers share the address.
        worker: Whether ``run_worker`` runs beside them.
        environment: More settings for all of them.
        each: More settings of each server; as many servers as there are items.
        fresh: Nothing was prepared, so nobody is known: the first start does it.
        listens_itself: The only server opens the address with ``--port``, so nobody listens once
            it has stopped. Otherwise all share a socket that stays open between starts.
        files: How many files each process may open; 0 for as many as the tests may.
        name: How this machine is called in the address, such as ``localhost``.
    """
    options = {"processes": processes, "worker": worker, "each": each, "files": files}
    options |= {"environment": environment or {}, "listens_itself": listens_itself, "name": name}
    with _data(fresh=fresh) as (folder, database_url, known):
        house = House(folder, database_url, known, options)
        try:
            house.start()
            yield house
        except BaseException:
            print(house.logs())  # noqa: T201 - pytest shows it with the failure
            raise
        finally:
            house.end()


def _listen(port):
    return socket.create_server(("127.0.0.1", port), backlog=2048)


def _free_port():
    # Not one that the kernel gives to clients: one of them could have it when the server is
    # started again, or connect to itself while the server is away.
    for port in random.sample(range(20_000, 32_000), 100):
        with suppress(OSError), _listen(port):
            return port
    raise AssertionError("There is no free port from 20,000 to 32,000.")


@contextmanager
def _data(*, fresh):
    """Give a copy of a dashboard that was prepared once, and take it away afterwards."""
    template, template_url, known = (None, "", {}) if fresh else _prepared()
    own = Path(tempfile.mkdtemp(prefix="dashboard-"))
    if template:
        shutil.copytree(template, own, dirs_exist_ok=True)
    url = create_database(template_url)
    try:
        yield own, url, known
    finally:
        drop_database(url)
        shutil.rmtree(own, ignore_errors=True)


@cache
def _prepared():
    folder = Path(tempfile.mkdtemp(prefix="dashboard-template-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    url = create_database()
    atexit.register(drop_database, url)
    done = subprocess.run(
        [*MANAGE, "shell", "-v0", "-c", PREPARE],
        cwd=ROOT,
        env=environment_of(folder, url, ""),
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return folder, url, json.loads(done.stdout)


def create_database(template=""):
    """Make a database of our own, like ``template``; returns its address, "" for SQLite."""
    if not POSTGRESQL:
        return ""
    name = f"house_{uuid4().hex}"
    _administer(f"CREATE DATABASE {name} TEMPLATE {_name(template) or 'template0'}")
    return urlunsplit(urlsplit(DATABASE_URL)._replace(path=f"/{name}"))


def drop_database(url):
    if url:
        _administer(f"DROP DATABASE {_name(url)} WITH (FORCE)")


def _administer(statement):
    import psycopg  # noqa: PLC0415 - not installed where only SQLite is used

    address = urlunsplit(urlsplit(DATABASE_URL)._replace(path="/postgres"))
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(statement)


def _name(url):
    return urlsplit(url).path.lstrip("/")


def environment_of(folder, database_url, url):
    """What a server reads, and nothing that the tests' own environment says about it."""
    inherited = {k: v for k, v in os.environ.items() if k not in {"SECRET_KEY", "DEBUG"}}
    own = {"DASHBOARD_DATA_DIR": str(folder), "PUBLIC_URL": url, "PYTHONUNBUFFERED": "1"}
    own |= dict.fromkeys(("REQUESTS_PER_MINUTE", "KIB_PER_MINUTE"), "1000000000")  # no limit
    return inherited | own | {"DATABASE_URL": database_url}
