"""Whatever is sent, the API answers as documented: never a 500, never an undocumented shape."""

from functools import cache

import pytest
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from hypothesis import given, settings

from dashboard.api.views import api
from tests import make

URL = "http://127.0.0.1:8000"
HOST = {"Host": "127.0.0.1:8000"}
OPERATIONS = [
    f"{method.upper()} {path}"
    for path, methods in api.get_openapi_schema()["paths"].items()
    for method in methods
]
QUICK = settings(max_examples=30, deadline=None, derandomize=True, database=None)

every_operation = pytest.mark.parametrize("label", OPERATIONS)
every_mode = pytest.mark.parametrize("mode", ["positive", "negative"])


@pytest.fixture(autouse=True)
def _requests_share_the_connection_of_the_test(db):
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@cache
def app():
    """Return the server; made in a test, as it looks at the settings of tests."""
    return get_wsgi_application()


@cache
def operations():
    """Return the contract's operations by their labels."""
    import schemathesis  # noqa: PLC0415 - to load it takes a second, which only these tests need

    contract = schemathesis.openapi.from_dict(api.get_openapi_schema())
    contract.app = app()
    # NUL is refused wherever it stands, which no JSON schema can say; test_asking.py sends it.
    contract.config.generation.update(allow_x00=False)
    return {found.ok().label: found.ok() for found in contract.get_all_operations()}


def try_much(label, mode, check):
    from schemathesis import GenerationMode  # noqa: PLC0415 - the same

    @QUICK
    @given(case=operations()[label].as_strategy(generation_mode=GenerationMode(mode)))
    def attempt(case):
        check(case)

    attempt()


def test_the_contract_has_the_operations_that_are_tried():
    assert sorted(operations()) == sorted(OPERATIONS)


@every_mode
@every_operation
def test_whatever_an_agent_sends_is_answered_as_documented(label, mode, settings):
    settings.PENDING_PER_TOKEN = 10_000
    secret = make.secret(make.agent("tester"))
    headers = {**HOST, "Authorization": f"Bearer {secret}"}

    try_much(
        label,
        mode,
        lambda case: case.call_and_validate(app=app(), base_url=URL, headers=headers),
    )


@every_operation
def test_whatever_a_stranger_sends_is_refused(label):
    def is_refused(case):
        response = case.call(
            app=app(), base_url=URL, headers={**HOST, "Authorization": "Bearer no"}
        )
        assert response.status_code in {401, 404, 405}

    try_much(label, "positive", is_refused)
