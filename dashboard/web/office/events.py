"""Each event of the audit log in a sentence, with links. Its machine's form stands beside it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from approval_client.wire import parse_json
from dashboard.approvals.models import ApprovalRequest, Vote
from dashboard.approvals.queries.tool import tool_names
from dashboard.approvals.rules.logged import LoggedText, request_id, texts_of
from dashboard.audit.actions import Action
from dashboard.audit.models import AuditEntry
from dashboard.audit.names import agent_name
from dashboard.policies.evaluate import Effect
from dashboard.policies.rules.wording import CLASSES
from dashboard.web import times
from dashboard.web.drawing import moments
from dashboard.web.drawing.markup import EMPTY, trusted, untrusted
from dashboard.web.drawing.redaction import redacted
from dashboard.web.drawing.summary import title_of


@dataclass(frozen=True, slots=True)
class SubjectNames:
    """What the sentences of a page name: requests by their titles, and who had all in view.

    Attributes:
        titles: Title and agent of a request.
        texts: What was written with an entry, by its number.
        seen: Request and name of everybody whose approval came with the end in view.
        tools: The names of tools, which are the agents' words, by what the log calls them.
    """

    titles: Mapping[UUID, tuple[SafeString, str]]
    texts: Mapping[int, LoggedText]
    seen: frozenset[tuple[UUID, str]]
    tools: Mapping[str, str]


def named_in(entries: Sequence[AuditEntry]) -> SubjectNames:
    """Read what ``entries`` name, in as many queries for a hundred as for one."""
    ids = {request_pk for entry in entries if (request_pk := request_id(entry.subject))}
    rows = (
        ApprovalRequest.objects.filter(pk__in=ids)
        .select_related("agent", "headline")
        .only("kind", "agent__name", "headline__facts")
    )
    votes = Vote.objects.filter(approval__in=ids, end_seen=True)
    return SubjectNames(
        {row.pk: (title_of(row), row.agent.name) for row in rows},
        texts_of(entries),
        frozenset(votes.values_list("approval", "person__username")),
        tool_names(entry.subject for entry in entries if entry.action == Action.TOOL_CLASSED),
    )


def sentence(entry: AuditEntry, names: SubjectNames) -> SafeString:
    """Say what happened. What is not known here is told by its name."""
    telling = EventTelling(entry, names)
    write = SENTENCES.get(entry.action)
    if write is None:
        return format_html("{}: {} {}", telling.who, untrusted(entry.action), telling.whom)
    return write(telling)


class EventTelling:
    """One entry, taken apart for its sentence."""

    def __init__(self, entry: AuditEntry, names: SubjectNames) -> None:
        self._entry, self._named = entry, names
        self.details: dict[str, Any] = parse_json(entry.details)

    @property
    def who(self) -> SafeString:
        """Whoever acted, at the beginning of a sentence."""
        return _somebody(self._entry.actor)

    @property
    def whom(self) -> SafeString:
        """Whom or what it was about."""
        if request_id(self._entry.subject):
            return self.request
        return _somebody(self._entry.subject) if self._entry.subject else EMPTY

    @property
    def name(self) -> SafeString:
        """The name of whom it was about, without the word before the colon."""
        return untrusted(self._entry.subject.partition(":")[2] or self._entry.subject)

    @property
    def is_own(self) -> bool:
        """Whether somebody did it to themselves."""
        return self._entry.actor == self._entry.subject

    @property
    def request(self) -> SafeString:
        """The request that it was about, by its title, with a link."""
        request_pk = request_id(self._entry.subject)
        if request_pk is None or request_pk not in self._named.titles:
            return format_html("request {}", untrusted(self._entry.subject))
        titled, agent = self._named.titles[request_pk]
        url = reverse("web:request", args=[request_pk])
        link = format_html('<a class="log-what" href="{}">{}</a>', url, titled)
        if self._entry.actor == agent_name(agent):
            return link
        return format_html("{} of {}", link, _agent(agent))

    @property
    def tool(self) -> SafeString:
        """The name of the tool that it was about, which is the agent's word."""
        name = self._named.tools.get(self._entry.subject, self._entry.subject)
        return format_html('<span class="said mono" translate="no">{}</span>', untrusted(name))

    @property
    def in_view(self) -> str:
        """Whether the whole content was in view of whoever approved."""
        request_pk, name = request_id(self._entry.subject), self._entry.actor.removeprefix("user:")
        return ", with its end in view" if (request_pk, name) in self._named.seen else ""

    @property
    def because(self) -> SafeString:
        """The reason that was given, in quotes, after a colon."""
        log_text = self._named.texts.get(self._entry.seq)
        reason = self.details.get("reason") or self.details.get("note")
        if log_text:
            template = ": “{}”" if log_text.is_as_logged else ": “{}” <b>(not as logged)</b>"
            return format_html(template, redacted(log_text.text))
        return format_html(": “{}”", redacted(str(reason))) if reason else EMPTY

    def said(self, key: str) -> SafeString:
        """One detail as text; several are joined."""
        value = self.details.get(key)
        if isinstance(value, list):
            return untrusted(", ".join(map(str, value)) or "none")
        return untrusted("" if value is None else str(value))

    def at(self, key: str) -> SafeString:
        """A moment among the details."""
        try:
            return moments.exact(datetime.fromisoformat(str(self.details[key])))
        except (KeyError, ValueError):
            return self.said(key)


