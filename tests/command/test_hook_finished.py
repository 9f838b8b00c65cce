"""After a tool of Claude Code: what was approved is reported, and an edit is told to the model."""

import json
import os

import pytest

from approval_client import ApprovalRequest
from approval_client.adapters import claude_code
from approval_client.adapters._binding import edited_note
from approval_client.command import notes
from approval_client.testing import FakeDashboard
from tests.command.test_hook import event, told


def end(approvals, *options, env=None, **changes):
    given = event(**{"hook_event_name": "PostToolUse"} | changes)
    return approvals("hook", "--finished", *options, given=given, env=env or approvals.environment)


@pytest.fixture
def allowed(approving):
    """The command of a dashboard that has approved a call."""
    assert told(approving("hook", given=event()))[0] == "allow"
    return approving


def said(done):
    return done.code, done.output, done.errors


def test_the_end_of_what_was_approved_is_reported(allowed):
    assert said(end(allowed)) == (0, "", "")

    assert list(allowed.fake.approvals[0].finished) == ["duration_s"]


def test_where_there_is_no_home_nothing_is_remembered_and_nothing_is_refused(monkeypatch):
    for name in ("HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pwd.getpwuid", {}.__getitem__)  # as with a user id of no account
    response = FakeDashboard.approving().client().request_approval(ApprovalRequest.code("x"))

    notes.keep("a-call", response)

    assert notes.take("a-call") is None


@pytest.fixture
def edited(allowed, monkeypatch):
    """The same, where a person changed the input in the permission prompt."""
    monkeypatch.setenv("XDG_STATE_HOME", str(allowed.folder / "state"))
    key = claude_code.key(json.loads(event()))
    notes.keep(key, notes.take(key).response, {"command": "make -n"})
    return allowed


@pytest.mark.parametrize("name", ["PostToolUse", "PostToolUseFailure"])
def test_a_model_is_told_that_a_person_changed_its_input(edited, name):
    done = end(edited, hook_event_name=name)

    told = done.json["hookSpecificOutput"]
    assert (done.code, told["hookEventName"]) == (0, name)
    assert told["additionalContext"] == edited_note({"command": "make -n"})
    assert edited.fake.approvals[0].finished_at


def test_a_model_is_told_of_an_edit_although_the_end_cannot_be_reported(edited):
    done = end(edited, env=edited.environment | {"DASHBOARD_URL": ""})

    assert "make -n" in done.json["hookSpecificOutput"]["additionalContext"]
    assert (done.code, "not reported" in done.errors) == (0, True)


def test_a_long_edit_is_cut_so_that_the_rest_of_what_is_told_is_read():
    told = claude_code.edit_told("PostToolUse", {"content": '"' * 20_000})

    text = told["hookSpecificOutput"]["additionalContext"]
    assert len(json.dumps(text)) < 20_000
    assert "more is left out" in text
    assert text.endswith("Do not make your own call again.")


def test_it_is_reported_once(allowed):
    assert [end(allowed).code for _ in range(2)] == [0, 0]
    assert sum(call.endswith("/outcome") for call in allowed.fake.calls) == 2


@pytest.mark.parametrize(
    ("response", "head"),
    [
        ({"stdout": "out\n", "stderr": "err\n", "interrupted": False}, "out\nerr\n"),
        ({"filePath": "/a"}, '{"filePath":"/a"}'),
        ("done", "done"),
    ],
)
def test_with_capture_the_beginning_of_the_output_is_reported(allowed, response, head):
    end(allowed, "--capture", tool_response=response)

    assert allowed.fake.approvals[0].finished["output_head"] == head


def test_a_failure_is_reported_with_its_words(allowed):
    end(allowed, hook_event_name="PostToolUseFailure", error="Exit code 1")

    assert allowed.fake.approvals[0].finished["error"] == "Exit code 1"


def test_the_end_of_what_was_never_asked_about_is_nothing(approving):
    assert said(end(approving)) == (0, "", "")
    assert approving.fake.calls == []


def test_a_note_that_was_tampered_with_is_nothing(allowed):
    [note] = allowed.folder.glob("state/approval-dashboard/hook/*")
    note.write_text("[]")

    assert said(end(allowed)) == (0, "", "")


@pytest.mark.parametrize("given", ["", "[]", event()])
def test_before_a_tool_by_mistake_it_blocks(approving, given):
    done = approving("hook", "--finished", given=given)

    assert (done.code, done.output) == (2, "")
    assert "Nothing was approved." in done.errors


def test_that_nobody_could_be_told_is_said_on_standard_error(allowed):
    done = end(allowed, env=allowed.environment | {"DASHBOARD_URL": ""})

    assert (done.code, done.output, "not reported" in done.errors) == (1, "", True)


def test_a_note_says_nothing_about_what_may_be_called(allowed):
    assert told(allowed("hook", given=event()))[0] == "deny"


def test_a_folder_that_cannot_be_written_does_not_refuse_what_was_approved(approving):
    (approving.folder / "state").write_text("no folder")

    assert told(approving("hook", given=event()))[0] == "allow"


def test_what_has_not_ended_within_a_day_is_forgotten(allowed):
    [note] = allowed.folder.glob("state/approval-dashboard/hook/*")
    os.utime(note, (0, 0))
    allowed("hook", given=event(tool_use_id="toolu_2"))

    assert (
        json.loads(next(note.parent.iterdir()).read_text())["id"] == allowed.fake.approvals[1].id
    )
    assert not note.exists()
