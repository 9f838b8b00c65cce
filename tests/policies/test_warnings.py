"""What is probably not meant, and examples that do not hold."""

import pytest

from approval_client.wire import Kind
from dashboard.inspection.findings import Report
from dashboard.policies.rules.problems import PolicyError
from dashboard.policies.warnings import KnownNames, failing_examples, warnings
from tests.policies.ask import READS, WRITES, policy, rule, silent


def cautions(*rules, groups=None, agents=(), tools=(), signers=None, **others):
    known = KnownNames(groups=groups, agents=agents, tools=tools, signers=signers)
    return [(c.rule, c.sentence) for c in warnings(silent(*rules, **others), known)]


def test_a_rule_behind_one_that_matches_as_much_is_never_reached():
    rules = [rule("review", "a", agents=["x*"]), rule("approve", "b", agents=["xy"], tools=["t"])]

    assert cautions(*rules)[0] == (
        "b",
        "It is never reached: rule 'a' decides all of it before.",
    )


def test_a_rule_behind_one_that_matches_everything_is_never_reached():
    assert cautions(rule("review", "a"), rule("review", "b", agents=["x"])) == [
        ("b", "It is never reached: rule 'a' matches everything and stands before.")
    ]


def test_a_review_behind_an_approval_is_for_doubts_only():
    approving = rule("approve", "a", languages=["python"], no_findings_above="info")
    review = rule("review", "b", languages=["python"], no_findings_above="info")

    assert cautions(approving, review) == []  # b is read more widely
    assert cautions(rule("approve", "a", kinds=["plan"]), rule("review", "b", kinds=["plan"]))[
        1
    ] == (
        "b",
        (
            "It never has anything reviewed: rule 'a' decides all of it before. It only says who "
            "reviews what is in doubt."
        ),
    )


def test_a_rule_behind_one_that_rests_on_a_claim_is_reached():
    assert cautions(rule("review", "a", runs=["x"]), rule("review", "b", runs=["x"])) == []


def test_what_is_rejected_anyway_needs_no_rule():
    rules = [rule("review", "a", tools=["x"]), rule("reject", "b", tools=["x"])]

    assert cautions(*rules) == [
        ("a", "It makes no difference: rule 'b' rejects all of it before.")
    ]


def test_of_two_rejecting_rules_the_later_one_is_too_much():
    rules = [rule("reject", "a", tools=["x"]), rule("reject", "b", tools=["x"])]

    assert [name for name, _ in cautions(*rules)] == ["b"]


@pytest.mark.parametrize("when", [{}, {"agents": ["*"]}, {"kinds": ["tool_call"], "tools": ["*"]}])
def test_an_approving_rule_for_everything_is_told(when):
    assert ("rule", "It approves everything of its kind, whatever it does.") in cautions(
        rule("approve", **when)
    )


@pytest.mark.parametrize("when", [{"tools": ["pay"]}, {"agents": ["x"], "kinds": ["plan"]}])
def test_an_approving_rule_that_rests_on_names_is_told(when):
    assert cautions(rule("approve", **when)) == [
        ("rule", "It rests on names alone: whatever is asked for under them is approved.")
    ]


def test_an_approving_rule_that_looks_at_arguments_is_not():
    arguments = [{"path": "amount", "test": "under", "value": 5}]

    assert cautions(rule("approve", tools=["pay"], arguments=arguments)) == []


def test_a_rule_that_alone_rejects_by_class_does_more_than_reject():
    everything = rule("reject", "a", tools=["del_*"])
    classed = rule("reject", "b", tools=["del_*"], tool_classes=["money"])
    another = rule("reject", "c", tools=["pay"], tool_classes=["money"])

    assert cautions(everything, classed) == [
        (
            "b",
            (
                "It rejects nothing: rule 'a' rejects all of it before. Still a person is "
                "asked about tools that nobody has classed, because this is the only rule that "
                "rejects by class."
            ),
        )
    ]
    assert cautions(everything, classed, another) == [
        ("b", "It makes no difference: rule 'a' rejects all of it before.")
    ]


@pytest.mark.parametrize("highest", [{}, {"no_findings_above": "high"}])
def test_code_that_is_approved_whatever_was_found_is_told(highest):
    sentence = (
        "It approves code whatever was found in it. Set the highest severity that it may approve, "
        "below high."
    )

    assert cautions(rule("approve", languages=["python"], **highest)) == [("rule", sentence)]


def test_an_approving_rule_that_a_mode_makes_moot_is_told():
    approving = rule("approve", kinds=["code"], languages=["python"], no_findings_above="info")

    assert [c.sentence for c in warnings(policy(approving))] == [
        "It never approves anything: the modes have all of it reviewed."
    ]


