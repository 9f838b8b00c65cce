"""What lists say of a request is made once, kept, and missing where an older version asked."""

import pytest
from django.utils import timezone

from approval_client.wire import Kind
from dashboard import sandbox
from dashboard.approvals import guards
from dashboard.approvals.models import ApprovalRequest, RequestHeadline
from dashboard.approvals.queries.request import whole, with_headlines
from dashboard.approvals.rules import bulk
from dashboard.approvals.rules.queue import QueueFilter, filtered
from dashboard.inspection.findings import Finding, Report, Severity
from dashboard.inspection.headline import Headline
from dashboard.policies import inspections
from dashboard.web.drawing.summary import title_of
from tests import make

CALL = {"tool": "read", "arguments": {"path": "/a"}}
LONG = {"code": "import os\n" + "x = 1\n" * 400 + "os.remove('a')", "language": "python"}


def call(token, **more):
    return make.pending(token, kind=Kind.TOOL_CALL, capability="read", content=CALL, **more)


def without_headline(approval):
    """Leave a request as an older version left it."""
    guards.remove()
    RequestHeadline.objects.filter(approval=approval).delete()
    guards.install()
    return ApprovalRequest.objects.get(pk=approval.pk)


def listed(severity):
    pending = ApprovalRequest.objects.pending()
    return set(filtered(pending, QueueFilter(severity=severity)).values_list("pk", flat=True))


def test_a_request_is_kept_with_what_lists_say_of_it(token):
    kept = make.pending(token, content=LONG).headline

    headline = Headline.from_json("code", kept.facts)
    assert (kept.severity, kept.has_doubts, kept.finding) == (3, False, "file-delete")
    assert (headline.lines, headline.languages) == (402, ("python",))
    assert headline.line.text == "os.remove('a')"


def test_an_edit_has_a_headline_of_its_own(token, alice):
    approval = make.pending(token, accepts_edits=True)
    edit = make.edited(approval, alice, content={"code": "y = 2\nz = 3"})

    assert Headline.from_json("code", edit.headline.facts).lines == 2
    assert edit.headline.approval is None


def test_a_headline_never_changes(token):
    kept = make.pending(token).headline

    with pytest.raises(Exception, match="never change"):
        RequestHeadline.objects.filter(pk=kept.pk).update(severity=-1)


def test_a_request_without_a_headline_counts_as_high_in_filters(token, monkeypatch):
    make.inspected(monkeypatch, Report())
    known, older = call(token), without_headline(call(token))

    assert listed(Severity.HIGH) == {older.pk}
    assert listed(None) == {known.pk, older.pk}


def test_a_request_without_a_headline_is_titled_by_its_kind(token):
    assert title_of(without_headline(call(token))) == "Tool call"


def test_a_request_without_a_headline_is_answered_alone(token, alice, monkeypatch):
    make.inspected(monkeypatch, Report())
    known, older = call(token), without_headline(call(token))

    sorted_out = bulk.sort_out([known.pk, older.pk], alice, timezone.now())

    assert [one.approval.pk for one in sorted_out.alike] == [known.pk]
    assert [one.id for one in sorted_out.alone] == [older.pk]


def test_a_headline_that_cannot_be_read_counts_as_missing(token):
    approval = call(token)
    guards.remove()
    RequestHeadline.objects.filter(approval=approval).update(facts='{"steps":')
    guards.install()

    assert title_of(ApprovalRequest.objects.get(pk=approval.pk)) == "Tool call"


def test_the_gravest_finding_leads(token, monkeypatch):
    findings = (
        Finding("network", Severity.LOW, 1, 1, "uses-network"),
        Finding("file-delete", Severity.HIGH, 2, 2, "file-delete", about="os.remove"),
    )
    make.inspected(monkeypatch, Report(findings, ("python",)))

    assert make.pending(token).headline.finding == "file-delete"


def test_a_retry_makes_no_second_headline(token):
    first = make.pending(token, key="k")
    again = make.pending(token, key="k")

    assert first.pk == again.pk
    assert RequestHeadline.objects.count() == 1


def test_those_of_many_are_read_at_once(token, django_assert_num_queries):
    approval = make.pending(token)
    [read] = with_headlines(whole([approval.pk]))

    with django_assert_num_queries(0):
        assert title_of(read)


def test_what_could_not_be_inspected_is_still_told_from_others(monkeypatch):
    def too_slow(_):
        raise sandbox.DeadlineExceeded

    monkeypatch.setattr(inspections, "_inspected", too_slow)

    report, headline = inspections.inspect_and_head(Kind.CODE, LONG)

    assert report.names == {"too-slow", "file-delete"}
    assert (headline.severity, headline.has_doubts) == (Severity.HIGH, True)
    assert (headline.lines, headline.line.text) == (402, "os.remove('a')")


@pytest.mark.parametrize("word", ["try", "begin", "return", ""])
def test_lines_of_blanks_do_not_cost_a_request_what_was_found_in_it(word):
    blanks = f"{word}{' ' * 7_900}x\n"

    report, headline = inspections.inspect_and_head(
        Kind.CODE, {"code": f"{blanks * 8}rm -rf /data", "language": "bash"}
    )

    assert "recursive-delete" in report.names
    assert headline.leading.name == "recursive-delete"


@pytest.mark.parametrize(
    "kept",
    [
        *("", "null", "5", '"lines"', "[]", '{"more":1}', '{"lines":"x"}', '{"lines":true}'),
        *('{"steps":1.5}', '{"has_doubts":"no"}', '{"severity":"odd"}', '{"line":"x"}'),
        *('{"line":["x",[["a",1]]]}', '{"found":[1]}', '{"told":[["a"]]}', '{"leading":["a",1]}'),
    ],
)
def test_what_is_no_headline_is_refused(kept):
    with pytest.raises((KeyError, TypeError, ValueError)):
        Headline.from_json("code", kept)


def test_what_goes_wrong_with_a_headline_loses_nothing_that_was_found(monkeypatch):
    monkeypatch.setattr(inspections, "_HEADER", "dashboard.inspection.inspector.nothing")

    report, headline = inspections.inspect_and_head(Kind.CODE, LONG)

    assert report.names == {"file-delete"}
    assert (headline.severity, headline.leading.name) == (Severity.HIGH, "file-delete")
