"""Every route of the URLconf, tried with every kind of credential, against one table.

A new route without a line in ``TABLE`` fails. A token opens no page and decides nothing; a session
submits, cancels and reports nothing.
"""

import re
import time
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial
from uuid import uuid4

import pytest
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from django.test import Client
from django.urls import URLPattern, get_resolver
from django.utils import timezone

from approval_client.wire import Status
from dashboard.accounts import sessions
from dashboard.accounts.models import UnknownIdentity, User
from dashboard.accounts.services import factors
from dashboard.accounts.services.signing_in import make_link
from dashboard.approvals.models import ApprovalRequest, View
from dashboard.audit.models import AuditEntry
from dashboard.notifications.services import Wish, add_channel
from dashboard.policies.models import PolicyProposal, PolicyRevision
from tests import make
from tests.web.pages import named_twice, read

ANYBODY = {"nobody", "half", "roleless", "reviewer", "admin", "auditor", "closed", "token", "both"}
SIGNED_IN = {"roleless", "reviewer", "admin", "auditor", "both"}
READERS = {"reviewer", "admin", "auditor", "both"}
REVIEWERS = {"reviewer", "both"}
ADMINS = {"admin", "both"}
AUDITORS = {"auditor", "admin", "both"}
TOKENS = {"token", "both"}
READABLE = {"code": "print(2)", "language": "python"}
METHODS = {"GET", "POST", "PUT", "PATCH", "DELETE"}


@dataclass
class Line:
    """Who is let in with each method, and what a form holds. Other methods change nothing."""

    get: set[str] = field(default_factory=set)
    post: set[str] = field(default_factory=set)
    form: str = ""

    def who(self) -> dict[str, set[str]]:
        return {name: who for name, who in (("GET", self.get), ("POST", self.post)) if who}


