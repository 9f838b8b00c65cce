"""What an agent adds to hide something gets it neither past a rejection nor to fewer people."""

from contextlib import nullcontext

import pytest

from approval_client.wire import Kind, canonical_json
from dashboard import sandbox
from dashboard.inspection.dangers import MOST_LINES
from dashboard.inspection.findings import Finding, Report, Severity, Unseen, in_doubt
from dashboard.inspection.inspector import inspect_content, skim
from dashboard.inspection.sentences import SENTENCES
from dashboard.policies import inspections
from dashboard.policies.evaluate import Effect, evaluate
from dashboard.policies.judgements.matcher import Matcher
from dashboard.policies.judgements.wording import NOT_APPROVED, NOT_REJECTED, TREATED
from dashboard.policies.loosenings import loosenings
from dashboard.policies.policy import Policy
from dashboard.policies.rules.demands import Circle
from dashboard.policies.rules.facts import Facts
from tests.policies.ask import NOON, READS, WRITES, call, policy, question, rule, silent

WRITE = "import epics\nepics.PV('SR:C01:HV').put(1)\n"
PADDING = {
    "nothing": "",
    "a long comment": "#" * 66_000,
    "brackets that do not close": "(" * 90,
    "brackets in brackets": "x = " + "(" * 250 + "1" + ")" * 250,
    "a long chain": "x = a" + ".b" * 3000,
    "what does not parse": ")(\n",
    "code in code, many times": "exec(\"epics.caput('x', 1)\")\n" + "exec('pass')\n" * 30,
}
HIDDEN = WRITE.replace("put(1)", "get()")  # what the last padding goes with
NEVER = {"findings": {"names": ["control-system-write"]}}
BY_TWO = {"approvals": 2, "groups": ["operators"], "reason_required": True}


def contents(code):
    return {
        "code": (Kind.CODE, {"code": code, "language": "python"}),
        "code of no language": (Kind.CODE, {"code": code}),
        "tool call": (Kind.TOOL_CALL, {"tool": "run_python", "arguments": {"code": code}}),
        "plan": (Kind.PLAN, {"steps": [{"objective": "Ramp", "task": code}]}),
        "memory": (Kind.MEMORY, {"operation": "save", "user_id": "ada", "content": code}),
    }


def asked(kind, content, report=None):
    found = inspect_content(kind, content) if report is None else report
    return question(kind, content, findings=found.findings, languages=found.languages)


@pytest.fixture(params=PADDING)
def padded(request):
    base = HIDDEN if request.param.startswith("code in code") else WRITE
    return base + PADDING[request.param]


@pytest.fixture(params=contents(""))
def padded_question(request, padded):
    return asked(*contents(padded)[request.param])


def test_padding_does_not_lift_a_rejection(padded_question):
    answer = evaluate(policy(rule("reject", **NEVER)), padded_question)

    assert answer.effect is Effect.REJECT


def test_padding_does_not_lift_what_a_review_demands(padded_question):
    answer = evaluate(policy(rule("review", demands=BY_TWO, **NEVER)), padded_question)

    assert answer.effect is Effect.REVIEW
    assert answer.demands.approvals == 2
    assert answer.demands.circles == (Circle(("operators",)),)
    assert answer.demands.reason_required


def test_padding_approves_nothing(padded_question):
    reading = rule("approve", "reading", findings={"names": ["file-read", "unknown-*"]})
    harmless = rule("approve", "harmless", no_findings_above="medium")

    assert evaluate(silent(reading, harmless), padded_question).effect is Effect.REVIEW


@pytest.mark.parametrize(
    "error", [sandbox.DeadlineExceeded("Too slow."), sandbox.SandboxError("It crashed.")]
)
@pytest.mark.parametrize("kind", contents(""))
def test_an_inspection_that_comes_to_nothing_lifts_neither(monkeypatch, error, kind):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(sandbox, "call", fail)
    of_kind, content = contents(WRITE)[kind]
    one = asked(of_kind, content, inspections.inspect(of_kind, content))
    in_bash = {"languages": ["bash"]}

    assert evaluate(policy(rule("reject", **NEVER)), one).effect is Effect.REJECT
    assert evaluate(policy(rule("reject", **in_bash)), one).effect is Effect.REJECT
    for when in (NEVER, in_bash, {"no_findings_above": "low"}):
        assert evaluate(policy(rule(demands=BY_TWO, **when)), one).demands.approvals == 2


SLOW = "echo $(ls | grep x) && true\n" * 5000


