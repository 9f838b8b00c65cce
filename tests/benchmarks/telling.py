"""Whether an agent has its answer as soon while people are told by channels that are slow."""

from contextlib import contextmanager

from tests import serving
from tests.benchmarks.figures import middle, milliseconds, times
from tests.benchmarks.houses import LIMITS
from tests.benchmarks.pressing import Side, alternating
from tests.notifications.host import hosted
from tests.notifications.inbox import Inbox, add_channels, mail_server

SLOW_S = 10
CYCLES, ASKED = 40, 1.1
"""How many in a round, and how often as long as without channels issue 25 asks for at the most."""


async def beside_slow_channels(plain, telling, rounds):
    """Alternate between a dashboard that tells nobody and one whose channels are slow."""
    sides = [Side(plain), Side(telling)]
    await alternating(sides, {1: CYCLES}, rounds=rounds)
    ours, theirs = (side.of_rounds(1, lambda r: middle(r.pressed)) for side in reversed(sides))
    return [
        ("press → agent, nobody is told", milliseconds(sides[0].pressed(1))),
        ("press → agent, three slow channels", milliseconds(sides[1].pressed(1))),
        ("  to that of nobody told", times(ours, theirs, ASKED)),
    ]


@contextmanager
def with_slow_channels():
    """Serve a dashboard that tells a mail server, a chat and a program that take ten seconds."""
    inbox = Inbox(slow_s=SLOW_S)
    with mail_server(inbox) as port, hosted() as chat, hosted() as program:
        chat.slow_s = program.slow_s = SLOW_S
        environment = LIMITS | {
            "WEBHOOK_NETWORKS": "127.0.0.0/8",
            "EMAIL_URL": f"smtp://127.0.0.1:{port}",
        }
        with serving.serve(environment=environment) as house:
            add_channels(
                house,
                ("email", "ops@example.org"),
                ("chat", chat.url.replace("http", "ntfy").replace("/hook", "/topic")),
                ("webhook", program.url),
            )
            yield house
            assert inbox.mails, "nobody was told by mail"
            assert chat.calls, "nobody was told by chat"
            assert program.calls, "no program was told"
