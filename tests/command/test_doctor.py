"""``approvals doctor``: five lines that say what is wrong, and ask nobody."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from approval_client import Access
from approval_client.command import doctor
from approval_client.command.codes import Code
from approval_client.testing import FakeDashboard

NOW = datetime(2026, 11, 26, 12, 0, tzinfo=UTC)
RIGHT = Access(
    agent="planner",
    token_expires_at=None,
    now=NOW,
    policy_revision=3,
    on_hold=False,
    has_approvers=True,
)


@pytest.fixture
def examine(monkeypatch):
    """Look at a dashboard that says this of the token; gives the code and what is wrong."""

    def examine(**changes):
        fake = FakeDashboard.silent()
        said = {**vars(RIGHT), **changes}
        told = {name: v.isoformat() if isinstance(v, datetime) else v for name, v in said.items()}
        monkeypatch.setattr(fake, "_access", lambda: told)
        with fake.installed():
            code, findings = doctor.examine(now=lambda: NOW)
        assert [finding.part for finding in findings] == list(doctor.PARTS)
        assert fake.approvals == []
        return code, {finding.part: finding.says for finding in findings if not finding.is_right}

    return examine


def test_with_a_real_dashboard_all_five_are_right(live, house):
    done = live("doctor")

    assert (done.code, done.errors) == (0, "")
    lines = done.output.splitlines()
    assert [line.split()[:2] for line in lines] == [[part, "ok"] for part in doctor.PARTS]
    assert house.url in lines[0]


def test_a_test_question_goes_all_the_way(live, person):
    person.approves()

    done = live("doctor", "--ask")

    assert done.code == 0
    assert done.output.splitlines()[-1].startswith(
        "question  ok     It was answered: approved by alice"
    )
    assert "Waiting for a person to decide" in done.errors


def test_a_test_question_that_is_rejected_went_all_the_way_too(live, person):
    person.rejects("I only try it.")

    done = live("doctor", "--ask")

    assert done.code == Code.REJECTED  # 0 is for an approval alone, here too
    assert "I only try it." in done.output


def test_a_refused_port_is_said_within_seconds(unreachable):
    done = unreachable("doctor")

    assert done.code == Code.UNREACHABLE
    assert [line.split()[1] for line in done.output.splitlines()] == ["WRONG", "-", "-", "-", "-"]
    assert "http://127.0.0.1:9" in done.output
    assert done.errors == ""


def test_https_for_a_dashboard_without_tls_is_said_at_once(live):
    live.environment |= {
        "DASHBOARD_URL": live.environment["DASHBOARD_URL"].replace("http", "https")
    }

    done = live("doctor")

    assert done.code == Code.UNREACHABLE
    assert "try http:// instead of https://" in done.output.splitlines()[0]


def test_neither_address_nor_token_is_said_once(unreachable):
    unreachable.environment |= {"DASHBOARD_URL": "", "DASHBOARD_TOKEN": ""}

    done = unreachable("doctor")

    assert (
        "Set DASHBOARD_URL and DASHBOARD_TOKEN in the environment" in done.output.splitlines()[0]
    )


def test_a_refused_token_does_not_hide_where_it_was_refused(live, house):
    live.environment |= {"DASHBOARD_TOKEN": "dash_wrong"}

    lines = live("doctor").output.splitlines()

    assert lines[0] == f"address   ok     A dashboard answers at {house.url}."
    assert "Perhaps it was cut off when it was copied" in lines[1]


def test_a_wrong_token_is_said_and_the_address_is_right(live):
    live.environment |= {"DASHBOARD_TOKEN": "dash_wrong"}

    done = live("doctor", "--json")

    found = {one["part"]: one["is_right"] for one in json.loads(done.output)}
    assert done.code == Code.TOKEN_REFUSED
    assert found == {
        "address": True,
        "token": False,
        "protocol": None,
        "clock": None,
        "policy": None,
    }


@pytest.mark.parametrize(("name", "part"), [("DASHBOARD_URL", 0), ("DASHBOARD_TOKEN", 1)])
def test_what_is_not_set_is_named(unreachable, name, part):
    unreachable.environment |= {name: ""}

    done = unreachable("doctor")

    line = done.output.splitlines()[part]
    assert (done.code, line.split()[1]) == (Code.NOT_CONFIGURED, "WRONG")
    assert f"Set {name} in the environment" in line


def test_plain_http_to_another_machine_is_a_matter_of_the_address(unreachable):
    unreachable.environment |= {"DASHBOARD_URL": "http://10.0.0.1"}

    line = unreachable("doctor").output.splitlines()[0]

    assert line.startswith("address   WRONG")
    assert "Use https" in line


def test_the_api_in_the_address_is_named(live):
    live.environment |= {"DASHBOARD_URL": live.environment["DASHBOARD_URL"] + "/api/v1"}

    done = live("doctor")

    assert done.code != 0
    assert "DASHBOARD_URL" in done.output.splitlines()[0]


def test_all_is_right(examine):
    assert examine() == (0, {})


@pytest.mark.parametrize(("apart_s", "words"), [(-95, "95 s ahead of"), (95, "95 s behind")])
def test_a_clock_that_is_far_from_the_dashboards_is_named(examine, apart_s, words):
    code, wrong = examine(now=NOW + timedelta(seconds=apart_s))

    assert (code, list(wrong)) == (Code.NOT_CONFIGURED, ["clock"])
    assert words in wrong["clock"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"on_hold": True}, "put everything on hold"),
        ({"has_approvers": False}, "Nobody may approve what this agent asks"),
    ],
)
def test_what_keeps_everybody_from_approving_is_named(examine, changes, words):
    code, wrong = examine(**changes)

    assert (code, list(wrong)) == (Code.NOT_USABLE, ["policy"])
    assert words in wrong["policy"]


def test_a_token_that_ends_soon_is_said(monkeypatch):
    soon = doctor._token(Access(**vars(RIGHT) | {"token_expires_at": NOW + timedelta(days=2)}))

    assert (soon.is_right, "2026-11-28 at 12:00 UTC" in soon.says) == (True, True)


def test_it_needs_no_extra(unreachable):
    blocked = "raise ImportError('not installed here')\n"
    for name in ("typer", "rich"):
        (unreachable.folder / f"{name}.py").write_text(blocked)
    unreachable.environment["PYTHONPATH"] += f":{unreachable.folder}"

    assert "WRONG" in unreachable("doctor").output


def test_another_option_is_refused(unreachable):
    assert unreachable("doctor", "--nothing").code == 2
