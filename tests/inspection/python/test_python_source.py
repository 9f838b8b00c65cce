import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dashboard.inspection.findings import Severity
from dashboard.inspection.python.inspector import inspect_python
from dashboard.inspection.sentences import sentence
from tests.inspection.corpus.python import DANGEROUS, HARMLESS
from tests.inspection.python.found import the

quickly = settings(derandomize=True)
sources = st.sampled_from([snippet.text for snippet in (*DANGEROUS, *HARMLESS)])
TOKENS = """
    import from as def class lambda getattr ( ) [ ] { } . , : = := * ** @ 'os' '' b'' f'{x}' os
    sys.modules exec x __dict__ epics.PV put % ! ? 1 -1 + / await async with for in
"""
words = st.sampled_from([*TOKENS.split(), "\n", "\t"])
BOMBS = {
    "parentheses": "(" * 5000 + ")" * 5000,
    "lists": "[" * 500 + "]" * 500,
    "a sum": "x = " + " + ".join(["'a'"] * 3000),
    "attributes": "x" + ".a" * 3000,
    "calls": "x" + "()" * 3000,
    "unary": "x = " + "-" * 3000 + "1",
    "nested functions": "".join(f"{' ' * i}def f{i}():\n" for i in range(90)) + " " * 90 + "pass",
    "a chain of names": "\n".join(f"a{i} = a{i + 1}" for i in range(2000)) + "\na2000 = print",
    "a ring of names": "\n".join(f"a{i} = a{(i * 7 + 1) % 500}" for i in range(500)),
    "growing texts": "a = 'x' * 64\n" + "a = a * 64\n" * 50 + "exec(a)",
    "doubling texts": "a = 'x'\n" + "a = a + a\n" * 200 + "exec(a)",
    "many values": "\n".join(f"f = g{i}" for i in range(500)) + "\nf()()()",
    "many parents": "class A0: pass\nclass A1(A0): pass\n"
    + "".join(f"class A{i}(A{i - 1}, A{i - 2}): pass\n" for i in range(2, 90))
    + "A89().x()",
    "a parent of itself": "class A(B): pass\nclass B(A): pass\nclass A(A): pass\nA().x()",
    "branches": "x = " + "(a if b else " * 150 + "c" + ")" * 150,
    "nested code": "exec('exec(1)')\n" * 1000,
    "a null byte": "x = 1\0",
    "a lone surrogate": "x = '\ud800'",
    "another encoding": "# coding: no-such-thing\nx = 1",
    "a name that is none": "__import__('.')\n__import__('')\n__import__('a..b')",
    "a path that is none": "import pkgutil\npkgutil.resolve_name(':')",
    "empty format": "'{}'.format()\n'%' % ()\n'%s%s' % 1\n''.join(1)\n''[5]\n''[::0]\nchr(-1)",
    "numbers": "chr(10**30)\n'a' * 10**9\n'a' * -1\n[1][10**30]",
}


@quickly
@given(st.text())
def test_no_text_makes_it_raise(source):
    inspect_python(source)


@quickly
@given(st.lists(words, max_size=25))
def test_no_order_of_words_makes_it_raise(parts):
    inspect_python(" ".join(parts))


@quickly
@given(sources, sources, st.randoms(use_true_random=False))
def test_no_mixture_of_lines_makes_it_raise(one, other, chance):
    lines = f"{one}\n{other}".splitlines()
    chance.shuffle(lines)
    inspect_python("\n".join(lines))


@pytest.mark.parametrize("title", BOMBS)
def test_nothing_made_to_be_hard_makes_it_raise(title):
    inspect_python(BOMBS[title])


def test_it_finds_the_same_each_time():
    assert all(inspect_python(s.text) == inspect_python(s.text) for s in DANGEROUS[:30])


def test_each_finding_is_about_lines_that_are_there():
    wrong = [
        (snippet.title, finding)
        for snippet in DANGEROUS
        for finding in inspect_python(snippet.text)
        if not 1 <= finding.line <= finding.end_line <= len(snippet.text.splitlines())
    ]
    assert wrong == []


def test_each_finding_says_what_it_is_in_a_sentence():
    form = re.compile(r"[A-Z][ -~]+\.")
    wrong = [
        (snippet.title, sentence(finding))
        for snippet in DANGEROUS
        for finding in inspect_python(snippet.text)
        if not form.fullmatch(sentence(finding))
    ]
    assert wrong == []


@pytest.mark.parametrize(
    "source",
    ["def f(:", "x = = 1", "print 'x'", "  x = 1", "for x in", "'", "x = 1\0", "((((", "\ud800 ="],
)
def test_what_is_no_python_is_a_high_doubt(source):
    found = the("does-not-parse", source)
    assert (found.severity, found.is_doubt) == (Severity.HIGH, True)


def test_what_is_no_python_is_shown_where_it_stops_being_any():
    assert the("does-not-parse", "x = 1\ny = 2\nz = = 3").line == 3


@pytest.mark.parametrize("source", ["", "\n\n", "# only a comment", '"""Only a docstring."""'])
def test_nothing_is_found_where_nothing_is(source):
    assert inspect_python(source) == []


def test_findings_carry_their_block():
    assert {finding.block for finding in inspect_python("eval('1')", block=3)} == {3}


def test_findings_stand_in_the_order_of_lines():
    found = inspect_python("import os\nos.remove('x')\n\neval('1')\nopen('x', 'w')")
    assert [finding.line for finding in found] == sorted(finding.line for finding in found)


def test_a_call_over_several_lines_is_shown_with_all_of_them():
    found = the("file-delete", "import os\nos.remove(\n    'x'\n)")
    assert (found.line, found.end_line) == (2, 4)


def test_a_finding_names_what_is_called_as_it_is_written_and_what_it_is():
    assert the("file-delete", "import os as tools\ntools.remove('x')").about == (
        "tools.remove (os.remove)"
    )


def test_letters_that_only_look_alike_are_not_repeated():
    assert the("file-delete", "import os as \u03bfs\n\u03bfs.remove('x')").about.isascii()


def test_too_many_findings_are_cut_to_the_gravest_and_that_is_a_doubt():
    source = "import os\n" + "print(os.environ['TOKEN'])\n" * 300 + "os.remove('x')\n"
    found = inspect_python(source)
    assert len(found) == 201
    assert "file-delete" in {finding.name for finding in found}
    assert the("too-many-findings", source).is_doubt