def test_what_computes_for_too_long_is_not_read(monkeypatch):
    monkeypatch.setattr(inspections, "COMPUTING_S", 0.05)
    content = {"code": "x = f(a[0].b, c=1)\n" * 3000, "language": "python"}

    report = inspections.inspect(Kind.CODE, content)

    assert [(f.name, f.code) for f in report.findings] == [("too-slow", "too-slow-searched")]
    assert evaluate(policy(rule("reject", **NEVER)), asked(Kind.CODE, content, report)).effect is (
        Effect.REJECT
    )


@pytest.mark.parametrize(
    ("kind", "content", "place"),
    [
        (Kind.CODE, {"code": f"{SLOW}rm -rf /srv", "language": "bash"}, (0, 5001)),
        (
            Kind.CODE,
            {"code": f"```python\nx = 1\n```\n\n```sh\n{SLOW}rm -rf /srv\n```"},
            (1, 5001),
        ),
        (
            Kind.TOOL_CALL,
            {"tool": "run", "arguments": {"command": f"{SLOW}rm -rf /srv"}},
            (1, 5001),
        ),
    ],
)
def test_dangers_are_found_in_what_takes_too_long_to_read(monkeypatch, kind, content, place):
    ask = sandbox.call

    def call(name, payload, deadline_s, *, computing_s, **options):
        # Processors count, and no clock: other tests may keep them busy.
        computing_s = 0.01 if name.endswith(".inspect") else 5.0
        return ask(name, payload, 20 * deadline_s, computing_s=computing_s, **options)

    monkeypatch.setattr(sandbox, "call", call)

    report = inspections.inspect(kind, content)

    assert {"too-slow", "recursive-delete"} <= report.names
    assert place in {(f.block, f.line) for f in report.findings if f.name == "recursive-delete"}


def test_dangers_are_found_in_what_an_inspection_failed_to_read(monkeypatch):
    ask = sandbox.call

    def call(name, *arguments, **options):
        if name.endswith(".inspect"):
            raise sandbox.SandboxError("The worker process died.")
        return ask(name, *arguments, **options)

    monkeypatch.setattr(sandbox, "call", call)

    report = inspections.inspect(Kind.CODE, {"code": "rm -rf /srv", "language": "bash"})

    assert report.names == {"inspection-failed", "recursive-delete"}


def test_what_nobody_was_free_to_read_is_not_judged(monkeypatch):
    def busy(*_, **__):
        raise sandbox.NoWorkerFree

    monkeypatch.setattr(sandbox, "call", busy)

    with pytest.raises(inspections.InspectorsBusy):
        inspections.inspect_and_head(Kind.CODE, {"code": "1", "language": "python"})
    assert inspections.inspect(Kind.CODE, {"code": "1"}).names == {"inspection-failed"}


@pytest.mark.parametrize(
    ("askers", "is_heard"), [(["a"], False), (["b"], True), (list("bcd"), False)]
)
def test_nobody_has_two_long_contents_read_at_once_and_few_wait(monkeypatch, askers, is_heard):
    monkeypatch.setattr(inspections, "_heavy_askers", askers)
    monkeypatch.setattr(sandbox, "call", lambda *_, **__: Report().to_json().encode())
    long, short = ({"code": "x" * size, "language": "python"} for size in (70_000, 10))

    with nullcontext() if is_heard else pytest.raises(inspections.InspectorsBusy):
        inspections.inspect_and_head(Kind.CODE, long, asker="a")
    inspections.inspect_and_head(Kind.CODE, short, asker="a")
    assert inspections._heavy_askers == askers


def test_of_many_small_texts_as_many_are_read_as_there_is_time_for():
    arguments = {"a": ["rm -rf /x"] * 80_000}
    payload = canonical_json(
        {"kind": "tool_call", "content": {"tool": "t", "arguments": arguments}}
    )

    report = Report.from_json(skim(payload.encode()))

    assert "recursive-delete" in report.names
    assert len(report.findings) <= MOST_LINES


def test_the_dangers_of_a_call_are_found_where_the_page_has_them():
    content = {
        "tool": "write_pv",
        "arguments": {"command": ["rm", "-rf", "/x"], "z": "rm -rf /y"},
    }
    payload = canonical_json({"kind": "tool_call", "content": content}).encode()

    skimmed, whole = Report.from_json(skim(payload)), inspect_content(Kind.TOOL_CALL, content)

    places = [
        {(f.name, f.block) for f in r.findings if f.severity.rank > 1} for r in (skimmed, whole)
    ]
    assert places[0] == places[1]
    assert "control-system-write" in skimmed.names


