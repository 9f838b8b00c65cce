"""A dashboard for browsers: an agent that asks it, and people who are signed in."""

import json
import re
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from tests import serving

ROOT = Path(__file__).resolve().parents[2]
SIGN_IN = """
from importlib import import_module
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.utils import timezone
from dashboard.accounts.models import User
from dashboard.audit.services import OPERATOR
from dashboard.accounts.services.people import create_person
name, roles = {name!r}, {roles!r}
person = User.objects.filter(username=name).first()
person = person or create_person(username=name, roles=dict.fromkeys(roles, True), by=OPERATOR)
User.objects.filter(pk=person.pk).update(last_login=timezone.now())
session = import_module(settings.SESSION_ENGINE).SessionStore()
session[SESSION_KEY] = str(person.pk)
session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
session[HASH_SESSION_KEY] = person.get_session_auth_hash()
session["auth"] = "password"
session.create()
print("SESSION", session.session_key)
"""


class House:
    """One running dashboard, as one agent and many people meet it."""

    def __init__(self, served):
        self.served = served
        self.url = served.url
        self.api = served.agent(0, connections=10)
        self.api.base_url = f"{served.url}/api/v1/"
        self._submitted = []

    def submit(self, kind="code", content=None, **more):
        """Ask as an agent; returns what the API answers."""
        body = {
            "kind": kind,
            "capability": "python_execution" if kind == "code" else kind,
            "content": content or {"code": "print('Hello')", "language": "python"},
            "time_limit_s": 600,
        }
        reply = self.api.post(
            "approvals",
            content=json.dumps(body | more).encode(),
            headers={"Idempotency-Key": uuid4().hex, "Content-Type": "application/json"},
        )
        assert reply.status_code == 201, reply.text
        self._submitted.append(reply.json()["id"])
        return reply.json()

    def wait(self, approval, hold=20):
        """Wait as an agent; returns what the API answers."""
        return self.api.get(f"approvals/{approval['id']}/wait", params={"hold": hold}).json()

    def keep_waiting(self):
        """Show as an agent that the answers to all that was asked are still waited for."""
        for number in self._submitted:
            self.api.get(f"approvals/{number}/wait", params={"hold": 0})

    def report(self, approval, state, **more):
        """Report as an agent that something began or ended."""
        reply = self.api.post(
            f"approvals/{approval['id']}/outcome",
            json={"state": state, "digest": approval["digest"], **more},
            headers={"Idempotency-Key": uuid4().hex},
        )
        assert reply.is_success, reply.text

    def cancel(self, approval, reason=""):
        """Take a question back as an agent."""
        reply = self.api.post(f"approvals/{approval['id']}/cancel", json={"reason": reason})
        assert reply.is_success, reply.text

    def clear(self):
        """Take back whatever is still open, so that the queue is empty again."""
        while self._submitted:
            reply = self.api.post(f"approvals/{self._submitted.pop()}/cancel", json={})
            assert reply.status_code in (200, 409), reply.text

    def shell(self, code):
        """Run Python in the dashboard's own environment; returns what it printed."""
        done = self.served.manage("shell", "-v0", "-c", code)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def sign_in(self, name="alice", roles=("reviewer",)):
        """Make a person and a session; returns the cookies of a browser that is signed in."""
        said = self.shell(SIGN_IN.format(name=name, roles=tuple(roles)))
        key = re.search(r"SESSION (\w+)", said)[1]
        name, _ = self.served.cookie_names
        return [{"name": name, "value": key, "url": self.url, "httpOnly": True}]


@contextmanager
def open_house(host="127.0.0.1", **environment):
    """Start a dashboard of our own at ``host``. It knows a mail server, where nobody listens."""
    usual = {"PENDING_PER_TOKEN": "1000", "EMAIL_URL": "smtp://127.0.0.1:9"}
    with serving.serve(environment=usual | environment, name=host) as served:
        house = House(served)
        with house.api:
            yield house