TABLE = {
    # the agents' door
    "api/v1/": Line(get=ANYBODY),  # a 404 for everybody
    "api/v1/docs": Line(get=ANYBODY),
    "api/v1/openapi.json": Line(get=ANYBODY),
    "api/v1/approvals": Line(post=TOKENS, form="submission"),
    "api/v1/approvals/<approval_id>": Line(get=TOKENS),
    "api/v1/approvals/<approval_id>/wait": Line(get=TOKENS),
    "api/v1/approvals/<approval_id>/cancel": Line(post=TOKENS, form="cancellation"),
    "api/v1/approvals/<approval_id>/outcome": Line(post=TOKENS, form="outcome"),
    "api/v1/agent": Line(get=TOKENS),
    "api/v1/decisions": Line(get=TOKENS),
    "api/v1/notebooks/<digest>": Line(),  # PUT; tests/api/test_notebooks.py tries it
    # the desk
    "": Line(get=READERS),
    "queue": Line(get=READERS),
    "mine": Line(get=READERS),
    "gate": Line(get=SIGNED_IN),
    "approvals/<uuid:approval_id>": Line(get=READERS),
    "approvals/<uuid:approval_id>/state": Line(get=READERS),
    "approvals/<uuid:approval_id>/seen": Line(post=READERS),
    "approvals/<uuid:approval_id>/lines": Line(get=READERS),
    "approvals/<uuid:approval_id>/outline": Line(get=READERS),
    "approvals/<uuid:approval_id>/reveal": Line(post=READERS),
    "approvals/<uuid:approval_id>/decide": Line(post=REVIEWERS, form="decision"),
    "approvals/<uuid:approval_id>/notebook": Line(get=READERS),
    "approvals/<uuid:approval_id>/notebook/<int:cell>/<int:output>.png": Line(get=READERS),
    "approvals/<uuid:approval_id>/assign": Line(post=REVIEWERS),
    "approvals/<uuid:approval_id>/release": Line(post=REVIEWERS),
    "approvals/<uuid:approval_id>/hand-over": Line(post=REVIEWERS, form="hand_over"),
    "approvals/<uuid:approval_id>/snooze": Line(post=REVIEWERS, form="later"),
    "approvals/<uuid:approval_id>/unsnooze": Line(post=REVIEWERS),
    "approvals/<uuid:approval_id>/extend": Line(post=REVIEWERS, form="extend"),
    "approvals/<uuid:approval_id>/take-back": Line(get=READERS, post=REVIEWERS | ADMINS),
    "bulk": Line(get=REVIEWERS),
    "bulk/decide": Line(post=REVIEWERS, form="bulk"),
    "approvals/<uuid:approval_id>/edit": Line(get=REVIEWERS, post=REVIEWERS, form="edit"),
    "approvals/<uuid:approval_id>/edits/<int:edit_id>": Line(
        get=READERS, post=REVIEWERS, form="decision"
    ),
    "runs/<str:agent_name>": Line(get=READERS),
    "history": Line(get=READERS),
    "history/export": Line(post=READERS),
    "insight": Line(get=READERS),
    "grants": Line(get=READERS),
    "grants/<int:grant_id>/end": Line(get=READERS, post=ADMINS),
    # the way in
    "sign-in": Line(get=ANYBODY, post=ANYBODY),
    "sign-in/second": Line(get=ANYBODY, post=ANYBODY),  # without a first proof it leads back
    "sign-in/again": Line(get=ANYBODY),
    "sign-in/provider": Line(get=ANYBODY),  # which is not set up here: it says so
    "sign-in/provider/callback": Line(get=ANYBODY),
    "sign-in/provider/leave": Line(get=ANYBODY),
    "sign-in/provider/signed-out": Line(post=ANYBODY),
    "sign-in/<str:secret>": Line(get=ANYBODY, post=ANYBODY),
    "sign-out": Line(get=ANYBODY, post=ANYBODY),
    "session/used": Line(post=SIGNED_IN),
    "account": Line(get=SIGNED_IN, post=SIGNED_IN),
    "account/password": Line(get=SIGNED_IN, post=SIGNED_IN),
    "account/provider": Line(get=SIGNED_IN),
    "account/provider/link": Line(get=SIGNED_IN, post=SIGNED_IN),
    "account/second-factor": Line(get=SIGNED_IN, post=SIGNED_IN),
    "account/second-factor/show": Line(get=SIGNED_IN, post=SIGNED_IN),
    "account/second-factor/codes": Line(get=SIGNED_IN, post=SIGNED_IN),
    "account/second-factor/remove": Line(get=SIGNED_IN, post=SIGNED_IN),
    "account/passkeys": Line(get=SIGNED_IN, post=SIGNED_IN),
    "account/passkeys/<int:passkey_id>/remove": Line(get=SIGNED_IN, post=SIGNED_IN),
    "account/browsers": Line(get=SIGNED_IN),
    "account/browsers/remember": Line(get=SIGNED_IN, post=SIGNED_IN),
    "account/browsers/end": Line(get=SIGNED_IN, post=SIGNED_IN),
    "account/browsers/<int:session_id>/end": Line(get=SIGNED_IN, post=SIGNED_IN),
    # the office; what takes forms only leads back to its page
    "people": Line(get=ADMINS, post=ADMINS),
    "people/<int:person_id>": Line(get=ADMINS),
    "people/<int:person_id>/roles": Line(get=ADMINS, post=ADMINS),
    "people/<int:person_id>/link": Line(get=ADMINS, post=ADMINS),
    "people/<int:person_id>/factor": Line(get=ADMINS, post=ADMINS),
    "people/<int:person_id>/passkeys/<int:passkey_id>/confirm": Line(get=ADMINS, post=ADMINS),
    "people/<int:person_id>/passkeys/<int:passkey_id>/remove": Line(get=ADMINS, post=ADMINS),
    "people/<int:person_id>/unlink": Line(get=ADMINS, post=ADMINS),
    "people/<int:person_id>/deactivate": Line(get=ADMINS, post=ADMINS, form="person"),
    "people/<int:person_id>/reactivate": Line(get=ADMINS, post=ADMINS),
    "agents": Line(get=ADMINS, post=ADMINS),
    "agents/<int:agent_id>": Line(get=ADMINS),
    "agents/<int:agent_id>/tokens": Line(get=ADMINS, post=ADMINS),
    "agents/<int:agent_id>/tokens/<int:token_id>/revoke": Line(get=ADMINS, post=ADMINS),
    "agents/<int:agent_id>/retire": Line(get=ADMINS, post=ADMINS, form="agent"),
    "agents/<int:agent_id>/restore": Line(get=ADMINS, post=ADMINS),
    "agents/<int:agent_id>/webhook": Line(get=ADMINS, post=ADMINS, form="webhook"),
    "agents/<int:agent_id>/webhook/secret": Line(get=ADMINS, post=ADMINS),
    "agents/<int:agent_id>/webhook/switch": Line(get=ADMINS, post=ADMINS),
    "agents/<int:agent_id>/webhook/deliveries/<uuid:delivery_id>/again": Line(
        get=ADMINS, post=ADMINS
    ),
    "tools": Line(get=ADMINS, post=ADMINS),
    "single-sign-on": Line(get=ADMINS, post=ADMINS),
    "single-sign-on/groups/<int:mapping_id>/remove": Line(get=ADMINS, post=ADMINS),
    "single-sign-on/unknown/<int:unknown_id>/link": Line(get=ADMINS, post=ADMINS),
    "single-sign-on/unknown/<int:unknown_id>/forget": Line(get=ADMINS, post=ADMINS),
    "channels": Line(get=ADMINS),
    "channels/new/<str:kind>": Line(get=ADMINS, post=ADMINS),
    "channels/<int:channel_id>": Line(get=ADMINS, post=ADMINS),
    "channels/<int:channel_id>/messages": Line(get=ADMINS),
    "channels/<int:channel_id>/test": Line(get=ADMINS, post=ADMINS),
    "channels/<int:channel_id>/secret": Line(get=ADMINS, post=ADMINS),
    "channels/<int:channel_id>/switch": Line(get=ADMINS, post=ADMINS),
    "channels/<int:channel_id>/remove": Line(get=ADMINS, post=ADMINS, form="channel"),
    "account/told": Line(get=READERS, post=READERS),
    "account/told/<int:channel_id>/code": Line(get=READERS, post=READERS),
    "account/told/<int:channel_id>/again": Line(get=READERS, post=READERS),
    "account/told/<int:channel_id>/choice": Line(get=READERS, post=READERS),
    "account/told/<int:channel_id>/test": Line(get=READERS, post=READERS),
    "account/told/<int:channel_id>/switch": Line(get=READERS, post=READERS),
    "account/told/<int:channel_id>/remove": Line(get=READERS, post=READERS),
    "people/groups": Line(get=ADMINS, post=ADMINS, form="group"),
    "people/groups/<int:group_id>": Line(get=ADMINS),
    "people/groups/<int:group_id>/members": Line(get=ADMINS, post=ADMINS, form="members"),
    "people/groups/<int:group_id>/delete": Line(get=ADMINS, post=ADMINS, form="group"),
    "policies": Line(get=READERS),
    "policies/revisions/<int:number>": Line(get=READERS),
    "policies/revisions/<int:number>/yaml": Line(get=READERS),
    "policies/revisions/<int:number>/again": Line(get=ADMINS, post=ADMINS, form="publication"),
    "policies/proposals/<int:proposal_id>": Line(get=READERS),
    "policies/proposals/<int:proposal_id>/confirm": Line(
        get=ADMINS, post=ADMINS, form="publication"
    ),
    "policies/proposals/<int:proposal_id>/withdraw": Line(get=ADMINS, post=ADMINS),
    "policies/draft": Line(get=ADMINS),
    "policies/draft/begin": Line(get=ADMINS, post=ADMINS),
    "policies/draft/from": Line(get=ADMINS, post=ADMINS, form="publication"),
    "policies/draft/starter": Line(get=ADMINS, post=ADMINS, form="publication"),
    "policies/draft/import": Line(get=ADMINS, post=ADMINS),
    "policies/draft/modes": Line(get=ADMINS, post=ADMINS),
    "policies/draft/rules/new": Line(get=ADMINS, post=ADMINS),
    "policies/draft/rules/<int:index>": Line(get=ADMINS, post=ADMINS),
    "policies/draft/rules/<int:index>/move": Line(get=ADMINS, post=ADMINS),
    "policies/draft/rules/<int:index>/remove": Line(get=ADMINS, post=ADMINS),
    "policies/draft/publish": Line(get=ADMINS, post=ADMINS, form="publication"),
    "policies/draft/discard": Line(get=ADMINS, post=ADMINS),
    "policies/bench": Line(get=READERS, post=READERS),
    "policies/backtest": Line(get=READERS),
    "hold": Line(get=ADMINS, post=ADMINS),
    "hold/lift": Line(get=ADMINS, post=ADMINS),
    "audit": Line(get=AUDITORS),
    "audit/verify": Line(get=AUDITORS, post=AUDITORS),
    "audit/verification": Line(get=AUDITORS),
    # for machines that watch
    "readyz": Line(get=ANYBODY),
}


