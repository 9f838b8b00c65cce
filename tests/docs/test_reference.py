"""Everything that somebody could set, run, send or be answered stands in the docs."""

import re

import pytest

from approval_client.wire import Source, Status
from dashboard.api.problems import STATUS_OF
from dashboard.api.schemas import OutcomeIn, SubmitIn
from dashboard.api.views import api
from dashboard.approvals.rules.content import CONTENTS
from tests.docs.reading import AGENTS, ROOT, cells, rows

SETTINGS, COMMANDS = ROOT / "docs/settings.md", ROOT / "docs/commands.md"
SETTING = re.compile(
    r"(?:text|listed|whole_number|true_or_false|on_or_off|one_of|networks|host_names|sender|secret"
    r"|issuer)\(\s*\"(\w+)\""
)
METHODS = ("get", "post", "put", "patch", "delete")


def settings_in_the_code():
    return set(SETTING.findall((ROOT / "dashboard/settings.py").read_text()))


def test_every_setting_has_a_line():
    documented = {name for name in cells(SETTINGS) if name.isupper()}

    assert documented == settings_in_the_code()


def test_every_command_has_a_line():
    files = (ROOT / "dashboard/management/commands").glob("[a-z]*.py")
    named = [name.split() for name in cells(COMMANDS)]
    documented = {words[1] for words in named if words[0] == "approval-dashboard"}

    assert documented == {file.stem for file in files}


def test_every_option_of_start_is_named():
    code = (ROOT / "dashboard/management/commands/start.py").read_text()
    line = next(name for name in cells(COMMANDS) if name.startswith("approval-dashboard start"))

    assert set(re.findall(r"--[a-z-]+", line)) == set(re.findall(r'"(--[a-z-]+)"', code))


@pytest.mark.parametrize("words", [Status, Source])
def test_every_word_of_an_answer_has_a_line(words):
    first = {row[0].strip("`") for row in rows(AGENTS)}

    assert {str(word) for word in words} <= first


def test_every_table_of_a_request_has_a_word():
    code = (ROOT / "dashboard/approvals/models.py").read_text()
    tables = set(re.findall(r"^class (\w+)\(models\.Model\)", code, re.MULTILINE))

    assert tables <= set(re.findall(r"`(\w+)`", (ROOT / "docs/words.md").read_text()))


def test_every_code_has_a_line_with_its_status():
    documented = {
        code: int(row[1])
        for row in rows(AGENTS)
        if len(row) == 3 and row[1].isdigit()
        for code in re.findall(r"`(\w+)`", row[0])
    }

    assert documented == STATUS_OF


def test_every_path_has_a_line():
    paths = api.get_openapi_schema()["paths"]
    served = {f"{m.upper()} {path}" for path, item in paths.items() for m in METHODS if m in item}

    assert {name for name in cells(AGENTS) if "/api/v1/" in name} == served


def test_every_field_of_a_question_is_named():
    named = set(re.findall(r"\w+", AGENTS.read_text()))
    fields = {*SubmitIn.model_fields, *OutcomeIn.model_fields}
    fields |= {name for shape in CONTENTS.values() for name in shape.model_fields}

    assert fields - named == set()
