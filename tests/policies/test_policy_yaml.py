"""Policies as YAML: ours, and Osprey's of both eras."""

import pytest
from hypothesis import given

from approval_client.wire import Kind
from dashboard.policies.evaluate import EVERYTHING_TO_A_PERSON, Effect, PolicyError
from dashboard.policies.formats.policy_yaml import Import, YamlError, from_yaml, to_yaml
from tests.policies import random_policies as any_
from tests.policies.ask import DOUBT, WRITES, call, effect_of, policy, question, rule

ASKS, OPENS = Effect.REVIEW, Effect.APPROVE
OSPREY = """
approval:
  enabled: true
  default_policy: "always"
  tools:
    channel_write: always
    channel_read: skip
    execute: selective
    entry_create: selective
control_system: {type: epics, verbose: on}
"""


@given(any_.policies)
def test_a_policy_survives_being_written_and_read(written):
    assert from_yaml(to_yaml(written)) == Import(written, [], [])


def test_a_policy_with_everything_survives():
    example = {"kind": "code", "content": {"code": "a\n\tb: yes\n"}, "run_id": "010"}
    full = rule(hours={"from": "10:30"}, agents=["no"], examples={"match": [example]})
    written = policy(full, python=None, owners=True)

    assert from_yaml(to_yaml(written)).policy == written


@pytest.mark.parametrize(
    ("part", "line"),
    [
        ("when", "no_findings_above"),
        ("when", "content_matches"),
        ("when", "findings"),
        ("when", "hours"),
        ("when", "smaller_than"),
        ("when", "repeated"),
        ("demands", "proof"),
        ("demands", "time_limit_s"),
        ("demands", "owner_may_approve"),
    ],
)
def test_a_line_without_a_value_is_refused(part, line):
    rules = f"rules:\n- name: a\n  effect: review\n  {part}:\n    {line}:\n"

    with pytest.raises(PolicyError, match=rf"rules\.0\.{part}\.{line}.*no value"):
        from_yaml(f"global_mode: selective\n{rules}")


def test_an_argument_may_be_compared_with_null():
    null = {"path": "user", "test": "equals", "value": None}
    written = policy(rule("reject", "no", tools=["rm"], arguments=[null]))

    assert from_yaml(to_yaml(written)).policy == written


def test_our_own_format_reads_as_it_looks():
    assert to_yaml(policy(rule("reject", "no", tools=["rm"], hours={"from": "08:00"}))) == (
        "global_mode: selective\n"
        "capabilities:\n"
        "  python_execution:\n"
        "    enabled: true\n"
        "    mode: all_code\n"
        "  memory:\n"
        "    enabled: true\n"
        "owner_may_approve: false\n"
        "rules:\n"
        '- name: "no"\n'
        "  when:\n"
        "    tools:\n"
        "    - rm\n"
        "    hours:\n"
        '      from: "08:00"\n'
        "  effect: reject\n"
    )


@pytest.mark.parametrize(
    "text", ["", "7", "- a", "rules: 7\n", "a: 1", "owner_may_approve: false\nx: 1"]
)
def test_what_is_no_policy_is_refused(text):
    with pytest.raises(PolicyError):
        from_yaml(text)


def test_our_own_format_takes_no_word_that_can_be_read_in_two_ways():
    with pytest.raises(YamlError, match="Line 1"):
        from_yaml("owner_may_approve: yes")


def test_a_file_with_two_policies_is_refused():
    with pytest.raises(PolicyError, match="one or the other"):
        from_yaml("approval: {enabled: true}\nrules: []")


@pytest.mark.parametrize("mode", ["epics_writes", "control_writes"])
@pytest.mark.parametrize("before", ["{}", "approval: {}"])
def test_osprey_of_before_becomes_modes(mode, before):
    python = f"{{enabled: yes, mode: {mode}, x: 1}}"
    capabilities = f"{{python_execution: {python}, memory: off, y: 2}}"
    read = from_yaml(before.format(f"{{global_mode: selective, capabilities: {capabilities}}}"))

    assert read.policy == policy(python="epics_writes", memory=False)
    assert read.mapped == [
        "global_mode → selective.",
        "capabilities.python_execution → enabled on, mode epics_writes.",
        "capabilities.memory → enabled off.",
    ]
    assert read.ignored == [
        "capabilities.y: not known here.",
        "capabilities.python_execution.x: not known here.",
    ]


