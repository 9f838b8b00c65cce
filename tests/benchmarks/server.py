"""``manage.py`` with one more address: ``/decide/{id}`` calls the service as a page would.

So that what is measured is the gate and not the drawing of a page.
"""

import asyncio
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

from django.conf import settings
from django.core.management import execute_from_command_line
from django.db import close_old_connections

REVIEWERS = ThreadPoolExecutor(2)


def decide(approval_id):
    from dashboard.accounts.models import User  # noqa: PLC0415 - after Django is set up
    from dashboard.approvals import services  # noqa: PLC0415 - the same
    from dashboard.approvals.models import ApprovalRequest  # noqa: PLC0415 - the same
    from dashboard.wire import Status  # noqa: PLC0415 - the same

    try:
        approval = ApprovalRequest.objects.get(pk=approval_id)
        services.decide(
            approval_id=approval_id,
            reviewer=User.objects.get(username="alice"),
            auth="session:password",
            status=Status.APPROVED,
            basis=services.Basis(approval.digest, approval.judgements.latest("id").pk),
            shown={"end_seen": "yes"},
        )
    finally:
        close_old_connections()


async def application(scope, receive, send):
    from dashboard.asgi import application as real  # noqa: PLC0415 - after Django is set up

    if scope["type"] != "http" or not scope["path"].startswith("/decide/"):
        await real(scope, receive, send)
        return
    approval_id = UUID(scope["path"].removeprefix("/decide/"))
    await asyncio.get_running_loop().run_in_executor(REVIEWERS, decide, approval_id)
    headers = [(b"content-length", b"0")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b""})


if __name__ == "__main__":
    os.environ["DJANGO_SETTINGS_MODULE"] = "dashboard.settings"
    settings.ASGI_APPLICATION = "tests.benchmarks.server.application"
    execute_from_command_line(["manage.py", *sys.argv[1:]])
