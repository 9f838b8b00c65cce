"""Where ``approvals`` begins.

The hook goes its own way before anything else is imported: it needs no extra, and whatever fails
must end as a denial.
"""

from __future__ import annotations

import os
import sys
from typing import NoReturn

NEEDS_EXTRA = (
    "approvals: the commands need typer and rich, which are not installed here, so nothing was "
    "asked. Install them with the client, in the checkout of the dashboard: "
    "pip install -e './client[cli]'"
)
NEEDS_MCP = (
    "approvals: the MCP server needs the MCP SDK, version 2, typer and rich, and not all of them "
    "are installed here, so nothing is served. Install them with the client, in the checkout of "
    "the dashboard: pip install -e './client[mcp]'"
)
_HOOK_BLOCKS = 2


def main() -> None:
    """Run ``approvals``; ends the process with one of ``Code``, or the code of what it ran."""
    if sys.argv[1:2] == ["hook"]:
        _hook(sys.argv[2:])
    if sys.argv[1:2] == ["doctor"]:
        from approval_client.command import doctor  # noqa: PLC0415 - needs no extra

        doctor.main(sys.argv[2:])
    try:
        import rich  # noqa: F401, PLC0415 - an extra
        import typer  # noqa: F401, PLC0415 - an extra
    except ImportError:
        from approval_client.command.codes import Code  # noqa: PLC0415 - see above

        serving = sys.argv[1:2] == ["mcp"]
        print(NEEDS_MCP if serving else NEEDS_EXTRA, file=sys.stderr)  # noqa: T201 - there is nothing else to say it with
        sys.exit(Code.NOT_CONFIGURED)
    from approval_client.command.commands import app  # noqa: PLC0415 - needs the extra

    app(prog_name="approvals")


def _hook(arguments: list[str]) -> NoReturn:
    try:
        from approval_client.command import hook  # noqa: PLC0415 - it may fail, and must then block

        hook.main(arguments)
    except BaseException as error:  # noqa: BLE001 - an installation that is broken blocks too
        message = f"approvals hook failed ({type(error).__name__}). Nothing was approved.\n"
        os.write(2, message.encode())
        os._exit(_HOOK_BLOCKS)