def routes(resolver=None, prefix="") -> Iterator[str]:
    for pattern in (resolver or get_resolver()).url_patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLPattern):
            yield route
        else:
            yield from routes(pattern, route)


@dataclass
class House:
    """One dashboard with a pending request, and everybody who may knock."""

    approval: ApprovalRequest
    path_of: dict[str, str]
    forms: dict[str, dict[str, str]]
    clients: dict[str, Client]

    def knock(self, credential, route, method):
        path = "/" + re.sub(r"<(?:\w+:)?(\w+)>", lambda m: self.path_of[m[1]], route)
        form = self.forms.get(TABLE[route].form, {})
        is_api = route.startswith("api/")
        more = {"content_type": "application/json"} if is_api else {}
        client = self.clients[credential]
        cookies = deepcopy(client.cookies)  # whatever the answer does to them
        send = getattr(client, method.lower())
        reply = send(path, form if method == "POST" else {}, **(more if method == "POST" else {}))
        client.cookies = cookies
        return reply


@pytest.fixture
def house(token, agent, settings):
    clients = dict(_everybody(settings, make.secret(agent)))
    granted, proposed = _granted(agent), _proposed(User.objects.get(username="closed"))
    approval = make.pending(token)  # last: what the policy says of it does not change any more
    changed = make.edited(approval, User.objects.get(username="giver"))
    link = make_link(User.objects.get(username="reviewer"), by=make.BY)
    path_of = {
        "approval_id": str(approval.pk),
        "person_id": str(User.objects.get(username="roleless").pk),
        "agent_id": str(agent.pk),
        "agent_name": agent.name,
        "token_id": str(token.pk),
        "group_id": str(make.group("operators").pk),
        "number": "1",
        "proposal_id": str(proposed),
        "index": "0",
        "grant_id": str(granted),
        "edit_id": str(changed.pk),
        "secret": link,
        "digest": "0" * 64,
        "cell": "1",
        "output": "0",
        "delivery_id": str(uuid4()),
        "channel_id": str(_channel().pk),
        "kind": "webhook",
        "session_id": "1",
        "passkey_id": "1",
        "mapping_id": "1",
        "unknown_id": str(_unknown()),
    }
    forms = _forms(approval, clients["reviewer"])
    return House(approval, path_of, forms, clients)


