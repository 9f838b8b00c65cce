"""The composition root: waits, pages and the API over HTTP, news over WebSocket."""

import gc
import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")
django.setup(set_prefix=False)

# Only now: these need the app registry that the line above fills.
from channels.auth import AuthMiddlewareStack  # noqa: E402
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from django.urls import path  # noqa: E402

from dashboard.api.fairness import FairShare  # noqa: E402
from dashboard.api.limits import LimitBody  # noqa: E402
from dashboard.api.protocol import Protocol  # noqa: E402
from dashboard.api.waiting import LongPolling  # noqa: E402
from dashboard.live.consumers import QueueConsumer  # noqa: E402
from dashboard.live.origin import ExactOrigin  # noqa: E402
from dashboard.web.handler import PooledHandler  # noqa: E402
from dashboard.web.health import Watched  # noqa: E402
from dashboard.web.requests import RequestLog  # noqa: E402

application = ProtocolTypeRouter(
    {
        "http": RequestLog(Watched(Protocol(FairShare(LongPolling(LimitBody(PooledHandler())))))),
        "websocket": ExactOrigin(
            AuthMiddlewareStack(URLRouter([path("ws/queue/", QueueConsumer.as_asgi())]))
        ),
    }
)

# What was loaded stays: no later look for garbage goes through it again, and holds up who waits.
gc.collect()
gc.freeze()
