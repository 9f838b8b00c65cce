"""``approvals mcp`` where it cannot work; what it does is in tests/frameworks/mcp."""

import pytest


@pytest.mark.parametrize("missing", ["mcp_types", "typer"])
def test_without_the_extra_it_says_so_in_a_sentence_and_serves_nothing(unreachable, missing):
    place = unreachable.folder / "broken"
    place.mkdir()
    (place / f"{missing}.py").write_text("raise ImportError")
    path = f"{place}:{unreachable.environment['PYTHONPATH']}"

    done = unreachable("mcp", env=unreachable.environment | {"PYTHONPATH": path})

    assert (done.code, done.output) == (98, "")
    assert "pip install 'approval-client[mcp]'" in done.errors


@pytest.mark.parametrize("wrong", [("--timeout", "4"), ("--wait", "0"), ("--port", "80")])
def test_a_wrong_option_serves_nothing(unreachable, wrong):
    done = unreachable("mcp", *wrong)

    assert (done.code, done.output) == (2, "")
