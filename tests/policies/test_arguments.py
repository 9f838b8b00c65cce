"""Conditions on the arguments of a tool call."""

import json
import time

import pytest

from approval_client.wire import parse_json
from dashboard.policies.rules.arguments import condition, problem_with
from dashboard.policies.rules.rule import Argument


def holds(arguments, path, test, value=None, *, approving=False):
    if isinstance(arguments, str):
        arguments = parse_json(arguments)
    checked = condition(Argument(path=path, test=test, value=value), approving=approving)
    return checked(arguments) is not False  # None is what may hold


def both(*args):
    """What a rejecting and what an approving rule says."""
    return holds(*args), holds(*args, approving=True)


@pytest.mark.parametrize(
    ("path", "expected"),
    [("a.b", True), ("a.c", False), ("list.1", True), ("list.2", False)],
)
def test_a_path_walks_mappings_and_lists(path, expected):
    assert both('{"a": {"b": 1}, "list": [1, 2]}', path, "present") == (expected, expected)


def test_a_star_is_any_key_or_position():
    given = '{"to": [{"name": "x"}, {"name": "y"}]}'

    assert both(given, "to.*.name", "equals", "x") == (True, False)
    assert both(given, "*.*.name", "glob", "?") == (True, True)


@pytest.mark.parametrize(
    ("test", "value", "argument"),
    [
        ("matches", r"rm\s+-rf", ["rm", "-rf", "/srv"]),
        ("matches", r"rm\s+-rf", '["rm", "-rf", "/srv"]'),
        ("glob", "rm *", ["rm", "x"]),
        ("glob", "rm *", "rm\tx"),
        ("glob", "rm *", "rm\n  x"),
        ("equals", "rm x", "rm\u200b  x"),
    ],
)
def test_words_of_a_command_and_blanks_between_them_make_no_difference(test, value, argument):
    assert both({"command": argument}, "command", test, value) == (True, False)


def test_an_approving_rule_wants_nothing_to_be_missing():
    assert both('[{"name": "x"}, {}]', "*.name", "equals", "x") == (True, False)


def test_an_approving_rule_wants_something_to_be_there():
    assert both('{"to": []}', "to.*", "equals", "x") == (False, False)


def test_what_is_missing_is_absent_and_nothing_else():
    assert both("{}", "a", "absent") == (True, True)
    assert both('{"a": null}', "a", "absent") == (False, False)
    tests = [("present", None), ("equals", 1), ("glob", "*"), ("over", 1), ("under", 1)]
    assert [both("{}", "a", test, value) for test, value in tests] == [(False, False)] * 5


@pytest.mark.parametrize("arguments", ["[]", '"text"', "null", "7"])
def test_arguments_that_are_no_mapping_approve_nothing(arguments):
    assert not holds(arguments, "a", "present", approving=True)
    assert holds(arguments, "a", "present") == (arguments != "null")


