"""Osprey's truth table, what we add to it, and how rules and modes are combined."""

import pytest

from approval_client.wire import Kind
from dashboard.policies.evaluate import (
    EVERYTHING_TO_A_PERSON,
    Effect,
    Evaluation,
    Policy,
    Step,
    evaluate,
    stricter,
)
from dashboard.policies.judgements.grounds import Says
from dashboard.policies.rules.demands import Circle, Required
from tests.policies.ask import (
    DOUBT,
    READS,
    WRITES,
    call,
    effect_of,
    policy,
    question,
    rule,
    silent,
)

ASKS, OPENS, REJECTS = Effect.REVIEW, Effect.APPROVE, Effect.REJECT
MODES = ("all_code", "epics_writes", "control_writes", "disabled")
HARMLESS, WRITING = question(findings=[READS]), question(findings=[WRITES])


@pytest.mark.parametrize("kind", Kind)
def test_the_first_policy_asks_about_everything(kind):
    assert effect_of(EVERYTHING_TO_A_PERSON, question(kind)) is ASKS


@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("findings", [(), (WRITES,), (DOUBT,)])
def test_global_disabled_asks_about_nothing(kind, mode, findings):
    off = policy(mode="disabled", python=mode)

    assert effect_of(off, question(kind, findings=findings)) is OPENS


@pytest.mark.parametrize("mode", ["selective", "all_capabilities"])
@pytest.mark.parametrize("kind", [Kind.TOOL_CALL, Kind.PLAN])
def test_tools_and_plans_have_no_mode_and_go_to_a_person(mode, kind):
    assert effect_of(policy(mode=mode, python="disabled", memory=False), question(kind)) is ASKS


@pytest.mark.parametrize(
    ("enabled", "mode", "harmless", "writing"),
    [
        (True, "all_code", ASKS, ASKS),
        (True, "epics_writes", OPENS, ASKS),
        (True, "control_writes", OPENS, ASKS),
        (True, "disabled", OPENS, OPENS),
        (False, "all_code", OPENS, OPENS),
        (False, "epics_writes", OPENS, OPENS),
        (False, "control_writes", OPENS, OPENS),
        (False, "disabled", OPENS, OPENS),
    ],
)
def test_selective_asks_about_code_as_its_own_switches_say(enabled, mode, harmless, writing):
    python = {"enabled": enabled, "mode": mode}
    judged = Policy({"global_mode": "selective", "capabilities": {"python_execution": python}})

    assert [effect_of(judged, asked) for asked in (HARMLESS, WRITING)] == [harmless, writing]


@pytest.mark.parametrize("enabled", [True, False])
@pytest.mark.parametrize(
    ("mode", "harmless", "writing"),
    [
        ("all_code", ASKS, ASKS),
        ("epics_writes", OPENS, ASKS),
        ("control_writes", OPENS, ASKS),
        ("disabled", OPENS, OPENS),
    ],
)
def test_all_capabilities_switches_asking_on_but_leaves_the_mode(enabled, mode, harmless, writing):
    capabilities = {"python_execution": {"enabled": enabled, "mode": mode}}
    judged = Policy({"global_mode": "all_capabilities", "capabilities": capabilities})

    assert [effect_of(judged, asked) for asked in (HARMLESS, WRITING)] == [harmless, writing]


@pytest.mark.parametrize(
    "asked",
    [
        question(findings=[DOUBT]),
        question(languages=["bash"]),
        question(languages=["python", "bash"]),
        question(languages=[""]),
        question(languages=[]),
    ],
)
def test_what_nobody_can_say_counts_as_writing(asked):
    assert effect_of(policy(python="epics_writes"), asked) is ASKS


@pytest.mark.parametrize(
    ("mode", "enabled", "effect"),
    [
        ("selective", True, ASKS),
        ("selective", False, OPENS),
        ("all_capabilities", True, ASKS),
        ("all_capabilities", False, ASKS),
    ],
)
def test_memory_follows_its_switch_unless_everything_is_on(mode, enabled, effect):
    assert effect_of(policy(mode=mode, memory=enabled), question(Kind.MEMORY)) is effect


@pytest.mark.parametrize("kind", [Kind.CODE, Kind.MEMORY])
def test_a_mode_that_is_not_set_says_nothing(kind):
    approving = rule("approve", kinds=[kind])

    assert effect_of(silent(), question(kind)) is ASKS
    assert effect_of(silent(approving), question(kind)) is OPENS