_ALONE = {
    "deadline": "The deadline",
    "server": "The server",
    "operator": "The operator, on the command line,",
    "anonymous": "Somebody",
    "retention": "The server",
    "provider": "Single sign-on",
}


def _somebody(name: str) -> SafeString:
    kind, _, rest = name.partition(":")
    writers_by_kind: dict[str, Callable[[str], SafeString]] = {
        "user": _person,
        "agent": _agent,
        "policy": lambda number: format_html("The policy ({})", _revision(number)),
        "grant": lambda number: format_html("A {}", _grant(number)),
        "group": lambda group: format_html("the group <b>{}</b>", untrusted(group)),
        "channel": lambda name: format_html("the channel <b>{}</b>", untrusted(name)),
    }
    if rest and kind in writers_by_kind:
        return writers_by_kind[kind](rest)
    return trusted(_ALONE[name]) if name in _ALONE else untrusted(name)


def _filtered(what: str, name: str) -> SafeString:
    url = f"{reverse('web:audit')}?{urlencode({what: name})}"
    return format_html('<a class="log-name" href="{}">{}</a>', url, untrusted(name))


def _person(name: str) -> SafeString:
    return _filtered("person", name)


def _agent(name: str) -> SafeString:
    return _filtered("agent", name)


def _revision(number: str) -> SafeString:
    if not number.isdecimal():
        return untrusted(number)
    return format_html(
        '<a href="{}">revision {}</a>', reverse("web:revision", args=[number]), number
    )


def _grant(number: str) -> SafeString:
    url = f"{reverse('web:grants')}#grant-{number}" if number.isdecimal() else ""
    return format_html('<a href="{}">remembered approval {}</a>', url, untrusted(number))


Write = Callable[[EventTelling], SafeString]


_FIELD = re.compile(r"\{(\w+)\}", re.ASCII)


def _tell(text: str, telling: EventTelling, *more: object) -> SafeString:
    """Fill in ``{who}`` and the like from ``telling``, and each ``{}`` from ``more``."""
    fields = {name: getattr(telling, name) for name in _FIELD.findall(text)}
    return format_html(text, *more, **fields)


def _of(text: str, *keys: str) -> Write:
    """Write a sentence; each ``{}`` in it is one of the details."""
    return lambda told: _tell(text, told, *map(told.said, keys))


_JUDGED: dict[str, str] = {
    Effect.REVIEW: "{who} asks a person about {request}",
    Effect.APPROVE: "{who} approves {request} without asking",
    Effect.REJECT: "{who} rejects {request}",
}


