"""Comments and strings are what the language itself takes for them; what runs in them is code."""

import time

import pytest

from dashboard.inspection.literals import literals

HOSTILE = {
    "python": ['f"{' * 30_000, f'f"{"{" * 100_000}"', "#" * 100_000, '"""' + '\\"' * 60_000],
    "bash": ['"$(' * 10_000, "cat <<EOF\n" * 4_000, "'\\" * 60_000],
    "c": ['"\\' * 60_000, "/*" * 60_000, '"' * 100_001],
    "sql": ["/*" * 60_000, "/* a " * 30_000, "--" * 60_000],
}


def texts(language, source):
    return [source[start:end] for start, end in literals(language, source)]


def code(language, source):
    """What is neither comment nor string."""
    ends = [0]
    for start, end in literals(language, source):
        ends += [start, end]
    ends.append(len(source))
    return "".join(source[a:b] for a, b in zip(ends[::2], ends[1::2], strict=True))


@pytest.mark.parametrize(
    ("language", "source", "expected"),
    [
        ("python", "x = 'a' + rb\"b\"  # note", ["'a'", 'rb"b"', "# note"]),
        ("python", '"""Doc.\n"""\nrun()', ['"""Doc.\n"""']),
        ("python", 'f"a{x!r:>{w}}b{{c}}"', ['f"a', "", 'b{{c}}"']),
        ("python", "# -*- coding: utf-8 -*-\nx = 'a'", ["# -*- coding: utf-8 -*-", "'a'"]),
        ("python", "é = 'ü'  # ö", ["'ü'", "# ö"]),
        ("bash", "echo 'a' \"b $c d\" # e", ["'a'", '"b ', ' d"', "# e"]),
        ("bash", "if a; then # b\n  c; fi\nf() {\n  # d\n  'e'\n}", ["# b", "# d", "'e'"]),
        ("bash", "# a\nls # b\n(# c\nls);# d", ["# a", "# b", "# c", "# d"]),
        ("bash", 'é=1; echo "ü$(id)ö" # ä', ['"ü', 'ö"', "# ä"]),
        ("javascript", "f('a'); // note\n/* b\nc */ g()", ["'a'", "// note", "/* b\nc */"]),
        ("c", r's = "a\"b"; c = ' + "'\"'; // d", [r'"a\"b"', "'\"'", "// d"]),
        ("perl", "print 'a' # note", []),
    ],
)
def test_a_comment_or_a_string_is_one(language, source, expected):
    assert texts(language, source) == [text for text in expected if text]


