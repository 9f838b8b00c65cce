"""How far the limit of open files is raised, and what fits into it."""

import resource
from resource import RLIM_INFINITY

import pytest

from dashboard.management.files import few_fit, make_room
from dashboard.management.preflight import CannotStart


@pytest.fixture
def limits(monkeypatch):
    """Stands in for the system: ``limits["now"]`` is (soft, hard)."""
    limits = {}
    monkeypatch.setattr(resource, "getrlimit", lambda _: limits["now"])
    monkeypatch.setattr(resource, "setrlimit", lambda _, now: limits.update(now=now))
    return limits


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ((1024, 4096), (4096, 4096)),
        ((1024, 1_048_576), (65_536, 1_048_576)),
        ((1024, RLIM_INFINITY), (65_536, RLIM_INFINITY)),
        ((100_000, 1_048_576), (100_000, 1_048_576)),
        ((RLIM_INFINITY, RLIM_INFINITY), (RLIM_INFINITY, RLIM_INFINITY)),
    ],
)
def test_the_soft_limit_is_raised_to_the_hard_one_and_never_lowered(limits, before, after):
    limits["now"] = before

    make_room(waits=5000)

    assert limits["now"] == after


@pytest.mark.parametrize(
    ("files", "connections", "waits"),
    [(256, 102, 76), (1024, 716, 537), (4096, 3174, 2380), (65_536, 6667, 5000)],
)
def test_some_files_and_a_quarter_of_the_connections_are_kept(limits, files, connections, waits):
    limits["now"] = (256, files)

    assert make_room(waits=5000) == (files, connections, waits)


def test_where_the_system_does_not_let_it_the_limit_stays(limits, monkeypatch):
    def refuse(*_):
        raise ValueError("current limit exceeds maximum limit")

    monkeypatch.setattr(resource, "setrlimit", refuse)
    limits["now"] = (256, RLIM_INFINITY)

    assert make_room(waits=5000).files == 256


def test_with_too_few_files_nothing_is_started(limits):
    limits["now"] = (100, 199)

    with pytest.raises(CannotStart) as refused:
        make_room(waits=5000)

    assert str(refused.value) == (
        "Nothing was started. This process may open 199 files and needs 200 at least: raise the "
        "limit with LimitNOFILE= in a systemd unit, or `ulimit -n` in a shell."
    )


def test_what_fits_is_said_with_the_remedy(limits):
    limits["now"] = (1024, 1024)

    assert few_fit(make_room(waits=5000), 5000) == (
        "537 agents can wait here at a time, not 5,000 (WAITS_PER_PROCESS), because this process "
        "may open 1,024 files. For more, raise the limit with LimitNOFILE= in a systemd unit, or "
        "`ulimit -n` in a shell.\n"
    )
