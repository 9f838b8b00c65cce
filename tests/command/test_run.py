"""A command that runs when it was approved, exactly as it was asked, and not otherwise."""

import hashlib
import os
import pty
import signal
import socket
import subprocess
import sys

import pytest

from approval_client.testing import FakeDashboard
from approval_client.wire import MAX_BODY_BYTES, Status
from tests.command.conftest import ended, gathering, interrupt, soon

PRINT = "import sys; print(sys.argv[1:]); sys.exit(7)"


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "do.sh"
    path.write_text('#!/bin/sh\necho "did $1"\ntouch ran\n')
    path.chmod(0o755)
    return path


def calls(fake):
    return [call.rpartition("/")[2] for call in fake.calls]


def arguments(fake):
    content = fake.approvals[-1].content
    assert content["tool"] == "run_program"
    return content["arguments"]


def test_what_was_approved_runs_with_its_very_words_and_its_code_is_ours(approving):
    words = ["a  b", "", "$HOME", "-x", "'\"\\", "é\n"]

    done = approving("run", "--", sys.executable, "-c", PRINT, *words)

    assert (done.code, done.output) == (7, f"{words}\n")


def test_what_is_asked_is_the_line_the_program_the_folder_and_the_files(approving, script):
    approving("run", "--objective", "Why.", "--", "./do.sh", "now then")

    asked = arguments(approving.fake)
    [file] = asked.pop("files")
    assert asked == {
        "command": "./do.sh 'now then'",
        "executable": str(script),
        "working_directory": str(script.parent),
        "standard_input": "none",
    }
    assert (file["path"], file["bytes"], len(file["sha256"])) == (str(script), 34, 64)


def test_it_is_reported_as_started_before_it_runs_and_as_finished_after(approving, script):
    approving("run", "--", "./do.sh", "it")

    approval = approving.fake.approvals[0]
    assert calls(approving.fake)[-2:] == ["outcome", "outcome"]
    assert approval.started_at is not None
    assert (approval.finished["exit_code"], "output_head" in approval.finished) == (0, False)


def test_with_capture_the_beginning_of_the_output_is_reported(approving, script):
    done = approving("run", "--capture", "--", "./do.sh", "it")

    assert done.output == "did it\n"
    assert approving.fake.approvals[0].finished["output_head"] == "did it\n"


def test_with_capture_both_streams_stay_apart(approving):
    code = "import sys; print('out', flush=True); print('err', file=sys.stderr)"

    done = approving("run", "--capture", "--", sys.executable, "-c", code)

    assert (done.output, done.errors.endswith("err\n")) == ("out\n", True)


def test_with_capture_an_output_that_nobody_reads_ends_the_command(approving):
    process = approving.start("run", "--capture", "--", "yes", stderr=None)
    process.stdout.readline()
    process.stdout.close()
    process.stdout = None

    assert ended(process).code in {1, 141}


def test_standard_input_that_is_shown_goes_to_the_command(approving):
    done = approving("run", "--stdin", "--", "bash", given="echo one\n")

    assert done.output == "one\n"
    asked = arguments(approving.fake)["standard_input"]
    assert (asked["bytes"], asked["sha256"]) == (9, hashlib.sha256(b"echo one\n").hexdigest())
    assert asked["shown"] == {"language": "bash", "code": "echo one\n"}


@pytest.mark.parametrize("given", [b"a\0b", b"\xff", b"x" * 200_000], ids=["NUL", "raw", "large"])
def test_input_that_is_no_text_is_bound_by_its_digest(approving, given):
    done = approving("run", "--stdin", "--", "wc", "-c", given=given)

    asked = arguments(approving.fake)["standard_input"]
    assert asked == {"bytes": len(given), "sha256": hashlib.sha256(given).hexdigest()}
    assert int(done.output) == len(given)


def test_input_that_nobody_is_shown_is_not_asked(approving):
    done = approving("run", "--", "bash", given="echo one")

    assert (done.code, approving.fake.approvals) == (2, [])
    assert "Pass --stdin" in done.errors
    assert "Nothing was asked." in done.errors


def test_nor_is_a_file_as_input(approving, script):
    with script.open() as file:
        done = ended(approving.start("run", "--", "bash", stdin=file))

    assert (done.code, approving.fake.approvals) == (2, [])


