"""A message to a chat reaches the service that its address names, and nobody else."""

import asyncio
import json
import ssl
import sys
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from signal import SIGKILL
from urllib.parse import quote
from uuid import UUID

import pytest

from dashboard.notifications.channels import KINDS, chat
from dashboard.notifications.channels.chat.places import SERVICES, place
from dashboard.notifications.errors import AddressRefused
from dashboard.notifications.models import Channel, NoticeEvent
from dashboard.notifications.notices import Notice
from tests.certificates import self_signed
from tests.notifications.host import hosted

KIND = KINDS["chat"]
NOW = datetime(2030, 1, 2, 3, 4, tzinfo=UTC)
SECRET = "s3cretT0ken"
LINK = "https://approvals.example.org/approvals/1"
HOSTS = [
    "slack.com",
    "hooks.slack.com",
    "discord.com",
    "events.pagerduty.com",
    "prod-1.westus.logic.azure.com",
    "api.telegram.org",
    "api.opsgenie.com",
    "mattermost.example.org",
    "matrix.example.org",
    "ntfy.example.org",
]
SLACK = f"https://hooks.slack.com/services/T0AB/B0CD/{SECRET}"
TEAMS = (
    "https://prod-1.westus.logic.azure.com:443/workflows/abc123/triggers/manual/paths/invoke"
    f"?api-version=2016-06-01&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig={SECRET}"
)
DISCORD = f"https://discord.com/api/webhooks/123456/{SECRET}"
TELEGRAM = f"tgram://123456:{SECRET}/-100123"
NTFY = f"ntfys://tk_{SECRET}@ntfy.example.org/approvals"
MATTERMOST = f"mmosts://mattermost.example.org/{SECRET}"
MATRIX = f"matrixs://{SECRET}@matrix.example.org/!room:example.org"
PAGERDUTY = f"pagerduty://{SECRET}"
OPSGENIE = f"opsgenie://{SECRET}"
ALL = [SLACK, TEAMS, DISCORD, TELEGRAM, NTFY, MATTERMOST, MATRIX, PAGERDUTY, OPSGENIE]


def notice(number=1, **changes):
    of = {
        "event": NoticeEvent.ASKS,
        "at": NOW,
        "now": NOW,
        "url": f"https://approvals.example.org/approvals/{number}",
        "id": str(UUID(int=number)),
        "kind": "tool_call",
        "agent": "beamline",
        "severity": "high",
        "expires_at": NOW + timedelta(minutes=30),
    }
    return Notice(**of | changes)


def parcel(address, *notices):
    return KIND.parcel(Channel(address=address), notices or [notice()], UUID(int=9))


