import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard import sandbox
from dashboard.inspection.languages import _SPELLINGS
from dashboard.web.drawing import tokens
from dashboard.web.drawing.tokens import classify, tokenize

SAMPLE = 'def f(a):\n\treturn "é😀"  # why\n\n<b> {"a": 1} SELECT * FROM t; $x = `y`;\r\n'
HANGS = [
    ("c", "a" + " " * 16_000 + "!"),
    ("cpp", "a" + " " * 16_000 + "!"),
    ("python", "\n " * 90_000),
    ("javascript", '"' + "\\" * 100_000),
    ("bash", '"' + "\\" * 100_000),
    ("yaml", "- " * 60_000),
    ("css", "a" * 150_000),
    ("perl", '"\\' * 60_000),
]


@pytest.mark.parametrize("language", sorted(set(_SPELLINGS) - {"text"}))
def test_every_language_of_ours_accounts_for_every_character(language):
    pieces = tokenize(SAMPLE, language, 5.0)
    assert "".join(text for _, text in pieces) == SAMPLE


@given(st.text(), st.sampled_from(["python", "bash", "json", "html", "javascript"]))
def test_the_pieces_are_the_source(source, language):
    pieces = tokenize(source, language)
    assert pieces is None or "".join(text for _, text in pieces) == source


@pytest.mark.parametrize(
    "source", ["", "\n", "\n\nx\n\n", "  x  ", "\ufeffx", "a\r\nb\rc", "\u2028"]
)
def test_nothing_is_stripped_or_translated(source):
    assert "".join(text for _, text in tokenize(source, "python")) == source


@pytest.mark.parametrize("language", [None, "", "text", "klingon", "java"])
def test_what_is_not_on_the_list_is_not_coloured(language):
    assert tokenize("x", language) is None


@pytest.mark.parametrize(
    "source",
    ["x" * 200_001, "é" * 100_001, "x\n" * 5_000],
    ids=["too long", "too many bytes", "too many lines"],
)
def test_large_code_is_not_coloured(monkeypatch, source):
    monkeypatch.setattr(sandbox, "call", lambda *_: pytest.fail("asked the sandbox"))
    assert tokenize(source, "python") is None


@pytest.mark.parametrize(("language", "source"), HANGS)
def test_what_makes_a_lexer_hang_is_given_up_at_the_deadline(language, source):
    tokenize("x", language)  # starts a worker
    started_at = time.monotonic()
    tokenize(source, language, 0.05)
    assert time.monotonic() - started_at < 5  # it would take minutes


def test_a_lexer_that_hangs_leaves_the_code_uncoloured():
    assert tokenize("a" + " " * 16_000 + "!", "c", 0.05) is None


@pytest.mark.parametrize("error", [sandbox.SandboxError, sandbox.DeadlineExceeded])
def test_a_failing_sandbox_leaves_the_code_uncoloured(monkeypatch, error):
    def fail(*_):
        raise error

    monkeypatch.setattr(sandbox, "call", fail)
    assert tokenize("x", "python") is None


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "null",
        "7",
        "[]",
        "[7]",
        '[["k", 1]]',
        '[["k", 3]]',
        '[["k", -1], ["k", 3]]',
        '[["k", 0], ["k", 2]]',
        '[["k", "2"]]',
        '[["k\\" onclick=\\"x", 2]]',
        '[["glyph", 2]]',
        "[[7, 2]]",
    ],
)
def test_a_reply_that_makes_no_sense_leaves_the_code_uncoloured(monkeypatch, reply):
    monkeypatch.setattr(sandbox, "call", lambda *_: reply.encode())
    assert tokenize("x", "python") is None


def test_a_lexer_that_loses_text_is_found_out(monkeypatch):
    class Lossy:
        def get_tokens_unprocessed(self, text):
            return [(0, None, text[1:])]

    monkeypatch.setattr(tokens, "get_lexer_by_name", lambda _: Lossy())
    with pytest.raises(ValueError, match=r"did not account for every character\.$"):
        classify(b'["python", "x"]')


def test_neighbours_of_one_class_are_one_piece():
    assert json.loads(classify(b'["python", "a b c"]')) == [["", 6]]


@pytest.mark.parametrize(
    ("language", "source", "runs"),
    [
        ("python", '"""Counts. \\"""\n"""\nmove(180)\n# """', "move(180)"),
        ("bash", "x=a\necho $x#; rm -rf /srv", "rm -rf /srv"),
        ("bash", "cat <<EOF; rm -rf /srv\nhello\nEOF\n", "rm -rf /srv"),
        ("postgres", "SELECT $$--$$; DROP TABLE users", "DROP TABLE users"),
        ("js", 'if(1)/[/*]/.test(""),wipe()//*/', "wipe()"),
        ("powershell", "Write-Host a#; Remove-Item C:/data", "Remove-Item C:/data"),
        ("perl", 'm#a#; system("wipe")', "system"),
    ],
)
def test_what_runs_never_has_the_colour_of_a_comment_or_a_string(language, source, runs):
    code = "".join(
        text
        for css_class, text in tokenize(source, language)
        if css_class[:1] not in "cs" or not css_class
    )

    assert runs in code


def test_comments_and_strings_that_are_certain_are_coloured():
    pieces = tokenize("x = f'a{b}c'  # note", "python")

    assert ("c1", "# note") in pieces
    assert [text for css_class, text in pieces if css_class == "s1"] == ["'a", "c'"]
