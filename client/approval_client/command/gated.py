"""A command that runs when it was approved, and only as it was asked."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from approval_client import ApprovalRequest, ApprovalResponse, Client, DashboardError
from approval_client.command import asking, files, running, telling
from approval_client.command.codes import Code


@dataclass(frozen=True, kw_only=True)
class GatedProgram:
    """What would run: the words, the file that they start, and the files that they name."""

    words: Sequence[str]
    executable: str
    named: list[files.NamedFile]

    def request(self, *, shown: bool, **options: Any) -> ApprovalRequest:
        """Return the question."""
        return asking.to_run(self.words, self.executable, self.named, shown=shown, **options)

    def run(self, client: Client, response: ApprovalResponse, *, capture: bool) -> int:
        """Run it, unless a file has changed; report how it ended, and return its exit code."""
        names = files.changed(self.named, [self.executable, *self.words[1:]])
        if names:
            message = f"Changed since it was asked: {', '.join(names)}. Nothing was run."
            ending = running.Ending(exit_code=Code.CHANGED, duration_s=0.0, error=message)
        else:
            sys.stdout.flush()
            ending = running.run(self.words, self.executable, capture=capture)
        if ending.error:
            telling.say(f"approvals: {ending.error}")
        _report(client, response, ending)
        return ending.exit_code


def find(words: Sequence[str]) -> GatedProgram:
    """Return what these words would run.

    Raises:
        typer.Exit: There is no such program, so nothing was asked.
    """
    path = shutil.which(words[0])
    if path is None:
        there = Path(words[0]).is_file()
        reason = "cannot be executed" if there else "was not found"
        telling.say(f"approvals: {words[0]!r} {reason}. Nothing was asked.")
        raise typer.Exit(Code.CANNOT_RUN if there else Code.NOT_FOUND)
    executable = os.path.abspath(path)  # noqa: PTH100 - a link stays the link that is run
    program_files = files.named_files([executable, *words[1:]])
    return GatedProgram(words=words, executable=executable, named=program_files)


def _report(client: Client, response: ApprovalResponse, ending: running.Ending) -> None:
    try:
        client.report_finished(
            response,
            exit_code=ending.exit_code,
            error=ending.error,
            duration_s=ending.duration_s,
            output_head=ending.output_head,
        )
    except (DashboardError, KeyboardInterrupt) as error:
        # It has run; what it ended with matters more than that nobody was told.
        telling.say(f"approvals: how it ended was not reported ({error}).")