def test_input_that_comes_while_people_are_asked_is_not_run(approvals_of):
    fake = FakeDashboard.manual()
    with approvals_of(fake) as approvals:
        process = approvals.start("run", "--", "bash")
        soon(lambda: fake.approvals)
        process.stdin.write(b"echo one\n")
        process.stdin.flush()
        fake.approve_next()
        done = ended(process)

    assert (done.code, done.output) == (99, "")
    assert "Pass --stdin" in fake.approvals[0].finished["error"]


@pytest.mark.parametrize("options", [{"stdin": subprocess.DEVNULL}, {}], ids=["none", "a pipe"])
def test_without_input_the_command_reads_the_end_of_it(approving, options):
    assert ended(approving.start("run", "--", "cat", **options)).output == ""
    assert arguments(approving.fake)["standard_input"] == "none"


def test_input_that_is_too_large_is_not_asked(approving):
    done = approving("run", "--stdin", "--", "cat", given=b"x" * (MAX_BODY_BYTES + 1))

    assert (done.code, approving.fake.approvals) == (2, [])
    assert "larger than the limit" in done.errors


def test_a_terminal_stays_the_input_and_is_named(approving):
    ours, theirs = pty.openpty()
    with os.fdopen(ours, "rb+", 0) as screen:
        process = approving.start("run", "--", "head", "-n", "1", stdin=theirs)
        os.close(theirs)
        screen.write(b"typed\n")
        assert ended(process).output == "typed\n"

    assert arguments(approving.fake)["standard_input"] == "terminal"


def test_a_folder_that_was_renamed_in_between_is_not_run_in(approvals_of, tmp_path):
    fake = FakeDashboard.manual()
    (tmp_path / "scratch").mkdir()
    with approvals_of(fake) as approvals:
        process = approvals.start("run", "--", "pwd", "-P", cwd=tmp_path / "scratch")
        soon(lambda: fake.approvals)
        (tmp_path / "scratch").rename(tmp_path / "production")
        fake.approve_next()
        done = ended(process)

    assert (done.code, done.output) == (99, "")
    assert "is not" in done.errors


def test_a_program_behind_a_link_is_the_one_that_a_shell_runs(approving, tmp_path):
    (tmp_path / "real" / "folder").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "real" / "folder")
    for folder in (tmp_path, tmp_path / "real"):
        (folder / "tool").write_text(f"#!/bin/sh\necho {folder.name}\n")
        (folder / "tool").chmod(0o755)

    assert approving("run", "--", "link/../tool").output == "real\n"


@pytest.mark.parametrize("word", ["if=a.txt", "@a.txt", "--data=@a.txt", "-da.txt", "-d@a.txt"])
def test_a_file_is_found_wherever_a_word_names_it(approving, tmp_path, word):
    (tmp_path / "a.txt").write_text("payload")

    approving("run", "--", "true", word)

    assert "a.txt" in [file["path"] for file in arguments(approving.fake)["files"]]


def test_what_was_rejected_does_not_run(approvals_of, script):
    with approvals_of(FakeDashboard.rejecting("No.")) as approvals:
        done = approvals("run", "--", "./do.sh")

    assert (done.code, done.output) == (90, "")
    assert not (script.parent / "ran").exists()


def test_an_expired_question_does_not_run(approvals_of, script):
    with approvals_of(FakeDashboard.silent()) as approvals:
        done = approvals("run", "--time-limit", 5, "--", "./do.sh")

    assert done.code == 91
    assert not (script.parent / "ran").exists()


def test_a_dashboard_that_is_not_configured_does_not_run_it(approving, script):
    approving.environment["DASHBOARD_URL"] = ""

    assert approving("run", "--", "./do.sh").code == 98
    assert not (script.parent / "ran").exists()


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda script: script.write_text("#!/bin/sh\ntouch ran\n"), "do.sh"),
        (lambda script: script.unlink(), "do.sh"),
        (lambda script: (script.parent / "new").write_text(""), "new"),
    ],
    ids=["changed", "gone", "new"],
)
def test_a_file_that_changed_in_between_is_not_run(approvals_of, script, change, named):
    fake = FakeDashboard.manual()
    with approvals_of(fake) as approvals:
        process = approvals.start("run", "--", "./do.sh", "new")
        soon(lambda: fake.approvals)
        change(script)
        fake.approve_next()
        done = ended(process)

    assert (done.code, named in done.errors) == (99, True)
    assert not (script.parent / "ran").exists()
    assert fake.approvals[0].finished["exit_code"] == 99
    assert "Nothing was run." in fake.approvals[0].finished["error"]


