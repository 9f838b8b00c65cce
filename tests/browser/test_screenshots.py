"""How the command that draws every page is called; what it finds is in test_overlaps.py."""

import pytest

from tests.browser import screenshots


def test_help_says_what_may_be_named_and_draws_nothing(capsys, monkeypatch):
    monkeypatch.setattr(screenshots, "open_house", None)

    with pytest.raises(SystemExit) as end:
        screenshots.wanted_by(["--help"])

    said = " ".join(capsys.readouterr().out.split())
    assert end.value.code == 0
    assert "usage: python -m tests.browser.screenshots [-h] [NAME ...]" in said
    assert "light-1440, light-390, dark-1440, dark-390" in said
    assert "./screenshots/" in said


def test_an_option_that_there_is_not_is_refused(capsys):
    with pytest.raises(SystemExit) as end:
        screenshots.wanted_by(["--dark"])

    assert end.value.code == 2
    assert "unrecognized arguments: --dark" in capsys.readouterr().err


def test_names_are_scenes_and_variants():
    assert screenshots.wanted_by(["queue", "light-390"]) == ["queue", "light-390"]
    assert screenshots.wanted_by([]) == []