async def sent(address, *notices):
    return await KIND.send(parcel(address, *notices))


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A file with a certificate for every host of these tests, and its key."""
    return self_signed(HOSTS[0], tmp_path_factory.mktemp("tls") / "hosts.pem", *HOSTS[1:])


@pytest.fixture
def service(certificate, monkeypatch):
    """Runs a host over TLS that is called in place of every service."""

    @contextmanager
    def run(*statuses):
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(certificate)
        with hosted(*statuses) as host:
            host.server.socket = context.wrap_socket(host.server.socket, server_side=True)
            here = ("127.0.0.1", host.server.server_port)
            monkeypatch.setattr(chat, "_RESOLVE", dict.fromkeys(HOSTS, here))
            monkeypatch.setattr(chat, "_TRUSTED", str(certificate))
            yield host

    return run


def said_of(call):
    """All that a service was sent, as one text."""
    return json.dumps(json.loads(call.body), ensure_ascii=False)


# --- sending ------------------------------------------------------------------------------------

SHAPES = [
    (SLACK, "hooks.slack.com", f"/services/T0AB/B0CD/{SECRET}", b"ok"),
    (f"slack://T0AB/B0CD/{SECRET}", "hooks.slack.com", f"/services/T0AB/B0CD/{SECRET}", b"ok"),
    (f"slack://xoxb-1-{SECRET}/C012345678", "slack.com", "/api/chat.postMessage", b'{"ok": true}'),
    (TEAMS, "prod-1.westus.logic.azure.com:443", "/workflows/abc123/triggers/manual", b""),
    (DISCORD, "discord.com", f"/api/webhooks/123456/{SECRET}", b""),
    (TELEGRAM, "api.telegram.org", f"/bot123456:{SECRET}/sendMessage", b"{}"),
    (NTFY, "ntfy.example.org", "/", b"{}"),
    (MATTERMOST, "mattermost.example.org", f"/hooks/{SECRET}", b"ok"),
    (
        MATRIX,
        "matrix.example.org",
        "/_matrix/client/v3/rooms/",
        b'{"room_id": "!room:example.org"}',
    ),
    (PAGERDUTY, "events.pagerduty.com", "/v2/enqueue", b"{}"),
    (OPSGENIE, "api.opsgenie.com", "/v2/alerts", b'{"requestId": "1"}'),
]


@pytest.mark.parametrize(("address", "host", "path", "answer"), SHAPES)
async def test_a_message_arrives_with_its_title_and_its_link(service, address, host, path, answer):
    with service(200) as there:
        there.body = answer
        came_of_it = await sent(address)

    call = there.calls[-1]
    assert came_of_it == (True, "It answered 200.", False, 0.0)
    assert (call.headers["Host"], call.path.startswith(path)) == (host, True)
    assert "Tool call of beamline waits for approval" in said_of(call)
    assert LINK in said_of(call)


async def test_what_needs_a_rich_message_names_nobody_but_us(service):
    with service(200) as there:
        there.body = b"ok"
        await sent(SLACK)
        await sent(DISCORD)

    for call in there.calls:
        assert call.headers["User-Agent"] == "Approvals"
        assert "apprise" not in said_of(call).lower()


async def test_teams_is_told_by_a_link_and_no_markup_of_an_agent_s_name(service):
    with service(202) as there:
        await sent(TEAMS, notice(agent="*a_b*"))

    card = json.loads(there.calls[0].body)["attachments"][0]["content"]
    assert [block["text"] for block in card["body"]] == [
        "Tool call of \\*a\\_b\\* waits for approval",
        (
            "Tool call of \\*a\\_b\\*. Severity: high. 30 min left, until 03:34 UTC.\n\n"
            f"[{LINK}]({LINK})"
        ),
    ]


@pytest.mark.parametrize(
    ("severity", "grave"), [("high", "critical"), ("medium", "warning"), ("", "info")]
)
async def test_an_on_call_service_is_told_how_grave_it_is(service, severity, grave):
    with service(202) as there:
        await sent(PAGERDUTY, notice(severity=severity))

    [call] = there.calls
    event = json.loads(call.body)
    assert (event["routing_key"], event["event_action"]) == (SECRET, "trigger")
    assert (event["payload"]["severity"], event["links"]) == (grave, [{"href": LINK}])


@pytest.mark.parametrize(("address", "key"), [(PAGERDUTY, "dedup_key"), (OPSGENIE, "alias")])
async def test_an_on_call_service_knows_a_message_that_is_sent_again(service, address, key):
    with service(503) as there:
        await sent(address)
        await sent(address)

    assert [json.loads(call.body)[key] for call in there.calls] == [str(UUID(int=9))] * 2


async def test_what_is_no_request_is_told_too(service):
    with service(202) as there:
        there.body = b'{"requestId": "1"}'
        test = notice(
            event=NoticeEvent.TEST, id="", kind="", agent="", severity="", expires_at=None
        )
        came_of_it = await sent(OPSGENIE, test)

    assert came_of_it.taken is True
    assert "This channel works" in said_of(there.calls[0])


async def test_what_an_agent_is_called_is_no_mention(service):
    with service(200) as there:
        there.body = b"ok"
        await sent(SLACK, notice(agent="<!channel> & <https://evil.example.org|more>"))

    assert "<!channel>" not in said_of(there.calls[0])
    assert "<https://evil" not in said_of(there.calls[0])


def test_many_requests_are_one_message_that_no_service_cuts():
    body = json.loads(parcel(SLACK, *[notice(number) for number in range(30)]).body)

    assert (body["title"], body["severity"]) == (
        "30 requests need people, the gravest is high",
        "failure",
    )
    assert len(body["text"]) <= chat.LONGEST_TEXT
    shown = body["text"].count("/approvals/")
    assert f"And {30 - shown} more, of beamline: " in body["text"]


def test_an_agent_with_a_very_long_name_is_told_by_a_link_to_the_queue(settings):
    body = json.loads(parcel(SLACK, *[notice(agent="a" * 900)] * 2).body)

    assert body["text"] == (f"2 requests need people, the gravest is high: {settings.PUBLIC_URL}/")


# --- what can go wrong --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (500, "It answered 500."),
        (403, "It answered 403."),
        (404, "It answered 404."),
        (302, "It answered 302. Redirects are not followed: enter the address itself."),
    ],
)
async def test_a_service_that_does_not_take_it_is_said_so(service, status, said):
    with service(status) as there:
        there.body = f"<b>No: {SECRET}</b>".encode()
        came_of_it = await sent(SLACK)

    assert came_of_it == (False, said, False, 0.0)
    assert len(there.calls) == 1


async def test_a_service_that_is_gone_for_good_is_told_apart(service):
    with service(410):
        came_of_it = await sent(DISCORD)

    assert came_of_it[:3] == (False, "It answered 410: it is gone for good.", True)


@pytest.mark.parametrize("address", [SLACK, DISCORD, MATRIX])
async def test_a_service_that_is_busy_is_asked_once_and_left_alone(service, address):
    with service(429) as there:
        there.more = {"Retry-After": "7", "X-RateLimit-Remaining": "0"}
        there.body = b'{"errcode": "M_LIMIT_EXCEEDED", "retry_after_ms": 60000}'
        came_of_it = await sent(address)

    assert came_of_it == (False, "It answered 429.", False, 7.0)
    assert len(there.calls) == 1


async def test_a_service_that_answers_but_says_no_has_not_taken_it(service):
    with service(200) as there:
        there.body = b'{"ok": false, "error": "channel_not_found"}'
        came_of_it = await sent(f"slack://xoxb-1-{SECRET}/general")

    assert came_of_it.taken is False
    assert came_of_it.said.startswith("It answered 200, but did not take the message.")


async def test_a_service_that_is_busy_is_understood_where_a_plugin_fails_over_it(service):
    with service(429) as there:
        there.more = {"Retry-After": "7"}
        there.body = b'{"error": "a word"}'  # where it looks for a number
        came_of_it = await sent(MATRIX)

    assert came_of_it == (False, "It answered 429.", False, 7.0)


async def test_where_a_redirect_leads_nothing_is_sent(service):
    with hosted(200) as elsewhere, service(307) as there:
        there.more = {"Location": elsewhere.url}
        came_of_it = await sent(SLACK)

    assert (came_of_it.taken, len(there.calls), elsewhere.calls) == (False, 1, [])


@pytest.fixture
def started(monkeypatch):
    """The processes that were started."""
    processes, start = [], asyncio.create_subprocess_exec

    async def noted(*arguments, **more):
        processes.append(await start(*arguments, **more))
        return processes[-1]

    monkeypatch.setattr(asyncio, "create_subprocess_exec", noted)
    return processes


async def test_a_service_that_hangs_is_left_after_a_bounded_time(service, started, monkeypatch):
    monkeypatch.setattr(chat, "SEND_WITHIN_S", 0.05)
    with service(200) as there:
        there.held.clear()
        came_of_it = await sent(SLACK)

    assert came_of_it == (False, "It did not answer within 0.05 s.", False, 0.0)
    assert [process.returncode for process in started] == [-SIGKILL]


async def test_a_process_that_waits_for_a_service_does_not_outlive_the_wish(service, started):
    with service(200) as there:
        there.held.clear()
        sending = asyncio.create_task(sent(SLACK))
        while not there.calls:
            await asyncio.sleep(0.01)
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending

    assert [process.returncode for process in started] == [-SIGKILL]


@pytest.mark.parametrize("address", ALL)
async def test_nothing_that_is_said_of_a_failure_holds_a_secret(service, address):
    with service(403) as there:
        there.body = json.dumps({"error": SECRET, "description": SECRET}).encode()
        came_of_it = await sent(address)

    assert came_of_it == (False, "It answered 403.", False, 0.0)


async def test_what_a_plugin_prints_is_no_part_of_the_answer(monkeypatch, tmp_path):
    program = tmp_path / "child.py"
    program.write_text(
        f"""