@pytest.mark.parametrize("kind", [Kind.CODE, Kind.MEMORY])
def test_all_capabilities_switches_on_what_is_not_set(kind):
    everything_on = silent(rule("approve", kinds=[kind]), mode="all_capabilities")

    assert effect_of(everything_on, question(kind)) is ASKS


def test_what_is_left_out_means_to_ask():
    empty = Policy({})

    assert [effect_of(empty, question(kind)) for kind in Kind] == [ASKS] * 4
    assert not empty.asks_nobody


def test_the_trace_says_which_sentences_led_there():
    assert evaluate(policy(), HARMLESS).trace == (
        "Global mode is 'selective'.",
        "All code requires approval.",
    )


def test_where_nothing_speaks_the_trace_says_so():
    trace = evaluate(policy(), question(Kind.PLAN)).trace

    assert trace[1] == "No mode covers a plan: a person is asked."


def test_a_rejecting_rule_comes_first_wherever_it_stands():
    rejecting = rule("reject", "no", reason="Never.", kinds=["code"])
    answer = evaluate(silent(rule("approve", "yes"), rejecting), HARMLESS)

    assert (answer.effect, answer.reason) == (REJECTS, "Never.")
    assert answer.trace[-1] == "Rule 'no' rejects."


def test_without_words_of_its_own_a_rejection_tells_the_trace():
    answer = evaluate(silent(rule("reject", "no")), HARMLESS)

    assert answer.reason == "Global mode is 'selective'. Rule 'no' rejects."


def test_a_rejecting_rule_holds_while_the_gate_is_off():
    assert effect_of(policy(rule("reject"), mode="disabled"), HARMLESS) is REJECTS


def test_the_first_rule_that_matches_decides():
    rules = [rule("approve", "a", kinds=["plan"]), rule("review", "b"), rule("approve", "c")]
    answer = evaluate(silent(*rules), HARMLESS)

    assert answer.effect is ASKS
    assert [step.outcome for step in answer.steps] == [
        "does not match",
        "matches",
        "not reached",
        "does not match",
    ]


def test_the_stricter_of_rules_and_modes_holds():
    assert effect_of(policy(rule("approve")), HARMLESS) is ASKS
    assert effect_of(policy(rule("review"), python="disabled"), HARMLESS) is ASKS
    assert effect_of(policy(rule("approve"), python="disabled"), HARMLESS) is OPENS


def test_what_is_in_doubt_is_never_approved():
    answer = evaluate(silent(rule("approve")), question(findings=[DOUBT]))

    assert answer.effect is ASKS
    assert answer.trace[-1] == (
        "Not all of it could be read or followed (does-not-parse): a person is asked."
    )


def test_each_rule_and_the_modes_have_a_step():
    rejecting = rule("reject", "no", kinds=["plan"])
    answer = evaluate(policy(rule("approve", "yes"), rejecting), HARMLESS)

    assert answer.steps == (
        Step("yes", "matches", "It has no conditions."),
        Step("no", "does not match", "Its kind is not plan."),
        Step("Modes", "matches", "All code requires approval."),
    )


def test_after_a_rejection_nothing_else_is_reached():
    answer = evaluate(policy(rule("approve", "yes"), rule("reject", "no")), HARMLESS)

    assert [step.outcome for step in answer.steps] == ["not reached", "matches", "not reached"]


def test_the_deciding_rule_says_what_the_review_asks_for():
    two = rule(demands={"approvals": 2, "groups": ["ops"], "owner_may_approve": False})
    answer = evaluate(policy(two, owners=True), HARMLESS)

    assert answer.demands == Required(approvals=2, circles=(Circle(("ops",)),))


def test_without_a_rule_the_policy_says_whether_owners_count():
    assert evaluate(policy(owners=True), HARMLESS).demands == Required(owner_may_approve=True)


def test_an_approving_rule_hides_nothing_of_what_a_review_asks_for():
    rules = [rule("approve", "clean"), rule("review", "two", demands={"approvals": 2})]
    answer = evaluate(silent(*rules), question(findings=[DOUBT]))

    assert (answer.effect, answer.demands.approvals) == (ASKS, 2)
    assert answer.trace[-1] == "Rule 'two' says what the review asks for."


def test_what_is_approved_still_says_what_a_review_would_ask_for():
    rules = [rule("approve", "clean"), rule("review", "two", demands={"approvals": 2})]
    answer = evaluate(silent(*rules), HARMLESS)

    assert (answer.effect, answer.demands.approvals) == (OPENS, 2)
    assert answer.steps[1].outcome == "not reached"


