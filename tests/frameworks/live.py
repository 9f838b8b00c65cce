"""A real dashboard for the frameworks' tests, and a person at its pages.

The dashboard runs with the Python that ``DASHBOARD_PYTHON`` names, because the frameworks'
environments have no Django; without it, with this one.
"""

import os
import re
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from types import MappingProxyType

import httpx2

from tests import serving

PYTHON = os.environ.get("DASHBOARD_PYTHON", sys.executable)
PENDING = "SELECT 1 FROM dashboard_approvalrequest WHERE status = 'pending' LIMIT 1"


def missing():
    """Say why no dashboard can be started here, if none can."""
    found = subprocess.run([PYTHON, "-c", "import django"], capture_output=True, check=False)
    if found.returncode == 0:
        return ""
    return "no server here; set DASHBOARD_PYTHON to a Python that has approval-dashboard"


class Person:
    """A reviewer who looks at the queue until something is there, and decides it."""

    def __init__(self, house, name="alice"):
        self.house = house
        self.browser = house.browser(name, timeout=20)
        self.threads = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.finish()
        self.browser.close()

    def approves(self, **more):
        self._soon("approve", **more)

    def rejects(self, reason, **more):
        self._soon("reject", reason=reason, **more)

    def remembers(self):
        """Approve, and all other calls of the same tool in the same run too."""
        self._soon("remember-tool", where="run", for_s="3600", any_number="on")

    def answers(self, *answers):
        """Decide one question after the other: "approve", or the reason of a rejection."""
        self._start(self._decide_each, answers)

    def _soon(self, verdict, *, after=lambda: None, reason="", **chosen):
        self._start(self._decide, verdict, reason, after, chosen)

    def _start(self, act, *arguments):
        thread = threading.Thread(target=act, args=arguments, daemon=True)
        self.threads.append(thread)
        thread.start()

    def _decide_each(self, answers):
        for answer in answers:
            approves = answer == "approve"
            self._decide("approve" if approves else "reject", "" if approves else answer)

    def _decide(self, verdict, reason, after=lambda: None, chosen=MappingProxyType({})):
        approval_id = self.find()
        after()
        self.decides(approval_id, verdict, reason, **chosen)

    def decides(self, approval_id, verdict, reason="", **chosen):
        """Decide one question, now: "approve", "reject" or another button of its page."""
        approval = {"id": approval_id}
        form = {**self.house.form(self.browser, approval), "reason": reason, **chosen}
        said = self.house.decide(self.browser, approval, verdict, form)
        assert said.status_code in {200, 303}, said.text

    def find(self, within_s=50, unlike=""):
        """Return the id of what waits, as soon as something does that is not ``unlike``."""
        gives_up_at = time.monotonic() + within_s
        while time.monotonic() < gives_up_at:
            with suppress(httpx2.TransportError):
                # A look at the database costs next to nothing; the page is what counts.
                page = self.queue() if self.house.rows(PENDING) else ""
                found = re.findall(r'href="/approvals/([0-9a-f-]{36})', page)
                if new := [approval_id for approval_id in found if approval_id != unlike]:
                    return new[0]
            time.sleep(0.05)
        raise AssertionError("Nothing waited.")

    def finish(self):
        """Wait until everything is decided that was to be."""
        for thread in self.threads:
            thread.join(60)

    def page(self, approval_id):
        return self.browser.get(f"/approvals/{approval_id}").text

    def queue(self):
        return self.browser.get("/").text


@contextmanager
def live_house():
    serving.MANAGE[0] = PYTHON
    with serving.serve() as house:
        yield house
