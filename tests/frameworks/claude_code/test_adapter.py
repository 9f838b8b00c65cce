"""Claude Code itself, with a made-up model, and our hook and permission prompt in its way.

The settings are those of ``docs/frameworks/claude_code.md``, with the program's place filled in.
"""

import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from approval_client.testing import FakeDashboard, approve, reject
from tests.client.conftest import _served
from tests.frameworks.claude_code.kit import CLAUDE, claude_code  # noqa: F401 - a fixture
from tests.frameworks.live import live_house
from tests.frameworks.live import missing as no_server
from tests.frameworks.messages_api import Model, served

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "frameworks" / "claude_code.md").read_text()
SETTINGS, SERVERS = re.findall(r"^```json\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
PROMPT = ("--permission-prompt-tool", "mcp__approvals__permission_prompt")
WITHIN_S = 60


def call(command, **more):
    return ("Bash", {"command": command, **more})


class Session:
    """Claude Code in a folder of its own, with nothing of this machine's."""

    def __init__(self, folder, dashboard):
        self.work, self.home = folder / "work", folder / "home"
        self.work.mkdir()
        self.approvals = folder / "approvals"
        self.approvals.write_text(
            f'#!/bin/sh\nexec {sys.executable} -m approval_client.command "$@"\n'
        )
        self.approvals.chmod(0o755)
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(self.home)} | dashboard
        self.environment |= {"ANTHROPIC_API_KEY": "none", "DISABLE_AUTOUPDATER": "1"}
        self.environment |= {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}

    @contextmanager
    def started(self, model, *arguments):
        """Start it, and give the process."""
        with served(model) as url:
            command = [CLAUDE, "-p", "Do it.", *arguments]
            environment = self.environment | {"ANTHROPIC_BASE_URL": url}
            nothing = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
            with subprocess.Popen(command, cwd=self.work, env=environment, **nothing) as process:
                try:
                    yield process
                finally:
                    process.kill()

    def run(self, *turns, with_=()):
        """Have the model make these calls; return what it was told, a text for each."""
        model = Model(*turns)
        with self.started(model, *(with_ or self.hooked())) as process:
            assert process.wait(WITHIN_S) == 0
        return model.results

    def hooked(self, change=lambda text: text, **more):
        """Return the options that put the hook in the way of the tools."""
        settings = json.loads(change(self._placed(SETTINGS)))
        return ("--settings", json.dumps(settings | more))

    def prompting(self):
        """Return the options that have our server asked for permissions."""
        return ("--strict-mcp-config", "--mcp-config", self._placed(SERVERS), *PROMPT)

    def made(self):
        """Return the names of the files that commands made."""
        return sorted(path.name for path in self.work.iterdir())

    def _placed(self, text):
        return text.replace("/opt/approvals/bin/approvals", str(self.approvals))


@pytest.fixture
def session_of(tmp_path):
    """Give a session whose dashboard is a FakeDashboard, as a context."""

    @contextmanager
    def session_of(fake):
        with _served(fake) as url:
            yield Session(tmp_path, {"DASHBOARD_URL": url, "DASHBOARD_TOKEN": fake.token})

    return session_of


@pytest.fixture
def alone(tmp_path):
    """Give a session whose dashboard is not there."""
    return Session(tmp_path, {"DASHBOARD_URL": "http://127.0.0.1:9", "DASHBOARD_TOKEN": "dash_x"})


@pytest.fixture(scope="module")
def house():
    if why := no_server():
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(f"Not run: {why}")
    with live_house() as house:
        yield house


@pytest.fixture
def live(house, tmp_path):
    return Session(tmp_path, {"DASHBOARD_URL": house.url, "DASHBOARD_TOKEN": house.tokens[0]})


def soon(condition):
    gives_up_at = time.monotonic() + WITHIN_S
    while not condition() and time.monotonic() < gives_up_at:
        time.sleep(0.02)
    assert condition()


# The hook.


def test_a_command_runs_after_a_person_approved_it_in_the_page(live, person):
    person.approves()

    assert live.run([call("touch made; echo hello")]) == ["hello"]
    assert live.made() == ["made"]


def test_a_command_does_not_run_after_a_rejection_and_the_model_reads_why(live, person):
    person.rejects("Not on a Sunday.")

    (told,) = live.run([call("touch made")])

    assert re.search(r"Not on a Sunday\.\s+This was rejected by alice\.", told)
    assert live.made() == []


def test_the_end_of_a_command_is_reported(session_of):
    fake = FakeDashboard.approving()
    with session_of(fake) as session:
        session.run([call("echo hello")])

        soon(lambda: fake.approvals[0].finished_at)


def test_the_end_of_a_command_that_fails_is_reported_with_its_error(session_of):
    fake = FakeDashboard.approving()
    with session_of(fake) as session:
        session.run([call("echo why; exit 3")])

        soon(lambda: fake.approvals[0].finished_at)
    assert fake.approvals[0].finished["error"] == "Exit code 3\nwhy"


def test_a_command_does_not_run_where_the_dashboard_is_down(alone):
    shorter = alone.hooked(lambda text: text.replace("--timeout 570", "--timeout 5"))

    (told,) = alone.run([call("touch made")], with_=(*shorter, "--allowedTools", "Bash"))

    assert "Nothing was approved" in told
    assert alone.made() == []


