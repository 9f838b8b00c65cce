"""People are told without an open page, also while servers are killed and while several run."""

import json
import re
import time
from collections import defaultdict
from contextlib import ExitStack, contextmanager
from email.utils import parseaddr
from uuid import UUID

import pytest
from standardwebhooks.webhooks import Webhook

from tests.notifications.host import hosted
from tests.notifications.inbox import Inbox, add_channels, mail_server
from tests.serving import AGENTS, serve

WITHIN_S = 5  # that the product promises
GIVES_UP_S = 30
SECRETS = [f"SECRET{number:02}" for number in range(20)]
AT_ONCE = (
    "UPDATE dashboard_message SET due_at = made_at "
    "WHERE state = 'waiting' AND event = 'approval.submitted'"
)
UNTOLD = (
    "SELECT approval_id FROM dashboard_message "
    "WHERE state <> 'delivered' AND event = 'approval.submitted'"
)
MAILS = (
    "SELECT DISTINCT batch FROM dashboard_message JOIN dashboard_channel "
    "ON channel_id = dashboard_channel.id "
    "WHERE kind = 'email' AND event = 'approval.submitted'"
)
NOT_QUIET = "UPDATE dashboard_channel SET quiet_until = NULL"
SHOWN = """
from dashboard.notifications.models import Channel
from dashboard.notifications.secrets import shown
print(shown(Channel.objects.get(kind="webhook").salt))
"""


class Told:
    """Where a house is told: a mail server, a chat, an on-call service and a program."""

    def __init__(self, inbox, chat, ntfy, program):
        self.inbox, self.chat, self.ntfy, self.program = inbox, chat, ntfy, program

    def everything(self):
        """All that arrived anywhere, as text."""
        mails = [mail.as_string() for mail in self.inbox.mails]
        calls = [call for host in self.hosts for call in host.calls]
        return "\n".join([*mails, *(f"{c.path}{c.headers}{c.body.decode()}" for c in calls)])

    @property
    def hosts(self):
        return [self.chat, self.ntfy, self.program]

    def programs(self):
        """The ids of requests that the program was told of, with the ids of the messages."""
        told = defaultdict(list)
        for call in self.program.calls:
            event = json.loads(call.body)
            if event["type"] == "approval.submitted":
                told[event["data"]["id"]].append(call.headers["webhook-id"])
        return told

    def mails(self):
        """The ids of messages, with the requests that each mail of it named."""
        told = defaultdict(list)
        for mail in self.inbox.mails:
            text = mail.get_body(("plain",)).get_content()
            requests = frozenset(re.findall(r"/approvals/([0-9a-f-]{36})", text))
            told[mail["Message-ID"]].append(requests)
        return told


@contextmanager
def telling(*kinds, **options):
    """Run a dashboard whose house is told at receivers of the loopback address."""
    with ExitStack() as ends:
        inbox = Inbox()
        port = ends.enter_context(mail_server(inbox))
        told = Told(inbox, *(ends.enter_context(hosted(200)) for _ in range(3)))
        environment = {
            "WEBHOOK_NETWORKS": "127.0.0.0/8",
            "EMAIL_URL": f"smtp://127.0.0.1:{port}",
        }
        house = ends.enter_context(serve(environment=environment, **options))
        at = {
            "email": "ops@example.org",
            "mattermost": told.chat.url.replace("http", "mmost").replace("/hook", "/" + "a" * 26),
            "ntfy": told.ntfy.url.replace("http", "ntfy").replace("/hook", "/topic"),
            "webhook": told.program.url,
        }
        chats = [("chat", at[kind]) for kind in ("mattermost", "ntfy") if kind in kinds]
        others = [(kind, at[kind]) for kind in ("email", "webhook") if kind in kinds]
        for number, channel in enumerate([*others, *chats]):
            add_channels(house, channel)
            house.rows(
                f"UPDATE dashboard_channel SET name = 'channel {number}' WHERE name = ?",
                channel[0],
            )
        yield house, told


def until(happened, within_s=GIVES_UP_S):
    gives_up_at = time.monotonic() + within_s
    while not happened() and time.monotonic() < gives_up_at:
        time.sleep(0.02)
    return happened()


def with_secrets():
    """What an agent asks that holds twenty secrets, in all that it can write."""
    return {
        "kind": "tool_call",
        "capability": SECRETS[0],
        "content": {
            "tool": SECRETS[1],
            "arguments": {name: name for name in SECRETS[2:14]},
        },
        "objective": " ".join(SECRETS[14:17]),
        "evidence": {"safety_concerns": [SECRETS[17]], "analysis_details": SECRETS[18]},
        "run_id": SECRETS[19],
    }


