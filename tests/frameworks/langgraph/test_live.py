"""LangGraph 1.2.22 and a real dashboard: what a person decides in the page is what happens."""

import pytest

from approval_client.adapters.langgraph import Undecided, resume_pending
from tests.frameworks.langgraph.test_adapter import THREAD, gated, paused


def test_a_graph_goes_on_after_a_person_approved_it_in_the_page(client, person):
    person.approves()

    assert resume_pending(paused(gated()), THREAD, client=client)["ran"] == ["print(1)"]


def test_a_graph_goes_elsewhere_after_a_rejection_with_its_reason(client, person):
    person.rejects("Wrong sector.")

    state = resume_pending(paused(gated()), THREAD, client=client)

    assert state["ran"] == []
    assert state["answer"]["reason"].startswith("Wrong sector.")


def test_a_wait_survives_a_server_that_is_killed(house, client, person):
    def kill_and_restart():
        house.server.kill()
        house.start()

    person.approves(after=kill_and_restart)

    assert resume_pending(paused(gated()), THREAD, client=client)["ran"] == ["print(1)"]


def test_what_was_only_looked_at_is_decided_and_taken_up_later(client, person):
    graph = paused(gated())
    with pytest.raises(Undecided):
        resume_pending(graph, THREAD, client=client, max_wait_s=0)

    person.approves()

    assert resume_pending(graph, THREAD, client=client)["ran"] == ["print(1)"]