def test_the_text_of_the_files_is_sent_where_that_is_wanted(approving, script, tmp_path):
    (tmp_path / "a.py").write_text("print(1)\n")
    (tmp_path / "raw").write_bytes(b"\xff")
    (tmp_path / "large").write_text("x" * 100_001)

    approving("run", "--show-files", "--", "./do.sh", "--from=a.py", "raw", "large", "a.py")

    sent = {f["path"]: f.get("shown", {}).get("code") for f in arguments(approving.fake)["files"]}
    assert sent == {
        str(script): script.read_text(),
        "a.py": "print(1)\n",
        "raw": None,
        "large": None,
    }


@pytest.mark.parametrize("word", [".", os.devnull])
def test_what_gives_nothing_is_not_listed(approving, word):
    assert approving("run", "--", "true", word).code == 0
    assert len(arguments(approving.fake)["files"]) == 1  # the program


def test_a_pipe_that_is_named_is_not_asked(approving, tmp_path):
    os.mkfifo(tmp_path / "pipe")

    done = approving("run", "--", "bash", "pipe")

    assert (done.code, approving.fake.approvals) == (2, [])
    assert "pipe is a pipe" in " ".join(done.errors.split())


def test_a_pipe_that_comes_while_people_are_asked_is_not_run(approvals_of, tmp_path):
    fake = FakeDashboard.manual()
    with approvals_of(fake) as approvals:
        process = approvals.start("run", "--", "bash", "pipe")
        soon(lambda: fake.approvals)
        os.mkfifo(tmp_path / "pipe")
        fake.approve_next()
        done = ended(process)

    assert (done.code, done.output) == (99, "")
    assert "pipe is a pipe" in fake.approvals[0].finished["error"]


def test_a_device_is_shown_as_what_nobody_has_read(approving):
    approving("run", "--", "true", "if=/dev/zero")

    file = arguments(approving.fake)["files"][1]
    assert file == {"path": "/dev/zero", "problem": "It is a device, which can give anything."}


def test_a_socket_that_comes_while_people_are_asked_is_not_run(approvals_of, tmp_path):
    fake = FakeDashboard.manual()
    with approvals_of(fake) as approvals, socket.socket(socket.AF_UNIX) as server:
        process = approvals.start("run", "--", "true", "door")
        soon(lambda: fake.approvals)
        server.bind(str(tmp_path / "door"))
        fake.approve_next()
        done = ended(process)

    assert done.code == 99


def test_what_is_not_there_is_not_asked(approving):
    assert approving("run", "--", "no-such-program").code == 127
    assert approving.fake.approvals == []


def test_what_cannot_be_executed_is_not_asked(approving, tmp_path):
    (tmp_path / "text").write_text("x")

    assert approving("run", "--", "./text").code == 126
    assert approving.fake.approvals == []


def test_what_cannot_be_started_after_all_is_reported(approving, tmp_path):
    (tmp_path / "bad").write_text("#!/no/such/interpreter\n")
    (tmp_path / "bad").chmod(0o755)

    assert approving("run", "--", "./bad").code == 126
    assert approving.fake.approvals[0].finished["error"].startswith("It could not be started")


def test_words_that_are_no_text_are_not_asked(approving):
    assert approving("run", "--", "echo", os.fsdecode(b"\xff")).code == 96
    assert approving.fake.approvals == []


def test_without_a_command_nothing_is_asked(approving):
    assert approving("run").code == 2


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1])
def test_a_signal_goes_to_the_command(approving, number):
    code = (
        "import signal, sys\n"
        f"signal.signal({int(number)}, lambda *_: sys.exit(42))\n"
        "print('ready', flush=True)\n"
        "while True: signal.pause()\n"
    )
    process = approving.start("run", "--", sys.executable, "-c", code)
    assert process.stdout.readline() == b"ready\n"

    process.send_signal(number)

    assert ended(process).code == 42