def test_with_no_page_open_everybody_is_told_within_five_seconds_and_no_secret():
    with telling("email", "mattermost", "ntfy", "webhook") as (house, told):
        with house.agent() as agent:
            approval = house.submit(agent, **with_secrets())
        receivers = [told.inbox.mails, *(host.calls for host in told.hosts)]

        assert until(lambda: all(receivers), WITHIN_S)
        sent = told.everything()
        assert sent.count(f"/approvals/{approval['id']}") >= len(receivers)
        assert [secret for secret in SECRETS if secret.lower() in sent.lower()] == []
        assert parseaddr(told.inbox.mails[0]["To"])[1] == "ops@example.org"


def test_a_library_for_standard_webhooks_takes_what_is_sent():
    with telling("webhook") as (house, told):
        secret = house.manage("shell", "-v0", "-c", SHOWN).stdout.strip()
        with house.agent() as agent:
            approval = house.submit(agent)
        assert until(lambda: told.program.calls)

        [call] = told.program.calls
        event = Webhook(secret).verify(call.body, {k.lower(): v for k, v in call.headers.items()})
        assert event["data"]["id"] == approval["id"]


def test_a_scanner_that_opens_the_link_changes_nothing():
    with telling("email") as (house, told):
        with house.agent() as agent:
            approval = house.submit(agent)
            assert until(lambda: told.inbox.mails)
            text = told.inbox.mails[0].get_body(("plain",)).get_content()
            link = re.search(r"\S+/approvals/\S+", text)[0].removeprefix(house.url)
            for name in ("alice", "bob"):  # whose session a scanner in the browser may have
                with house.browser(name) as scanner:
                    assert scanner.get(link).status_code == 200
            after = agent.get(f"/api/v1/approvals/{approval['id']}").json()

        assert (after["status"], after["version"]) == ("pending", approval["version"])
        assert house.rows("SELECT count(*) FROM dashboard_view") == [(0,)]


def test_killed_while_messages_are_under_way_none_is_lost_and_repeats_have_one_id(rounds):
    with telling("email", "webhook") as (house, told):
        told.program.slow_s = 0.1
        asked = []
        for number in range(rounds):
            with house.agent(number % AGENTS) as agent:
                asked += [house.submit(agent)["id"] for _ in range(3)]
            time.sleep(1.2)  # a part of them is on its way
            house.server.kill()
            house.rows(AT_ONCE)
            house.rows(NOT_QUIET)
            house.start()
        told.program.slow_s = 0

        def all_told():
            house.rows(NOT_QUIET)
            house.rows(AT_ONCE)
            return set(told.programs()) >= set(asked) and not house.rows(UNTOLD)

        assert until(all_told)
        told_by = {f"<{UUID(str(pk))}@127.0.0.1>" for (pk,) in house.rows(MAILS)}
        assert set(told.mails()) >= told_by
        assert {len(set(ids)) for ids in told.programs().values()} == {1}
        assert {len(set(sent)) for sent in told.mails().values()} == {1}


@pytest.mark.usefixtures("takes_long")
def test_killed_while_a_chat_is_called_it_is_told_again_by_the_next_server():
    with telling("mattermost") as (house, told):
        told.chat.held.clear()
        with house.agent() as agent:
            approval = house.submit(agent)
        assert until(lambda: told.chat.calls)  # and is not answered
        house.server.kill()
        told.chat.held.set()
        house.rows(AT_ONCE)
        house.rows(NOT_QUIET)
        house.start()

        assert until(lambda: not house.rows(UNTOLD))
        assert len(told.chat.calls) > 1
        assert all(approval["id"] in call.body.decode() for call in told.chat.calls)


def test_two_servers_and_a_worker_tell_each_request_once():
    with telling("email", "webhook", processes=2, worker=True) as (house, told):
        count = 8  # a mail lists ten
        with house.agent() as agent:
            asked = sorted(house.submit(agent)["id"] for _ in range(count))

        assert until(lambda: len(told.programs()) >= count)
        assert until(lambda: sum(len(sent[0]) for sent in told.mails().values()) >= count)
        time.sleep(1.5)  # whoever would be told twice would be now
        assert sorted(told.programs()) == asked
        assert {len(ids) for ids in told.programs().values()} == {1}
        named = [one for sent in told.mails().values() for mail in sent for one in mail]
        assert sorted(named) == asked
        assert house.errors() == []


@pytest.mark.usefixtures("takes_long")
def test_what_ends_before_it_is_sent_is_told_to_nobody():
    with telling("webhook") as (house, told), house.agent() as agent, house.browser() as browser:
        told.program.held.clear()
        first = house.submit(agent)
        assert until(lambda: told.program.calls)  # and is being answered
        second = house.submit(agent)
        assert house.decide(browser, second).status_code == 303
        third = house.submit(agent)
        assert agent.post(f"/api/v1/approvals/{third['id']}/cancel", json={}).is_success
        told.program.held.set()
        last = house.submit(agent)

        assert until(lambda: last["id"] in told.programs())
        assert set(told.programs()) == {first["id"], last["id"]}
