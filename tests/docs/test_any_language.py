"""The script of the page about curl does what the page says, with a real dashboard."""

import os
import re
import subprocess

import pytest

from approval_client.wire import digest
from tests.docs.reading import ROOT
from tests.frameworks.live import Person
from tests.serving import serve

PAGE = ROOT / "docs" / "any-language.md"
APPROVED, REJECTED = re.findall(
    r"^```text\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE
)


@pytest.fixture(scope="module")
def house():
    with serve() as house:
        yield house


@pytest.fixture
def person(house):
    with Person(house) as person:
        yield person


@pytest.fixture
def run(house, tmp_path):
    script = tmp_path / "greet.sh"

    def run(text="echo Hello from the script\n", url=house.url, token=house.tokens[0]):
        script.write_text(text)
        known = {"PATH": os.environ["PATH"], "DASHBOARD_URL": url, "DASHBOARD_TOKEN": token}
        command = ["sh", "examples/curl.sh", str(script)]
        return subprocess.Popen(command, cwd=ROOT, env=known, stdout=subprocess.PIPE, text=True)

    return run


@pytest.mark.parametrize("arguments", [[], ["one", "two"], ["one"]])
def test_curl_says_how_it_is_called(arguments):
    process = subprocess.run(
        ["sh", "examples/curl.sh", *arguments],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (process.returncode, process.stdout) == (2, "")
    assert process.stderr.startswith("Usage: ")
    assert "examples/curl.sh SCRIPT" in process.stderr


def ended(process):
    return process.communicate(timeout=90)[0], process.returncode


def newest(house):
    sql = "SELECT id FROM dashboard_approvalrequest ORDER BY submitted_at DESC LIMIT 1"
    with house.agent() as api:
        return api.get(f"/api/v1/approvals/{house.rows(sql)[0][0]}").json()


def test_what_was_approved_runs_and_is_reported(house, person, run):
    person.approves()

    assert ended(run()) == (APPROVED, 0)
    outcome = newest(house)["outcome"]
    assert outcome["started_at"] < outcome["finished_at"]


def test_what_was_rejected_does_not_run(person, run):
    person.rejects("Not on a Sunday.")

    assert ended(run()) == (REJECTED, 90)


def test_it_ends_with_the_code_of_what_ran(house, person, run):
    person.approves()

    assert ended(run("exit 7\n"))[1] == 7
    assert house.rows("SELECT exit_code FROM dashboard_outcome ORDER BY id DESC LIMIT 1") == [(7,)]


def test_what_runs_is_what_was_asked_about_whatever_becomes_of_the_file(tmp_path, person, run):
    person.approves(after=lambda: (tmp_path / "greet.sh").write_text("echo evil\n"))

    assert ended(run()) == (APPROVED, 0)


def test_text_of_every_kind_has_the_digest_that_the_dashboard_computes(person, run):
    person.approves()

    assert ended(run("echo 'Grüße \\\\ \"x\" 😀\tend'\n"))[1] == 0


def test_an_interrupted_wait_takes_the_question_back(house, person, run):
    waiting = run()
    person.find()

    waiting.terminate()

    said, code = ended(waiting)
    assert (said.splitlines()[-1], code) == ("Interrupted. Nothing was run.", 90)
    assert newest(house)["status"] == "cancelled"


def test_a_token_that_is_not_accepted_runs_nothing(run):
    said, code = ended(run(token="dash_wrong"))

    assert (said.startswith("It could not be asked: "), code) == (True, 95)
    assert "Hello" not in said


def test_the_digest_of_the_page_is_the_digest():
    written = re.search(r"^  '(\{\"content\".*\})' \| sha256sum$", PAGE.read_text(), re.MULTILINE)
    command = f"printf 'approval-dashboard content v1\\n%s' '{written[1]}' | sha256sum"

    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True)

    asked = {"code": "print(6 * 7)", "language": "python"}
    assert done.stdout.split()[0] == digest("code", asked)