def test_a_language_that_is_called_otherwise_here_is_told():
    assert cautions(rule("reject", languages=["py", "python", "p*"])) == [
        ("rule", "It never matches the language 'py', which is called 'python' here.")
    ]


def test_a_group_that_comes_later_to_everybody_is_told():
    assert cautions(rule(demands={"escalate_to": "chiefs"})) == [
        (
            "rule",
            (
                "Letting 'chiefs' approve from half time on changes nothing: without groups every "
                "reviewer counts from the beginning."
            ),
        )
    ]


def test_groups_that_do_not_exist_are_told():
    asked = rule(demands={"groups": ["ops", "night"]})

    assert cautions(asked, groups={"ops"}) == [
        ("rule", "There is no group 'night', so nobody can vote as its member.")
    ]
    assert cautions(asked, groups=())[-1] == ("rule", "Nobody can approve what it asks about.")
    assert cautions(asked) == []


def test_a_large_pattern_is_told():
    assert cautions(rule(content_matches="(a{1,30}b){1,30}"))[0][1].startswith(
        "Its pattern is large"
    )


def code(text):
    return {"kind": "code", "content": {"code": text}}


def look(kind, content):
    if kind is Kind.TOOL_CALL:
        return Report((), ())
    return Report((WRITES if "put" in content["code"] else READS,), ("python",))


def test_examples_that_hold_are_not_told():
    examples = {"match": [code("put")], "not_match": [code("get")]}

    assert failing_examples(rule(findings={"at_least": "high"}, examples=examples), look) == []


def test_examples_that_do_not_hold_are_told_with_the_reason():
    examples = {"match": [code("put"), code("get")], "not_match": [code("put")]}
    judged = silent(rule(findings={"at_least": "high"}, examples=examples))

    assert failing_examples(judged, look) == [
        (
            "Rule 'rule': example 2 of what it must match does not match. There is no "
            "finding '*' of high severity or higher."
        ),
        "Rule 'rule': example 1 of what it must not match does match. All of its conditions hold.",
    ]


def test_an_example_without_a_moment_is_taken_to_be_within_the_hours():
    early = {**code("get"), "asked_at": "2026-03-04T05:00:00+00:00"}
    examples = {"match": [code("get")], "not_match": [early]}
    judged = rule(hours={"from": "08:00"}, agents=["example"], examples=examples)

    assert failing_examples(judged, look) == []


def test_an_example_says_what_its_agent_claims():
    examples = {"match": [{**code("get"), "repeated": 3}], "not_match": [code("get")]}

    assert failing_examples(rule(repeated=3, examples=examples), look) == []


@pytest.mark.parametrize("when", [{"kinds": ["code"]}, {"tools": ["run_*"]}])
def test_approving_what_is_of_medium_severity_is_told(when):
    ((_, sentence),) = cautions(rule("approve", **when, no_findings_above="medium"))

    assert sentence.startswith("It approves what writes files, uses the network or reads cred")


@pytest.mark.parametrize(
    ("kind", "severity"), [("plan", "medium"), ("code", "low"), ("code", "info")]
)
def test_approving_what_is_of_less_severity_is_not(kind, severity):
    assert cautions(rule("approve", kinds=[kind], no_findings_above=severity)) == []


@pytest.mark.parametrize("when", [{"kinds": ["tool_call"]}, {"tools": ["*"]}, {}])
def test_approving_calls_of_tools_that_are_not_named_is_told(when):
    sentences = [s for _, s in cautions(rule("approve", **when, no_findings_above="info"))]

    assert any(s.startswith("It approves no call of a tool") for s in sentences)


def test_approving_calls_of_tools_that_are_named_is_not():
    assert cautions(rule("approve", tools=["read_*"], no_findings_above="info")) == []


def test_a_pattern_beside_names_of_tools_that_names_none_is_told():
    sentence = "'*' names no tool, so calls that only fit this are not approved."

    assert ("rule", sentence) in cautions(rule("approve", tools=["*", "get_order"]))
    assert cautions(rule("reject", tools=["*", "get_order"])) == []


@pytest.mark.parametrize(
    ("value", "also", "instead"),
    [
        ("/srv/repo/*", "'/srv/repo/../../etc/passwd'", "'lies in the folder'"),
        ("C:/repo/**", "'C:/repo/../../etc/passwd'", "'lies in the folder'"),
        ("https://docs.example.org*", "docs.example.org.evil.example/", "'leads to the host'"),
        ("*.example.org", ".evil.example/.example.org", "'leads to the host'"),
    ],
)
def test_a_glob_on_a_path_or_an_address_in_an_approving_rule_is_told(value, also, instead):
    argument = {"path": "at", "test": "glob", "value": value}
    ((_, sentence),) = cautions(rule("approve", tools=["t"], arguments=[argument]))

    assert also in sentence
    assert instead in sentence
    assert cautions(rule("reject", tools=["t"], arguments=[argument])) == []


