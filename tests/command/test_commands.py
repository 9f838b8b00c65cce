"""Asking, waiting, looking and taking back from a shell: what is told, and what it ends with."""

import json
import signal

import pytest
from typer.testing import CliRunner

from approval_client import ApprovalRequest
from approval_client.command import running
from approval_client.command.commands import app
from approval_client.testing import FakeDashboard
from approval_client.wire import Status

ID = "00000000-0000-4000-8000-000000000000"


class At:
    """The command at a dashboard in memory."""

    def __init__(self, fake):
        self.fake = fake

    def __call__(self, *arguments, given=None):
        with self.fake.installed():
            return CliRunner().invoke(app, list(map(str, arguments)), input=given)

    @property
    def body(self):
        """What was submitted last."""
        return self.fake.approvals[-1].body

    def asked(self):
        """Ask without waiting; returns the id."""
        return self("ask", "-c", "x", "--no-wait").stdout.strip()


@pytest.fixture
def yes():
    return At(FakeDashboard.approving("Fine."))


@pytest.fixture
def no():
    return At(FakeDashboard.rejecting("Not on a Friday."))


@pytest.fixture
def silence():
    return At(FakeDashboard.silent())


def test_what_was_approved_ends_with_0_once_it_was_started(yes):
    done = yes("ask", "-c", "print(1)")

    assert (done.exit_code, done.stdout) == (0, "approved by reviewer: Fine.\n")
    assert yes.fake.approvals[0].started == 1


def test_a_rejection_says_why_and_nothing_on_standard_output(no):
    done = no("ask", "-c", "print(1)")

    assert (done.exit_code, done.stdout) == (90, "")
    assert done.stderr.endswith("rejected by reviewer: Not on a Friday.\n")


def test_nobody_who_decides_has_a_code_of_its_own(silence):
    assert silence("ask", "-c", "print(1)").exit_code == 91


def test_where_no_terminal_is_a_line_says_what_is_waited_for(silence):
    done = silence("ask", "-c", "print(1)", "--time-limit", 90)

    link = f"http://localhost:8765/approvals/{silence.fake.approvals[0].id}"
    said = f"Waiting for a person, for 1 min 30 s at most: {link}"
    assert done.stderr.splitlines()[0] == said


def failing(name):
    def fail(fake):
        if name == "unreachable":
            fake.reachable = False
        elif name == "token":
            fake.token = "dash_other"
        elif name == "hold":
            fake.on_hold = True

    return fail


@pytest.mark.parametrize(("what", "code"), [("unreachable", 95), ("hold", 94)])
def test_what_is_in_the_way_has_a_code_of_its_own(yes, what, code):
    failing(what)(yes.fake)

    done = yes("ask", "-c", "print(1)", "--json")

    assert (done.exit_code, json.loads(done.stdout)["approved"]) == (code, False)


def test_what_the_dashboard_will_not_take_is_refused(yes):
    assert yes("ask", "-c", "").exit_code == 96


def test_what_cannot_be_sent_as_it_is_is_refused(yes):
    done = yes("ask", "-c", "a\x1b\udc80")

    assert (done.exit_code, yes.fake.approvals) == (96, [])


@pytest.mark.parametrize("error", [ValueError, TypeError, OSError, RuntimeError])
def test_a_failure_after_the_start_is_reported_as_the_end_and_not_as_a_refusal(
    yes, monkeypatch, error
):
    def fail(*_, **__):
        raise error("Broken.")

    monkeypatch.setattr(running, "run", fail)
    done = yes("run", "--", "true")

    finished = yes.fake.approvals[0].finished
    assert (done.exit_code, finished["exit_code"]) == (126, 126)
    assert "it is not known how it ended" in finished["error"]
    assert finished["error"] in done.stderr


def test_a_token_that_is_not_accepted_has_a_code_of_its_own(yes):
    client = yes.fake.client()
    yes.fake.token = "dash_other"
    yes.fake.client = lambda: client

    assert yes("ask", "-c", "print(1)").exit_code == 97


def test_without_a_dashboard_in_the_environment_nothing_is_asked(monkeypatch):
    monkeypatch.delenv("DASHBOARD_URL", raising=False)

    done = CliRunner().invoke(app, ["ask", "-c", "print(1)"])

    assert done.exit_code == 98
    assert "Set DASHBOARD_URL" in done.stderr


