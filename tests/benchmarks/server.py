"""``manage.py`` with two more addresses, to measure the gate and not the drawing of a page.

``/decide/{id}`` calls the service as a page would; ``/form/{id}`` gives what a page's form holds.
"""

import asyncio
import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

from django.conf import settings
from django.core.management import execute_from_command_line
from django.db import close_old_connections

REVIEWERS = ThreadPoolExecutor(2)


def decide(approval_id):
    from approval_client.wire import Status  # noqa: PLC0415 - the same
    from dashboard.accounts.models import User  # noqa: PLC0415 - after Django is set up
    from dashboard.approvals import services  # noqa: PLC0415 - the same
    from dashboard.approvals.models import ApprovalRequest  # noqa: PLC0415 - the same

    try:
        approval = ApprovalRequest.objects.get(pk=approval_id)
        services.decide(
            approval_id=approval_id,
            answer=services.Answer(
                reviewer=User.objects.get(username="alice"),
                auth="session:password",
                status=Status.APPROVED,
                basis=services.Basis(approval.digest, approval.judgements.latest("id").pk),
                shown={"end_seen": "yes"},
            ),
        )
    finally:
        close_old_connections()


def form_of(approval_id):
    from dashboard.approvals.models import ApprovalRequest  # noqa: PLC0415 - the same
    from dashboard.web.desk import view  # noqa: PLC0415 - the same

    try:
        approval = ApprovalRequest.objects.get(pk=approval_id)
        fields = {
            "digest": approval.digest,
            "judgement": approval.judgements.latest("id").pk,
            "shown": view.signed_view(str(approval_id), {"whole": True}),
        }
    finally:
        close_old_connections()
    return json.dumps(fields).encode()


ADDRESSES = {"/decide/": decide, "/form/": form_of}


async def application(scope, receive, send):
    from dashboard.asgi import application as real  # noqa: PLC0415 - after Django is set up

    place, _, name = scope["path"].rpartition("/")
    if scope["type"] != "http" or f"{place}/" not in ADDRESSES:
        await real(scope, receive, send)
        return
    work = ADDRESSES[f"{place}/"]
    body = await asyncio.get_running_loop().run_in_executor(REVIEWERS, work, UUID(name)) or b""
    headers = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


if __name__ == "__main__":
    os.environ["DJANGO_SETTINGS_MODULE"] = "dashboard.settings"
    settings.ASGI_APPLICATION = "tests.benchmarks.server.application"
    execute_from_command_line(["manage.py", *sys.argv[1:]])
