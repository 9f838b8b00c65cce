"""Runs the demo agent beside the server."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from django.conf import settings

from dashboard.accounts import tokens
from dashboard.accounts.models import Agent, AgentToken
from dashboard.accounts.services.agents import create_agent
from dashboard.approvals.services import revoke_token
from dashboard.audit.services import OPERATOR
from dashboard.notifications.queries import house_channels
from dashboard.notifications.services import Wish, add_channel

DEMO_AGENT = "demo-agent"
DEMO_CHANNEL = "Demo mail"
LIFE = timedelta(days=1)
ENDS_WITHIN_S = 10


def issue_demo_token() -> tuple[AgentToken, str]:
    """Return a new token of the demo agent; earlier ones end, and what they asked is closed.

    Raises:
        AccountError: Somebody deactivated the demo agent.
    """
    agent = Agent.objects.filter(name=DEMO_AGENT).first()
    agent = agent or create_agent(name=DEMO_AGENT, by=OPERATOR)
    for earlier in AgentToken.objects.filter(agent=agent, revoked_at=None):
        revoke_token(earlier, by=OPERATOR)
    return tokens.issue(agent, by=OPERATOR, life=LIFE)


_FILES = "django.core.mail.backends.filebased.EmailBackend"


def demo_channel() -> str:
    """Have people told by mail that is written to files, where no mail server is set.

    Returns:
        The folder of the files; empty if mail is sent.
    """
    if "default" in settings.MAILERS:
        return ""
    folder = str(settings.DATA_DIR / "mail")
    settings.MAILERS = {"default": {"BACKEND": _FILES, "OPTIONS": {"file_path": folder}}}
    if not house_channels().exists():
        wish = Wish(name=DEMO_CHANNEL, address="reviewers@example.org")
        add_channel(kind="email", wish=wish, by=None, auth="")
    return folder


@contextmanager
def demo_agent(token: AgentToken, secret: str, *, insecure_http: bool) -> Iterator[None]:
    """Have the demo agent ask as long as the block runs, and leave nothing pending."""
    environment = {**os.environ, "DASHBOARD_URL": settings.PUBLIC_URL, "DASHBOARD_TOKEN": secret}
    command = [sys.executable, "-m", "dashboard.management.demo"]
    command += ["--insecure-http"] if insecure_http else []
    process = subprocess.Popen(command, env=environment, cwd=settings.BASE_DIR)  # noqa: S603 - ours
    try:
        yield
    finally:
        _end(process)
        revoke_token(token, by=OPERATOR)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(timeout=ENDS_WITHIN_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
