"""Report the outcome of calls that the framework makes itself, as far as it is known."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from approval_client._async_client import AsyncClient
from approval_client._models import ApprovalResponse
from approval_client._outcomes import Run, report_async
from approval_client.adapters._pauses import not_run

UNSEEN = "How it ended is not known here."


@dataclass(frozen=True)
class Ends:
    """The calls that were approved, by their names, until the end of each was told, once."""

    client: AsyncClient
    open: dict[str, ApprovalResponse] = field(default_factory=dict)
    runs: dict[str, Run] = field(default_factory=dict)

    def expect(self, answers: Mapping[str, ApprovalResponse]) -> None:
        """From now on look for the ends of what was approved."""
        self.open.update({name: one for name, one in answers.items() if one.approved is True})

    def began(self, name: str) -> None:
        """Note that a call began."""
        if name in self.open:
            self.runs[name] = Run()

    def run(self, name: str) -> Run:
        """Return the run of a call: since it began, or since now if that was not seen."""
        return self.runs.get(name) or Run()

    async def ended(self, name: str, told: dict[str, Any]) -> None:
        """Report the end of a call that was approved, once."""
        response = self.open.pop(name, None)
        if response is not None:
            await report_async(self.client, response, told)

    async def failed(self, error: BaseException) -> None:
        """Report that all other calls ended with ``error``, or never began."""
        if isinstance(error, GeneratorExit):  # nothing can be awaited any more
            return
        gone = not_run(f"the run had ended with {type(error).__name__}")
        told = {n: self.runs[n].raised(error) if n in self.runs else gone for n in self.open}
        tellings = asyncio.gather(*(self.ended(name, one) for name, one in told.items()))
        # A task of its own, so that a cancelled run is told too.
        await asyncio.shield(tellings)
