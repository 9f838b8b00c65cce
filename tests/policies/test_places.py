"""Rules about folders and hosts cannot be walked round, whatever path or address is written."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.policies.evaluate import Effect, evaluate
from dashboard.policies.rules.implication import implies
from dashboard.policies.rules.places import (
    folder_implies,
    host_implies,
    host_is,
    problem_with_folder,
    problem_with_host,
    within,
)
from dashboard.policies.rules.problems import PolicyError, parse_rule
from tests.policies.ask import call, policy, rule

INSIDE = [
    "/srv/repo",
    "/srv/repo/",
    "/srv/repo/a.txt",
    "/srv//repo/./a/b",
    "/srv/repo/dt=2026-01-01/a,b@c:d/é/日本",
]
OUTSIDE = ["/", "/srv", "/srv/repos", "/srv/repo2/x", "/etc/passwd", "/home/srv/repo/x"]
UNCLEAR_PATHS = [
    "",
    ".",
    "repo/a",
    "./srv/repo/a",
    "/srv/repo/..",
    "/srv/repo/../repo/a",
    "/srv/repo/a/../../../etc/cron.d/x",
    "/srv/repo/./../x",
    "/../srv/repo/a",
    "~",
    "~/srv/repo",
    "~root/x",
    "/srv/repo/~",
    "/srv/repo/~user/x",
    "/srv/repo/a\x00.txt",
    "/srv/repo/a\n",
    "/srv/repo/a\r",
    "/srv/repo/\ta",
    "\n/srv/repo/a",
    " /srv/repo/a",
    "/srv/repo/$HOME",
    "/srv/repo/${X}",
    "/srv/repo/`id`",
    "/srv/repo/$(id)",
    "/srv/repo/*",
    "/srv/repo/a?",
    "/srv/repo/[ab]",
    "/srv/repo/{a,../b}",
    "/srv/repo/a;rm -rf x",
    "/srv/repo/a|b",
    "/srv/repo/a&b",
    "/srv/repo/a>b",
    "/srv/repo/a<b",
    "/srv/repo/'a'",
    '/srv/repo/"a"',
    "/srv/repo/%2e%2e/x",
    "/srv/repo%2f..%2fx",
    "/srv/repo/..%2Fx",
    "/srv/repo/%00",
    "//srv/repo/a",
    "///srv/repo/a",
    "\\srv\\repo\\a",
    "/srv/repo\\..\\x",
    "/srv/repo/a\\b",
    "\\\\?\\C:\\srv\\repo",
    "C:/srv/repo/a",
    "C:\\srv\\repo\\a",
    "file:///srv/repo/a",
    "file:/srv/repo/a",
    "https://srv/repo/a",
    "/srv/repo/\u2025/x",
    "/srv/repo/\uff0e\uff0e/x",
    "/srv/repo\uff0f..\uff0fx",
    "/srv/repo\u2215..\u2215x",
    "/srv/repo\u2044..\u2044x",
    "/srv/repo/\u202egnp.exe",
    "/srv/repo/a\u200b",
    "/srv/repo/\u00a0x",
    "/srv/repo/e\u0301",
    "/SRV/repo/a",
    "/srv/Repo/a",
    "/srv/repo/" + "a/" * 2100,
    "/srv/repo/a /etc/passwd",
    "/srv/repo/a -o /etc/passwd",
    "/srv/repo/a b",
    "/srv/repo/a:/etc/passwd",
    "/srv/repo/a,/etc/passwd",
    "/srv/repo/a:../etc",
    "/srv/repo/x=/etc",
    "/srv/repo/x@~root",
    "/srv/repo/a,C:\\Windows",
    "/srv/repo/%u002e%u002e/x",
    "/srv/repo/%APPDATA%/x",
    "/srv/repo/.\ufe0f./x",
    "/srv/repo/a\u034f",
    "/srv/repo/\U000e0100",
    "/proc/self/cwd/srv/repo/a",
    "/proc/1/cwd",
    "/dev/fd/3",
]
THERE = [
    "docs.example.org",
    "https://docs.example.org",
    "https://docs.example.org/",
    "http://DOCS.Example.org/a/b?c=d#e",
    "wss://docs.example.org/live",
    "https://docs.example.org/a@b",
    "docs.example.org/a",
    "https://docs.example.org/a%20b/caf%C3%A9?a=b&c=d%20e&f[]=g#h",
    "https://docs.example.org/?$filter=a&$top=5&next=%2Fhome&u=../x//y",
    "https://docs.example.org/cart;jsessionid=1A2B;v=1?a=b;c=d",
    "https://docs.example.org/?filter%5Bid%5D=1&filter%5Bname%5D=2&regions=3&type=50%25",
    "https://docs.example.org/group%2Fproject/-/issues",
    "https://docs.example.org/-/profile",
    "https://docs.example.org/wiki/Foo_(bar)",
    "https://docs.example.org/a/./b...c",
]
ELSEWHERE = [
    "https://example.org",
    "https://docs.example.org.evil.net/x",
    "https://evil.net/docs.example.org",
    "https://evil.net/?u=https://docs.example.org",
    "https://evil.net/#docs.example.org",
    "https://docs-example.org",
    "https://xdocs.example.org",
    "https://docs.example.com",
    "https://a.docs.example.org",
    "https://evil.net/wiki/O'Reilly/../x",
]
UNCLEAR_ADDRESSES = [
    "",
    "https://docs.example.org/$(id)",
    "https://docs.example.org/?a=$(id)",
    "https://docs.example.org/`id`",
    "https://docs.example.org/;id",
    "https://docs.example.org/;a=b;id",
    "https://docs.example.org/x?a;touch$IFS.=$IFS/tmp/x",
    "https://docs.example.org/x?a&touch$IFS.=1",
    "https://docs.example.org/a$IFS-o$IFS/tmp/x",
    "https://docs.example.org/?a$IFS-d@/etc/passwd",
    "https://docs.example.org/?a=$HOME",
    "https://docs.example.org/?$IFS=-o",
    "https://docs.example.org/?a=1&rmdir=/s=/q=x",
    "https://docs.example.org/?a=1&CMD.EXE=/c",
    "https://docs.example.org/?a=1&%COMSPEC%=/c",
    "https://docs.example.org/|id",
    "https://docs.example.org/&id",
    "https://docs.example.org/?a=b&&reboot",
    "https://docs.example.org/{a,b}",
    "https://docs.example.org/${HOME}",
    "https://docs.example.org/x>/etc/crontab",
    'https://docs.example.org/"onload=',
    "https://docs.example.org/'||reboot||'",
    "https://docs.example.org/'--output=/etc/x",
    "https://docs.example.org/..",
    "https://docs.example.org/../..//evil.com",
    "https://docs.example.org//evil.com",
    "https://docs.example.org/%2f%2fevil.com",
    "https://docs.example.org/%252fevil.com",
    "https://docs.example.org/%2e%2e/x",
    "https://docs.example.org/..;/x",
    "https://docs.example.org/%5c%5cevil.com",
    "https://docs.example.org/%0d%0aHost:evil.com",
    "ssh://docs.example.org/-oProxyCommand=id",
    "https://docs.example.org#@evil.example/",
    "https://docs.example.org?@evil.example/",
    "https://docs.example.org/,https://evil.example/",
    "https://docs.example.org/|https://evil.example/",
    "https://docs.example.org/;//evil.example/",
    "https://docs.example.org/,evil.example",
    "https://",
    "https:docs.example.org",
    "https:/docs.example.org",
    "//docs.example.org",
    "///docs.example.org",
    "https:///docs.example.org",
    "https://docs.example.org@evil.net",
    "https://docs.example.org:secret@evil.net",
    "https://user@docs.example.org",
    "https://@docs.example.org",
    "https://docs.example.org:443",
    "https://docs.example.org:8443/x",
    "https://docs.example.org:",
    "https://docs.example.org:99999999",
    "https://docs.example.org:x",
    "https://docs.example.org.",
    "https://docs.example.org./x",
    "https://docs..example.org",
    "https://.docs.example.org",
    "https://docs.example.org\\@evil.net",
    "https://docs.example.org\\.evil.net",
    "https:\\\\docs.example.org",
    "https://evil.net\\docs.example.org",
    "https://docs.example.org%2eevil.net",
    "https://docs.example.org%00.evil.net",
    "https://docs%2eexample%2eorg",
    "https://docs.example.org\t.evil.net",
    "https://docs.example.org\n",
    "\nhttps://docs.example.org",
    " https://docs.example.org",
    "https://docs.example.org ",
    "https://docs.example.org /x",
    "https://docs.example.org/\x00",
    "https://d\u043ecs.example.org",
    "https://docs.ex\u0430mple.org",
    "https://docs.example.\u043erg",
    "https://docs\u3002example.org",
    "https://docs.example\uff0eorg",
    "https://docs.example.org\u200b",
    "https://docs.example.org\u2044@evil.net",
    "https://\uff44ocs.example.org",
    "https://d\u00f6cs.example.org",
    "javascript://docs.example.org/%0aalert(1)",
    "file://docs.example.org/x",
    "data://docs.example.org",
    "gopher://docs.example.org",
    "https://127.1",
    "https://2130706433",
    "https://0x7f000001",
    "https://0x7f.1",
    "https://0177.0.0.1",
    "https://256.0.0.1",
    "https://[::1]",
    "https://[::ffff:127.0.0.1]",
    "https://docs.example.org[x]",
    "https://{docs.example.org}",
    "https://$HOST",
    "https://docs_example.org",
    "https://-docs.example.org",
    "https://docs.example.org" + "/a" * 2100,
    "https://" + "a." * 2100 + "docs.example.org",
]
FOLDER = {"path": "at", "test": "within", "value": "/srv/repo"}
HOST = {"path": "at", "test": "host_is", "value": "docs.example.org"}


def answer(effect, condition, value):
    judged = policy(rule(effect, "it", tools=["t"], arguments=[condition]))
    return evaluate(judged, call({"at": value}, tool="t"))


def is_matched(effect, condition, value):
    step = answer(effect, condition, value).steps[0]
    return step.matches


def test_there_are_as_many_hostile_ones_as_were_asked_for():
    assert len(UNCLEAR_PATHS) >= 60
    assert len(UNCLEAR_ADDRESSES) >= 60


@pytest.mark.parametrize(
    ("condition", "value"), [*product([FOLDER], INSIDE), *product([HOST], THERE)]
)
@pytest.mark.parametrize("effect", list(Effect))
def test_what_is_there_matches_each_effect(effect, condition, value):
    assert is_matched(effect, condition, value)


@pytest.mark.parametrize(
    ("condition", "value"), [*product([FOLDER], OUTSIDE), *product([HOST], ELSEWHERE)]
)
@pytest.mark.parametrize("effect", list(Effect))
def test_what_is_elsewhere_matches_no_effect(effect, condition, value):
    assert not is_matched(effect, condition, value)


@pytest.mark.parametrize(
    ("condition", "value"),
    [*product([FOLDER], UNCLEAR_PATHS), *product([HOST], UNCLEAR_ADDRESSES)],
)
def test_what_cannot_be_told_is_not_approved_and_is_held_by_every_other_rule(condition, value):
    assert answer("approve", condition, value).effect is not Effect.APPROVE
    assert is_matched("review", condition, value)
    assert answer("reject", condition, value).effect is Effect.REJECT


@pytest.mark.parametrize("value", [None, 7, True, [], ["/srv/repo/a"], {"path": "/srv/repo/a"}])
@pytest.mark.parametrize("condition", [FOLDER, HOST])
def test_what_is_no_text_is_not_approved(condition, value):
    assert answer("approve", condition, value).effect is not Effect.APPROVE
    assert answer("reject", condition, value).effect is Effect.REJECT


def test_all_values_that_a_path_leads_to_have_to_lie_there():
    each = {"path": "at.*", "test": "within", "value": "/srv/repo"}

    assert is_matched("approve", each, ["/srv/repo/a", "/srv/repo/b"])
    assert not is_matched("approve", each, ["/srv/repo/a", "/etc/passwd"])
    assert is_matched("reject", each, ["/srv/repo/a", "/etc/passwd"])


@pytest.mark.parametrize(
    ("text", "is_inside"),
    [
        ("C:\\repo", True),
        ("c:/repo/a\\b", True),
        ("C:\\repo\\", True),
        ("C:\\repository", False),
        ("D:\\repo\\a", False),
        ("C:\\REPO\\a", None),
        ("C:\\repo\\..\\x", None),
        ("C:\\repo\\a.", None),
        ("C:\\repo\\a ", None),
        ("C:\\repo\\a:stream", None),
        ("C:\\repo\\NUL", None),
        ("C:\\repo\\com1.txt", None),
        ("C:repo\\a", None),
        ("\\\\server\\repo", None),
        ("/repo/a", None),
    ],
)
def test_folders_of_windows_are_compared_as_windows_does(text, is_inside):
    assert within(["C:\\repo"])(text) is is_inside


@pytest.mark.parametrize(
    ("wanted", "text", "is_there"),
    [
        ("*.example.org", "https://a.example.org", True),
        ("*.example.org", "https://a.b.example.org", True),
        ("*.example.org", "https://example.org", False),
        ("*.example.org", "https://evilexample.org", False),
        ("example.org:8443", "https://example.org:8443/x", True),
        ("example.org:8443", "https://example.org/x", None),
        ("192.0.2.7", "https://192.0.2.7/x", True),
        ("localhost:8080", "localhost:8080", True),
        ("xn--dcs-sna.example.org", "https://xn--dcs-sna.example.org", True),
    ],
)
def test_hosts_below_a_host_ports_and_numbers(wanted, text, is_there):
    assert host_is([wanted])(text) is is_there


def test_one_of_several_folders_or_hosts_is_enough():
    assert within(["/srv/a", "/srv/b"])("/srv/b/x") is True
    assert within(["/srv/a", "/srv/b"])("/srv/c") is False
    assert host_is(["a.example", "b.example"])("https://b.example") is True


@pytest.mark.parametrize(
    "folder", ["", "repo", "~", "/srv/..", "/srv/*", "//srv", "C:repo", "/a\n"]
)
def test_a_folder_that_paths_cannot_be_compared_with_is_refused(folder):
    assert problem_with_folder(folder)
    with pytest.raises(PolicyError, match=r"arguments\.0\.value"):
        parse_rule(
            {"name": "r", "effect": "reject", "when": {"arguments": [{**FOLDER, "value": folder}]}}
        )


@pytest.mark.parametrize(
    "host",
    ["", "https://example.org", "example.org/x", "a@b", "*", "a.*", "127.1", "d\u043ecs.org"],
)
def test_a_host_that_addresses_cannot_be_compared_with_is_refused(host):
    assert problem_with_host(host)
    with pytest.raises(PolicyError, match=r"arguments\.0\.value"):
        parse_rule(
            {"name": "r", "effect": "reject", "when": {"arguments": [{**HOST, "value": host}]}}
        )


@pytest.mark.parametrize("value", [None, 7, [], [7], ["/srv", 7], ["/a"] * 101, {"a": "/srv"}])
def test_what_names_no_folder_is_refused(value):
    with pytest.raises(PolicyError, match=r"arguments\.0\.value"):
        parse_rule(
            {"name": "r", "effect": "reject", "when": {"arguments": [{**FOLDER, "value": value}]}}
        )


def test_a_narrower_folder_or_host_implies_a_wider_one():
    assert folder_implies("/srv/repo/a", "/srv/repo")
    assert not folder_implies("/srv/repo", "/srv/repo/a")
    assert host_implies("a.example.org", "*.example.org")
    assert host_implies("*.b.example.org", "*.example.org")
    assert not host_implies("*.example.org", "a.example.org")
    assert not host_implies("example.org:80", "example.org")
    narrow, wide = (
        rule("approve", tools=["t"], arguments=[{**FOLDER, "value": value}])
        for value in (["/srv/a/x", "/srv/b"], ["/srv/a", "/srv/b"])
    )
    assert implies(narrow, wide)
    assert not implies(wide, narrow)


pieces = st.sampled_from(
    ["/", "srv", "repo", "a", "..", ".", "~", "\\", "%2e", "C:", "$X", " ", "\u202e", "REPO", "*"]
)


@given(st.lists(pieces, max_size=9).map("".join))
def test_no_path_is_within_a_folder_and_climbs_out_of_it(text):
    if within(["/srv/repo"])(text):
        assert ".." not in text.split("/")
        assert "/".join(p for p in text.split("/") if p not in ("", ".")).startswith("srv/repo")


@pytest.mark.parametrize(
    ("folder", "path", "verdict"),
    [
        ("C:\\Program Files", "C:\\Program Files\\x", True),
        ("C:\\Program Files", "C:\\PROGRA~1\\x", None),
        ("C:\\Program Files", "C:\\Program Files\\a b", None),
        ("C:\\repo", "C:\\repo\\%APPDATA%", None),
        ("/srv/my files", "/srv/my files/x", True),
        ("/srv", "/srv/my files/x", None),
    ],
)
def test_blanks_are_told_in_the_folder_of_the_rule_alone(folder, path, verdict):
    assert within([folder])(path) is verdict
    assert folder_implies("/srv/my files", "/srv") is False
