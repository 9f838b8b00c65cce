"""Claude Code's hook: it always answers, with JSON alone, and lets nothing else through."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from approval_client.testing import FakeDashboard
from approval_client.wire import Status
from tests.command.conftest import ended, soon

BASH = {"tool_name": "Bash", "tool_input": {"command": "make deploy", "description": "Deploy."}}


def event(**changes):
    return json.dumps(
        {
            "session_id": "s1",
            "transcript_path": "/nowhere.jsonl",
            "cwd": "/srv/app",
            "permission_mode": "default",
            "hook_event_name": "PreToolUse",
            "tool_use_id": "toolu_1",
        }
        | BASH
        | changes
    )


def told(done):
    """What Claude Code makes of it: the decision and its reason, where nothing else is said."""
    assert done.code == 0
    answer = done.json
    assert list(answer) == ["hookSpecificOutput"]
    inner = answer["hookSpecificOutput"]
    assert inner["hookEventName"] == "PreToolUse"
    return inner["permissionDecision"], inner["permissionDecisionReason"]


def test_what_was_approved_is_allowed_once_it_was_started(approving):
    assert told(approving("hook", given=event())) == ("allow", "Approved by reviewer. Fine.")
    assert approving.fake.approvals[0].started == 1


def test_a_command_is_asked_as_code_of_a_shell(approving):
    approving("hook", given=event())

    body = approving.fake.approvals[0].body
    assert (body["kind"], body["content"]) == ("code", {"code": "make deploy", "language": "bash"})
    assert (body["objective"], body["run_id"]) == ("Deploy.", "s1")
    assert body["evidence"] == {
        "working_directory": "/srv/app",
        "permission_mode": "default",
    }


def test_the_time_limit_of_a_command_is_shown_beside_it(approving):
    approving("hook", given=event(tool_input={"command": "make", "timeout": 9000}))

    assert approving.fake.approvals[0].body["evidence"]["timeout_ms"] == 9000


def test_the_difference_is_of_the_file_that_claude_code_means(approving):
    folder = approving.folder / "project"
    folder.mkdir()
    (folder / "a.py").write_text("a = 1\n")
    write = {"file_path": "a.py", "content": "a = 2\n"}

    approving("hook", given=event(tool_name="Write", tool_input=write, cwd=str(folder)))

    assert "-a = 1\n+a = 2" in approving.fake.approvals[0].body["evidence"]["difference"]


def test_a_rejection_denies_with_its_reason(approvals_of):
    with approvals_of(FakeDashboard.rejecting("Not on a Friday.")) as approvals:
        word, reason = told(approvals("hook", given=event()))

    assert word == "deny"
    assert reason.startswith("Not on a Friday.")


def test_the_same_call_is_asked_once_and_used_once(approving):
    first, second = (told(approving("hook", given=event()))[0] for _ in range(2))

    assert (first, second, len(approving.fake.approvals)) == ("allow", "deny", 1)


def test_another_call_is_asked_anew(approving):
    for number in (1, 2):
        approving("hook", given=event(tool_use_id=f"toolu_{number}"))

    assert len(approving.fake.approvals) == 2


@pytest.mark.parametrize(
    "given",
    [
        "",
        b"\xff\xfe",
        "[]",
        event(hook_event_name="PostToolUse"),
        event(tool_input={"command": "a\0b"}),
        "[" * 100_000,
        event(tool_input={"command": "x" * 1_100_000}),
    ],
    ids=["nothing", "bytes", "list", "other", "nul", "deep", "large"],
)
def test_what_is_malformed_is_denied(approving, given):
    word, reason = told(approving("hook", given=given))

    assert word == "deny"
    assert "othing was approved." in reason or "nothing was run." in reason
    assert approving.fake.approvals == []


def test_more_than_can_be_asked_about_is_denied(approving):
    given = b" " * (4 * 1024 * 1024 + 1)

    assert told(approving("hook", given=given))[0] == "deny"


@pytest.mark.parametrize("name", ["DASHBOARD_URL", "DASHBOARD_TOKEN"])
def test_who_is_not_configured_is_denied(approving, name):
    environment = approving.environment | {name: ""}

    word, reason = told(approving("hook", given=event(), env=environment))

    assert (word, name in reason) == ("deny", True)


def test_a_token_that_is_not_accepted_is_denied(approving):
    approving.environment["DASHBOARD_TOKEN"] = "dash_other"

    assert told(approving("hook", given=event()))[0] == "deny"


def test_a_dashboard_that_is_not_there_is_denied_within_the_time(unreachable):
    began = time.monotonic()

    word, reason = told(unreachable("hook", "--timeout", 6, given=event()))

    assert word == "deny"
    assert reason.startswith("No usable answer came from the dashboard within the 6 s")
    assert time.monotonic() - began < 6.5


@pytest.mark.parametrize("options", [["--timeout", "4"], ["--timeout", "x"], ["--what"], ["-h"]])
def test_a_wrong_command_line_is_denied(approving, options):
    assert told(approving("hook", *options, given=event()))[0] == "deny"


def test_nobody_who_decides_is_a_denial_before_the_time_is_over_and_the_question_is_gone(
    approvals_of,
):
    fake = FakeDashboard.manual()
    began = time.monotonic()
    with approvals_of(fake) as approvals:
        word, reason = told(approvals("hook", "--timeout", 6, given=event()))

    assert (word, time.monotonic() - began < 6.5) == ("deny", True)
    assert reason.startswith("Nobody decided within the 6 s")
    assert fake.approvals[0].status in {Status.CANCELLED, Status.EXPIRED}


def test_an_event_that_never_ends_is_denied(approving):
    reading, writing = os.pipe()
    process = approving.start("hook", "--timeout", 6, stdin=reading)
    os.write(writing, b"{")
    try:
        word, reason = told(ended(process))
        assert (word, reason[:22]) == ("deny", "The event was not read")
    finally:
        os.close(writing)
        os.close(reading)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_hook_that_is_stopped_denies_and_takes_its_question_back(approvals_of, number):
    fake = FakeDashboard.manual()
    with approvals_of(fake) as approvals:
        process = approvals.start("hook", "--timeout", 600)
        process.stdin.write(event().encode())
        process.stdin.close()
        process.stdin = None
        soon(lambda: any(call.endswith("/wait") for call in fake.calls))
        process.send_signal(number)
        assert told(ended(process))[0] == "deny"

    assert fake.approvals[0].status is Status.CANCELLED


NOISY = """
import atexit, os, sys
import approval_client.adapters.claude_code as adapter