@pytest.mark.parametrize(
    ("options", "given", "kind", "content"),
    [
        ([], "print(1)\n", "code", {"code": "print(1)\n"}),
        (["--language", "python", "-"], "x\r\n", "code", {"code": "x\r\n", "language": "python"}),
        (
            ["--kind", "tool_call", "--tool", "caput"],
            '{"pv": "SR:HC1", "value": 0.050}',
            "tool_call",
            {"tool": "caput", "arguments": {"pv": "SR:HC1", "value": 0.05}},
        ),
        (["--kind", "plan"], '[{"do": 1}]', "plan", {"steps": [{"do": 1}]}),
        (["--kind", "plan"], '{"steps": [{"do": 1}]}', "plan", {"steps": [{"do": 1}]}),
        (
            ["--kind", "memory"],
            '{"operation": "add", "user_id": "u", "content": "c"}',
            "memory",
            {"operation": "add", "user_id": "u", "content": "c"},
        ),
    ],
)
def test_content_of_every_kind_comes_from_standard_input(yes, options, given, kind, content):
    assert yes("ask", *options, given=given).exit_code == 0
    assert (yes.body["kind"], yes.body["content"]) == (kind, content)


def test_content_comes_from_a_file_as_it_is(yes, tmp_path):
    (tmp_path / "a.py").write_bytes("print('é')\r\n".encode())

    yes("ask", tmp_path / "a.py")

    assert yes.body["content"] == {"code": "print('é')\r\n"}


def test_everything_else_that_can_be_said_is_said(yes, tmp_path):
    (tmp_path / "e.json").write_text('{"safety_concerns": ["It moves."]}')
    said = {"objective": "Why.", "run-id": "r1", "time-limit": 60, "max-wait": 30}
    options = [word for name, value in said.items() for word in (f"--{name}", value)]

    yes("ask", "-c", "x", *options, "--evidence", tmp_path / "e.json", "--capability", "shell")

    expected = {name.replace("-", "_") for name in said}
    assert {name for name in yes.body if name in {"objective", "run_id"}} <= expected
    assert (yes.body["objective"], yes.body["run_id"]) == ("Why.", "r1")
    assert (yes.body["time_limit_s"], yes.body["max_wait_s"]) == (60, 30)
    assert (yes.body["capability"], yes.body["accepts_grants"]) == ("shell", True)
    assert yes.body["evidence"] == {"safety_concerns": ["It moves."]}


def test_a_remembered_yes_can_be_declined(yes):
    yes("ask", "-c", "x", "--no-grants")

    assert "accepts_grants" not in yes.body


@pytest.mark.parametrize(
    "options",
    [
        ["--kind", "tool_call"],
        ["--kind", "plan", "--tool", "x"],
        ["--kind", "plan", "--language", "x"],
        ["--kind", "memory", "-c", "[]"],
        ["--kind", "tool_call", "--tool", "x", "-c", "[]"],
        ["--kind", "plan", "-c", "{"],
        ["--kind", "plan", "-c", '{"a": 1, "a": 2}'],
        ["--kind", "thought"],
        ["--time-limit", "4"],
        ["/no/such/file"],
        ["--evidence", "/no/such/file"],
    ],
)
def test_what_is_wrongly_given_is_not_asked(yes, options):
    assert yes("ask", *options, given="x").exit_code == 2
    assert yes.fake.approvals == []


@pytest.mark.parametrize("raw", [b"\xff", b"x" * (1024 * 1024 + 1)])
def test_a_file_that_cannot_be_asked_as_it_is_is_not_asked(yes, tmp_path, raw):
    (tmp_path / "a").write_bytes(raw)

    assert yes("ask", tmp_path / "a").exit_code == 2


def test_json_is_one_document_with_everything_that_was_answered(yes):
    done = yes("ask", "-c", "print(1)", "--json")

    assert json.loads(done.stdout) == {
        "approved": True,
        "exit_code": 0,
        "status": "approved",
        "id": yes.fake.approvals[0].id,
        "digest": ApprovalRequest.code("print(1)").digest,
        "reason": "Fine.",
        "source": "reviewer",
        "decided_by": "reviewer",
        "valid_until": "2026-01-01T00:10:00+00:00",
        "grant": None,
        "review_url": f"http://localhost:8765/approvals/{yes.fake.approvals[0].id}",
    }