def test_a_command_that_a_signal_ended_has_the_code_of_shells(approving):
    code = "import os; os.kill(os.getpid(), 9)"

    assert approving("run", "--", sys.executable, "-c", code).code == 137
    assert approving.fake.approvals[0].finished["error"] == "It was ended by SIGKILL."


def test_a_signal_without_a_name_has_its_code_too(approving):
    number = signal.SIGRTMIN + 6
    code = f"import os; os.kill(os.getpid(), {number})"

    assert approving("run", "--", sys.executable, "-c", code).code == 128 + number
    error = approving.fake.approvals[0].finished["error"]
    assert error == f"It was ended by signal {number}."


def test_a_word_that_is_not_utf8_is_not_asked_and_it_is_said_what_to_do(approving):
    done = approving("run", "--", "echo", os.fsdecode(b"caf\xe9"))

    assert (done.code, done.output, approving.fake.calls) == (96, "", [])
    assert "is not UTF-8 (content.arguments.command)" in done.errors
    assert "Nothing was asked and nothing was run. Give what it names" in done.errors


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("command", [["ask", "-c", "x"], ["run", "--", "true"]])
def test_who_stops_waiting_takes_the_question_back(approvals_of, number, code, command):
    fake = FakeDashboard.manual()
    with approvals_of(fake) as approvals:
        process = approvals.start(*command)
        soon(lambda: "wait" in "".join(calls(fake)))
        process.send_signal(number)
        assert ended(process).code == code

    assert fake.approvals[0].status is Status.CANCELLED


def test_who_stops_waiting_for_what_another_process_asked_takes_nothing_back(approvals_of):
    fake = FakeDashboard.manual()
    with approvals_of(fake) as approvals:
        asked = approvals("ask", "-c", "x", "--no-wait").output.strip()
        process = approvals.start("wait", asked)
        soon(lambda: "wait" in "".join(calls(fake)))
        interrupt(process)
        assert ended(process).code == 130
        assert approvals("wait", asked, "--max-wait", 1).code == 93

    assert fake.approvals[0].status is Status.PENDING


def test_at_a_terminal_the_time_left_and_the_link_are_drawn(approvals_of, tmp_path):
    fake = FakeDashboard.manual()
    ours, theirs = pty.openpty()
    with approvals_of(fake) as approvals, os.fdopen(ours, "rb", 0) as screen:
        approvals.environment["TERM"] = "xterm"
        process = approvals.start("ask", "-c", "x", stderr=theirs)
        os.close(theirs)
        with gathering(screen) as drawn:
            soon(lambda: " left" in drawn() and f"/approvals/{fake.approvals[0].id}" in drawn())
            assert "Waiting for a person, " in drawn()
            fake.approve_next("Fine.")
            assert ended(process).output == "approved by reviewer: Fine.\n"


def test_a_person_approves_a_real_run(live, person, script):
    person.approves()

    done = live("run", "--capture", "--", "./do.sh", "it")

    assert (done.code, done.output) == (0, "did it\n")
    assert (script.parent / "ran").exists()


def test_a_person_rejects_a_real_run(live, person, script):
    person.rejects("Wrong sector.")

    done = live("run", "--", "./do.sh", "it")

    assert (done.code, "Wrong sector." in done.errors) == (90, True)
    assert not (script.parent / "ran").exists()


def test_a_real_question_is_asked_here_and_waited_for_there(live, person):
    asked = live("ask", "-c", "print(1)", "--language", "python", "--no-wait", "--json").json
    person.approves()

    done = live("wait", asked["id"], "--digest", asked["digest"], "--json")

    assert (done.code, done.json["decided_by"]) == (0, "alice")
    assert live("wait", asked["id"]).code == 94


def test_without_the_extra_one_sentence_says_what_to_install(approving):
    code = (
        "import sys\n"
        "sys.modules['typer'] = None\n"
        "sys.argv = ['approvals', 'ask']\n"
        "from approval_client.command.main import main\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=approving.environment,
        check=False,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (98, "")
    assert done.stderr.count("\n") == 1
    assert "pip install -e './client[cli]'" in done.stderr


def test_a_server_that_is_killed_and_started_again_meanwhile_loses_nothing(
    house, live, person, script
):
    def kill_and_restart():
        house.server.kill()
        house.start()

    person.approves(after=kill_and_restart)

    assert live("run", "--", "./do.sh", "it").code == 0
    assert (script.parent / "ran").exists()
