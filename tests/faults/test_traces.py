"""One approval is one trace: the agent's process, and the server's that decided."""

import json
import os
import threading
import time
from uuid import UUID

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from approval_client import ApprovalRequest, Client
from tests.serving import serve

SETS_UP_AN_SDK = """
import os
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor

file = open(os.environ["SPANS"], "a", buffering=1)
exporter = ConsoleSpanExporter(out=file, formatter=lambda span: span.to_json(indent=None) + "\\n")
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(exporter))
trace.set_tracer_provider(provider)
"""


@pytest.fixture
def traced(tmp_path):
    """A dashboard whose spans are written to a file; returns it and a function that reads them."""
    (tmp_path / "sitecustomize.py").write_text(SETS_UP_AN_SDK)
    file = tmp_path / "spans"
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
    with serve(environment={"PYTHONPATH": path, "SPANS": str(file)}) as house:
        yield house, lambda: [json.loads(line) for line in file.read_text().splitlines()]
        assert house.errors() == []


@pytest.fixture
def spans_of_agent(monkeypatch):
    """What this process records."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", provider)
    return exporter.get_finished_spans


def answer(house):
    """Approve what is asked as soon as it is there."""
    query = "SELECT id FROM dashboard_approvalrequest WHERE status = 'pending'"
    gives_up_at = time.monotonic() + 20
    while not (rows := house.rows(query)):
        assert time.monotonic() < gives_up_at
        time.sleep(0.05)
    with house.browser() as alice:
        assert house.decide(alice, {"id": UUID(str(rows[0][0]))}).status_code == 303


def test_one_approval_is_one_trace_over_two_processes(traced, spans_of_agent):
    house, spans_of_server = traced
    client = Client(house.url, house.tokens[0])
    reviewer = threading.Thread(target=answer, args=[house])
    reviewer.start()
    with trace.get_tracer("agent").start_as_current_span("a run of the agent"):
        response = client.request_approval(ApprovalRequest.code("print(1)", time_limit_s=60))
    reviewer.join()
    house.server.end()  # which writes what is left

    assert response.approved
    here, there = spans_of_agent(), spans_of_server()
    assert {span.name for span in here} == {"a run of the agent", "approval"}
    names = {span["name"] for span in there}
    assert {"approval.submit", "approval.wait", "approval.decide"} <= names
    traces = {f"0x{span.context.trace_id:032x}" for span in here}
    assert traces == {span["context"]["trace_id"] for span in there}
    assert len(traces) == 1
    [asked] = [span for span in here if span.name == "approval"]
    assert {span["parent_id"] for span in there} == {f"0x{asked.context.span_id:016x}"}


def test_what_is_no_trace_is_left_alone(traced):
    house, spans_of_server = traced
    with house.agent() as agent:
        for parent in (
            "",
            "nonsense",
            "00-" + "0" * 32 + "-" + "0" * 16 + "-01",
            "00-" + "g" * 52,
        ):
            agent.headers["traceparent"] = parent
            house.submit(agent)
    house.server.end()

    assert [span for span in spans_of_server() if span["parent_id"]] == []
    assert house.rows("SELECT count(*) FROM dashboard_approvalrequest") in ([(4,)], [[4]])