@pytest.mark.parametrize("value", ["report-*", "/srv/repo/a.txt", "*"])
def test_another_glob_is_not(value):
    argument = {"path": "at", "test": "glob", "value": value}

    assert cautions(rule("approve", tools=["t"], arguments=[argument])) == []


def test_a_name_that_is_nearly_that_of_an_agent_or_a_tool_is_told():
    slip = rule("reject", agents=["beamlin-7"], tools=["delete_fle", "pay", "read_*"])

    assert cautions(slip, agents=["beamline-7"], tools=["delete_file", "refund"]) == [
        ("rule", "No agent is called 'beamlin-7' yet. Did you mean 'beamline-7'?"),
        ("rule", "No tool is called 'delete_fle' yet. Did you mean 'delete_file'?"),
    ]


def test_of_a_stored_rule_a_finding_or_a_language_that_does_not_exist_is_told():
    stored = rule("reject", findings={"names": ["recursiv-delete"]}, languages=["pyhton"])

    assert cautions(stored) == [
        ("rule", "There is no finding 'recursiv-delete'. Did you mean 'recursive-delete'?"),
        ("rule", "There is no language 'pyhton' here. Did you mean 'python'?"),
    ]


def test_a_group_that_is_nearly_one_that_there_is_is_told():
    told = cautions(rule(demands={"groups": ["operator"]}), groups=["operators"])

    assert told[0][1].endswith("Did you mean 'operators'?")


# --- signatures ---------------------------------------------------------------------------------

NOBODY = (
    "Nothing it asks about can be approved: nobody who may approve has a passkey that counts. "
    "People add theirs in their account."
)


def signed(signers, **demands):
    asked = rule(demands={"proof": "passkey", **demands})
    return [s for _, s in cautions(asked, groups=["ops", "chiefs"], signers=signers)]


def test_a_signature_that_nobody_can_give_is_told():
    assert signed({"": []}) == [NOBODY]


def test_more_signatures_than_people_is_told():
    assert signed({"": ["alice", "bob"]}, approvals=3) == [
        ("It needs 3 approvals, and only 2 of those who may approve have a passkey that counts.")
    ]


def test_only_those_of_the_groups_count():
    signers = {"": ["alice", "bob"], "chiefs": ["bob"]}

    assert signed(signers, groups=["ops"]) == [NOBODY]
    assert signed(signers, groups=["ops"], escalate_to="chiefs") == []
    assert signed(signers, groups=["ops", "chiefs"], approvals=2) == [
        ("It needs 2 approvals, and only 1 of those who may approve has a passkey that counts.")
    ]


def test_signatures_that_can_be_given_are_not_warned_of():
    assert signed({"": ["alice"]}) == signed(None) == []
    assert cautions(rule(demands={"approvals": 2}), signers={"": []}) == []


def test_an_example_says_how_its_tool_is_classed():
    example = {
        "kind": "tool_call",
        "tool_class": "money",
        "content": {"tool": "pay", "arguments": {}},
    }
    right = rule("reject", tool_classes=["money"], examples={"match": [example]})
    wrong = rule("reject", tool_classes=["money"], examples={"not_match": [example]})

    assert failing_examples(right, look) == []
    assert len(failing_examples(wrong, look)) == 1


def test_only_an_example_of_a_tool_call_has_a_class():
    example = {"kind": "code", "tool_class": "money", "content": {"code": "x"}}

    with pytest.raises(PolicyError, match="Only a tool has a class"):
        rule("reject", examples={"match": [example]})


@pytest.mark.parametrize(
    "when",
    [
        {"kinds": ["code"], "tools": ["delete_file"]},
        {"kinds": ["plan"], "memory_users": ["x"]},
        {"tools": ["t"], "memory_users": ["u"]},
        {"kinds": ["code"], "tool_classes": ["money"]},
    ],
)
def test_conditions_that_no_kind_fits_are_told(when):
    [(_, sentence), *_] = cautions(rule("reject", **when))

    assert sentence.startswith("It never matches: its conditions are about requests of another")


def test_hours_that_end_when_they_begin_are_told_where_they_are_not_refused():
    hours = {"from": "00:00:30", "until": "00:00:30"}

    assert [said[:36] for _, said in cautions(rule("review", hours=hours))] == [
        "Its hours end when they begin, so th"
    ]