def _judged(telling: EventTelling) -> SafeString:
    effect = telling.details.get("effect")
    return _tell(_JUDGED.get(str(effect), "{who} judged {request}"), telling)


def _approved(telling: EventTelling) -> SafeString:
    edited = " with a change" if telling.details.get("edit") else ""
    template = "{who} approved {request}{}{}{in_view}{because}"
    return _tell(template, telling, edited, _signed(telling))


def _signed(telling: EventTelling) -> str:
    return ", signed with a passkey" if telling.details.get("passkey") else ""


def _voted(telling: EventTelling) -> SafeString:
    vote_count, needed = telling.details.get("counted"), telling.details.get("needed")
    template = "{who} approved {request}, {} of {} needed{}{in_view}{because}"
    return _tell(template, telling, vote_count, needed, _signed(telling))


def _released(telling: EventTelling) -> SafeString:
    if telling.details.get("person"):
        return format_html(
            "{} released {}: {} is no longer a reviewer",
            telling.who,
            telling.request,
            _person(str(telling.details["person"])),
        )
    return _tell("{who} released {request}", telling)


def _handed_over(telling: EventTelling) -> SafeString:
    to = _person(str(telling.details.get("to", "")))
    return _tell("{who} assigned {request} to {}{because}", telling, to)


def _taken_over(telling: EventTelling) -> SafeString:
    earlier = _person(str(telling.details.get("from", "")))
    return _tell("{who} took over {request} from {}", telling, earlier)


def _finished(telling: EventTelling) -> SafeString:
    code, took = telling.details.get("exit_code"), telling.details.get("duration_s")
    how = "" if code is None else f", exit code {code}"
    how += f", after {times.length(float(took))}" if isinstance(took, int | float) else ""
    return _tell("{who} finished {request}{}", telling, how)


def _tool_classed(telling: EventTelling) -> SafeString:
    agent = _somebody(str(telling.details.get("agent")))
    tool_class = str(telling.details.get("class", ""))
    if not tool_class:
        return _tell("{who} took the class of the tool {tool} of {} away", telling, agent)
    word = CLASSES.get(tool_class, tool_class)
    return _tell("{who} classed the tool {tool} of {} as “{}”", telling, agent, word)


def _token_issued(telling: EventTelling) -> SafeString:
    end = telling.at("expires_at") if telling.details.get("expires_at") else EMPTY
    until = format_html(", valid until {}", end) if end else EMPTY
    return _tell("{who} issued a token for {whom}{}", telling, until)


def _published(telling: EventTelling) -> SafeString:
    number = str(telling.name)
    confirmed = telling.details.get("confirmed_by")
    by = format_html(" with {}", _person(str(confirmed))) if confirmed else EMPTY
    looser = ", which loosens the policy" if telling.details.get("loosened") else ""
    return format_html(
        "{} published {} of the policy{}{}{}",
        telling.who,
        _revision(number),
        by,
        looser,
        telling.because,
    )


def _proposal(verb: str) -> Write:
    def write(telling: EventTelling) -> SafeString:
        number = str(telling.name)
        if not number.isdecimal():
            return _tell("{who} {} a looser policy{because}", telling, verb)
        url = reverse("web:proposal", args=[number])
        template = '{who} {} <a href="{}">a looser policy</a>{because}'
        return _tell(template, telling, verb, url)

    return write


def _database_accepted(telling: EventTelling) -> SafeString:
    lost_entry, last_entry = telling.said("kept"), telling.said("restored")
    if not last_entry:
        template = "{who} accepted a database that lacks entry {} of the log before"
        return _tell(template, telling, lost_entry)
    lacks = (
        format_html(", which lacks entry {} of the log before", lost_entry)
        if lost_entry
        else EMPTY
    )
    template = "{who} restored a backup that ends with entry {} of the log{}"
    return _tell(template, telling, last_entry, lacks)


