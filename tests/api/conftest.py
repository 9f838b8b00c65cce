"""An agent's own way to speak to the API, without a network."""

import json
from uuid import uuid4

import pytest
from django.test import Client

from tests import make

CODE = {"kind": "code", "capability": "python_execution", "content": {"code": "print(1)"}}


class AgentClient:
    """Sends JSON with a token; keys are made up unless given."""

    def __init__(self, secret):
        self.headers = {"Authorization": f"Bearer {secret}"}
        self.http = Client(SERVER_NAME="127.0.0.1", SERVER_PORT="8000")

    def post(self, path, body, *, key=None, content_type="application/json"):
        body = body if isinstance(body, str | bytes) else json.dumps(body)
        headers = {**self.headers, "Idempotency-Key": key or uuid4().hex}
        return self.http.post(f"/api/v1{path}", body, content_type=content_type, headers=headers)

    def get(self, path):
        return self.http.get(f"/api/v1{path}", headers=self.headers)

    def submit(self, **changes):
        return self.post("/approvals", CODE | changes)


@pytest.fixture
def secret(agent):
    return make.secret(agent)


@pytest.fixture
def api(secret):
    return AgentClient(secret)


@pytest.fixture
def stranger(db):
    """Another agent."""
    return AgentClient(make.secret(make.agent("stranger")))
