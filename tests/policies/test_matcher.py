"""Whether a rule matches, condition by condition."""

from datetime import UTC, datetime

import pytest

from approval_client.wire import Kind
from dashboard.inspection.findings import Finding, Severity
from dashboard.policies.evaluate import evaluate
from dashboard.policies.judgements.matcher import Matcher
from dashboard.policies.rules.facts import Facts
from tests.policies.ask import DOUBT, NOON, READS, WRITES, call, policy, question, rule

DELETES = Finding("recursive-delete", Severity.HIGH, 1, 1, "deletes-files")


def step(asked, effect="reject", **when):
    return Matcher(rule(effect, **when)).judge(Facts(asked))


def matches(asked, effect="reject", **when):
    return step(asked, effect, **when).matches


def test_a_rule_without_conditions_matches_everything():
    assert all(matches(question(kind)) for kind in Kind)


def test_every_condition_has_to_hold():
    assert matches(question(), kinds=["code"], agents=["robot"])
    assert not matches(question(), kinds=["code"], agents=["other"])


def test_the_first_condition_that_fails_is_named():
    assert step(question(), agents=["a*", "b"]).why == "The agent is not 'a*' or 'b'."


@pytest.mark.parametrize(
    ("globs", "expected"), [(["pay"], True), (["p*"], True), (["PAY"], False), (["pa"], False)]
)
def test_a_tool_is_named_by_globs(globs, expected):
    assert matches(call({}), "approve", tools=globs) is expected


SPELLED_OTHERWISE = [
    "Delete_x",
    " delete_x",
    "mcp__srv__delete_x",
    "\uff44elete_x",
    "MCP__a__Delete_x",
    "delete-x",
    "deleteX",
    "mcp__my__srv__delete_x",
    "mcp__srv__ delete_x",
    "srv.delete_x",
    "functions:deleteX",
    "_delete_x",
]


@pytest.mark.parametrize("tool", SPELLED_OTHERWISE)
def test_a_tool_that_is_spelled_otherwise_may_be_what_is_rejected_and_is_not_approved(tool):
    assert matches(call({}, tool), "reject", tools=["delete_*"])
    assert matches(call({}, tool), "review", tools=["delete_*"])
    assert not matches(call({}, tool), "approve", tools=["delete_*"])


@pytest.mark.parametrize(
    ("rule", "tool"),
    [
        ("deleteFile", "deletefile"),
        ("deleteFile", "DELETEFILE"),
        ("delete_file", "crm.deletefile"),
        ("deletefile", "deleteFile"),
        ("deleteF*", "DELETEFILE"),
        ("run_sql_query", "runSQLQuery"),
        ("transfer_funds", "transfer__funds"),
        ("transfer_funds", "Transfer - Funds"),
    ],
)
def test_words_that_are_joined_in_another_way_may_be_the_same_tool(rule, tool):
    assert matches(call({}, tool), "reject", tools=[rule])
    assert not matches(call({}, tool), "approve", tools=[rule])


@pytest.mark.parametrize(
    "tool", ["delete_x.", "delete_x__", "delete_x:", "srv.delete_x/", "delete_x()"]
)
def test_signs_at_the_end_of_a_name_shed_nothing(tool):
    assert matches(call({}, tool), "reject", tools=["delete_x"])
    assert not matches(call({}, tool), "approve", tools=["delete_x"])


@pytest.mark.parametrize(
    "tool", ["undelete_x", "deletex", "deleted_items", "delete", "x_delete_x"]
)
def test_a_tool_of_another_name_is_not(tool):
    assert not matches(call({}, tool), "reject", tools=["delete_*"])


def test_a_rule_for_another_spelling_does_not_spare_what_the_right_one_asks_for():
    loose = rule("review", "a", tools=["delete_*"])
    strict = rule("review", "b", tools=["Delete_*"], demands={"approvals": 2})

    assert evaluate(policy(loose, strict), call({}, "Delete_x")).demands.approvals == 2


def test_operations_on_memory_may_be_spelled_otherwise_too():
    other = question(Kind.MEMORY, {"operation": "Delete ", "user_id": "ADA", "content": ""})

    assert matches(other, memory_operations=["delete"], memory_users=["ada"])
    assert not matches(other, "approve", memory_operations=["delete"])