def _grant_event(verb: str) -> Write:
    def write(telling: EventTelling) -> SafeString:
        because = telling.said("because")
        reason = format_html(": {}", because) if because else EMPTY
        return format_html("{} {} {}{}", telling.who, verb, _grant(str(telling.name)), reason)

    return write


def _channel(what: str) -> Write:
    def write(telling: EventTelling) -> SafeString:
        where = telling.said("where")
        to = format_html(": {}", where) if where else EMPTY
        return format_html("{} {} {}{}", telling.who, what, telling.whom, to)

    return write


def _own_channel(what: str) -> Write:
    def write(telling: EventTelling) -> SafeString:
        where = telling.said("where")
        at = format_html(": {}", where) if where else EMPTY
        whose = EMPTY if telling.is_own else format_html(" of {}", telling.whom)
        return format_html("{} {}{}{}", telling.who, what, whose, at)

    return write


def _webhook(what: str) -> Write:
    def write(telling: EventTelling) -> SafeString:
        host = telling.said("host")
        where = format_html(": {}", host) if host else EMPTY
        return format_html("{} {} the webhook of {}{}", telling.who, what, telling.whom, where)

    return write


def _sign_in_failed(telling: EventTelling) -> SafeString:
    as_whom = format_html(" as {}", telling.whom) if telling.whom else EMPTY
    text = format_html("Somebody failed to sign in{}, from {}", as_whom, telling.said("address"))
    if telling.details.get("because"):
        return format_html("{}: {}", text, telling.said("because"))
    return text


_FACTORS = {
    "totp": "{who} added an app that shows codes as a second factor",
    "recovery_codes": "{who} made new recovery codes",
}


def _factor_added(telling: EventTelling) -> SafeString:
    factor = str(telling.details.get("factor"))
    return _tell(_FACTORS.get(factor, "{who} added a second factor"), telling)


def _mapping(of_role: str, of_group: str) -> Write:
    return lambda told: _tell(
        of_role if told.details.get("role") else of_group,
        told,
        told.said("claim"),
        told.said("role" if told.details.get("role") else "group"),
    )


def _by_themselves(own: str, other: str) -> Write:
    return lambda told: _tell(own if told.is_own else other, told)


def _verified(telling: EventTelling) -> SafeString:
    if telling.details.get("problem"):
        template = "{who} verified the audit log. It is broken: {}"
        return _tell(template, telling, telling.said("problem"))
    template = "{who} verified the audit log: whole up to entry {}"
    return _tell(template, telling, telling.said("entries"))


DECISIONS: dict[Action, Write] = {
    Action.APPROVAL_APPROVED: _approved,
    Action.APPROVAL_REJECTED: _of("{who} rejected {request}{because}"),
    Action.APPROVAL_VOTED: _voted,
    Action.SIGNATURE_REFUSED: _of(
        "{who} sent a signature under {request} that does not count: {}", "because"
    ),
    Action.APPROVAL_EXPIRED: _of("Nobody answered {request} in time"),
    Action.APPROVAL_CANCELLED: _of("{who} withdrew {request}{because}"),
    Action.APPROVAL_RECALLED: _of("{who} took back the approval of {request}{because}"),
    Action.APPROVAL_EDITED: _of("{who} edited {request}"),
}

REQUESTS: dict[Action, Write] = {
    Action.APPROVAL_SUBMITTED: _of("{who} asked for {request}"),
    Action.APPROVAL_JUDGED: _judged,
    Action.OUTCOME_STARTED: _of("{who} started {request}"),
    Action.OUTCOME_FINISHED: _finished,
    Action.NOTEBOOK_SENT: _of("{who} sent a notebook"),
    Action.NOTEBOOK_DELETED: _of("{who} deleted a notebook of {name} that no request names"),
}

