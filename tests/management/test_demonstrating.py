"""``start --demo`` runs the demo agent beside the server and leaves nothing of it."""

import subprocess
import sys
from uuid import uuid4

import pytest
from asgiref.sync import async_to_sync
from django.utils import timezone

from approval_client.wire import Status
from dashboard.accounts.errors import Retired
from dashboard.accounts.services.agents import retire
from dashboard.accounts.tokens import find
from dashboard.approvals.models import ApprovalRequest
from dashboard.audit.models import AuditEntry
from dashboard.management import demonstrating
from dashboard.management.demonstrating import (
    DEMO_AGENT,
    demo_agent,
    demo_channel,
    issue_demo_token,
)
from dashboard.notifications.channels.email import KIND
from dashboard.notifications.models import Channel, Message, NoticeEvent
from dashboard.notifications.services import Wish, add_channel
from dashboard.notifications.services.telling import notices_of
from tests import make

pytestmark = pytest.mark.django_db
SLEEPS = [sys.executable, "-c", "import time; time.sleep(60)"]
DEAF = [
    *SLEEPS[:2],
    "import signal, time; signal.signal(15, lambda *_: 0); print(1, flush=True); time.sleep(60)",
]


@pytest.fixture
def started(monkeypatch):
    """Start something else instead of the demo; returns what was asked for."""

    def popen(command, **options):
        process = real([*started.command], stdout=subprocess.PIPE)
        started.calls.append((command, options["env"], process))
        return process

    def started(): ...

    started.command, started.calls, real = SLEEPS, [], subprocess.Popen
    monkeypatch.setattr(demonstrating.subprocess, "Popen", popen)
    yield started
    for _, _, process in started.calls:
        process.stdout.close()


def test_the_demo_is_told_where_to_ask_and_as_whom(started, settings):
    settings.PUBLIC_URL = "http://127.0.0.1:9000"
    with demo_agent(*issue_demo_token(), insecure_http=False):
        command, environment, _ = started.calls[0]
        token = find(environment["DASHBOARD_TOKEN"])

    assert command == [sys.executable, "-m", "dashboard.management.demo"]
    assert environment["DASHBOARD_URL"] == "http://127.0.0.1:9000"
    assert (token.agent.name, token.expires_at is None) == (DEMO_AGENT, False)


def test_it_is_told_where_plain_http_was_insisted_on(started):
    with demo_agent(*issue_demo_token(), insecure_http=True):
        assert started.calls[0][0][-1] == "--insecure-http"


def test_it_ends_with_the_server_and_its_token_with_it(started):
    token, secret = issue_demo_token()
    with demo_agent(token, secret, insecure_http=False):
        assert find(secret) == token

    assert started.calls[0][2].returncode == -15
    assert find(secret) is None


def test_what_it_could_not_withdraw_is_closed(started):
    token, secret = issue_demo_token()
    with demo_agent(token, secret, insecure_http=False):
        approval = make.pending(token)

    assert ApprovalRequest.objects.get(pk=approval.pk).status == Status.CANCELLED


def test_one_that_does_not_listen_is_killed(started, monkeypatch):
    monkeypatch.setattr(demonstrating, "ENDS_WITHIN_S", 0.02)
    started.command = DEAF
    with demo_agent(*issue_demo_token(), insecure_http=False):
        started.calls[0][2].stdout.readline()

    assert started.calls[0][2].returncode == -9


def test_a_new_token_ends_the_one_of_a_server_that_was_killed():
    token, secret = issue_demo_token()
    approval = make.pending(token)

    issue_demo_token()

    assert find(secret) is None
    assert ApprovalRequest.objects.get(pk=approval.pk).status == Status.CANCELLED


def test_a_retired_demo_agent_is_not_brought_back():
    token, _ = issue_demo_token()
    retire(token.agent, by=make.BY)

    with pytest.raises(Retired, match="The agent 'demo-agent' is deactivated"):
        issue_demo_token()


def test_where_no_mail_is_sent_it_is_written_to_files(settings, tmp_path):
    settings.MAILERS, settings.DATA_DIR = {}, tmp_path

    assert demo_channel() == str(tmp_path / "mail")
    channel = Channel.objects.get()
    assert (channel.name, channel.kind, channel.changed_by) == ("Demo mail", "email", None)
    added = AuditEntry.objects.get(action="channel.added")
    assert (added.actor, added.subject) == ("operator", "channel:Demo mail")
    sent = async_to_sync(KIND.send)(
        KIND.parcel(channel, notices_of(channel, [a_test(channel)]), uuid4())
    )
    assert (sent.taken, len(list((tmp_path / "mail").iterdir()))) == (True, 1)


def a_test(channel):
    return Message(channel=channel, event=NoticeEvent.TEST, seq=0, made_at=timezone.now())


def test_where_mail_is_sent_nothing_is_added(settings):
    settings.MAILERS = {"default": {"BACKEND": "django.core.mail.backends.locmem.EmailBackend"}}

    assert (demo_channel(), Channel.objects.count()) == ("", 0)


def test_channels_that_are_there_are_left_alone(settings, tmp_path, ada):
    wish = Wish(name="Ops", address="https://host.example.org/hook")
    add_channel(kind="webhook", wish=wish, by=ada, auth="session:password")
    settings.MAILERS, settings.DATA_DIR = {}, tmp_path

    demo_channel()

    assert Channel.objects.get().name == "Ops"