@pytest.mark.parametrize(
    "operation",
    [
        "memory.delete",
        "mcp__memory__delete",
        "memory:delete",
        "memory/delete",
        "memory::delete",
        "delete()",
        "delete(bob)",
        "delete:bob",
        "delete/bob",
        "delete; add",
        "DELETE!",
        "delete bob",
        "memory_delete",
        "deleteBob",
        "delete-bob",
    ],
)
def test_what_stands_around_an_operation_sheds_nothing(operation):
    other = question(Kind.MEMORY, {"operation": operation, "user_id": "ada", "content": ""})

    assert matches(other, "reject", memory_operations=["delete"])
    assert matches(other, "review", memory_operations=["delete"])
    assert not matches(other, "approve", memory_operations=["delete"])


@pytest.mark.parametrize("operation", ["bulk_delete:bob", "bulk_delete(bob)", "a/bulkDelete/b"])
def test_an_operation_of_two_words_is_found_among_others(operation):
    other = question(Kind.MEMORY, {"operation": operation, "user_id": "ada", "content": ""})

    assert matches(other, "reject", memory_operations=["bulk_delete"])


def test_an_operation_of_another_name_is_another_one():
    other = question(Kind.MEMORY, {"operation": "undelete", "user_id": "ada", "content": ""})

    assert not matches(other, "reject", memory_operations=["delete"])


@pytest.mark.parametrize(
    "when", [{"tools": ["*"]}, {"arguments": [{"path": "a", "test": "absent"}]}]
)
def test_conditions_on_tools_match_only_their_calls(when):
    assert not matches(question(Kind.CODE, {"code": "", "tool": "pay"}), **when)
    assert matches(call({}), **when)


def test_memory_is_matched_by_operation_and_user():
    asked = question(Kind.MEMORY)

    assert matches(asked, memory_operations=["sa*"], memory_users=["ada"])
    assert not matches(asked, memory_users=["bob"])
    assert not matches(call({"operation": "save"}), memory_operations=["*"])


def test_a_rule_against_a_language_is_about_any_block():
    assert matches(question(languages=["python", "bash"]), languages=["bash"])


def test_an_approving_rule_for_a_language_is_about_every_block():
    assert not matches(question(languages=["python", "bash"]), "approve", languages=["bash"])
    assert matches(question(languages=["python", "bash"]), "approve", languages=["bash", "py*"])


def test_a_rule_against_findings_is_about_any_of_them():
    when = {"findings": {"names": ["recursive-*"], "at_least": "medium"}}

    assert matches(question(findings=[READS, DELETES]), **when)
    assert not matches(question(findings=[READS]), **when)


def test_findings_below_the_severity_do_not_count():
    assert not matches(question(findings=[READS]), findings={"at_least": "low"})
    assert matches(question(findings=[READS]), findings={})


def test_an_approving_rule_for_findings_wants_no_others():
    when = {"findings": {"names": ["file-read"]}}

    assert matches(question(findings=[READS]), "approve", **when)
    assert not matches(question(findings=[READS, DELETES]), "approve", **when)
    assert not matches(question(), "approve", **when)


@pytest.mark.parametrize(
    ("findings", "expected"), [([], True), ([READS], True), ([WRITES], False), ([DOUBT], False)]
)
def test_no_findings_above_means_the_highest(findings, expected):
    asked = question(findings=findings)

    assert matches(asked, "approve", no_findings_above="info") is expected


def test_a_pattern_against_code_matches_anywhere():
    assert matches(
        question(Kind.CODE, {"code": "x\ndrop table t\n"}), content_matches="drop\\s+table"
    )


def test_an_approving_pattern_matches_the_whole_code():
    asked = question(Kind.CODE, {"code": "print(1)\nimport os\n"})

    assert not matches(asked, "approve", content_matches=r"print\(1\)\n")
    assert matches(asked, "approve", content_matches=r"(?s)print.*")


@pytest.mark.parametrize("argument", ['say "no"\nnow', ['say "no"\nnow'], {'say "no"\nnow': 1}])
def test_a_pattern_looks_at_texts_without_their_escapes(argument):
    assert matches(call({"q": argument}), content_matches='"no"\nnow')


