"""Whatever is sent, the API answers as documented: never a 500, never an undocumented shape."""

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from hypothesis import given, settings
from schemathesis import GenerationMode

from dashboard.api.views import api
from tests import make

APP = get_wsgi_application()
URL = "http://127.0.0.1:8000"
HOST = {"Host": "127.0.0.1:8000"}
CONTRACT = schemathesis.openapi.from_dict(api.get_openapi_schema())
CONTRACT.app = APP
# NUL is refused wherever it stands, which no JSON schema can say; test_asking.py sends it.
CONTRACT.config.generation.update(allow_x00=False)
OPERATIONS = {found.ok().label: found.ok() for found in CONTRACT.get_all_operations()}
QUICK = settings(max_examples=30, deadline=None, derandomize=True, database=None)

every_operation = pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
every_mode = pytest.mark.parametrize("mode", list(GenerationMode))


@pytest.fixture(autouse=True)
def _requests_share_the_connection_of_the_test(db):
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


def try_much(operation, mode, check):
    @QUICK
    @given(case=operation.as_strategy(generation_mode=mode))
    def attempt(case):
        check(case)

    attempt()


@every_mode
@every_operation
def test_whatever_an_agent_sends_is_answered_as_documented(operation, mode, settings):
    settings.PENDING_PER_TOKEN = 10_000
    secret = make.secret(make.agent("tester"))
    headers = {**HOST, "Authorization": f"Bearer {secret}"}

    try_much(
        operation,
        mode,
        lambda case: case.call_and_validate(app=APP, base_url=URL, headers=headers),
    )


@every_operation
def test_whatever_a_stranger_sends_is_refused(operation):
    def is_refused(case):
        response = case.call(app=APP, base_url=URL, headers={**HOST, "Authorization": "Bearer no"})
        assert response.status_code in {401, 404, 405}

    try_much(operation, GenerationMode.POSITIVE, is_refused)
