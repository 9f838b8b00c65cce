"""The product as its README starts it, and what it printed."""

import os
import re
import shutil
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

from tests.serving import MANAGE, ROOT, Server

STARTS_WITHIN_S = 300  # on a machine that does much else; it is known at once if it ends
OURS = re.compile(
    r"DATABASE_URL|REDIS_URL|EMAIL_URL|PUBLIC_URL|SECRET_KEY|DEBUG|ALLOWED_HOSTS|PROXY_COUNT|DASHBOARD_.*"
    r"|DJANGO_SETTINGS_MODULE|PYTEST.*"
)
TROUBLE = re.compile(r"^.*(?: ERROR | CRITICAL |Traceback).*$", re.MULTILINE)


def first_link(printed):
    """Return where the first person signs in."""
    return re.search(r"^  (\S+/sign-in/\S+)$", printed, re.MULTILINE)[1]


def settings_for_agents(printed):
    """Return what an agent sets, from the lines that were printed for it."""
    return dict(re.findall(r"^  export (DASHBOARD_\w+)=(\S+)$", printed, re.MULTILINE))


class Product:
    """One ``manage.py start`` in a data folder of its own."""

    def __init__(self, folder, *options, **settings):
        environment = {k: v for k, v in os.environ.items() if not OURS.fullmatch(k)}
        environment |= {"DASHBOARD_DATA_DIR": str(folder), "PYTHONUNBUFFERED": "1"}
        environment |= settings
        self._environment = environment
        self._log = folder / "printed"
        command = [*MANAGE, "start", "--port", "0", *options]
        self._server = Server(command, self._log, environment)
        self._read = 0

    def start(self):
        """Start it, and wait until it has said that it serves."""
        self._server.start()
        gives_up_at = time.monotonic() + STARTS_WITHIN_S
        while not self._server.has_said("Stop it with"):
            assert self._server.process.poll() is None, self.printed
            assert time.monotonic() < gives_up_at, self.printed
            time.sleep(0.02)

    @property
    def printed(self):
        return self._log.read_text()

    @property
    def address(self):
        return re.search(r"^The dashboard is at (\S+)$", self.printed, re.MULTILINE)[1]

    @property
    def first_link(self):
        return first_link(self.printed)

    @property
    def settings(self):
        """What an agent sets, from the lines that were printed for it."""
        return settings_for_agents(self.printed)

    def link_for(self, name):
        """Make a sign-in link, as an operator does for somebody who is outside."""
        command, environment = [*MANAGE, "sign_in_link", name], self._environment
        environment = {**environment, "PUBLIC_URL": self.address}
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=True)
        return done.stdout.decode().strip()

    def troubles(self):
        """Lines since the last time that tell of something that nobody foresaw."""
        new = self.printed[self._read :]
        self._read += len(new)
        return TROUBLE.findall(new)

    def end(self):
        self._server.kill()


@contextmanager
def started(*options, **settings):
    """Run the product with more settings; prints what it printed when a test fails."""
    folder = Path(tempfile.mkdtemp(prefix="journeys-"))
    product = Product(folder, *options, **settings)
    try:
        product.start()
        yield product
    finally:
        product.end()
        shutil.rmtree(folder, ignore_errors=True)
