"""What the page about Osprey's names promises, held to the code."""

import re

import pytest

import approval_client.capabilities
from approval_client.testing import FakeDashboard
from tests.docs.reading import ROOT, cells, python_blocks

PAGE = ROOT / "docs" / "capabilities.md"


def run(block, fake, monkeypatch):
    monkeypatch.setattr("approval_client.Client", fake.client)
    exec(python_blocks(PAGE)[block][0], names := {"__name__": "example"})  # noqa: S102 - our words
    return names


def test_every_name_stands_in_the_table():
    named = {name for name in cells(PAGE, column=1) if name.isidentifier()}

    assert set(approval_client.capabilities.__all__) <= named


def test_every_block_needs_nothing_else_and_is_run():
    assert [needs for _, needs in python_blocks(PAGE)] == ["", ""]


@pytest.mark.parametrize(
    ("fake", "result"),
    [
        (FakeDashboard.approving(), "ran caput('SR:C01-MG:HC1', 0.05)"),
        (FakeDashboard.rejecting("Not today."), "not run"),
        (FakeDashboard.silent(), "not run"),
    ],
)
def test_the_node_runs_only_what_was_approved(fake, result, monkeypatch):
    assert run(1, fake, monkeypatch)["result"] == result
    assert fake.approvals[0].content["code"] == "caput('SR:C01-MG:HC1', 0.05)"


def test_the_node_asks_people_what_it_asked_in_its_interrupt(monkeypatch):
    asked = run(1, FakeDashboard.approving(), monkeypatch)["asked"]

    assert asked["resume_payload"]["approval_type"] == "python_executor"
    assert re.search(r"^\*\*Task:\*\* `Centre the beam", asked["user_message"], re.MULTILINE)
