"""Asks the whole application as an ASGI server does."""

import asyncio
from importlib import import_module


def scope(path, method="GET", headers=(), client="127.0.0.1"):
    sent = {"host": "127.0.0.1:8000", **dict(headers)}
    return {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [(name.lower().encode(), value.encode()) for name, value in sent.items()],
        "http_version": "1.1",
        "scheme": "http",
        "client": [client, 1],
        "server": ["127.0.0.1", 8000],
    }


async def ask(path, method="GET", headers=(), client="127.0.0.1", body=b""):
    """Returns status, headers and body."""
    application = import_module("dashboard.asgi").application  # it sets logging up anew
    sent = []
    came = iter([{"type": "http.request", "body": body, "more_body": False}])

    async def receive():
        for message in came:
            return message
        return await asyncio.get_running_loop().create_future()

    async def send(message):
        sent.append(message)

    await application(scope(path, method, headers, client), receive, send)
    start, *bodies = sent
    return start["status"], dict(start["headers"]), b"".join(one["body"] for one in bodies)