WORK: dict[Action, Write] = {
    Action.APPROVAL_VIEWED: _of("{who} opened {request}"),
    Action.APPROVAL_REVEALED: _of("{who} revealed the secrets in {request}"),
    Action.APPROVAL_SELF_ASSIGNED: _of("{who} assigned {request} to themselves"),
    Action.APPROVAL_TAKEN_OVER: _taken_over,
    Action.APPROVAL_RELEASED: _released,
    Action.APPROVAL_HANDED_OVER: _handed_over,
    Action.APPROVAL_EXTENDED: lambda told: _tell(
        "{who} gave {request} more time, until {}", told, told.at("until")
    ),
    Action.APPROVAL_SNOOZED: lambda told: _tell(
        "{who} snoozed {request} until {}", told, told.at("until")
    ),
    Action.APPROVAL_UNSNOOZED: _of("{who} ended the snooze of {request}"),
    Action.HISTORY_EXPORTED: _of("{who} exported {} requests as {}", "rows", "format"),
}

GRANTS: dict[Action, Write] = {
    Action.GRANT_MADE: _grant_event("made"),
    Action.GRANT_ENDED: _grant_event("ended"),
}

POLICY: dict[Action, Write] = {
    Action.POLICY_PUBLISHED: _published,
    Action.POLICY_PROPOSED: _proposal("proposed"),
    Action.POLICY_PROPOSAL_WITHDRAWN: _proposal("withdrew"),
    Action.HOLD_PLACED: _of("{who} put everything on hold{because}"),
    Action.HOLD_LIFTED: _of("{who} lifted the hold"),
    Action.CLOCK_ACCEPTED: _of(
        "{who} accepted a clock that was set back, from {} to {}", "latest", "clock"
    ),
    Action.BACKUP_MADE: _of("{who} made a backup that ends with entry {} of the log", "head"),
    Action.DATABASE_ACCEPTED: _database_accepted,
}

AGENTS: dict[Action, Write] = {
    Action.AGENT_ADDED: _of("{who} added the agent {whom}"),
    Action.AGENT_DEACTIVATED: _of("{who} deactivated the agent {whom}"),
    Action.AGENT_REACTIVATED: _of("{who} reactivated the agent {whom}"),
    Action.TOOL_CLASSED: _tool_classed,
    Action.TOKEN_ISSUED: _token_issued,
    Action.TOKEN_REVOKED: _of("{who} revoked a token of {whom}"),
    Action.WEBHOOK_ADDED: _webhook("set up"),
    Action.WEBHOOK_CHANGED: _webhook("changed the address of"),
    Action.WEBHOOK_SECRET_MADE: _webhook("made a new secret for"),
    Action.WEBHOOK_SWITCHED_ON: _webhook("switched on"),
    Action.WEBHOOK_SWITCHED_OFF: _webhook("switched off"),
    Action.WEBHOOK_SENT_AGAIN: _webhook("sent a message again to"),
    Action.CHANNEL_ADDED: _channel("added"),
    Action.CHANNEL_CHANGED: _channel("changed"),
    Action.CHANNEL_SECRET_MADE: _channel("made a new secret for"),
    Action.CHANNEL_SWITCHED_ON: _channel("switched on"),
    Action.CHANNEL_SWITCHED_OFF: _channel("switched off"),
    Action.CHANNEL_TRIED: _channel("sent a test message to"),
    Action.CHANNEL_REMOVED: _channel("removed"),
}