@pytest.mark.parametrize(
    "arguments", [["ask", "-c", "x"], ["wait", ID], ["show", ID], ["cancel", ID]]
)
def test_json_is_one_document_when_something_is_in_the_way_too(yes, arguments):
    yes.fake.reachable = False

    done = yes(*arguments, "--json")

    told = json.loads(done.stdout)
    assert (told["approved"], told["exit_code"], told["error"]) == (False, 95, "Unreachable")


def test_asking_without_waiting_prints_the_id_alone_and_opens_nothing(yes):
    done = yes("ask", "-c", "x", "--no-wait")

    assert (done.exit_code, done.stdout, done.stderr) == (93, yes.fake.approvals[0].id + "\n", "")
    assert yes.fake.approvals[0].started == 0


def test_the_same_key_asks_once(yes):
    ids = {yes("ask", "-c", "x", "--key", "k", "--no-wait").stdout for _ in range(2)}

    assert len(ids) == 1


@pytest.mark.parametrize("key", ["", "k\n", "refund 1"])
def test_a_key_that_cannot_be_sent_asks_nothing(yes, key):
    done = yes("ask", "-c", "x", "--key", key)

    assert (done.exit_code, yes.fake.calls) == (96, [])
    assert "Nothing was sent" in done.stderr


def test_waiting_for_it_uses_the_approval(yes):
    assert yes("wait", yes.asked()).exit_code == 0
    assert yes.fake.approvals[0].started == 1


def test_waiting_for_it_again_opens_nothing(yes):
    asked = yes.asked()
    codes = [yes("wait", asked).exit_code for _ in range(2)]

    assert codes == [0, 94]


def test_waiting_for_it_with_its_digest_opens(yes):
    asked = yes.asked()

    assert yes("wait", asked, "--digest", ApprovalRequest.code("x").digest).exit_code == 0


@pytest.mark.parametrize("digest", ["0" * 64, "nonsense"])
def test_waiting_with_another_digest_opens_nothing(yes, digest):
    asked = yes.asked()

    assert yes("wait", asked, "--digest", digest).exit_code in {94, 96}
    assert yes.fake.approvals[0].started == 0


def test_a_limit_that_is_over_while_an_approval_is_used_loses_nothing(yes):
    asked, on_time = yes.asked(), yes.fake._route
    usual = signal.getsignal(signal.SIGALRM)

    def at_the_limit(call):
        if call.url.path.endswith("/outcome") and signal.getsignal(signal.SIGALRM) != usual:
            signal.raise_signal(signal.SIGALRM)
        return (yield from on_time(call))

    yes.fake._route = at_the_limit
    assert yes("wait", asked, "--max-wait", 60).exit_code == 0


def test_waiting_for_what_nobody_asked_is_refused(yes):
    assert yes("wait", ID).exit_code == 96


def test_looking_tells_where_it_stands_and_uses_nothing_up(yes):
    asked = yes.asked()
    pending = yes("show", asked)
    yes.fake.approvals[0].tick(yes.fake._now(), heard=True)
    approved = yes("show", asked, "--json")

    assert (pending.exit_code, approved.exit_code) == (93, 94)
    assert f"id            {asked}" in pending.stdout
    assert (json.loads(approved.stdout)["status"], yes.fake.approvals[0].started) == (
        "approved",
        0,
    )


def test_taking_it_back_ends_with_the_code_of_what_was_withdrawn(yes):
    assert yes("cancel", yes.asked(), "--reason", "Not needed.").exit_code == 92
    assert yes.fake.approvals[0].cancel_reason == "Not needed."


def test_what_was_decided_cannot_be_taken_back(yes):
    asked = yes.asked()
    yes("wait", asked)

    assert yes("cancel", asked).exit_code == 96
    assert yes.fake.approvals[0].status is Status.APPROVED


def test_a_reason_cannot_speak_to_the_terminal():
    done = At(FakeDashboard.rejecting("No.\x1b[2J\u202e"))("ask", "-c", "x")

    assert done.stderr.endswith("No.\ufffd[2J\ufffd\n")