def test_a_longer_text_has_more_time_and_does_not_hold_up_short_ones(monkeypatch):
    calls = []

    def call(name, payload, deadline_s, *, computing_s, queue_wait_s, is_heavy):
        calls.append((is_heavy, computing_s, deadline_s))
        return Report().to_json().encode()

    monkeypatch.setattr(sandbox, "call", call)
    for size in (1_000, 1 << 20):
        inspections.inspect(Kind.CODE, {"code": "x" * size, "language": "python"})

    (is_heavy, short_s, _), (is_heavier, long_s, deadline_s) = calls
    assert (is_heavy, is_heavier) == (False, True)
    assert short_s + 10 < long_s < deadline_s == inspections.HEAVY_DEADLINE_S


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        (Kind.TOOL_CALL, {"tool": "delete_file", "arguments": {"path": "x", "force": True}}),
        (Kind.PLAN, {"steps": [{"objective": "Don't panic (yet)", "task": "Look at the orbit."}]}),
        (Kind.MEMORY, {"operation": "save", "user_id": "ada", "content": "She likes it: 'tea'."}),
        (Kind.CODE, {"code": "print(1)", "language": "python"}),
    ],
)
def test_where_there_is_no_code_or_all_of_it_was_read_nothing_is_in_doubt(kind, content):
    assert inspect_content(kind, content).unseen == frozenset()
    assert evaluate(policy(rule("reject", **NEVER)), asked(kind, content)).effect is Effect.REVIEW


DYNAMIC = Finding("cannot-be-followed", Severity.MEDIUM, 1, 1, "computed-name")
STRANGER = Finding("unknown-call", Severity.LOW, 1, 1, "unknown-call", about="rm")


@pytest.mark.parametrize("unseen", [DYNAMIC, STRANGER])
@pytest.mark.parametrize("when", [NEVER, {"no_findings_above": "info"}, {"languages": ["bash"]}])
def test_what_was_not_followed_is_rejected_only_where_the_rule_says_so(unseen, when):
    languages = [""] if "languages" in when else ["python"]
    one = question(findings=[unseen], languages=languages)
    off, on = (
        rule("reject", **when),
        rule("reject", examples={"also_if_not_followed": True}, **when),
    )

    assert evaluate(policy(off), one).effect is Effect.REVIEW
    assert evaluate(policy(on), one).effect is Effect.REJECT


def test_what_is_known_of_a_content_is_not_overruled_by_what_is_not():
    one = question(findings=[WRITES, DYNAMIC])

    assert not Matcher(rule("review", no_findings_above="medium")).judge(Facts(one)).matches
    assert not Matcher(rule("review", languages=["bash"])).judge(Facts(one)).matches


def test_a_weaker_demand_does_not_stand_in_for_a_stronger_one():
    weak = rule("review", "weak", findings={"names": ["too-large"]}, demands={"approvals": 1})
    other = rule("review", "other", findings={"names": ["sql-drop"]}, demands={"groups": ["dba"]})
    strong = rule("review", "strong", demands=BY_TWO, **NEVER)
    too_large = question(findings=in_doubt("too-large", "too-large").findings)

    answer = evaluate(policy(weak, other, strong), too_large)

    assert answer.demands.approvals == 2
    assert set(answer.demands.circles) == {Circle(("dba",)), Circle(("operators",))}


def test_a_rule_that_never_decides_adds_nothing():
    every = rule("review", "every", findings={"names": ["*"]})
    never_reached = rule("review", "never", demands=BY_TWO, **NEVER)
    too_large = question(findings=in_doubt("too-large", "too-large").findings)

    answer = evaluate(policy(every, never_reached), too_large)

    assert answer.demands.approvals == 1
    assert [step.outcome for step in answer.steps[:2]] == ["matches", "not reached"]


def test_arguments_that_cannot_be_judged_do_not_choose_the_weaker_rule():
    small = rule("review", "small", arguments=[{"path": "amount", "test": "under", "value": 100}])
    large = rule("review", "large", tools=["pay"], demands={"approvals": 2})

    assert evaluate(policy(small, large), call({"amount": 5})).demands.approvals == 1
    assert evaluate(policy(small, large), call({"amount": "5000 EUR"})).demands.approvals == 2


def _inside(code):
    return SENTENCES[code][0].lower() + SENTENCES[code][1:]