PEOPLE: dict[Action, Write] = {
    Action.PERSON_ADDED: _of("{who} added {whom}, with the roles: {}", "roles"),
    Action.PERSON_ROLES_CHANGED: _of(
        "{who} changed the roles of {whom} from {} to {}", "before", "roles"
    ),
    Action.PERSON_DEACTIVATED: _of("{who} deactivated {whom}"),
    Action.PERSON_REACTIVATED: _of("{who} reactivated {whom}"),
    Action.PERSON_CHANNEL_ADDED: _own_channel("added an address where they are told"),
    Action.PERSON_CHANNEL_CODE_SENT: _own_channel("had a code sent to an address"),
    Action.PERSON_CHANNEL_CONFIRMED: _own_channel("confirmed an address where they are told"),
    Action.PERSON_CHANNEL_CHANGED: _own_channel("changed what is told to an address"),
    Action.PERSON_CHANNEL_TRIED: _own_channel("had a test message sent to an address"),
    Action.PERSON_CHANNEL_SWITCHED_ON: _own_channel("switched on an address"),
    Action.PERSON_CHANNEL_SWITCHED_OFF: _own_channel("switched off an address"),
    Action.PERSON_CHANNEL_REMOVED: _own_channel("removed an address"),
    Action.GROUP_ADDED: _of("{who} added {whom}"),
    Action.GROUP_MEMBERS_CHANGED: _of(
        "{who} changed who is in {whom} from {} to {}", "before", "members"
    ),
    Action.GROUP_DELETED: _of("{who} deleted {whom}"),
    Action.GROUP_MAPPING_ADDED: _mapping(
        "{who} had the group {} of single sign-on give the role {}",
        "{who} had the group {} of single sign-on lead into the group {}",
    ),
    Action.GROUP_MAPPING_REMOVED: _mapping(
        "{who} had the group {} of single sign-on no longer give the role {}",
        "{who} had the group {} of single sign-on no longer lead into the group {}",
    ),
    Action.PERSON_LINKED: _by_themselves(
        "{who} linked their account to single sign-on",
        "{who} linked {whom} to single sign-on",
    ),
    Action.FACTOR_ADDED: _factor_added,
    Action.FACTOR_NOT_CONFIRMED: _of("{who} showed a wrong second factor for their own account"),
    Action.FACTOR_REMOVED: _by_themselves(
        "{who} removed the app of their second factor",
        "{who} removed the app of the second factor of {whom}",
    ),
    Action.PASSKEY_ADDED: _of("{who} added the passkey {} to their account", "name"),
    Action.PASSKEY_CONFIRMED: _of("{who} confirmed the passkey {} of {whom}", "name"),
    Action.PASSKEY_REMOVED: _by_themselves(
        "{who} removed a passkey of theirs", "{who} removed a passkey of {whom}"
    ),
    Action.PERSON_UNLINKED: _of("{who} unlinked {whom} from single sign-on"),
}

SIGNING_IN: dict[Action, Write] = {
    Action.SIGNED_IN: _of("{who} signed in from {}", "address"),
    Action.SIGN_IN_FAILED: _sign_in_failed,
    Action.SIGN_IN_LINK_MADE: _by_themselves(
        "{who} made a sign-in link", "{who} made a sign-in link for {whom}"
    ),
    Action.SIGNED_OUT: _of("{who} signed out"),
    Action.SESSION_ENDED: _by_themselves(
        "{who} signed a browser of theirs out", "{who} signed a browser of {whom} out"
    ),
    Action.SESSION_REMEMBERED: _of("{who} had a browser stay signed in, for reading"),
    Action.PERSON_PASSWORD_CHANGED: _by_themselves(
        "{who} changed their password", "{who} changed the password of {whom}"
    ),
    Action.PASSWORD_NOT_CONFIRMED: _of("{who} entered a wrong password for their own account"),
}

AUDIT: dict[Action, Write] = {Action.AUDIT_VERIFIED: _verified}

GROUPS: dict[str, tuple[str, dict[Action, Write]]] = {
    "decisions": ("Decisions", DECISIONS),
    "requests": ("What agents ask and do", REQUESTS),
    "reviewing": ("What reviewers open and assign", WORK),
    "remembered": ("Remembered approvals", GRANTS),
    "policy": ("Policy and hold", POLICY),
    "agents": ("Agents, tokens, webhooks, channels", AGENTS),
    "people": ("People and groups", PEOPLE),
    "sign-ins": ("Signing in", SIGNING_IN),
    "audit": ("Verifications of this log", AUDIT),
}
"""Kinds of events to choose from: key, words, and the sentences of each."""

SENTENCES: dict[str, Write] = {
    action.value: write for _, of_group in GROUPS.values() for action, write in of_group.items()
}
