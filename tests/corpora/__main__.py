"""Fetches the corpora, measures, and compares the figures with their floors and with the docs."""

import argparse
import sys
from contextlib import suppress

from tests.corpora import (
    bandit_examples,
    commands,
    control,
    documentation,
    fetching,
    human_eval,
    statements,
)
from tests.corpora.rows import HEAD, missed_floors, stale_lines

PAGE = fetching.CHECKOUT / "docs" / "inspection.md"
_MEASURED = (bandit_examples, control, documentation, human_eval, statements, commands)


def main():
    """Print the table; return 1 if a floor is missed or the page tells other figures."""
    arguments = argparse.ArgumentParser(prog="python -m tests.corpora", description=__doc__)
    arguments.add_argument("--fetch", action="store_true", help="fetch, and measure nothing")
    asked = arguments.parse_args()
    try:
        fetching.fetch()
    except fetching.FetchError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    if asked.fetch:
        return 0
    rows = [row for corpus in _MEASURED for row in corpus.rows()]
    show("\n".join([*HEAD, *(row.line() for row in rows)]))
    corpora = {row.corpus for row in rows}
    absent = {commands.TLDR, commands.GTFOBINS} - corpora
    for corpus in sorted(absent):
        show(f"Not measured: {corpus} (no copy of it in a folder that CORPORA names).")
    floors = {
        floor["row"]: floor["wrong"]
        for floor in fetching.PINS["floors"]
        if not floor["row"].startswith(tuple(f"{corpus}:" for corpus in absent))
    }
    faults = [*missed_floors(rows, floors), *stale_lines(rows, PAGE.read_text())]
    for fault in faults:
        sys.stderr.write(f"{fault}\n")
    return 1 if faults else 0


def show(text):
    """Print what this is for."""
    with suppress(BrokenPipeError):
        print(text, flush=True)  # noqa: T201 - figures are what this is for


if __name__ == "__main__":
    sys.exit(main())
