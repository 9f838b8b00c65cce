"""The floor: a bare ASGI application on the same server, that answers and does nothing else.

``/hold`` answers when the client hangs up.
"""

import sys

from daphne.server import Server


async def application(scope, receive, send):
    await receive()
    if scope["path"] == "/hold":
        await receive()
        return
    headers = [(b"content-length", b"2")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"ok"})


if __name__ == "__main__":
    Server(application, endpoints=[f"fd:fileno={sys.argv[1]}"], verbosity=0).run()