before = adapter.to_request
def to_request(*arguments, **options):
    print("\\x1b[31mLoading configuration\\x1b[0m", flush=True)
    os.write(1, b"more")
    return before(*arguments, **options)

adapter.to_request = to_request
atexit.register(print, "late")
sys.argv = ["approvals", "hook"]
from approval_client.command.main import main
main()
"""


def run(code, approvals, given):
    return subprocess.run(
        [sys.executable, "-c", code],
        env=approvals.environment,
        input=given.encode(),
        capture_output=True,
        check=False,
    )


def test_what_anything_prints_does_not_reach_standard_output(approving):
    done = run(NOISY, approving, event())

    assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "allow"
    assert b"Loading configuration" in done.stderr


BROKEN = """
import sys
sys.modules["{module}"] = None
sys.argv = ["approvals", "hook"]
from approval_client.command.main import main
main()
"""


@pytest.mark.parametrize(
    "module", ["approval_client.command.hook", "approval_client._models", "asyncio"]
)
def test_a_broken_installation_ends_with_the_code_that_blocks(approving, module):
    done = run(BROKEN.replace("{module}", module), approving, event())

    assert (done.returncode, done.stdout) == (2, b"")
    assert b"Nothing was approved." in done.stderr


def test_what_is_imported_before_the_hook_can_block_is_next_to_nothing():
    code = "import sys, approval_client.command.main; print(*sorted(sys.modules))"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert [name for name in done.stdout.split() if name.startswith("approval_client")] == [
        "approval_client",
        "approval_client.command",
        "approval_client.command.main",
    ]


def test_a_client_that_lacks_what_it_needs_is_told_no(approving):
    done = run(BROKEN.replace("{module}", "httpx2"), approving, event())

    said = json.loads(done.stdout)["hookSpecificOutput"]
    assert said["permissionDecision"] == "deny"
    assert "Nothing was approved." in said["permissionDecisionReason"]


def test_the_hook_needs_neither_typer_nor_rich(approving):
    blocked = "import sys\nsys.modules['typer'] = sys.modules['rich'] = None\n"
    done = run(blocked + BROKEN.replace("{module}", "nothing"), approving, event())

    assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "allow"


def test_an_output_that_nobody_reads_ends_with_the_code_that_blocks(approving):
    reading, writing = os.pipe()
    os.close(reading)
    process = approving.start("hook", stdout=writing)
    os.close(writing)

    assert ended(process, event().encode()).code == 2


def test_a_closed_output_ends_with_the_code_that_blocks(approving):
    done = approving("hook", given=event(), stdout=None, preexec_fn=lambda: os.close(1))

    assert done.code == 2


def test_a_person_decides_for_a_real_hook(live, person):
    person.rejects("Wrong sector.")
    word, reason = told(live("hook", given=event(tool_use_id="toolu_live_1")))
    assert (word, reason[:13]) == ("deny", "Wrong sector.")

    person.approves()
    word, _ = told(live("hook", given=event(tool_use_id="toolu_live_2")))
    assert word == "allow"