def test_what_osprey_of_before_leaves_out_means_to_ask():
    read = from_yaml("approval: {global_mode: selective}")

    assert read.policy == policy()
    assert read.mapped[1] == (
        "capabilities.python_execution → enabled on, mode all_code (it was not there)."
    )


@pytest.mark.parametrize(
    "section",
    [
        "7",
        "{}",
        "{x: 1}",
        "{global_mode: off}",
        "{capabilities: 7}",
        "{capabilities: {memory: {enabled: 1}}}",
        "{global_mode: selective, tools: {}}",
        "{enabled: 1}",
        "{tools: [a]}",
        "{tools: {a: maybe}}",
        "{default_policy: never}",
    ],
)
def test_a_section_that_does_not_hold_together_is_refused(section):
    with pytest.raises(PolicyError, match=r"^approval"):
        from_yaml(f"approval: {section}")


def test_osprey_of_today_becomes_modes_and_rules():
    read = from_yaml(OSPREY)

    assert [r.name for r in read.policy.rules] == [
        "channel_write: always",
        "entry_create: selective",
        "channel_read: skip",
        "execute: write mode",
        "code: write mode",
        "execute: selective",
    ]
    assert read.policy.config.python_execution.mode.value == "epics_writes"
    assert read.ignored == ["control_system: not about approval."]


@pytest.mark.parametrize(
    ("asked", "effect"),
    [
        (call({}, "channel_write"), ASKS),
        (call({}, "mcp__controls__channel_write"), ASKS),
        (call({}, "channel_read"), OPENS),
        (call({}, "channel_reads"), ASKS),
        (call({}, "mcp__evil__channel_read"), ASKS),
        (call({}, "entry_create"), ASKS),
        (call({}, "unheard_of"), ASKS),
        (call({}, "execute", languages=["python"]), OPENS),
        (call({}, "execute", languages=["python"], findings=[WRITES]), ASKS),
        (call({}, "execute", languages=["python"], findings=[DOUBT]), ASKS),
        (call({}, "execute", languages=["bash"]), ASKS),
        (call({"execution_mode": "readwrite"}, "execute", languages=["python"]), ASKS),
        (question(), OPENS),
        (question(findings=[WRITES]), ASKS),
        (question(execution_mode="write"), ASKS),
        (question(Kind.MEMORY), ASKS),
        (question(Kind.PLAN), ASKS),
    ],
)
def test_osprey_of_today_asks_as_it_did_or_more(asked, effect):
    assert effect_of(from_yaml(OSPREY).policy, asked) is effect


def test_every_mapping_says_what_opens():
    mapped = from_yaml(OSPREY).mapped

    assert [line for line in mapped if "NOBODY IS ASKED" in line] == [
        (
            "tools.channel_read: skip → a rule approves calls of the tool named exactly "
            "'channel_read'. NOBODY IS ASKED."
        )
    ]


@pytest.mark.parametrize("word", ["false", "off", "no"])
def test_osprey_switched_off_switches_the_gate_off(word):
    read = from_yaml(f"approval: {{enabled: {word}, tools: {{a: always}}}}")

    assert read.policy.asks_nobody
    assert read.mapped == ["enabled: false → the global mode 'disabled'. NOBODY IS ASKED."]
    assert read.ignored == ["tools: nothing is asked."]
    assert read.policy.modes["capabilities"] == EVERYTHING_TO_A_PERSON.modes["capabilities"]


def test_skipping_by_default_approves_nothing_and_says_so():
    read = from_yaml("default_policy: skip\ntools: {pay: always}")

    assert effect_of(read.policy, call({}, "other")) is ASKS
    assert effect_of(read.policy, call({}, "pay")) is ASKS
    assert effect_of(read.policy, question(Kind.PLAN)) is ASKS
    assert read.ignored[-1].startswith("default_policy: skip: only a rule that names a tool")


def test_a_tool_whose_name_looks_like_a_glob_is_taken_literally():
    read = from_yaml('tools: {"*": skip}')

    assert effect_of(read.policy, call({}, "pay")) is ASKS
    assert effect_of(read.policy, call({}, "*")) is OPENS
