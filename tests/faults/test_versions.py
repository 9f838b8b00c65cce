"""A server whose database was migrated by a newer version writes nothing more."""

import httpx2
import pytest

from tests.serving import serve

NEWER = "INSERT INTO django_migrations (app, name, applied) VALUES ('dashboard', '9999_newer', {})"


@pytest.fixture
def house():
    with serve() as house:
        yield house
        assert house.audit_is_whole() is True


def test_an_old_server_refuses_to_write_on_a_newer_schema(house):
    with house.agent() as agent, house.browser() as alice:
        approval = house.submit(agent)
        form = house.form(alice, approval)
        before = house.rows("SELECT seq FROM dashboard_audithead")
        house.rows(NEWER.format("CURRENT_TIMESTAMP"))

        ready = httpx2.get(f"{house.url}/readyz", trust_env=False)
        assert (ready.status_code, "9999_newer" in ready.text) == (503, True)
        assert house.decide(alice, approval, form=form).status_code == 503
        assert agent.post("/api/v1/approvals/nothing/cancel").status_code in {404, 415, 422}
        assert agent.get(f"/api/v1/approvals/{approval['id']}").json()["status"] == "pending"
        assert house.rows("SELECT seq FROM dashboard_audithead") == before

        house.rows("DELETE FROM django_migrations WHERE name = '9999_newer'")
        assert house.decide(alice, approval, form=form).status_code == 303
