"""Osprey 0.11.5 and a real dashboard: what a person decides in the page is what happens."""

import pytest

from approval_client.adapters.osprey import Undecided, resume_pending
from tests.frameworks.osprey.test_adapter import THREAD, code, notebook, paused


def test_code_is_resumed_after_a_person_approved_it_in_the_page(client, person):
    person.approves()

    state = resume_pending(paused(code()), THREAD, client=client)

    assert state["ran"] == code()["resume_payload"]


def test_a_rejection_is_none_and_its_reason_goes_where_the_host_says(client, person):
    person.rejects("Wrong sector.")

    state = resume_pending(
        paused(code()), THREAD, client=client, tell=lambda no: {"messages": [no.reason]}
    )

    assert (state["ran"], state["messages"]) == (None, ["Wrong sector."])


def test_a_wait_survives_a_server_that_is_killed(house, client, person):
    def kill_and_restart():
        house.server.kill()
        house.start()

    person.approves(after=kill_and_restart)

    state = resume_pending(paused(code()), THREAD, client=client)

    assert state["ran"] == code()["resume_payload"]


def test_the_notebook_is_in_the_dashboard_before_anybody_decides(house, client, person, tmp_path):
    made = notebook(tmp_path, execution_folder_path=tmp_path)
    found = paused(made)
    with pytest.raises(Undecided):
        resume_pending(found, THREAD, client=client, max_wait_s=0)

    assert house.rows("SELECT COUNT(*) FROM dashboard_notebookpin") == [(1,)]
    person.approves()
    assert resume_pending(found, THREAD, client=client)["ran"] == made["resume_payload"]
