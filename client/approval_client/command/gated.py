"""A command that runs when it was approved, and only as it was asked."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from approval_client import ApprovalRequest, ApprovalResponse, Client
from approval_client.command import asking, files, running, standard_input, telling
from approval_client.command.codes import Code
from approval_client.command.standard_input import StandardInput


@dataclass(frozen=True, kw_only=True)
class GatedProgram:
    """What would run: the words, the file that they start, the folder, the input, named files."""

    words: Sequence[str]
    executable: str
    folder: str
    standard_input: StandardInput
    named: list[files.NamedFile]

    def request(self, *, shown: bool, **options: Any) -> ApprovalRequest:
        """Return the question."""
        return asking.to_run(
            self.words,
            self.executable,
            self.named,
            folder=self.folder,
            standard_input=self.standard_input,
            shown=shown,
            **options,
        )

    def run(self, client: Client, response: ApprovalResponse, *, capture: bool) -> int:
        """Run it, unless something has changed; report how it ended, and return its exit code."""
        began = time.monotonic()
        try:
            ending = self._run(capture=capture)
        except Exception as error:  # noqa: BLE001 - the approval is used, so its end is reported
            problem = f"It was approved, and it is not known how it ended: {error!a:.200}."
            duration_s = time.monotonic() - began
            ending = running.Ending(
                exit_code=Code.CANNOT_RUN, duration_s=duration_s, error=problem
            )
        if ending.error:
            telling.say(f"approvals: {ending.error}")
        _report(client, response, ending)
        return ending.exit_code

    def _run(self, *, capture: bool) -> running.Ending:
        if why_not := self._why_not():
            return running.Ending(exit_code=Code.CHANGED, duration_s=0.0, error=why_not)
        sys.stdout.flush()
        with self.standard_input.opened() as stdin:
            return running.run(self.words, self.executable, stdin=stdin, capture=capture)

    def _why_not(self) -> str:
        try:
            names = files.changed(self.named, [self.executable, *self.words[1:]])
            self.standard_input.make_sure()
        except files.NotShown as error:
            return f"{error} Nothing was run."
        if names:
            return f"Changed since it was asked: {', '.join(names)}. Nothing was run."
        if _folder() != self.folder:
            return f"The folder is not {self.folder} any more. Nothing was run."
        return ""


def find(words: Sequence[str], *, has_input: bool) -> GatedProgram:
    """Return what these words would run.

    Args:
        words: The command.
        has_input: Read our standard input for it.

    Raises:
        NotShown: There is input, or a named pipe, that would not be shown.
        typer.Exit: There is no such program, so nothing was asked.
    """
    path = shutil.which(words[0])
    if path is None:
        there = Path(words[0]).is_file()
        reason = "cannot be executed" if there else "was not found"
        telling.say(f"approvals: {words[0]!r} {reason}. Nothing was asked.")
        raise typer.Exit(Code.CANNOT_RUN if there else Code.NOT_FOUND)
    folder = _folder()
    executable = str(Path(folder, path))  # with its `..`, which a link before it leads elsewhere
    return GatedProgram(
        words=words,
        executable=executable,
        folder=folder,
        standard_input=standard_input.read(is_asked_for=has_input),
        named=files.named_files([executable, *words[1:]]),
    )


def _folder() -> str:
    try:
        return str(Path.cwd())
    except FileNotFoundError:
        return ""


def _report(client: Client, response: ApprovalResponse, ending: running.Ending) -> None:
    try:
        client.report_finished(
            response,
            exit_code=ending.exit_code,
            error=ending.error,
            duration_s=ending.duration_s,
            output_head=ending.output_head,
        )
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - see below
        # It has run; what it ended with matters more than that nobody was told.
        telling.say(f"approvals: how it ended was not reported ({error}).")