from importlib.util import module_from_spec, spec_from_file_location
spec = spec_from_file_location("child", {str(chat._CHILD)!r})
child = module_from_spec(spec)
spec.loader.exec_module(child)

class Loud:
    def notify(self, **_):
        print('{{"taken": true, "status": 200, "problem": "", "retry_after": null}}', flush=True)
        return False

child.made = lambda *_: Loud()
child.main()
"""
    )
    monkeypatch.setattr(chat, "_CHILD", program)

    assert (await sent(SLACK)).said == (
        "It could not be sent. Check that the address is complete, and send it again."
    )


async def test_a_service_that_closes_the_connection_is_said_so(service):
    with service(200) as there:
        there.server.finish_request = lambda request, _: request.close()
        came_of_it = await sent(SLACK)

    assert came_of_it.taken is False
    assert came_of_it.said.startswith("The connection failed (")


async def test_no_more_than_the_head_of_a_long_answer_is_read(service):
    with service(200) as there:
        there.body = b"ok" + b"x" * (8 << 20)
        came_of_it = await sent(DISCORD)

    assert came_of_it.taken is True


async def test_a_host_that_is_not_there_is_said_so(monkeypatch):
    monkeypatch.setattr(chat, "_RESOLVE", {"hooks.slack.com": ("127.0.0.1", 9)})

    assert (await sent(SLACK)).said == "No connection to it could be made."


async def test_a_name_that_cannot_be_resolved_is_said_so(monkeypatch):
    monkeypatch.setattr(chat, "_RESOLVE", {"hooks.slack.com": ("nowhere.invalid", 443)})

    assert (await sent(SLACK)).said == "The name hooks.slack.com cannot be resolved."


async def test_a_name_that_means_a_private_address_is_refused(service, settings):
    settings.WEBHOOK_NETWORKS = []
    with service(200) as there:
        came_of_it = await sent(SLACK)

    assert "127.0.0.1 is not on the public internet" in came_of_it.said
    assert there.calls == []


async def test_a_certificate_that_nobody_vouches_for_is_not_trusted(service, monkeypatch):
    with service(200) as there:
        monkeypatch.setattr(chat, "_TRUSTED", "")
        came_of_it = await sent(SLACK)

    assert came_of_it.said == "Its certificate is not trusted: self-signed certificate."
    assert there.calls == []


async def test_another_name_is_not_that_host(service, monkeypatch):
    with service(200) as there:
        here = chat._RESOLVE["ntfy.example.org"]
        monkeypatch.setattr(chat, "_RESOLVE", {"other.example.org": here})
        came_of_it = await sent(NTFY.replace("ntfy.example.org", "other.example.org"))

    assert came_of_it.said.startswith("Its certificate is not trusted: Hostname mismatch")
    assert there.calls == []


async def test_a_proxy_of_the_environment_is_not_used(service, monkeypatch):
    for name in ("HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with service(200) as there:
        there.body = b"ok"
        assert (await sent(SLACK)).taken is True


async def test_a_process_that_says_nothing_is_written_down(monkeypatch, tmp_path):
    program = tmp_path / "child.py"
    program.write_text("")
    monkeypatch.setattr(chat, "_CHILD", program)

    assert (await sent(SLACK)).said == "It could not be sent. The server's log says why."


async def test_the_process_knows_none_of_our_secrets(monkeypatch, tmp_path):
    monkeypatch.setenv("SECRET_KEY", SECRET)
    program = tmp_path / "child.py"
    program.write_text(
        "import json, os\n"
        "said = {'problem': ' '.join(os.environ), 'status': None, 'refused': False}\n"
        "print(json.dumps(said))"
    )
    monkeypatch.setattr(chat, "_CHILD", program)

    assert "SECRET_KEY" not in (await sent(SLACK)).said


async def test_without_the_package_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "apprise", None)

    assert "pip install -e '.[notify]' in the checkout" in KIND.missing()
    assert (await sent(SLACK)).said == f"{KIND.missing()} Nothing was sent."
    with pytest.raises(AddressRefused, match="pip install"):
        KIND.check(SLACK)


async def test_a_persons_own_address_is_called_on_the_public_internet_alone(settings):
    settings.WEBHOOK_NETWORKS = ["127.0.0.0/8"]
    with hosted() as host:
        address = host.url.replace("http", "ntfy").replace("/hook", "/topic")
        own = KIND.parcel(Channel(address=address, person_id=1), [notice()], UUID(int=9))

        assert (await KIND.send(own)).said.startswith("It is not on the public internet, and only")
        assert host.calls == []


async def test_an_address_that_is_no_longer_allowed_is_not_called():
    assert (await sent("json://127.0.0.1/")).said.startswith("This is not the address of")


# --- addresses ----------------------------------------------------------------------------------

WHOLE = [
    *ALL,
    f"https://hooks.slack-gov.com/services/T0AB/B0CD/{SECRET}/",
    f"slack://bot@T0AB/B0CD/{SECRET}",
    f"slack://xoxb-1-2-{SECRET}/%23general",
    f"slack://xoxb-1-2-{SECRET}/#general",
    (
        "https://prod-1.example.environment.api.powerplatform.com/powerautomate/automations/direct"
        f"/cu/12/workflows/abc/triggers/manual/paths/invoke?api-version=1&sig={SECRET}"
    ),
    f"workflows://prod-1.westus.logic.azure.com:443/abc/{SECRET}?pa=yes",
    f"discord://bot@123456/{SECRET}?thread=7",
    f"tgram://bot123456:{SECRET}/@channel:7",
    f"ntfys://me:{SECRET}%40@ntfy.example.org:8443/approvals",
    "https://ntfy.sh/approvals",
    "ntfy://approvals",
    f"https://mattermost.example.org/chat/hooks/{'a' * 26}",
    f"mmosts://bot@mattermost.example.org:8443/chat/{SECRET}?channel=ops",
    "mmost://localhost:8065/token",
    f"matrixs://{SECRET}@matrix.example.org:8448/%23room:example.org",
    f"pagerduty://{SECRET}@{SECRET}/host/approvals?region=eu",
    f"opsgenie://bot@{SECRET}/%23team?region=eu",
]


@pytest.mark.parametrize("address", WHOLE)
def test_an_address_of_a_service_is_taken(address):
    KIND.check(address)


@pytest.mark.parametrize(
    "address",
    [
        "",
        "syslog://",
        "json://host.example.org/",
        "jsons://host.example.org/",
        "xml://host.example.org/",
        "form://host.example.org/",
        "dbus://",
        "exec://ls",
        "windows://",
        "mailto://me:secret@example.org",
        "file:///etc/passwd",
        "https://host.example.org/hook",
        "https://hooks.slack.com.evil.example.org/services/T0/B0/x",
        "https://evil.example.org/hooks.slack.com/services/T0/B0/x",
        "http://hooks.slack.com/services/T0/B0/x",
    ],
)
def test_of_anything_else_it_is_said_which_services_there_are(address):
    with pytest.raises(AddressRefused, match=r"Discord, Matrix, .*, PagerDuty, Slack, Telegram"):
        KIND.check(address)


@pytest.mark.parametrize("service", SERVICES, ids=lambda one: one.name)
def test_an_address_that_lacks_something_is_shown_one_that_is_right(service):
    with pytest.raises(AddressRefused) as refused:
        KIND.check(f"{service.schemes[0]}://")

    assert f"an address of {service.name}. It must look like {service.example}." in str(
        refused.value
    )


def test_connectors_of_teams_are_said_to_be_switched_off():
    with pytest.raises(AddressRefused, match="Make a workflow in Teams"):
        KIND.check("msteams://team/a/b/c")


@pytest.mark.parametrize("address", ALL)
@pytest.mark.parametrize(
    "key",
    ["template", "to", "redirect", "verify", "attach", "format", "+X-Header", ":token", "image"],
)
def test_a_part_of_the_query_that_is_not_needed_is_refused_by_its_name(address, key):
    query = f"{quote(key)}=file%3A%2F%2F%2Fetc%2Fpasswd"
    with pytest.raises(AddressRefused) as refused:
        KIND.check(f"{address}{'&' if '?' in address else '?'}{query}")

    assert str(refused.value).startswith(f"Remove ?{key}= from the address")


def test_what_may_stand_in_a_query_has_to_look_right():
    with pytest.raises(AddressRefused, match=r"The value of \?region= in this address"):
        KIND.check(f"{PAGERDUTY}?region=moon")


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("ntfys://10.0.0.1/topic", "10.0.0.1 is not on the public internet"),
        ("mmosts://192.168.1.1/token", "192.168.1.1 is not on the public internet"),
        ("matrixs://token@169.254.169.254/!a:b", "169.254.169.254 is not on the public"),
        ("workflows://10.0.0.1/abc/signature", "10.0.0.1 is not on the public internet"),
        ("ntfy://ntfy.example.org/topic", "Plain http is allowed for this machine only"),
        ("mmost://10.0.0.1/token", "Plain http is allowed for this machine only"),
        ("matrix://token@matrix.example.org/!a:b", "Plain http is allowed"),
        ("ntfys://ntfy.example.org:99999/topic", "The port in this address is not valid"),
        ("ntfys://ntfy.example.org/" + "a" * 500, "at most 500 plain characters"),
        ("ntfys://ntfy.example.örg/topic", "at most 500 plain characters"),
    ],
)
def test_a_host_that_may_not_be_called_is_refused(address, said):
    with pytest.raises(AddressRefused, match=said):
        KIND.check(address)


def test_a_network_that_a_setting_names_is_allowed(settings):
    settings.WEBHOOK_NETWORKS = ["10.1.0.0/16"]

    KIND.check("ntfys://10.1.2.3/topic")


@pytest.mark.parametrize("address", WHOLE)
def test_what_is_shown_of_an_address_holds_no_secret(address):
    shown = KIND.where(address)

    assert shown.startswith(place(address).service.name)
    assert SECRET not in shown
    assert "approvals" not in shown  # a topic of ntfy is as good as a password


def test_of_a_house_s_own_service_the_host_is_shown():
    assert KIND.where(NTFY) == "ntfy at ntfy.example.org"
    assert KIND.where("mmost://localhost:8065/token") == "Mattermost at localhost:8065"
    assert KIND.where(SLACK) == "Slack"


def test_no_plugin_reads_a_file_or_follows_a_redirect():
    from dashboard.notifications.channels.chat.child import made  # noqa: PLC0415

    for address in ALL:
        read = place(address)
        plugin = made(read.service.plugin, read.options)
        assert (plugin.redirects, plugin.retry) == (False, 0)
        assert not getattr(plugin, "template", None)
        assert plugin.asset.plugin_paths == []
