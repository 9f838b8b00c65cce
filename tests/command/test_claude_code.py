"""What is asked for a tool of Claude Code, and what would change."""

import tracemalloc

import pytest

from approval_client import ApprovalResponse
from approval_client.adapters import claude_code
from approval_client.command.changes import TOO_LARGE, difference
from approval_client.wire import Kind, Status


def event(tool="Bash", arguments=None, **changes):
    given = {"command": "ls"} if arguments is None else arguments
    names = {"hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": given}
    return names | {"session_id": "s1", "tool_use_id": "t1"} | changes


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("Write", {"file_path": "/srv/a.py", "content": "x = 1\n"}),
        ("mcp__controls__channel_write", {"channel": "SR:HC1", "value": 0.05}),
        ("Bash", {"command": "ls", "dangerouslyDisableSandbox": True}),
        ("Bash", {"command": "ls", "run_in_background": True}),
        ("Bash", {"command": ["ls"]}),
        ("Bash", {"command": ""}),
        ("Bash", {"command": "ls", "timeout": "5"}),
        ("Bash", {"command": "ls", "timeout": True}),
        ("Bash", {"command": "ls", "description": ["List."]}),
        ("Bash", {"command": "ls", "description": "x" * 2001}),
    ],
)
def test_everything_else_is_asked_as_a_call_with_all_of_its_arguments(tool, arguments):
    request = claude_code.to_request(event(tool, arguments))

    assert (request.kind, request.capability) == (Kind.TOOL_CALL, tool)
    assert request.content == {"tool": tool, "arguments": arguments}


@pytest.mark.parametrize(
    "given",
    [
        None,
        "Bash",
        [],
        {},
        event(hook_event_name="PostToolUse"),
        event(tool_name=7),
        event(tool_name=""),
        event(tool_input="rm -rf /"),
        event(tool_input=None),
        event("Write", {"content": "a\0b"}),
        event("Write", {"content": "\ud800"}),
        event("Write", {"content": float("nan")}),
    ],
)
def test_what_is_no_call_is_not_asked(given):
    with pytest.raises(ValueError, match=r"."):
        claude_code.to_request(given)


def test_no_edit_is_accepted():
    assert claude_code.to_request(event()).accepts_edits is False


@pytest.mark.parametrize(
    "changes", [{"session_id": None}, {"tool_use_id": ""}, {"tool_use_id": 7}]
)
def test_a_call_without_a_name_has_no_key(changes):
    assert claude_code.key(event(**changes)) is None


def test_two_calls_have_two_keys_of_a_length_that_is_taken():
    one, other = claude_code.key(event()), claude_code.key(event(tool_use_id="t2" * 500))

    assert one != other
    assert max(len(one), len(other)) <= 100


@pytest.mark.parametrize("status", [None, Status.REJECTED, Status.EXPIRED, Status.CANCELLED])
def test_whatever_is_not_approved_is_denied(status):
    told = claude_code.answer(ApprovalResponse(approved=False, reason="No.", status=status))

    assert told["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_a_reason_is_told_without_what_a_terminal_would_obey():
    told = claude_code.deny("No.\x1b[2J\u202e\nReally." + "x" * 5000)["hookSpecificOutput"]

    assert told["permissionDecisionReason"].startswith("No.\ufffd[2J\ufffd\nReally.")
    assert len(told["permissionDecisionReason"]) == 2000


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "a.py"
    path.write_text("a = 1\nb = 2\nc = 3\nb = 2\n")
    return path


def changed(tool, file, *, folder=None, **arguments):
    told = difference(tool, {"file_path": str(file), **arguments}, folder)
    return [line for line in told.split("\n")[2:] if line[0] in "+-\\"]


def test_a_write_is_a_difference_from_what_is_there(file):
    assert changed("Write", file, content="a = 1\nb = 2\nc = 3\n") == ["-b = 2"]


def test_a_new_file_is_all_new(tmp_path):
    assert changed("Write", tmp_path / "new.py", content="a = 1\n") == ["+a = 1"]


def test_a_path_in_the_home_folder_is_the_file_there(file, monkeypatch):
    monkeypatch.setenv("HOME", str(file.parent))

    assert changed("Write", "~/a.py", content="a = 1\nb = 2\nc = 3\n") == ["-b = 2"]


def test_a_relative_path_begins_where_claude_code_works(file):
    told = changed("Write", "a.py", folder=str(file.parent), content="a = 1\nb = 2\nc = 3\n")

    assert told == ["-b = 2"]


@pytest.mark.parametrize("name", ["a.py", "~somebody/a.py", " a.py", "./~/a.py"])
def test_a_file_that_cannot_be_told_is_not_called_new(name):
    assert difference("Write", {"file_path": name, "content": "a\n"}) == ""


def test_lines_end_at_line_feeds_alone(file):
    file.write_text("a\n")

    assert changed("Write", file, content="a\x0cb\u2028c\n") == ["-a", "+a\x0cb\u2028c"]


def test_a_last_line_without_its_end_is_marked(file):
    file.write_text("a\n")

    assert changed("Write", file, content="a") == ["-a", "+a", "\\ No newline at end of file"]


def test_an_edit_changes_the_first_place(file):
    assert changed("Edit", file, old_string="b = 2", new_string="b = 3") == ["-b = 2", "+b = 3"]


def test_an_edit_of_every_place_changes_all_of_them(file):
    told = changed("Edit", file, old_string="b = 2", new_string="b = 3", replace_all=True)

    assert told == ["-b = 2", "+b = 3", "-b = 2", "+b = 3"]


def test_several_edits_are_made_one_after_the_other(file):
    edits = [{"old_string": "a = 1", "new_string": "c"}, {"old_string": "c", "new_string": "d"}]

    assert changed("MultiEdit", file, edits=edits) == ["-a = 1", "+d"]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("Bash", {"command": "ls"}),
        ("Read", {}),
        ("Write", {}),
        ("Write", {"file_path": 7}),
        ("Edit", {"old_string": 1, "new_string": ""}),
        ("MultiEdit", {"edits": 7}),
        ("MultiEdit", {"edits": ["x"]}),
    ],
)
def test_what_cannot_be_told_is_left_out(file, tool, arguments):
    assert difference(tool, {"file_path": str(file)} | arguments) == ""


def test_a_file_that_is_no_text_is_left_out(file):
    file.write_bytes(b"\xff\xfe")

    assert difference("Write", {"file_path": str(file), "content": ""}) == ""


def test_what_is_no_file_is_not_read(tmp_path):
    assert difference("Write", {"file_path": str(tmp_path), "content": ""}) == ""


@pytest.mark.parametrize("tool", ["Edit", "MultiEdit"])
def test_an_edit_of_every_place_that_would_be_too_large_is_not_built(file, tool):
    file.write_text("a" * 100_000)
    edit = {"old_string": "a", "new_string": "b" * 100_000, "replace_all": True}
    arguments = edit if tool == "Edit" else {"edits": [edit]}

    tracemalloc.start()
    told = difference(tool, {"file_path": str(file)} | arguments)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert told == TOO_LARGE
    assert peak < 10_000_000  # bytes; the result would have 10,000,000,000


@pytest.mark.parametrize("content", ["x" * 200_001, "x\n" * 3001])
def test_a_difference_that_would_take_long_is_not_made(file, content):
    assert difference("Write", {"file_path": str(file), "content": content}) == TOO_LARGE
