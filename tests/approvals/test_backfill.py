"""Requests of an older version get their headlines in the background, beside traffic.

``old_rows.json`` was written by the version before headlines: content, report, title and line.
"""

import json
import re
from html import unescape
from pathlib import Path

import pytest
from django.core.management import call_command

from approval_client.wire import Kind, digest, parse_json
from dashboard.approvals import guards, services
from dashboard.approvals.models import (
    ApprovalRequest,
    Inspection,
    JudgementGrounds,
    RequestHeadline,
)
from dashboard.approvals.rules.judgement import explained
from dashboard.approvals.rules.old_trace import grounds_of_trace
from dashboard.approvals.services import Backfill, backfill, left_to_backfill
from dashboard.inspection.sentences import SENTENCES
from dashboard.policies.judgements.grounds import Says
from dashboard.policies.judgements.wording import plainly
from dashboard.policies.rules.demands import Required
from dashboard.web.desk import queue
from dashboard.web.drawing.summary import headline_of, summarized
from tests import make

OLD = json.loads(Path(__file__).with_name("old_rows.json").read_text())


TRACES = json.loads(Path(__file__).with_name("old_traces.json").read_text())
"""Judgements of random policies: trace, and what the page said of it."""


def plain(html):
    return unescape(re.sub(r"<[^>]+>", "", html))


def older(approval, row=None):
    """Make a request what an older version left: without a headline, its report in sentences."""
    guards.remove()
    RequestHeadline.objects.filter(approval=approval).delete()
    if row:
        fields = {"kind": row["kind"], "content": row["content"]}
        fields["digest"] = digest(Kind(row["kind"]), parse_json(row["content"]))
        ApprovalRequest.objects.filter(pk=approval.pk).update(**fields)
        Inspection.objects.filter(approval=approval).update(report=row["report"])
    guards.install()
    return approval


def walk():
    made = Backfill()
    while not made.is_over:
        made.step()
    return made


def read(approval):
    return ApprovalRequest.objects.get(pk=approval.pk)


@pytest.mark.parametrize("row", OLD, ids=[row["title"] for row in OLD])
def test_an_old_request_is_titled_as_it_was(token, row):
    approval = older(make.pending(token), row)

    walk()

    summary = summarized(row["kind"], headline_of(read(approval)))
    assert (plain(summary.title), plain(summary.line)) == (row["title"], row["line"])


def test_old_reports_hold_sentences_and_no_codes():
    kept = [finding for row in OLD for finding in json.loads(row["report"])["findings"]]

    assert all("sentence" in finding and "code" not in finding for finding in kept)
    assert len(kept) > 20
    assert SENTENCES.keys() >= {"gains-rights", "installs", "runs-tests", "stops-processes"}


def test_pending_requests_come_first_and_of_the_others_the_newest(token, alice, monkeypatch):
    monkeypatch.setattr(backfill, "BATCH", 1)
    first, second, waits = (make.pending(token) for _ in range(3))
    for approval in (first, second):
        make.decided(approval, alice)
    for approval in (first, second, waits):
        older(approval)
    made, order = Backfill(), []

    while not made.is_over:
        before = set(RequestHeadline.objects.values_list("approval", flat=True))
        made.step()
        order += set(RequestHeadline.objects.values_list("approval", flat=True)) - before

    assert order == [waits.pk, second.pk, first.pk]
    assert made.made == 3


def test_it_may_be_stopped_and_begun_again(token, monkeypatch):
    monkeypatch.setattr(backfill, "BATCH", 2)
    for _ in range(5):
        older(make.pending(token))

    Backfill().step()
    assert left_to_backfill() == 3
    walk()

    assert left_to_backfill() == 0


def test_of_two_that_make_the_same_one_inserts_it(token, monkeypatch):
    approval = older(make.pending(token))
    inserting = RequestHeadline.objects.bulk_create

    def another_first(rows, **more):
        RequestHeadline.objects.bulk_create = inserting
        walk()
        return inserting(rows, **more)

    monkeypatch.setattr(RequestHeadline.objects, "bulk_create", another_first)
    Backfill().step()

    assert RequestHeadline.objects.filter(approval=approval).count() == 1


