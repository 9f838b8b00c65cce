"""A mail server on the loopback address, and channels that are added to a running dashboard."""

import asyncio
import threading
from contextlib import contextmanager
from email import message_from_bytes
from email.policy import default
from functools import partial

from aiosmtpd.smtp import SMTP

ADD = """
from dashboard.notifications.services import Wish, add_channel
for kind, address in {channels!r}:
    add_channel(kind=kind, wish=Wish(name=kind, address=address), by=None, auth="")
"""


class Inbox:
    """What a mail server does with a mail, and how long that takes.

    ``answers`` are its answers by command.
    """

    def __init__(self, *, slow_s=0, **answers):
        self.mails, self.slow_s, self.answers = [], slow_s, answers

    async def sender(self, *given):
        given[2].mail_from = given[3]
        return self.answers.get("mail", "250 ok")

    async def recipient(self, *given):
        given[2].rcpt_tos.append(given[3])
        return self.answers.get("rcpt", "250 ok")

    async def data(self, *given):
        self.mails.append(message_from_bytes(given[2].content, policy=default))
        await asyncio.sleep(self.slow_s)
        return self.answers.get("data", "250 ok")

    handle_MAIL, handle_RCPT, handle_DATA = sender, recipient, data  # noqa: N815 - aiosmtpd's


@contextmanager
def mail_server(inbox, **options):
    """Serve a mail server from a thread of its own; gives its port."""
    opened, known = threading.Event(), {}

    async def serve():
        loop = asyncio.get_running_loop()
        ended = asyncio.Event()
        known["end"] = partial(loop.call_soon_threadsafe, ended.set)
        server = await loop.create_server(
            lambda: SMTP(inbox, loop=loop, **options), "127.0.0.1", 0
        )
        known["port"] = server.sockets[0].getsockname()[1]
        opened.set()
        await ended.wait()
        server.close()

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    opened.wait()
    try:
        yield known["port"]
    finally:
        known["end"]()
        thread.join()


def add_channels(house, *channels):
    """Have a running dashboard tell its house at ``channels``: kind and address of each."""
    done = house.manage("shell", "-v0", "-c", ADD.format(channels=channels))
    assert done.returncode == 0, done.stderr