def _unknown():
    return UnknownIdentity.objects.create(
        provider="another", subject="x", last_at=timezone.now()
    ).pk


def _channel():
    wish = Wish(name="Ops", address="https://host.example.org/hook")
    ada = make.person("adder", admin=True)
    return add_channel(kind="webhook", wish=wish, by=ada, auth="session:password")[0]


def _granted(agent):
    giver = make.person("giver", reviewer=True)
    return make.granted(make.token(agent), giver, content=READABLE).pk


def _proposed(author):
    make.in_force({"name": "No plans", "effect": "reject", "when": {"kinds": ["plan"]}})
    return PolicyProposal.objects.create(
        document=PolicyRevision.objects.get(pk=1).document,
        author=author,
        based_on=2,
        proposed_at=timezone.now(),
    ).pk


def _everybody(settings, secret):
    browser = partial(_client, settings)
    everything = {"reviewer": True, "admin": True, "auditor": True}
    yield "nobody", browser()
    yield "token", browser(secret)
    yield "roleless", _signed_in(browser(), "roleless")
    for role in everything:
        yield role, _signed_in(browser(), role, **{role: True})
    yield "both", _signed_in(browser(secret), "both", **everything)
    yield "half", _half_signed_in(browser(), "half", **everything)
    yield "closed", _signed_in(browser(), "closed", **everything)
    User.objects.filter(username="closed").update(is_active=False)  # its session stays


