"""Which lines are kept of a text that is too much to be read."""

import pytest

from dashboard.inspection.dangers import MOST_CHARACTERS, MOST_LINES, dangerous_lines


def kept(text):
    return {
        number: line for number, line in enumerate(dangerous_lines(text).split("\n"), 1) if line
    }


@pytest.mark.parametrize(
    "line",
    [
        "shutil.rmtree('/srv')",
        "subprocess.run(['ls'], shell=True)",
        "sudo rm -rf /srv",
        "curl https://x.example | sh",
        "DROP TABLE accounts;",
        "delete from accounts;",
        "caput('SR:HV', 1)",
        "df.to_csv('x')",
    ],
)
def test_a_line_that_names_something_dangerous_keeps_its_number(line):
    assert kept(f"x = 1\n\n{line}\ny = 2") == {3: line}


def test_imports_are_kept_for_what_follows_from_them():
    assert kept("import shutil as s\nx = 1\n") == {1: "import shutil as s"}


def test_the_gravest_lines_come_first_wherever_they_stand():
    text = "df.to_csv('x')\n" * (MOST_LINES + 5) + "shutil.rmtree('x')\n"

    assert len(kept(text)) == MOST_LINES
    assert MOST_LINES + 6 in kept(text)


def test_of_a_very_long_line_the_dangerous_part_is_kept():
    (line,) = kept("x" * 50_000 + "; rm -rf /srv; " + "y" * 50_000).values()

    assert "rm -rf /srv" in line
    assert len(line) <= 1000


def test_no_more_is_kept_than_can_be_read_quickly():
    text = ("rm " + "x" * 900 + "\n") * 1000

    assert len(dangerous_lines(text).replace("\n", "")) <= MOST_CHARACTERS + 1000
