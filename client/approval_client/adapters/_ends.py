"""Report the outcome of calls that the framework makes itself, as far as it is known."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from approval_client._async_client import AsyncClient
from approval_client._models import ApprovalResponse
from approval_client._outcomes import Run, report_async
from approval_client.adapters._pauses import give_up, is_approval, use

UNSEEN = "How it ended is not known here."


@dataclass(frozen=True)
class Ends:
    """The calls that were approved, by their names, until the end of each was told, once."""

    client: AsyncClient
    open: dict[str, ApprovalResponse] = field(default_factory=dict)
    runs: dict[str, Run] = field(default_factory=dict)

    def expect(self, answers: Mapping[str, ApprovalResponse]) -> None:
        """From now on look for the beginnings and ends of what was approved."""
        self.open.update({name: answer for name, answer in answers.items() if is_approval(answer)})

    async def start(self, name: str) -> ApprovalResponse | None:
        """Use the approval of a call that is about to be made, if it has one.

        It may have been used when the run went on, where its beginning might not be seen.

        Raises:
            DashboardError: It cannot be used, so the call must not be made.
        """
        if name not in self.open:
            return None
        response = self.open[name]
        if response.approved is not True or name in self.runs:  # an approval works once
            response = self.open[name] = await use(self.client, response)
        self.runs[name] = Run()
        return response

    def run(self, name: str) -> Run:
        """Return the run of a call: since it began, or since now if that was not seen."""
        return self.runs.get(name) or Run()

    async def ended(self, name: str, report_fields: dict[str, Any]) -> None:
        """Report the end of a call that was started, once."""
        response = self.open.pop(name, None)
        if response is not None and response.approved is True:
            await report_async(self.client, response, report_fields)

    async def give_up(self, name: str, reason: str) -> None:
        """Tell why a call that was approved will not be made."""
        response = self.open.pop(name)
        await give_up(self.client, [response], reason)

    async def failed(self, error: BaseException) -> None:
        """Report that all other calls that were started ended with ``error``."""
        if isinstance(error, GeneratorExit):  # nothing can be awaited any more
            return
        reports = {name: self.run(name).raised(error) for name in self.open}
        tellings = asyncio.gather(*(self.ended(name, report) for name, report in reports.items()))
        # A task of its own, so that a cancelled run is told too.
        await asyncio.shield(tellings)