DROP = '{"sql":"DR\\u004fP TABLE x"}'
SHAPES = [  # what some tool reads as what the rule is about, beside what it was written for
    ("files.*", "within", "/etc", {"files": "/etc/x"}),
    ("files.*", "within", "/etc", {"files": '["/etc/x"]'}),
    ("account.id", "glob", "prod-*", {"account": {"id": ["prod-17"]}}),
    ("account.id", "glob", "prod-*", {"account": '{"id":"prod-17"}'}),
    ("account.id", "glob", "prod-*", {"account": [{"id": "prod-17"}]}),
    ("account.id", "glob", "prod-*", {"account": {"id": "PROD-17 "}}),
    ("account.id", "glob", "prod-*", {"account": {"ID": "prod-17"}}),
    ("account.id", "glob", "prod-*", {"account": {"id": ' ["prod-17"]'}}),
    ("account.id", "matches", "^prod-", {"account": {"id": ["prod-17"]}}),
    ("account.id", "matches", "^prod-", {"account": {"id": '"prod-17"'}}),
    ("account.id", "equals", "prod", {"account": {"id": ["prod"]}}),
    ("account.id", "equals", "prod", {"account": {"id": [["prod"]]}}),
    ("account.id", "equals", "prod", {"account": [{"id": "prod"}]}),
    ("account.id", "equals", "prod", {"account": {"id": "Prod"}}),
    ("account.id", "one_of", ["prod", "live"], {"account": {"id": '["live"]'}}),
    ("transfers.*.amount", "over", 1000, {"transfers": {"amount": 5000}}),
    ("transfers.*.amount", "over", 1000, {"transfers": [[{"amount": 5000}]]}),
    ("limits.0", "over", 1000, {"limits": {"first": 5000}}),
    ("options.force", "present", None, {"options": [{"force": True}]}),
    ("options.force", "present", None, {"options": '{"force":true}'}),
    ("options.force", "present", None, {"options": "--force"}),
    ("dry_run", "absent", None, {"dryRun": True}),
    ("force", "equals", True, {"force": "True"}),
    ("force", "equals", True, {"force": 1}),
    ("force", "equals", True, {"force": "yes"}),
    ("force", "equals", True, {"force": "ON"}),
    ("force", "equals", True, {"force": [True]}),
    ("force", "equals", "yes", {"force": True}),
    ("force", "equals", False, {"force": 0}),
    ("count", "equals", 3, {"count": "0x3"}),
    ("count", "equals", 3, {"count": [3]}),
    ("list.-1", "equals", 2, {"list": [1, 2]}),
    ("force", "equals", True, {"force": False, "Force": True}),
    ("options.env", "equals", "prod", {"options": {"env": "dev", "Env": "prod"}}),
    ("options.env", "equals", "prod", {"options": {"env[]": ["prod"]}}),
    ("options.env", "equals", "prod", {"options.env": "prod"}),
    ("options.env", "equals", "prod", {"options[env]": "prod"}),
    ("body", "matches", "DROP TABLE", {"body": DROP}),
    ("body", "matches", "DROP TABLE", {"body": f'{DROP[:-1]},"p":{"1" * 4400}}}'}),
    ("body", "matches", "DROP TABLE", {"body": f'{{"index":{{}}}}\n{DROP}'}),
    ("body", "matches", "DROP TABLE", {"body": f"\ufeff{DROP}"}),
    ("body", "matches", "DROP TABLE", {"body": json.dumps(DROP)}),
    ("body", "matches", "DROP TABLE", {"body": {"body": DROP}}),
    ("body", "matches", "DROP TABLE", {"body": [DROP]}),
    ("body", "matches", "DROP TABLE", {"body": '{"DR\\u004fP TABLE x":1}'}),
    ("body", "matches", "DROP TABLE", {"body": f'{DROP[:-1]},"sql":"a"}}'}),
    ("env", "equals", "prod", {"env": '["[\\"prod\\"]"]'}),
    ("env", "equals", "prod", {"env": {"prod": True}}),
    ("force", "equals", True, {"force": 2}),
    ("force", "equals", True, {"force": "always"}),
    ("dry_run", "equals", False, {"dry_run": None}),
    ("dry_run", "equals", False, {"dry_run": []}),
    ("dry_run", "equals", False, {"dry_run": "disabled"}),
    ("count", "equals", 1000, {"count": "1,000"}),
    ("count", "equals", 5, {"count": "\ufeff$5"}),
    ("count", "equals", 1000, {"count": "1.000"}),
    ("count", "equals", 1000, {"count": "1 000"}),
    ("count", "equals", 1000.5, {"count": "1.000,50"}),
    ("count", "equals", "1,000", {"count": 1000}),
    ("count", "equals", "0x10", {"count": 16}),
    ("count", "equals", "1", {"count": 1.0}),
    ("count", "equals", "1", {"count": "01"}),
    ("count", "one_of", ["all", "1"], {"count": True}),
    ("mode", "equals", 1, {"mode": True}),
    ("mode", "equals", 1, {"mode": "yes"}),
    ("mode", "equals", 0, {"mode": False}),
    ("mode", "equals", 0, {"mode": "off"}),
    ("force", "equals", "true", {"force": "yes"}),
    ("force", "equals", "true", {"force": 1}),
    ("force", "equals", "true", {"force": "1"}),
    ("force", "equals", "no", {"force": "0"}),
    ("env", "equals", "prod", {"env": "pr\u200b\ufeffod"}),
    ("env", "equals", "prod", {"env": "\u200b prod\x01"}),
    ("env", "equals", "pr\u200bod", {"env": "prod"}),
    ("env", "glob", "prod-*", {"env": ["\u200bprod-1"]}),
    ("env", "matches", "^prod", {"env": "\u2060prod-1"}),
    ("count", "equals", 16, {"count": "0x1\u200b0"}),
    ("url", "host_is", "evil.com", {"url": "https://docs.org/,https://evil.com"}),
    ("url", "host_is", "evil.com", {"url": "https://docs.org#@evil.com/"}),
    ("file", "within", "/etc", {"file": "/srv/a -o/etc/passwd"}),
    ("file", "within", "/etc", {"file": "/srv/a:/etc/passwd"}),
    ("file", "within", "/etc", {"file": "/srv/a ../../etc/passwd"}),
]