def test_a_command_does_not_run_where_the_program_is_missing(alone):
    alone.approvals.unlink()

    alone.run([call("touch made")], with_=(*alone.hooked(), "--allowedTools", "Bash"))

    assert alone.made() == []


def test_a_hook_that_takes_too_long_blocks_with_the_settings_of_the_page(alone):
    alone.approvals.write_text("#!/bin/sh\nexec sleep 30\n")
    hasty = alone.hooked(lambda text: text.replace('"timeout": 600', '"timeout": 1'))

    alone.run([call("touch made")], with_=(*hasty, "--allowedTools", "Bash"))

    assert alone.made() == []


def test_a_rule_that_denies_holds_although_it_was_approved(session_of):
    denied = {"permissions": {"deny": ["Bash(touch *)"]}}
    with session_of(FakeDashboard.approving()) as session:
        session.run([call("touch made")], with_=session.hooked(**denied))

        assert session.made() == []


def test_two_commands_at_once_are_decided_in_the_other_order(session_of):
    fake = FakeDashboard.manual()
    model = Model([call("ls"), call("pwd")])  # what only reads is asked about at the same time
    with session_of(fake) as session, session.started(model, *session.hooked()) as process:
        soon(lambda: len(fake.approvals) == 2)
        fake.approvals[1].verdict = approve()
        soon(lambda: fake.approvals[1].started)
        fake.approvals[0].verdict = reject("No.")
        process.wait(WITHIN_S)

    commands = [approval.content["code"] for approval in fake.approvals]
    assert {commands[0]: True, commands[1]: False} == dict(
        zip(["ls", "pwd"], model.failed, strict=True)
    )


def test_the_same_after_a_rejection_is_of_the_same_run_and_content(session_of):
    fake = FakeDashboard.rejecting("No.")
    with session_of(fake) as session:
        session.run([call("touch made")], [call("touch made")])

    first, second = (approval.body for approval in fake.approvals)
    assert (first["content"], first["run_id"]) == (second["content"], second["run_id"])


def test_a_session_that_is_stopped_takes_its_question_back(session_of):
    fake = FakeDashboard.manual()
    with session_of(fake) as session:
        with session.started(Model([call("touch made")]), *session.hooked()) as process:
            soon(lambda: any(path.endswith("/wait") for path in fake.calls))
            process.send_signal(signal.SIGTERM)
            process.wait(WITHIN_S)
        soon(lambda: fake.approvals[0].cancel_reason)
        fake.approve_next()

        assert (session.made(), fake.approvals[0].started) == ([], 0)


# The permission prompt.


def test_a_permission_of_a_person_in_the_page_is_taken(live, person):
    person.approves()

    assert live.run([call("touch made; echo hello")], with_=live.prompting()) == ["hello"]


def test_an_edit_is_what_runs(session_of):
    edit = approve(content={"code": "touch edited", "language": "bash"})
    with session_of(FakeDashboard.scripted(edit)) as session:
        session.run([call("touch made")], with_=session.prompting())

        assert session.made() == ["edited"]


class Listening(Model):
    """A model that keeps all that it was asked."""

    heard = ""

    def answer(self, asked):
        self.heard += json.dumps(asked["messages"])
        return super().answer(asked)


@pytest.mark.parametrize("edit", ["touch edited", "exit 3"])
def test_the_model_is_told_of_an_edit_after_the_call(session_of, edit):
    fake = FakeDashboard.scripted(approve(content={"code": edit, "language": "bash"}))
    model = Listening([call("touch made")])
    with session_of(fake) as session:
        after = session.hooked(lambda text: text.replace("PreToolUse", "PreCompact"))
        with session.started(model, *after, *session.prompting()) as process:
            assert process.wait(WITHIN_S) == 0

    assert "A person changed the arguments of this call" in model.heard
    assert edit in model.heard
    assert "Do not make your own call again." in model.heard


def test_a_denied_permission_tells_the_model_why(session_of):
    with session_of(FakeDashboard.rejecting("Not on a Sunday.")) as session:
        (told,) = session.run([call("touch made")], with_=session.prompting())

        assert told.startswith("Not on a Sunday.\n\nThis was rejected by reviewer.")
        assert session.made() == []


def test_the_end_of_what_was_permitted_is_reported(session_of):
    fake = FakeDashboard.approving()
    with session_of(fake) as session:
        after = session.hooked(lambda text: text.replace("PreToolUse", "PreCompact"))
        session.run([call("touch made")], with_=(*after, *session.prompting()))

        soon(lambda: fake.approvals[0].finished_at)


def test_no_permission_is_given_where_the_dashboard_is_down(alone):
    hasty = [one.replace('"570"', '"5"') for one in alone.prompting()]

    (told,) = alone.run([call("touch made")], with_=hasty)

    assert told.startswith("No usable answer came from the dashboard within the 5 s")
    assert alone.made() == []


def test_no_permission_is_given_where_our_server_is_missing(alone):
    alone.approvals.unlink()
    model = Model([call("touch made")])

    with alone.started(model, *alone.prompting()) as process:
        process.wait(WITHIN_S)

    assert alone.made() == []
