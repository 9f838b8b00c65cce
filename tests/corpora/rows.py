"""What is measured: one row for each corpus and kind, and how it is printed."""

from __future__ import annotations

from typing import NamedTuple

HEAD = ("| corpus | what is in it | texts | we | bandit | semgrep |", "|---|---|---|---|---|---|")
NOT_READ = "–"


class Row(NamedTuple):
    """The texts of one corpus about which the truth is the same.

    Attributes:
        what: The truth, such as "writes a file".
        is_harmful: Whether ``found`` counts what is rightly found, or else false alarms.
        others: What each other tool reports on the same texts, by its name.
    """

    corpus: str
    what: str
    is_harmful: bool
    texts: int
    found: int
    others: dict[str, int]

    @property
    def name(self) -> str:
        """Names the row in the list of floors."""
        return f"{self.corpus}: {self.what}"

    @property
    def wrong(self) -> int:
        """How many were missed, or how many alarms were false."""
        return self.texts - self.found if self.is_harmful else self.found

    def line(self) -> str:
        """Return the row as Markdown."""
        counts = [self.found, self.others.get("bandit"), self.others.get("semgrep")]
        cells = [NOT_READ if count is None else self._share(count) for count in counts]
        return "| " + " | ".join([self.corpus, self.what, f"{self.texts:,}", *cells]) + " |"

    def _share(self, count: int) -> str:
        share = 100 * count / self.texts if self.texts else 0
        return (
            f"{count:,} ({share:.0f} %)"
            if share >= 1 or not count
            else f"{count:,} ({share:.1f} %)"
        )


def missed_floors(rows, floors):
    """Yield a sentence for each row that is worse than its floor, or has none, or was not there.

    Args:
        floors: The most that may be wrong, by the name of a row.
    """
    measured = {row.name: row for row in rows}
    for name, most in floors.items():
        row = measured.get(name)
        if row is None:
            yield f"{name}: was not measured."
        elif row.texts == 0:
            yield f"{name}: the corpus has no such text."
        elif row.wrong > most:
            wrong = "missed" if row.is_harmful else "false alarms"
            yield f"{name}: {row.wrong} {wrong} of {row.texts}, and at most {most} are allowed."
    for name in measured.keys() - floors.keys():
        yield f"{name}: has no floor in corpora.toml."


def stale_lines(rows, page):
    """Yield a sentence for each row that a page does not tell as it was measured.

    What semgrep reports is told there too, and only looked at where it was measured.
    """
    lines = page.splitlines()
    for row in rows:
        line = row.line()
        same = [told for told in lines if told.startswith(f"| {row.corpus} | {row.what} |")]
        if "semgrep" not in row.others:
            line, same = _without_last(line), [_without_last(told) for told in same]
        if line not in same:
            yield f"{row.name}: docs/inspection.md does not say so: {line}"


def _without_last(line):
    return line.rstrip("| ").rpartition(" | ")[0]
