"""The measuring itself: what is pinned, what counts as a miss, and what examples may do."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.corpora import fetching
from tests.corpora.commands import plain
from tests.corpora.rows import Row, missed_floors, stale_lines

FOUND = Row("corpus", "writes a file", True, 10, 9, {"bandit": 3})
ALARMS = Row("corpus", "only computes", False, 100, 2, {"bandit": 0})


def executed(folder, examples):
    (folder / "package.py").write_text(f'class Thing:\n    r"""{examples}"""\n')
    executing = Path(fetching.__file__).with_name("executing.py")
    run = (
        f"import sys; sys.path[:0] = {[str(folder), str(executing.parent)]!r}\n"
        "import executing, package\n"
        "package.__path__ = []\n"
        "executing.main('package')"
    )
    inside = folder / "inside"
    inside.mkdir()
    told = subprocess.run(
        [sys.executable, "-c", run], cwd=inside, capture_output=True, check=True, text=True
    )
    return json.loads(told.stdout)


def test_a_package_that_is_not_what_was_pinned_is_refused():
    package = {"file": "a-1.tar.gz", "sha256": "0" * 64}

    with pytest.raises(fetching.FetchError, match=r"a-1\.tar\.gz has the SHA-256"):
        fetching.checked(b"something else", package)


def test_every_package_has_a_hash_and_a_licence():
    assert all(len(p["sha256"]) == 64 and p["licence"] for p in fetching.PINS["packages"])


@pytest.mark.parametrize("row", [FOUND, ALARMS])
def test_a_row_that_is_worse_than_its_floor_is_named(row):
    assert [*missed_floors([row], {row.name: row.wrong})] == []
    (fault,) = missed_floors([row], {row.name: row.wrong - 1})
    assert fault.startswith(f"{row.name}: {row.wrong} ")


def test_a_floor_that_was_not_measured_and_a_row_without_one_are_named():
    faults = [*missed_floors([FOUND], {ALARMS.name: 5})]

    assert faults == [
        "corpus: only computes: was not measured.",
        "corpus: writes a file: has no floor in corpora.toml.",
    ]


def test_a_corpus_that_holds_no_such_text_is_a_fault():
    (fault,) = missed_floors([FOUND._replace(texts=0, found=0)], {FOUND.name: 5})

    assert fault == "corpus: writes a file: the corpus has no such text."


def test_a_page_with_another_figure_is_out_of_date():
    page = "| corpus | writes a file | 10 | 9 (90 %) | 3 (30 %) | 1 (10 %) |"

    assert [*stale_lines([FOUND], page)] == []
    assert [*stale_lines([FOUND._replace(found=8)], page)] != []
    assert [*stale_lines([FOUND._replace(others={"bandit": 3, "semgrep": 2})], page)] != []


def test_commands_of_tldr_are_filled_in():
    command = "sort {{[-r|--reverse]}} {{path/to/file}} {{a|b|c}}"

    assert plain(command) == "sort --reverse path/to/file a"


@pytest.mark.parametrize(
    ("example", "did"),
    [
        (">>> 1 + 1\n2", []),
        (">>> _ = open('new', 'w').write('x')", ["writes a file"]),
        (
            ">>> import os; open('new', 'w').close(); os.remove('new')",
            ["removes a file", "writes a file"],
        ),
        (">>> import subprocess; subprocess.run(['true'])", ["starts a process"]),
        (">>> import socket; socket.create_connection(('127.0.0.1', 9))", ["uses the network"]),
    ],
)
def test_what_an_example_does_is_noted(tmp_path, example, did):
    assert executed(tmp_path, example)["did"] == did


def test_an_example_cannot_write_outside_its_folder(tmp_path):
    told = executed(tmp_path, ">>> _ = open('../elsewhere', 'w')")

    assert told["did"] == ["writes a file"]
    assert told["ran"] is False
    assert not (tmp_path / "elsewhere").exists()
