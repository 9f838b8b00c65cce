"""How a policy is stored."""

import pytest

from approval_client.wire import parse_json
from dashboard.policies.evaluate import Policy, PolicyError
from tests.policies.ask import policy, rule, silent

OLD = (
    '{"capabilities":{"memory":{"enabled":true},"python_execution":{"enabled":true,'
    '"mode":"epics_writes"}},"global_mode":"selective","owner_may_approve":true}'
)


def test_a_policy_survives_being_stored():
    example = {
        "kind": "tool_call",
        "content": parse_json('{"tool": "a", "arguments": {"x": 1.50}}'),
    }
    when = {"tools": ["a"], "hours": {"from": "08:00"}}
    full = rule(demands={"approvals": 2}, examples={"match": [example]}, **when)
    stored = policy(full, owners=True)

    assert Policy.from_json(stored.to_json()) == stored


def test_equal_policies_have_equal_texts_and_hashes():
    one, other = policy(rule(agents=["a"])), policy(rule(agents=("a",), kinds=()))

    assert one.to_json() == other.to_json()
    assert one == other
    assert len({one, other}) == 1


def test_a_document_of_before_there_were_rules_is_read_and_written_as_it_was():
    assert Policy.from_json(OLD).rules == ()
    assert Policy.from_json(OLD).to_json() == OLD


def test_a_rule_is_written_without_its_defaults():
    assert silent(rule("reject", hours={"from": "08:00"})).to_data()["rules"] == [
        {"name": "rule", "effect": "reject", "when": {"hours": {"from": "08:00"}}}
    ]


def test_numbers_keep_their_digits():
    limit = parse_json("12345678901234567890.10")
    judged = silent(rule(arguments=[{"path": "a", "test": "over", "value": limit}]))

    assert '"value":12345678901234567890.10' in judged.to_json()
    assert Policy.from_json(judged.to_json()).to_json() == judged.to_json()


def test_policies_that_differ_in_one_digit_are_not_equal():
    def over(digits):
        return silent(rule(arguments=[{"path": "a", "test": "over", "value": parse_json(digits)}]))

    assert over("0.10000000000000000001") != over("0.10000000000000000002")


@pytest.mark.parametrize(
    "document",
    ["", "[]", "7", '{"global_mode": 1}', '{"rules": {}}', '{"rules": [7]}', '{"a": 1}'],
)
def test_what_is_no_policy_is_refused(document):
    with pytest.raises(ValueError, match=r"\w"):
        Policy.from_json(document)


def test_every_rule_of_a_document_that_is_none_is_named():
    document = '{"rules": [{"name": "a"}, {"name": "b", "effect": "review", "x": 1}]}'

    with pytest.raises(PolicyError) as refusal:
        Policy.from_json(document)
    assert [where for where, _ in refusal.value.problems] == ["rules.0.effect", "rules.1.x"]


def test_what_is_too_deep_to_be_stored_is_refused():
    content = {}
    for _ in range(30):
        content = {"a": content}
    deep = rule(examples={"match": [{"kind": "plan", "content": content}]})

    with pytest.raises(PolicyError, match="nested deeper"):
        silent(deep)
