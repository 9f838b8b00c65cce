"""What people read instead of the sentences that are kept with a judgement."""

import pytest

from approval_client.wire import Kind
from dashboard.policies.evaluate import evaluate
from dashboard.policies.judgements.grounds import Grounds
from dashboard.policies.judgements.wording import plainly
from dashboard.policies.rules.demands import Circle, Required
from tests.policies.ask import DOUBT, READS, WRITES, policy, question, rule, silent

MACHINE = ("mode", "EPICS", "Python execution", "asks for a review", "'")


def said(judged, asked, *, reviewed=True):
    answer = evaluate(judged, asked)
    return plainly(answer.grounds, answer.demands if reviewed else None)


def test_the_mode_is_a_sentence_about_people():
    assert said(policy(mode="all_capabilities"), question()) == [
        "Your policy asks a person about all code."
    ]


def test_a_rule_says_what_it_asks_for():
    two = rule(name="Deletes need two", demands={"approvals": 2, "reason_required": True})

    assert said(silent(two), question()) == [
        "Rule “Deletes need two”: two people must approve, with a reason."
    ]


def test_rules_that_ask_together_stand_in_one_sentence():
    loop = rule(name="Loops", repeated=3, demands={"approvals": 2})
    rest = rule(name="Rest", demands={"reason_required": True})

    assert said(silent(loop, rest), question(repeated=3)) == [
        "Rules “Loops” and “Rest”: two people must approve, with a reason."
    ]


def test_a_tool_that_no_rule_covers():
    assert said(policy(), question(Kind.TOOL_CALL)) == [
        "No rule covers this tool call, so a person is asked."
    ]


def test_what_could_not_be_read_is_said_without_codes():
    approving = silent(rule("approve", kinds=["code"]))

    assert said(approving, question(findings=[DOUBT])) == [
        "Rule “rule” approves it without asking.",
        "Not all of it could be read or followed, so a person is asked.",
    ]


def test_a_rejection_names_its_rule():
    assert said(policy(rule("reject", "No plans")), question(), reviewed=False) == [
        "Rule “No plans” rejects it."
    ]


@pytest.mark.parametrize("mode", ["selective", "all_capabilities", "disabled"])
@pytest.mark.parametrize("python", ["all_code", "epics_writes", "disabled", None])
@pytest.mark.parametrize("memory", [True, False, None])
@pytest.mark.parametrize("kind", list(Kind))
@pytest.mark.parametrize("finding", [READS, WRITES])
def test_no_mode_is_told_in_the_words_of_a_machine(mode, python, memory, kind, finding):
    judged = policy(mode=mode, python=python, memory=memory)
    sentences = said(judged, question(kind, findings=[finding]))

    assert sentences
    assert [word for word in MACHINE if word in " ".join(sentences)] == []


def test_a_demand_whose_rule_is_not_named_is_said_all_the_same():
    required = Required(approvals=2, circles=(Circle(("ops",)),))

    assert plainly(Grounds(kind=Kind.CODE), required) == ["Two people from ops must approve."]


def test_a_sentence_from_another_version_stays_as_it_is():
    assert plainly(Grounds(kind=Kind.CODE, told=("Something else.",)), None) == ["Something else."]
