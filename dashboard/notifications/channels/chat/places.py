"""Where a message may go: the services that are allowed, and what is taken of an address.

Nothing of what somebody entered reaches apprise as it is. Each address has to fit a form of its
service as a whole, and a plug-in is given the named parts of that form and nothing else: no
template, which would open a file or any address, no attachment and no option of apprise's own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import parse_qsl, unquote

from dashboard.notifications.addresses import LONGEST_URL, checked_url
from dashboard.notifications.errors import AddressRefused

Option = str | int | bool | None | list[str]
Options = dict[str, Option]
Parts = Mapping[str, str | None]
"""What the groups of a form and the keys of a query hold."""


@dataclass(frozen=True, kw_only=True)
class Service:
    """A service that messages are sent to.

    Attributes:
        name: What people call it.
        plugin: Module and class of apprise's plug-in.
        schemes: Of its addresses.
        example: An address as it looks.
        forms: Whole addresses without a query. A group ``host`` is a host of the house's own.
        options: Makes the arguments of the plug-in from the parts of an address.
        keys: What its query may hold, and how the values look.
        has_link: The plug-in takes a link besides the text, as ``click``.
        id_as: The option by which it knows a message that is sent again, if it has one.
        is_markdown: It makes a link of what Markdown calls one, and of nothing else.
    """

    name: str
    plugin: tuple[str, str]
    schemes: tuple[str, ...]
    example: str
    forms: tuple[str, ...]
    options: Callable[[Parts], Options]
    keys: Mapping[str, str] = field(default_factory=dict)
    has_link: bool = False
    id_as: str = ""
    is_markdown: bool = False


class Place(NamedTuple):
    """An address that was read: its service, and what the plug-in is made with."""

    service: Service
    options: Options
    host: str
    """With its port; empty if the service is the same for everybody."""
    is_secure: bool


_PLAIN_SCHEMES = ("ntfy", "mmost", "matrix")


def place(address: str) -> Place:
    """Read an address. Nothing is looked up, and nothing is said of whether it may be called.

    Raises:
        AddressRefused: It is not one of an allowed service; the message says how one looks.
    """
    if len(address) > LONGEST_URL or not address.isascii() or not address.isprintable():
        raise AddressRefused(f"An address may have at most {LONGEST_URL} plain characters.")
    base, _, query = address.strip().partition("?")
    service, match = _fitting(base)
    values = _values(service, query)
    parts = {**match.groupdict(), **values}
    host = parts.get("host") or ""
    is_secure = base.partition("://")[0].lower() not in _PLAIN_SCHEMES or not host
    options: Options = {"secure": is_secure, "host": host, **service.options(parts)}
    if port := parts.get("port"):
        options["port"] = int(port)
    label = f"{options['host']}:{port}" if port else str(options["host"])
    return Place(service, options, label, is_secure)


def checked_place(address: str) -> Place:
    """Read an address whose host may be called, as far as can be said without looking it up.

    Raises:
        AddressRefused: It is none, or its host is not allowed.
    """
    target = place(address)
    if target.host:
        checked_url(f"{'https' if target.is_secure else 'http'}://{target.host}/")
    return target


_RETIRED = {
    "msteams": (
        "Microsoft has switched these connectors of Teams off. Make a workflow in Teams that "
        "posts to the channel when a webhook request is received, and enter its address."
    )
}


def _fitting(base: str) -> tuple[Service, re.Match[str]]:
    """Return the service whose form an address has."""
    scheme = base.partition("://")[0].lower()
    if scheme in _RETIRED:
        raise AddressRefused(_RETIRED[scheme])
    services = [
        candidate for candidate in SERVICES if scheme in candidate.schemes or scheme == "https"
    ]
    for service in services:
        for form in service.forms:
            if match := re.fullmatch(form, base, re.IGNORECASE):
                return service, match
    if not services or scheme == "https":
        names = ", ".join(sorted({candidate.name for candidate in SERVICES}, key=str.lower))
        raise AddressRefused(
            f"This is not the address of a service that messages are sent to: {names}. One of "
            f"Slack looks like {_SLACK.example}."
        )
    [service] = services
    raise AddressRefused(
        f"This is not an address of {service.name}. It must look like {service.example}."
    )


def _values(service: Service, query: str) -> dict[str, str]:
    """Return what a query holds, all of which has to be allowed."""
    values = dict(parse_qsl(query, keep_blank_values=True))
    for key, value in values.items():
        if key not in service.keys:
            part = f"?{key}=" if re.fullmatch(r"[\w.:+-]{1,30}", key) else "what follows the ?"
            raise AddressRefused(
                f"Remove {part} from the address: {service.name} does not need it here, and it "
                "could name a file or another host."
            )
        if not re.fullmatch(service.keys[key], value):
            raise AddressRefused(f"The value of ?{key}= in this address is not valid.")
    return values


_HOST = r"(?P<host>[A-Z0-9](?:[A-Z0-9._-]*[A-Z0-9])?)(?::(?P<port>[0-9]{1,5}))?"
_NAME = r"(?:(?P<user>[A-Z0-9._%-]+)@)?"  # that a bot shows
_TOPIC = r"[A-Z0-9_-]{1,64}"


def _slack(parts: Parts) -> Options:
    options: Options = {"user": parts.get("user"), "use_blocks": False, "include_image": False}
    options |= {"include_footer": False, "mode": "hook"}
    if token := parts.get("access_token"):
        channel = unquote(parts["channel"] or "")
        is_id = re.fullmatch(r"[CGD][A-Z0-9]{8,}", channel)
        options |= {"mode": "bot", "access_token": token}
        return options | {"targets": [f"+{channel}" if is_id else channel]}
    if parts.get("gov"):
        options["mode"] = "gov-hook"
    return options | {name: parts[name] for name in ("token_a", "token_b", "token_c")}


_TOKENS = r"(?P<token_a>[A-Z0-9]+)/(?P<token_b>[A-Z0-9]+)/(?P<token_c>[A-Z0-9]+)/?"
_SLACK = Service(
    name="Slack",
    plugin=("slack", "NotifySlack"),
    schemes=("slack",),
    example="https://hooks.slack.com/services/T0…/B0…/…",
    forms=(
        rf"https://hooks\.slack(?P<gov>-gov)?\.com/services/{_TOKENS}",
        rf"slack://{_NAME}{_TOKENS}",
        (
            rf"slack://{_NAME}(?P<access_token>xo[a-z]+-[A-Z0-9-]+)"
            r"/(?P<channel>(?:#|%23|\+|%2B|@|%40)?[A-Z0-9._-]+)/?"
        ),
    ),
    options=_slack,
)


def _teams(parts: Parts) -> Options:
    automate = parts.get("automate") is not None or parts.get("pa") == "yes"
    return {
        "workflow": parts["workflow"],
        "signature": parts.get("signature") or parts.get("sig"),
        "power_automate": automate,
        "routing_id": parts.get("routing_id") or parts.get("route"),
        "version": parts.get("api-version"),
        "include_image": False,
    }


_TEAMS = Service(
    name="Microsoft Teams",
    plugin=("workflows", "NotifyWorkflows"),
    schemes=("workflows", "workflow"),
    example="https://….logic.azure.com/workflows/…/triggers/manual/paths/invoke?…&sig=…",
    forms=(
        (
            r"https://(?P<host>[A-Z0-9_.-]+\.(?:logic\.azure\.[A-Z]{2,12}"
            r"|(?:power|apps)platform(?:\.[A-Z0-9-]{2,24}){1,3}))(?::(?P<port>[0-9]{1,5}))?"
            r"(?P<automate>/powerautomate/automations/direct(?:/cu/(?P<routing_id>[0-9]+))?)?"
            r"/workflows/(?P<workflow>[A-Z0-9_-]+)/triggers/manual/paths/invoke/?"
        ),
        rf"workflows?://{_HOST}/(?P<workflow>[A-Z0-9_-]+)/(?P<signature>[A-Z0-9_-]+)/?",
    ),
    options=_teams,
    is_markdown=True,
    keys={
        "sig": r"[A-Za-z0-9_-]+",
        "api-version": r"[A-Za-z0-9.-]{1,30}",
        "sp": r"/triggers/manual/run",
        "sv": r"1\.0",
        "pa": r"yes|no",
        "route": r"[0-9]+",
    },
)


def _discord(parts: Parts) -> Options:
    return {
        "webhook_id": parts["id"],
        "webhook_token": parts["token"],
        "user": parts.get("user"),
        "thread": parts.get("thread") or parts.get("thread_id"),
        "avatar": False,
    }


_DISCORD = Service(
    name="Discord",
    plugin=("discord", "NotifyDiscord"),
    schemes=("discord",),
    example="https://discord.com/api/webhooks/…/…",
    forms=(
        r"https://discord(?:app)?\.com/api/webhooks/(?P<id>[0-9]+)/(?P<token>[A-Z0-9_-]+)/?",
        rf"discord://{_NAME}(?P<id>[0-9]+)/(?P<token>[A-Z0-9_-]+)/?",
    ),
    options=_discord,
    keys={"thread": r"[0-9]+", "thread_id": r"[0-9]+"},
)


def _telegram(parts: Parts) -> Options:
    # Without a chat, the plug-in would read who wrote to the bot.
    chat = unquote(parts["chat"] or "")
    return {"bot_token": parts["token"], "targets": [chat], "detect_owner": False}


_TELEGRAM = Service(
    name="Telegram",
    plugin=("telegram", "NotifyTelegram"),
    schemes=("tgram",),
    example="tgram://123456789:bot_token/chat_id",
    forms=(
        (
            r"tgram://(?:bot)?(?P<token>[0-9]+:[A-Z0-9_-]+)"
            r"/(?P<chat>(?:-?[0-9]{1,32}|(?:@|%40)?[A-Z_-][A-Z0-9_-]+)(?::[0-9]+)?)/?"
        ),
    ),
    options=_telegram,
)


def _ntfy(parts: Parts) -> Options:
    options: Options = {
        "mode": "private",
        "include_image": False,
        "targets": [parts["topic"] or ""],
    }
    if token := parts.get("token"):
        options |= {"auth": "token", "token": token}
    elif parts.get("user"):
        options |= {"auth": "basic", "user": parts["user"], "password": parts.get("password")}
    return options if parts.get("host") else options | {"host": "ntfy.sh"}


_NTFY = Service(
    name="ntfy",
    plugin=("ntfy", "NotifyNtfy"),
    schemes=("ntfys", "ntfy"),
    example="ntfys://ntfy.example.org/topic",
    forms=(
        rf"https://(?P<host>ntfy\.sh)/(?P<topic>{_TOPIC})/?",
        rf"ntfys?://(?P<token>tk_[A-Z0-9]+)@{_HOST}/(?P<topic>{_TOPIC})/?",
        (
            rf"ntfys?://(?:(?P<user>[^/:@#\s]+)(?::(?P<password>[^/:@#\s]+))?@)?{_HOST}"
            rf"/(?P<topic>{_TOPIC})/?"
        ),
        rf"ntfys?://(?P<topic>{_TOPIC})/?",
    ),
    options=_ntfy,
    has_link=True,
)


def _mattermost(parts: Parts) -> Options:
    channel = parts.get("channel")
    return {
        "token": parts["token"],
        "fullpath": parts.get("path") or "",
        "user": parts.get("user"),
        "targets": [channel] if channel else [],
        "mode": "webhook",
    }


_PATH = r"(?P<path>(?:/[A-Z0-9_-]+)*)"
_MATTERMOST = Service(
    name="Mattermost",
    plugin=("mattermost", "NotifyMattermost"),
    schemes=("mmosts", "mmost"),
    example="https://mattermost.example.org/hooks/…",
    forms=(
        rf"https://{_HOST}{_PATH}/hooks/(?P<token>[a-z0-9]{{26}})/?",
        rf"mmosts?://{_NAME}{_HOST}{_PATH}/(?P<token>[A-Z0-9]+)/?",
    ),
    options=_mattermost,
    keys={"channel": r"#?[A-Za-z0-9_-]+"},
)


def _matrix(parts: Parts) -> Options:
    # No discovery: a host's answer would name another host that gets the token. No encryption:
    # each message would be sent by a device of its own that nobody has verified.
    return {
        "password": parts["token"],
        "targets": [unquote(parts["room"] or "")],
        "mode": "off",
        "discovery": False,
        "e2ee": False,
    }


_MATRIX = Service(
    name="Matrix",
    plugin=("matrix", "NotifyMatrix"),
    schemes=("matrixs", "matrix"),
    example="matrixs://access_token@matrix.example.org/!room:example.org",
    forms=(
        (
            rf"matrixs?://(?P<token>[A-Z0-9._~=-]+)@{_HOST}"
            r"/(?P<room>(?:!|%21|#|%23)[A-Z0-9._=-]+(?:(?::|%3A)[A-Z0-9.-]+)?)/?"
        ),
    ),
    options=_matrix,
)


def _pagerduty(parts: Parts) -> Options:
    key = parts["key"]
    return {
        "integrationkey": key,
        "apikey": parts.get("api_key") or key,  # wanted by the plug-in, not by the Events API
        "source": parts.get("source"),
        "component": parts.get("component"),
        "region_name": parts.get("region"),
        "include_image": False,
    }


_PAGERDUTY = Service(
    name="PagerDuty",
    plugin=("pagerduty", "NotifyPagerDuty"),
    schemes=("pagerduty",),
    example="pagerduty://integration_key",
    forms=(
        (
            r"pagerduty://(?P<key>[A-Z0-9_-]+)(?:@(?P<api_key>[A-Z0-9_+-]+))?"
            r"(?:/(?P<source>[A-Z0-9._-]+)(?:/(?P<component>[A-Z0-9._-]+))?)?/?"
        ),
    ),
    options=_pagerduty,
    keys={"region": r"us|eu"},
    has_link=True,
    id_as="dedup",
)


def _opsgenie(parts: Parts) -> Options:
    target = parts.get("target")
    return {
        "apikey": parts["key"],
        "user": parts.get("user"),
        "targets": [unquote(target)] if target else [],
        "region_name": parts.get("region"),
        "action": "new",  # what is only a notice would else be added to an alert, or dropped
    }


_OPSGENIE = Service(
    name="Opsgenie",
    plugin=("opsgenie", "NotifyOpsgenie"),
    schemes=("opsgenie",),
    example="opsgenie://api_key/#team",
    forms=(
        (
            rf"opsgenie://{_NAME}(?P<key>[A-Z0-9-]+)"
            r"(?:/(?P<target>(?:#|%23|@|%40|\*|%2A|\^|%5E)?[A-Z0-9._%@-]+))?/?"
        ),
    ),
    options=_opsgenie,
    keys={"region": r"us|eu"},
    id_as="alias",
)

SERVICES = (
    _SLACK,
    _TEAMS,
    _DISCORD,
    _TELEGRAM,
    _NTFY,
    _MATTERMOST,
    _MATRIX,
    _PAGERDUTY,
    _OPSGENIE,
)