@pytest.mark.parametrize(("path", "test", "value", "arguments"), SHAPES)
def test_no_other_shape_of_a_value_sheds_a_rule_or_is_approved(path, test, value, arguments):
    assert holds(arguments, path, test, value)
    assert not holds(arguments, path, test, value, approving=True)


@pytest.mark.parametrize(
    ("path", "test", "value", "arguments"),
    [
        ("account.id", "equals", "prod", {"account": {"id": ["test", 7, {"a": None}]}}),
        ("account.id", "equals", "prod", {"account": {"id": '{"a": "test"}'}}),
        ("account.id", "glob", "prod-*", {"account": {"id": ["test-1"]}}),
        ("account.id", "matches", "DROP", {"account": {"id": '{"sql": "SELECT 1"}'}}),
        ("account.id", "equals", "prod", {"account": {"name": "prod"}}),
        ("account.id", "equals", "prod", {"account": None}),
        ("account.id", "equals", "prod", {}),
        ("files.*", "within", "/etc", {"files": []}),
        ("force", "equals", True, {"force": "no"}),
        ("force", "equals", True, {"force": None}),
        ("force", "equals", True, {"force": []}),
        ("dry_run", "equals", False, {"dry_run": 2}),
        ("dry_run", "equals", False, {"dry_run": "TRUE"}),
        ("count", "equals", 5, {"count": "2024-01-05 report"}),
        ("count", "equals", 1, {"count": "1st"}),
        ("count", "one_of", [1, "all"], {"count": "1 bedroom flat"}),
        ("count", "equals", "1", {"count": "1.000.5"}),
        ("mode", "equals", 0, {"mode": None}),
        ("mode", "equals", 0, {"mode": ""}),
        ("mode", "equals", 1, {"mode": False}),
        ("force", "equals", "true", {"force": "always"}),
        ("force", "equals", "true", {"force": 2}),
        ("name", "equals", "", {"name": False}),
        ("name", "glob", " *", {"name": "hello"}),
        ("url", "host_is", "evil.com", {"url": "https://www.spiegel.de/a,1518,123.html"}),
        ("url", "host_is", "evil.com", {"url": "https://x.org/?ids=a,b.csv"}),
        ("url", "host_is", "evil.com", {"url": "https://x.org?email=a@b.org"}),
        ("file", "within", "/etc", {"file": "/home/a/My Documents/Report - final.docx"}),
        ("file", "within", "/etc", {"file": "/srv/Meeting -minutes.txt"}),
        ("file", "within", "/etc", {"file": "/srv/100%.txt"}),
        ("file", "within", "/etc", {"file": "/srv/pkg@.1/dt=2024/etc/x"}),
        ("count", "equals", 3, {"count": "4"}),
        ("count", "equals", 3, {"count": "many"}),
        ("options.force", "present", None, {"options": {"dry": True}}),
    ],
)
def test_what_is_certainly_something_else_is_not_matched(path, test, value, arguments):
    assert not holds(arguments, path, test, value)


def test_json_in_a_text_that_is_too_much_to_look_through_may_be_anything():
    assert holds({"a": f"[{'1,' * 6_000}1]"}, "a", "equals", "prod")
    assert not holds({"a": f"[{'1,' * 2_000}1]"}, "a", "equals", "prod")
    # Deeper than some versions of Python read.
    assert holds({"a": "[" * 5_000 + '"prod"' + "]" * 5_000}, "a", "equals", "prod")