def test_it_is_said_what_was_not_seen_and_how_the_rule_takes_it():
    too_large = question(findings=in_doubt("too-large", "too-large").findings)
    dynamic = question(findings=[DYNAMIC])
    never, careful = rule("reject", "never", reason="Ask an operator.", **NEVER), rule(**NEVER)
    sums = rule("approve", "sums", no_findings_above="info")
    large, computed = map(_inside, ("too-large", "computed-name"))
    treated = f"Not read: {large} {TREATED['findings']}"

    rejected = evaluate(policy(never), too_large)
    reviewed = evaluate(silent(never, careful, sums), dynamic)

    assert rejected.trace[1:] == (f"Rule 'never': {treated}", "Rule 'never' rejects.")
    assert rejected.reason == f"{treated} Rule 'never' rejects. It says: Ask an operator."
    assert [step.why for step in reviewed.steps[:3]] == [
        f"Not followed: {computed} {NOT_REJECTED}",
        f"Not followed: {computed} {TREATED['findings']}",
        f"Not followed: {computed} {NOT_APPROVED}",
    ]
    assert f"Rule 'rule': {reviewed.steps[1].why}" in reviewed.trace


def test_names_that_an_agent_chose_are_not_repeated():
    trace = evaluate(policy(rule(**NEVER)), question(findings=[STRANGER])).trace

    assert f"Not known: {_inside('unknown-call')}. {TREATED['findings']}" in " ".join(trace)


def test_a_certain_rejection_is_told_rather_than_one_in_doubt():
    first = rule("reject", "drops", findings={"names": ["sql-drop"]})
    second = rule("reject", "writes", reason="Never.", **NEVER)
    one = question(findings=[WRITES, *in_doubt("too-large", "too-large").findings])

    assert evaluate(policy(first, second), one).reason == "Never."


@pytest.mark.parametrize("name", ["does-not-parse", "too-large", "too-slow", "ambiguous-fence"])
def test_reports_of_before_are_read_by_the_names_of_their_doubts(name):
    stored = (
        '{"findings":[{"block":0,"end_line":0,"is_doubt":true,"line":0,"name":"%s",'
        '"sentence":"Old.","severity":"high"}],"inspector":"2","languages":["python"]}'
    )
    report = Report.from_json(stored % name)

    assert report.unseen == {Unseen.NOT_READ}
    assert evaluate(policy(rule("reject", **NEVER)), asked(Kind.CODE, {}, report)).effect is (
        Effect.REJECT
    )


def test_a_doubt_of_before_that_nobody_knows_counts_as_not_read():
    data = {"name": "odd", "severity": "high", "line": 0, "end_line": 0, "sentence": "Odd."}

    assert Finding.from_dict({**data, "is_doubt": True}).unseen is Unseen.NOT_READ
    assert Finding.from_dict({**data, "is_doubt": False}).unseen is None


def test_a_doubt_has_to_say_what_was_not_seen():
    with pytest.raises(ValueError, match="does not say whether 'brand-new' was not read"):
        in_doubt("brand-new", "Nobody has seen it.")


def test_rules_that_name_what_has_another_name_now_still_reject():
    old = rule("reject", findings={"names": ["does-not-parse"]})
    in_part = Finding("parsed-in-part", Severity.HIGH, 0, 0, "odd")

    assert evaluate(policy(old), question(findings=[in_part])).effect is Effect.REJECT


def test_switching_it_off_loosens():
    on = rule("reject", examples={"also_if_not_followed": True}, **NEVER)
    before, after = policy(on), policy(rule("reject", **NEVER))

    assert loosenings(before, after) == [
        "Some requests that rule 'rule' rejected are no longer rejected."
    ]
    assert loosenings(after, before) == []


def test_to_reject_instead_of_reviewing_loosens_where_it_does_not_hold_any_more():
    before = policy(rule("review", demands=BY_TWO, **NEVER))
    after = policy(rule("reject", **NEVER))

    assert any("requires less" in sentence for sentence in loosenings(before, after))


def test_what_is_unknown_may_write_to_the_control_system():
    writes_only = Policy(
        {
            "global_mode": "selective",
            "capabilities": {"python_execution": {"enabled": True, "mode": "control_writes"}},
        }
    )

    assert evaluate(writes_only, question(findings=[READS])).effect is Effect.APPROVE
    assert evaluate(writes_only, question(findings=[STRANGER])).effect is Effect.REVIEW


def test_hours_do_not_make_a_rule_unsure():
    shift = rule("reject", hours={"from": "20:00", "until": "22:00"}, **NEVER)
    too_large = question(findings=in_doubt("too-large", "too-large").findings, asked_at=NOON)

    assert evaluate(policy(shift), too_large).effect is Effect.REVIEW
