"""A trace is a help, and never a reason for another answer."""

import sys
from types import SimpleNamespace

import pytest

from approval_client import ApprovalRequest
from approval_client._tracing import conversation
from approval_client.testing import FakeDashboard


@pytest.fixture
def asked():
    """Ask and return whether it was approved."""
    client = FakeDashboard.approving().client()
    return lambda: client.request_approval(ApprovalRequest.code("print(1)")).approved


def test_without_opentelemetry_nothing_is_sent(monkeypatch):
    monkeypatch.delitem(sys.modules, "opentelemetry.trace", raising=False)
    with conversation() as headers:
        assert headers == {}


def fails(*_, **__):
    raise RuntimeError("It broke.")


BROKEN = SimpleNamespace(get_tracer=fails, SpanKind=SimpleNamespace(CLIENT=3))
SPAN = SimpleNamespace(end=fails, set_attribute=fails)
BREAKS_AT_THE_END = SimpleNamespace(
    get_tracer=lambda _: SimpleNamespace(start_span=lambda *_, **__: SPAN),
    SpanKind=SimpleNamespace(CLIENT=3),
    set_span_in_context=lambda _: None,
)


@pytest.mark.parametrize("module", [BROKEN, SimpleNamespace(), BREAKS_AT_THE_END])
def test_an_opentelemetry_that_breaks_changes_no_answer(monkeypatch, asked, module):
    monkeypatch.setitem(sys.modules, "opentelemetry.trace", module)

    assert asked() is True


def test_what_went_wrong_goes_on_to_whoever_asked(monkeypatch):
    monkeypatch.setitem(sys.modules, "opentelemetry.trace", BREAKS_AT_THE_END)
    with pytest.raises(KeyError), conversation():
        raise KeyError("asked")