def test_names_that_are_too_many_to_compare_may_be_any():
    assert holds({"a": {f"x{n}": 1 for n in range(2_000)}}, "a.force", "present")


@pytest.mark.parametrize(
    "options", [{"force": True}, [{"force": True}], '{"force":true}', "--force", {"Force": 1}]
)
def test_absent_approves_only_what_certainly_lacks_it(options):
    assert not holds({"options": options}, "options.force", "absent", approving=True)
    assert holds({"options": {"dry": 1}}, "options.force", "absent", approving=True)


@pytest.mark.parametrize(
    ("found", "limit", "over"),
    [
        ("100.01", 100, True),
        ("100", 100, False),
        ("9007199254740993", parse_json("9007199254740992"), True),
        ("0.1000000000000000000001", parse_json("0.1"), True),
        ("1e2", 99, True),
    ],
)
def test_numbers_are_compared_by_their_digits(found, limit, over):
    assert both(f'{{"a": {found}}}', "a", "over", limit) == (over, over)


def test_under_is_the_other_way():
    assert both('{"a": 99}', "a", "under", 100) == (True, True)
    assert both('{"a": 100}', "a", "under", 100) == (False, False)


@pytest.mark.parametrize("found", ['"5"', "true", "null", "[5]", "{}", '"٥"'])
@pytest.mark.parametrize("test", ["over", "under"])
def test_what_is_no_number_counts_against_opening(found, test):
    assert both(f'{{"a": {found}}}', "a", test, 5) == (True, False)


def test_a_number_too_small_for_a_float_is_compared_by_its_digits():
    assert both('{"a": 1e-999999999}', "a", "over", 0) == (True, True)


@pytest.mark.parametrize(
    ("found", "wanted", "expected"),
    [
        ("5", 5, (True, True)),
        ("5.0", 5, (True, True)),
        ('"5"', 5, (True, False)),
        ("true", 1, (True, False)),
        ("1.0", 1, (True, True)),
        ('"1"', "1", (True, True)),
        ("true", 2, (False, False)),
        ('"true"', True, (True, False)),
        ("null", None, (True, True)),
        ('{"x": [1]}', {"x": [1]}, (True, True)),
        ("6", 5, (False, False)),
    ],
)
def test_equals_is_exact_for_who_approves_and_wide_for_others(found, wanted, expected):
    assert both(f'{{"a": {found}}}', "a", "equals", wanted) == expected


def test_one_of_is_any_of_them():
    assert both('{"a": "x"}', "a", "one_of", ["x", 5]) == (True, True)
    assert both('{"a": "y"}', "a", "one_of", ["x", 5]) == (False, False)


def test_a_glob_looks_at_the_whole_text():
    assert both('{"a": "x@example.org"}', "a", "glob", "*@example.org") == (True, True)
    assert both('{"a": "x@example.org.evil"}', "a", "glob", "*@example.org") == (False, False)


def test_a_pattern_matches_the_whole_for_who_approves_and_anywhere_for_others():
    assert both('{"a": "rm -rf /"}', "a", "matches", "rm -rf") == (True, False)
    assert both('{"a": "ls"}', "a", "matches", "ls|pwd") == (True, True)


def test_another_value_than_a_text_is_looked_at_only_against_opening():
    assert both('{"a": ["rm", "-rf"]}', "a", "glob", "*rm*") == (True, False)
    assert both('{"a": ["rm", "-rf"]}', "a", "matches", "rm") == (True, False)


@pytest.mark.parametrize(
    ("test", "value"),
    [
        ("present", 1),
        ("absent", ""),
        ("over", "5"),
        ("under", True),
        ("over", None),
        ("over", float("nan")),
        ("glob", 5),
        ("glob", ""),
        ("matches", "("),
        ("matches", "(?=a)"),
        ("one_of", "abc"),
        ("one_of", []),
        ("equals", object()),
    ],
)
def test_a_value_that_does_not_fit_its_test_is_a_problem(test, value):
    assert problem_with(Argument(path="a", test=test, value=value)).endswith(".")


@pytest.mark.parametrize(
    ("test", "value"),
    [
        ("present", None),
        ("over", 5),
        ("glob", "*"),
        ("matches", "a+"),
        ("one_of", [1]),
        ("equals", None),
    ],
)
def test_a_value_that_fits_is_none(test, value):
    assert problem_with(Argument(path="a", test=test, value=value)) == ""