@pytest.mark.parametrize(
    ("language", "source", "runs"),
    [
        ("python", '"""Counts. \\"""\n"""\nmove(180)\n# """', "move(180)"),
        ("python", '"""Say \\"hi\\"""";print("RAN") #"', ";print("),
        ("python", "# coding: unicode_escape\n# note \\u000amove(180)", "move(180)"),
        ("python", "# note\rmove(180)", "move(180)"),
        ("python", "f'{move(180)} and {d[0]}'", "move(180)"),
        ("python", "f'''{\nmove(180)}'''", "move(180)"),
        ("bash", "x=a\necho $x#; rm -rf /srv", "rm -rf /srv"),
        ("bash", "((y=1<<x)); rm -rf /srv; echo x", "rm -rf /srv"),
        ("bash", "cat <<EOF; rm -rf /srv\nhello $(id)\nEOF\n", "rm -rf /srv"),
        ("bash", "cat <<EOF\nhello $(rm -rf /srv)\nEOF\n", "rm -rf /srv"),
        ("bash", 'echo "`rm -rf /srv`"', "rm -rf /srv"),
        ("bash", 'echo "${x:-$(rm -rf /srv)}"', "rm -rf /srv"),
        ("bash", "echo a\xa0#; rm -rf /srv", "rm -rf /srv"),
        ("bash", "echo $(( 1 + # $(wipe)\n2))", "$(wipe)"),
        ("bash", "(( x = 1 #$(wipe)\n))", "$(wipe)"),
        ("bash", "a[1 #$(wipe)\n]=3", "$(wipe)"),
        ("bash", "for ((i=0; i<1 #$(wipe)\n; i++)); do :; done", "$(wipe)"),
        ("bash", "echo $(( '$(wipe)' ))", "$(wipe)"),
        ("bash", "cat <<E\n`wipe`\nE\n", "wipe"),
        ("bash", "echo \"${x:-'$(wipe)'}\"", "$(wipe)"),
        ("bash", "cat <<E\n${x:-'$(wipe)'}\nE\n", "$(wipe)"),
        ("bash", ': "${x:-\'}"; wipe; : "\'}"', "wipe"),
        ("bash", "a=()## rm -rf /srv", "rm -rf /srv"),
        ("bash", "echo a\\ #; rm -rf /srv", "rm -rf /srv"),
        ("bash", "echo a\\\n#; rm -rf /srv", "rm -rf /srv"),
        ("bash", "echo a\r#; rm -rf /srv", "rm -rf /srv"),
        ("sql", "SELECT $$--$$; DROP TABLE users", "DROP TABLE users"),
        ("sql", "SELECT `a--b`; DROP TABLE users", "DROP TABLE users"),
        ("sql", "SELECT [a--b]; DROP TABLE users", "DROP TABLE users"),
        ("sql", "SELECT 1--1; DROP TABLE users", "DROP TABLE users"),
        ("sql", "SELECT 'a\\'; DROP TABLE users; --'", "DROP TABLE users"),
        ("sql", "// it's\n; DROP TABLE users; --'", "DROP TABLE users"),
        ("sql", "SELECT ''' ' '''; DROP TABLE users; ' '", "DROP TABLE users"),
        ("sql", "/* /* */ DROP TABLE users; -- */", "DROP TABLE users"),
        ("sql", "/*! DROP TABLE users */", "DROP TABLE users"),
        ("sql", "SELECT q'[a'; DROP TABLE users --]'", "DROP TABLE users"),
        ("javascript", 'if(1)/[/*]/.test(""),wipe()//*/', "wipe()"),
        ("javascript", "f(`${wipe()}`) // `", "wipe()"),
        ("typescript", "x = a /'/.exec(b); wipe() //'", "wipe()"),
        ("javascript", "// note\u2028wipe()", "wipe()"),
        ("javascript", "x=1; <!-- /*\nwipe();\n//*/", "wipe()"),
        ("javascript", "x=1\n--> /*\nwipe();\n//*/", "wipe()"),
        ("javascript", "#!x /*\nwipe();\n//*/", "wipe()"),
        ("c", 's = R"x("/*)x"; wipe(); //*/', "wipe()"),
        ("c", 's = "??/"; /*"; wipe(); //*/;', "wipe()"),
        ("rust", 's = cr#"x" /*"#; wipe(); //*/;', "wipe()"),
        ("c", 'f("a\n; wipe(); "b")', "wipe()"),
        ("powershell", "Write-Host a#; Remove-Item C:/data", "Remove-Item"),
        ("perl", 'm#a#; system("wipe")', 'system("wipe")'),
    ],
)
def test_what_runs_is_no_comment_and_no_string(language, source, runs):
    assert runs in code(language, source)


@pytest.mark.parametrize(
    "source", ["x = '''\nmove(180)", "if x:\n  y\n z\n", "\ud800 = 'a'", "\0"]
)
def test_what_python_does_not_read_is_code_from_there_on(source):
    assert "move" not in "".join(texts("python", source))


def test_a_script_that_the_grammar_does_not_read_is_code():
    assert literals("bash", "echo 'a'\nif then ) # note") == []


@pytest.mark.parametrize(("language", "sources"), HOSTILE.items())
def test_a_hostile_text_takes_no_longer_than_its_length_asks(language, sources):
    for source in sources:
        began = time.process_time()
        literals(language, source)
        assert time.process_time() - began < 3, source[:20]