def test_an_old_edit_gets_one_too(token, alice):
    approval = make.pending(token, accepts_edits=True)
    edit = make.edited(approval, alice, content={"code": "y = 2"})
    guards.remove()
    RequestHeadline.objects.filter(edit=edit).delete()
    guards.install()

    walk()

    assert headline_of(edit.approval.edits.get()).lines == 1


def test_what_an_older_server_asks_beside_is_found_while_it_is_pending(token):
    made = walk()
    approval = older(make.pending(token))

    assert made.step() == 1
    assert read(approval).headline


def disagreements():
    return [one.said for _, found in services.compare() for one in found]


def test_what_is_made_later_is_what_the_log_named(token):
    older(make.pending(token))
    assert disagreements() != []

    walk()

    assert disagreements() == []


def test_a_row_of_the_queue_says_more_as_soon_as_it_is_made(token, browser_row):
    approval = older(make.pending(token))

    assert browser_row(approval) == "Code"
    walk()
    assert browser_row(approval) == "Code, 1 line: not fully inspected"


@pytest.fixture
def browser_row():
    """Return the title of a request's row in the queue."""

    def title(approval):
        [content] = queue._contents([(approval.pk, approval.version)])
        return content.summary.title

    return title


def test_the_command_says_how_far_it_came(token, capsys):
    for _ in range(3):
        older(make.pending(token))

    call_command("backfill")
    call_command("backfill")

    assert capsys.readouterr().out.splitlines() == [
        "Done. 3 rows were made.",
        "Nothing is missing. There is nothing to do.",
    ]


@pytest.mark.parametrize("row", TRACES, ids=range(len(TRACES)))
def test_an_old_judgement_is_explained_as_it_was(row):
    grounds = grounds_of_trace(Kind(row["kind"]), row["effect"], row["trace"])
    reviewed = row["effect"] == "review"

    sentences = plainly(grounds, Required.from_json(row["demands"]) if reviewed else None)

    # Where a rule speaks, under one policy or another, it is no longer said that none does.
    left_out = set(row["plain"]) - set(sentences)
    assert set(sentences) <= set(row["plain"])
    assert all(sentence.startswith("No rule covers") for sentence in left_out)


def test_an_old_judgement_gets_its_grounds(token, alice):
    make.in_force({"name": "Two", "effect": "review", "demands": {"approvals": 2}})
    approval = make.pending(token)
    before = explained(approval.judgements.get())
    guards.remove()
    JudgementGrounds.objects.all().delete()
    guards.install()
    assert explained(approval.judgements.get()).sentences == list(before.trace)

    walk()

    after = explained(approval.judgements.get())
    assert after.grounds == before.grounds
    assert after.sentences == before.sentences
    assert left_to_backfill() == 0


def test_old_edits_get_their_grounds(token, alice):
    approval = make.pending(token, accepts_edits=True)
    edit = make.edited(approval, alice, content={"code": "y = 2"})
    kept = explained(edit).grounds
    guards.remove()
    JudgementGrounds.objects.filter(edit=edit).delete()
    guards.install()

    walk()

    assert explained(edit.approval.edits.get()).grounds == kept


def test_a_judgement_made_from_one_without_grounds_has_none_until_it_is_backfilled(token):
    approval = make.pending(token)
    guards.remove()
    JudgementGrounds.objects.all().delete()
    guards.install()
    make.in_force({"name": "Two", "effect": "review", "demands": {"approvals": 2}})

    services.judge_pending_again()
    newest = approval.judgements.latest("id")
    assert explained(newest).grounds is None
    walk()

    newest = approval.judgements.latest("id")
    assert explained(newest).grounds.saying(Says.ASKS) == ["Two"]