@pytest.mark.parametrize(
    ("pattern", "argument"),
    [
        ("^rm ", "rm -rf /srv"),
        (" now$", ["it is", "done now"]),
        ("DROP TABLE", '{"q": "DR\\u004fP TABLE x"}'),
        ("DROP TABLE", '{"q": "[\\"DR\\\\u004fP TABLE x\\"]"}'),
    ],
)
def test_a_pattern_is_also_looked_for_in_each_value_and_in_json_within_it(pattern, argument):
    assert matches(call({"q": argument}), "reject", content_matches=pattern)
    assert not matches(call({"q": "SELECT 1"}), "reject", content_matches=pattern)


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        (Kind.TOOL_CALL, {"tool": "run", "arguments": {"q": "dr\u200bop table x"}}),
        (Kind.TOOL_CALL, {"tool": "run", "arguments": {"words": ["drop", "table", "x"]}}),
        (Kind.TOOL_CALL, {"tool": "run", "arguments": {"q": '["drop", "table", "x"]'}}),
        (Kind.CODE, {"code": "print(1)\ndrop\u200b table x\n"}),
    ],
)
def test_what_is_hidden_or_cut_into_words_does_not_pass_a_pattern(kind, content):
    assert matches(question(kind, content), "reject", content_matches="drop table")


def test_of_code_without_hidden_characters_nothing_else_is_looked_at():
    asked = question(Kind.CODE, {"code": "print(1)\nimport os\nx = 1\n"})

    assert not matches(asked, "reject", content_matches="^import os$")


def test_more_values_than_are_looked_at_count_as_a_match():
    assert matches(call({"rows": [1] * 6000}), "reject", content_matches="DROP")
    assert not matches(call({"rows": [1] * 4000}), "reject", content_matches="DROP")


def test_a_pattern_looks_at_canonical_json_too():
    assert matches(call({"amount": 5}), content_matches='"amount":5')


def test_an_approving_pattern_matches_the_whole_canonical_json():
    asked = call({"amount": 5})

    whole = r'\{"arguments":\{"amount":\d\},"tool":"pay"\}'

    assert not matches(asked, "approve", tools=["pay"], content_matches='"amount":5')
    assert matches(asked, "approve", tools=["pay"], content_matches=whole)


def test_size_is_counted_in_bytes_of_canonical_content():
    asked = question(Kind.CODE, {"code": "ä"})  # {"code":"ä"} has 12 characters and 13 bytes

    assert matches(asked, larger_than=12)
    assert not matches(asked, larger_than=13)
    assert matches(asked, smaller_than=14)
    assert not matches(asked, smaller_than=13)


def test_repetition_counts_what_was_asked_before():
    assert matches(question(repeated=3), repeated=3)
    assert not matches(question(repeated=2), repeated=3)


@pytest.mark.parametrize(
    ("condition", "claim"),
    [("capabilities", "capability"), ("execution_modes", "execution_mode"), ("runs", "run_id")],
)
def test_what_the_agent_says_of_itself_is_matched_by_globs(condition, claim):
    assert matches(question(**{claim: "write"}), **{condition: ["w*"]})
    assert not matches(question(**{claim: "read"}), **{condition: ["w*"]})


@pytest.mark.parametrize("condition", ["capabilities", "execution_modes", "runs"])
def test_an_agent_that_says_nothing_claims_nothing(condition):
    assert not matches(question(), **{condition: ["*"]})


def test_hours_are_those_of_their_time_zone():
    when = {"hours": {"from": "13:00", "until": "14:00", "timezone": "Europe/Berlin"}}

    assert matches(question(asked_at=NOON), **when)
    assert not matches(question(asked_at=datetime(2026, 7, 1, 12, 0, tzinfo=UTC)), **when)


def test_a_moment_without_a_time_zone_counts_against_opening():
    asked = question(asked_at=NOON.replace(tzinfo=None))

    assert not matches(asked, "approve", hours={})
    assert matches(asked, hours={})


def test_what_cannot_be_judged_is_said():
    unclear = step(call({}, tool=7), tools=["a"])

    assert unclear.unclear
    assert unclear.why == (
        "Its condition 'tools' cannot be judged (TypeError), which counts as holding."
    )


def test_another_condition_can_still_say_no_to_what_cannot_be_judged():
    assert not matches(call({}, tool=7), tools=["a"], agents=["other"])


def test_why_another_reading_counts_is_said_in_its_own_words():
    other = step(call({"force": "always"}, "Pay"), tools=["pay"])
    reading = step(
        call({"force": "always"}), arguments=[{"path": "force", "test": "equals", "value": True}]
    )

    assert other.why == (
        "This is another spelling of a tool that the rule names, and counts as that tool."
    )
    assert reading.why == (
        "A tool could read an argument as the value that the rule names, so the rule holds."
    )
