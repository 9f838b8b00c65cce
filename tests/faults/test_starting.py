"""Servers that start at the same time on nothing make one dashboard."""

import re

import pytest

from tests.serving import serve

KEY = "0123456789abcdefghijklmnopqrstuvwxyz-of-the-tests"


def test_two_first_starts_at_once_make_one_dashboard(takes_long):
    with serve(processes=2, fresh=True) as house:
        check(house)


@pytest.mark.engine("postgresql")
def test_two_first_starts_on_two_machines_make_one_dashboard(tmp_path, takes_long):
    machines = [{"DASHBOARD_DATA_DIR": str(tmp_path / name)} for name in ("one", "other")]
    with serve(each=machines, environment={"SECRET_KEY": KEY}, fresh=True) as house:
        check(house)


def check(house):
    assert house.rows("SELECT count(*) FROM dashboard_user") in ([(1,)], [[1]])
    assert house.rows("SELECT name FROM dashboard_agent") == [("agent",)]
    assert len(re.findall(r"DASHBOARD_TOKEN=dash_", house.logs())) == 1
    assert house.errors() == []