def _client(settings, secret=None):
    headers = {"host": "127.0.0.1:8000", "origin": settings.PUBLIC_URL, "idempotency-key": "k"}
    bearer = {"authorization": f"Bearer {secret}"} if secret else {}
    return Client(headers=headers | bearer)


def _signed_in(client, name, **roles):
    make.person(name, **roles)
    client.post("/sign-in", {"username": name, "password": "a long password"})
    assert client.session["auth"] == "password"
    return client


def _half_signed_in(client, name, **roles):
    """Somebody whose password was right, and who has not shown their second factor."""
    person = make.person(name, **roles)
    secret = factors.new_secret()
    code = format_hotp_value(hotp_value(secret, int(time.time()) // factors.PERIOD_S))
    factors.add_app(person, secret, code, by=make.BY)
    led = client.post("/sign-in", {"username": name, "password": "a long password"})
    assert led.url == "/sign-in/second"
    return client


def _forms(approval, reader):
    page = reader.get(f"/approvals/{approval.pk}").content.decode()
    inputs = [tag for tag in re.findall(r"<input[^>]*>", page) if 'type="hidden"' in tag]
    hidden = {
        re.search(r'name="([^"]*)', i)[1]: re.search(r'value="([^"]*)', i)[1] for i in inputs
    }
    return {
        "decision": hidden | {"verdict": "approve", "end_seen": "yes"},
        "edit": {"text": "print(3)"},
        "submission": {"kind": "code", "capability": "c", "content": {"code": "1"}},
        "cancellation": {"reason": "never mind"},
        "outcome": {"state": "started", "digest": approval.digest},
        "hand_over": {"to": "giver"},
        "later": {"later": "longest"},
        "extend": {"ends": "2026-01-01T00:00:00+00:00"},
        "bulk": {"verdict": "approve"},
        "person": {"name": "roleless"},
        "agent": {"name": "beamline"},
        "group": {"name": "operators"},
        "channel": {"name": "Ops"},
        "webhook": {"url": "https://host.example.org/hook"},
        "members": {"members": "1", "end": "end"},
        "publication": {
            "based_on": "2",
            "confirm": "loosen",
            "revision": "1",
            "starter": "dangerous",
        },
    }


TO_THE_DOOR = ("/sign-in?next=", "/sign-in?pressed=1")


def is_let_in(reply):
    to_the_door = reply.status_code == 302 and reply.url.startswith(TO_THE_DOOR)
    return reply.status_code not in {401, 403} and not to_the_door


def happened():
    """Everything that changed so far; that somebody looked at a request is no change."""
    return AuditEntry.objects.exclude(action="approval.viewed").count()


def tried(house, credential, route, method):
    """Return "in" or "out", and undo what it did."""
    with make.undone():
        before = happened()
        outcome = "in" if is_let_in(house.knock(credential, route, method)) else "out"
        if outcome == "out" and happened() != before:
            outcome = "out, and yet something happened"
    return outcome


def each(try_it, credentials=ANYBODY):
    """Return what ``try_it`` makes of each credential, and undo what it did."""
    found = {}
    for credential in credentials:
        with make.undone():
            found[credential] = try_it(credential)
    return found


def test_every_route_has_a_line_and_every_line_a_route():
    assert sorted(routes()) == sorted(TABLE)


def test_each_credential_is_let_in_where_the_table_says(house):
    found, expected = {}, {}
    for route, line in TABLE.items():
        for method, who in line.who().items():
            for credential in ANYBODY:
                found[route, method, credential] = tried(house, credential, route, method)
                expected[route, method, credential] = "in" if credential in who else "out"

    assert found == expected


def test_a_session_that_is_for_reading_does_nothing(house):
    """Of a browser that is remembered, of which the person has not signed in again."""
    client = house.clients["both"]
    client.defaults.pop("HTTP_AUTHORIZATION")  # the agent's token, which is another credential
    link, before = "people/<int:person_id>/link", happened()
    house.knock("both", link, "POST")
    assert happened() > before
    session = client.session
    sessions.remember(session, 0)
    session.save()

    changed = []
    for route, line in TABLE.items():
        before = happened()
        if line.post and not route.startswith(("api/", "sign-")):
            house.knock("both", route, "POST")
        changed += [route] if happened() != before else []

    assert changed == []


def test_in_every_form_of_every_page_a_name_stands_once(house):
    replies = {route: house.knock("both", route, "GET") for route in TABLE if TABLE[route].get}
    pages = {
        route: read(reply)
        for route, reply in replies.items()
        if reply.headers.get("Content-Type", "").startswith("text/html")
    }

    assert len(pages) > 30
    assert {route: twice for route, page in pages.items() if (twice := named_twice(page))} == {}


def test_methods_without_a_line_do_nothing(house):
    def done(credential):
        before = happened()
        for route, line in TABLE.items():
            for method in METHODS - set(line.who()):
                house.knock(credential, route, method)
        return happened() - before

    assert each(done, ("nobody", "token", "both")) == {"nobody": 0, "token": 0, "both": 0}


def test_only_a_reviewers_session_approves(house):
    def status(credential):
        house.knock(credential, "approvals/<uuid:approval_id>/decide", "POST")
        return ApprovalRequest.objects.get(pk=house.approval.pk).status

    assert each(status) == {
        credential: Status.APPROVED if credential in REVIEWERS else Status.PENDING
        for credential in ANYBODY
    }


def test_only_a_token_submits(house):
    def asked(credential):
        house.clients[credential].defaults["HTTP_IDEMPOTENCY_KEY"] = uuid4().hex
        house.knock(credential, "api/v1/approvals", "POST")
        return ApprovalRequest.objects.pending().count() - 1

    assert each(asked) == {credential: int(credential in TOKENS) for credential in ANYBODY}


def test_only_a_token_cancels(house):
    def status(credential):
        house.knock(credential, "api/v1/approvals/<approval_id>/cancel", "POST")
        return ApprovalRequest.objects.get(pk=house.approval.pk).status

    assert each(status) == {
        credential: Status.CANCELLED if credential in TOKENS else Status.PENDING
        for credential in ANYBODY
    }


def test_only_a_token_reports(house):
    make.decided(house.approval, User.objects.get(username="reviewer"))

    def outcomes(credential):
        house.knock(credential, "api/v1/approvals/<approval_id>/outcome", "POST")
        return house.approval.outcomes.count()

    assert each(outcomes) == {credential: int(credential in TOKENS) for credential in ANYBODY}


def test_a_token_leaves_no_trace_of_having_looked(house):
    house.knock("token", "approvals/<uuid:approval_id>/seen", "POST")

    assert not View.objects.exists()


def test_a_number_that_no_database_holds_is_one_of_nothing(house):
    broken = []
    for route, line in TABLE.items():
        for name in re.findall(r"<int:(\w+)>", route):
            house.path_of[name], known = "1" + "0" * 25, house.path_of[name]
            for method in line.who():
                try:
                    house.knock("both", route, method)
                except OverflowError:
                    broken.append((method, route, name))
            house.path_of[name] = known

    assert broken == []
