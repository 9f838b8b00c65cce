"""``start`` keeps heads of the log in a second place, where a setting says so."""

import asyncio
import json
from contextlib import suppress

import pytest

from dashboard.audit.heads import Head, keeping_problem, kept_heads
from dashboard.management import background
from dashboard.notifications.sending import Sent

FIRST, SECOND = Head(1, "a" * 64), Head(2, "b" * 64)


class Hub:
    async def work(self, work):
        return work()


@pytest.fixture
def heads(monkeypatch, settings):
    """Have these be the head, one after the other; returns a function that keeps them."""
    settings.AUDIT_HEADS_EVERY_S = 0.01
    monkeypatch.setattr(background, "current_hub", Hub)

    def keep(*heads):
        left = iter(heads)
        monkeypatch.setattr(background, "_head", lambda: next(left, heads[-1]))

        async def some_time():
            with suppress(TimeoutError):
                await asyncio.wait_for(background.keep_heads(), 0.2)

        asyncio.run(some_time())

    return keep


def test_each_new_head_is_a_line_in_the_file(heads, settings, tmp_path):
    settings.AUDIT_HEADS = str(tmp_path / "heads")
    heads(FIRST, FIRST, SECOND)

    lines = (tmp_path / "heads").read_text().splitlines()
    assert [Head.parse(line) for line in lines] == [FIRST, SECOND]


def test_a_host_is_sent_the_head(heads, settings, monkeypatch):
    settings.AUDIT_HEADS = "https://heads.example/keep"
    sent = []

    async def send(url, headers, body):
        sent.append((url, json.loads(body)))
        return Sent(taken=True, said="")

    monkeypatch.setattr(background, "send", send)
    heads(FIRST, FIRST)

    told = {"dashboard": settings.PUBLIC_URL, "seq": 1, "hash": "a" * 64}
    assert sent == [("https://heads.example/keep", told)]


def test_what_a_host_did_not_take_is_sent_again(heads, settings, monkeypatch, caplog):
    settings.AUDIT_HEADS = "https://heads.example/keep"
    answers = iter([Sent(taken=False, said="It answered 500."), Sent(taken=True, said="")])
    sent = []

    async def send(*_):
        sent.append(1)
        return next(answers)

    monkeypatch.setattr(background, "send", send)
    heads(FIRST)

    assert len(sent) == 2
    assert "The head of the log was not kept at AUDIT_HEADS. It answered 500" in caplog.text


def test_nothing_is_kept_where_no_setting_says_so(heads, settings):
    settings.AUDIT_HEADS = ""

    heads(FIRST)  # and it ends by itself


def test_a_line_that_a_crash_left_unfinished_does_not_count(heads, settings, tmp_path):
    settings.AUDIT_HEADS = str(tmp_path / "heads")
    (tmp_path / "heads").write_text(f"{FIRST}\n2026-11-23T00:00:00+00:00 2:bb")
    heads(SECOND)

    assert kept_heads() == {1: {FIRST.hash}, 2: {SECOND.hash}}


def test_while_heads_are_not_kept_that_is_said(heads, settings, tmp_path, monkeypatch):
    settings.AUDIT_HEADS = str(tmp_path / "gone" / "heads")
    heads(FIRST)
    assert keeping_problem() == f"The file {settings.AUDIT_HEADS} cannot be written to."

    settings.AUDIT_HEADS = str(tmp_path / "heads")  # which the next head makes
    heads(FIRST)
    assert keeping_problem() == ""

    settings.AUDIT_HEADS = "https://heads.example/keep"
    answers = [Sent(taken=True, said=""), Sent(taken=False, said="It answered 500.")]

    async def send(*_):
        return answers.pop()

    monkeypatch.setattr(background, "send", send)
    monkeypatch.setattr(settings, "AUDIT_HEADS_EVERY_S", 9)
    heads(FIRST)
    assert keeping_problem().endswith("It answered 500.")
    heads(FIRST)
    assert keeping_problem() == ""