def test_a_claim_adds_to_what_is_asked_for_and_decides_nothing():
    loop = rule("review", "loop", demands={"reason_required": True}, repeated=3)
    two = rule("review", "two", demands={"approvals": 2})
    answer = evaluate(silent(loop, two), question(repeated=3))

    assert answer.demands == Required(approvals=2, reason_required=True)


def test_a_claim_turns_an_approval_into_a_review():
    judged = silent(rule("review", "in write mode", execution_modes=["write"]), rule("approve"))

    assert effect_of(judged, question(execution_mode="write")) is ASKS
    assert effect_of(judged, question(execution_mode="read")) is OPENS


def test_a_claim_does_not_ask_for_less_than_without_it():
    lax = {"grants_allowed": True, "editor_may_approve": True, "whole_content": False}
    judged = silent(rule("review", "lax", demands=lax, capabilities=["*"]))

    assert evaluate(judged, question(capability="mine")).demands == Required()


def test_content_that_cannot_be_judged_counts_against_opening():
    hostile = question(Kind.TOOL_CALL, {"tool": ["not", "a", "name"]})
    approving, rejecting = rule("approve", tools=["pay"]), rule("reject", tools=["pay"])

    assert effect_of(silent(approving), hostile) is ASKS
    assert effect_of(silent(rejecting), hostile) is REJECTS


def test_the_trace_says_what_cannot_be_judged():
    answer = evaluate(silent(rule("approve", "pays", tools=["pay"])), call({}, tool=7))

    assert answer.trace[1] == (
        "Rule 'pays': Its condition 'tools' cannot be judged (TypeError), so it does not approve."
    )


@pytest.mark.parametrize("content", [{}, {"code": 7}, {"code": "\ud800"}, {1: object()}, None])
@pytest.mark.parametrize("effect", ["approve", "reject"])
def test_evaluation_never_raises(content, effect):
    judged = silent(rule(effect, larger_than=0, content_matches="a"))
    hostile = question()
    object.__setattr__(hostile, "content", content)

    assert effect_of(judged, hostile) is not OPENS


def test_of_two_answers_the_stricter_effect_holds():
    approved, rejected = Evaluation(OPENS, ("a",)), Evaluation(REJECTS, ("b",), words="No.")

    assert stricter(approved, rejected) == stricter(rejected, approved) == rejected


def test_of_two_reviews_all_that_both_ask_for_is_asked_for():
    first = Evaluation(ASKS, ("a", "b"), Required(approvals=2))
    then = Evaluation(ASKS, ("b", "c"), Required(reason_required=True))
    both = stricter(first, then)

    assert both.demands == Required(approvals=2, reason_required=True)
    assert both.trace == ("b", "c", "a")


def test_an_approving_rule_for_every_language_wants_one_to_be_there():
    approving = silent(rule("approve", languages=["*"]))

    assert effect_of(approving, question(languages=["bash"])) is OPENS
    assert effect_of(approving, question(languages=[])) is ASKS
    assert effect_of(approving, question(languages=["bash", ""])) is ASKS


def rests_on(answer):
    """Which rules, whether the modes, and whether a doubt had the effect."""
    return answer.deciding, answer.grounds.by_modes, bool(answer.grounds.doubts)


def test_a_rejecting_rule_decides_alone():
    judged = policy(rule("review", name="asks"), rule("reject", name="no"))

    assert rests_on(evaluate(judged, question())) == (["no"], False, False)


def test_a_rule_and_the_modes_decide_together_if_they_say_the_same():
    judged = policy(rule("review", name="asks"))

    assert rests_on(evaluate(judged, question())) == (["asks"], True, False)


def test_an_approving_rule_does_not_decide_what_a_mode_asks_about():
    judged = policy(rule("approve", name="opens"))

    assert rests_on(evaluate(judged, question(findings=[READS]))) == ([], True, False)


def test_a_rule_after_the_one_that_spoke_does_not_decide():
    judged = policy(rule("approve", name="opens"), rule("review", name="adds"))
    answer = evaluate(judged, question(findings=[READS]))

    assert answer.effect is ASKS
    assert rests_on(answer) == ([], True, False)
    assert answer.grounds.saying(Says.DEMANDS) == ["adds"]


def test_where_nothing_speaks_nothing_decides():
    assert rests_on(evaluate(silent(), question(Kind.PLAN))) == ([], False, False)


def test_a_doubt_decides_where_all_that_speaks_would_approve():
    judged = silent(rule("approve", name="opens"))
    answer = evaluate(judged, question(findings=[DOUBT]))

    assert answer.effect is ASKS
    assert rests_on(answer) == ([], False, True)
