"""Does with the pages about policies what an admin does: reads them, sends whole forms."""

import re
from html import unescape
from html.parser import HTMLParser

from dashboard.policies.evaluate import Policy
from dashboard.policies.services import current_revision

MODES = {
    "global_mode": "all_capabilities",
    "python": "on",
    "python_mode": "all_code",
    "memory": "on",
    "owner_may_approve": "no",
    "end": "end",
}
NO_PLANS = {"name": "No plans", "effect": "reject", "when": {"kinds": ["plan"]}}


class _Filled(HTMLParser):
    """What a browser would send of the first form with an action."""

    def __init__(self, html, action):
        super().__init__()
        self.values, self._action, self._inside, self._open = {}, action, False, None
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if tag == "form":
            self._inside = given.get("action") == self._action and not self.values
        if not self._inside:
            return
        name, kind = given.get("name"), given.get("type")
        if tag == "input" and (kind not in {"radio", "checkbox"} or "checked" in given):
            self._add(name, given.get("value") or "")
        elif tag in {"select", "textarea"}:
            self._open = name
            self.values.setdefault(name, [""])
        elif tag == "option" and "selected" in given:
            self.values[self._open] = [given.get("value") or ""]

    def handle_data(self, data):
        if self._inside and self._open and self.lasttag == "textarea":
            self.values[self._open] = [self.values[self._open][0] + data]

    def handle_endtag(self, tag):
        if tag == "textarea" and self._open:
            self.values[self._open][0] = self.values[self._open][0].removeprefix("\n")
        if tag in {"textarea", "select"}:
            self._open = None
        if tag == "form":
            self._inside = False

    def _add(self, name, value):
        if name:
            self.values.setdefault(name, []).append(value)


def filled(reply, action):
    """Return what the form of a page holds that posts to ``action``."""
    return _Filled(reply.content.decode(), action).values


def stamp(client):
    """Return the stamp of the draft, as its page shows it."""
    page = client.get("/policies/draft").content.decode()
    found = re.search(r'name="stamp" value="([^"]*)"', page)
    return unescape(found[1]) if found else ""


def begin(client):
    client.post("/policies/draft/begin")


def save_modes(client, **changes):
    return client.post("/policies/draft/modes", {**MODES, "stamp": stamp(client), **changes})


def new_rule(client, **changes):
    """Write a rule in the form, everything else as the page proposes it."""
    return _send(client, "/policies/draft/rules/new", changes)


def change_rule(client, index, **changes):
    return _send(client, f"/policies/draft/rules/{index}", changes)


def publish(client, **changes):
    """Publish the draft as the page shows it, without a word of confirmation."""
    form = filled(client.get("/policies/draft"), "/policies/draft/publish")
    return client.post("/policies/draft/publish", {**form, **changes})


def in_force():
    return Policy.from_json(current_revision().document)


def _send(client, path, changes):
    return client.post(path, {**filled(client.get(path), path), **changes})