def test_a_path_of_many_stars_takes_no_time():
    deep = "1"
    for _ in range(20):
        deep = f"[{deep}, {deep}]" if len(deep) < 50_000 else f"[{deep}]"

    assert both(deep, ".".join("*" * 200), "present") == (True, False)  # too many to look through


@pytest.mark.parametrize(("test", "value"), [("equals", 8), ("glob", "8"), ("over", 8)])
@pytest.mark.parametrize("path", ["many", "many.*"])
def test_what_is_too_much_to_look_through_passes_unless_it_would_approve(path, test, value):
    assert both({"many": [7] * 2000}, path, test, value) == (True, False)


def test_two_names_of_one_reading_are_not_what_a_rule_approves():
    both_names = {"path": "/srv/x", "Path": "/etc/shadow"}

    assert not holds(both_names, "path", "within", "/srv", approving=True)


@pytest.mark.parametrize(
    "name",
    [
        "Repo",
        "repo ",
        "repo[]",
        "repo[0]",
        "repo[$ne]",
        "repo:",
        "/repo",
        "$repo",
        "repo+",
        "repo*",
        "repo;x",
        "repo=production&x",
        "repo/0",
        "repo.name",
        "repo%5B%5D",
        "%72epo",
        "%2572epo",
        "repo%20",
        "\\u0072epo",
        "\\x72epo",
        "repo\\",
        "re\u00adpo",
        "repo\u3164",
        "repo\u0001",
        "repo\u0085",
        "repo\u2003",
        "\u202erepo",
        "\uff52epo",
        "repo" + "\u200b" * 2000,
    ],
)
def test_another_spelling_of_a_name_is_not_told_from_it(name):
    arguments = {"repo": "docs", name: "production"}

    assert not holds(arguments, "repo", "equals", "docs", approving=True)
    assert holds(arguments, "repo", "equals", "production")


@pytest.mark.parametrize(
    "name",
    [
        "repo_url",
        "repo-url",
        "repo url",
        "repoUrl",
        "repos",
        "my_repo",
        "repo2",
        "r\u00e9po",
        "日本",
    ],
)
def test_another_name_is_told_from_it(name):
    arguments = {"repo": "docs", name: "production"}

    assert holds(arguments, "repo", "equals", "docs", approving=True)
    assert not holds(arguments, "repo", "equals", "production")


def test_names_that_share_what_stands_before_a_sign_are_two_names():
    arguments = {"page[size]": 10, "page[number]": 3}

    assert holds(arguments, "page[size]", "equals", 10, approving=True)
    assert not holds({**arguments, "page": 10}, "page[size]", "equals", 10, approving=True)


HOSTILE = {
    "marks": "a" + "\u0300\u0327" * 250_000,
    "wide": "\ufdfa" * 300_000,
    "brackets": "[" * 1_000_000,
    "quotes": '"' * 1_000_000,
    "texts": '""' * 400_000,
    "numbers": "[" + "1," * 400_000 + "1]",
    "blanks": " " * 1_000_000,
    "lists": "[" + "[]," * 300_000 + "[]]",
    "a path of blanks": "/a" + " " * 4_000,
    "a path of signs": "/a" + ",:=@#" * 800,
    "a path of two": "/b" + " /" * 2_000,
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize(
    ("test", "value"),
    [
        ("glob", "rm *"),
        ("equals", "prod"),
        ("one_of", [True, 5]),
        ("matches", "DROP"),
        ("within", "/a"),
    ],
)
def test_no_text_takes_longer_than_its_length_asks(name, test, value):
    text = HOSTILE[name]
    rounds = 20  # conditions of a policy
    tests = [condition(Argument(path="a", test=test, value=value), approving=False)] * rounds
    began = time.process_time()
    for each in tests:
        each({"a": text})
        each({text[:100_000]: 1})
        each({"a": [text[:4_000]] * 200})

    assert time.process_time() - began < 6


def test_a_glob_that_is_too_large_when_read_loosely_may_fit_anything():
    assert holds({"a": "x"}, "a", "glob", "*\ufdfa" * 500)
