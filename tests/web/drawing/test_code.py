import re
import time
from pathlib import Path

import pytest
from django.core.cache import cache
from django.utils.safestring import SafeString
from hypothesis import given
from hypothesis import strategies as st

from dashboard import sandbox
from dashboard.inspection.hidden import Glyph, segments
from dashboard.web.drawing import code as drawn_code
from dashboard.web.drawing.code import ColourBudget, render_code

MAKES_SAFE = re.compile(r"mark_safe|SafeString\(")
CLASS = re.compile(r"glyph glyph-[a-z]+|alike|[a-z]{1,2}[a-z0-9]?")
TROUBLE = "ab1 \t\n\r\x1b\u200b\u202e\ud800\U000e0041<>&\"'`#=(){}\\/*-"
texts = st.text() | st.text(alphabet=TROUBLE)
languages = st.sampled_from(["text", "python", "bash", "json", "javascript", "html", "sql"])
HOSTILE = [
    "<script>alert(1)</script>",
    "</span></code></div><h1>SAFE - approved by security</h1>",
    '"><img src=x onerror=alert(1)>',
    "<!-- <b> --> &lt;b&gt; &#60; &amp;amp;",
    'user = "\u202e\u2066# admin\u2069 \u2066"',
    "e\u200bval(x)",
    "\x1b[2K\x1b[1A# nothing to see",
    "# comment\rimport os; os.remove('x')",
    "a" + " " * 10_000 + "; rm -rf /",
    "".join(chr(0xE0000 + ord(c)) for c in '"><script>'),
    "]]><![CDATA[ <?php ?> <!DOCTYPE x>",
]


def page_of(read, rendered):
    return read("\n".join(rendered.lines))


def expected(source):
    """Return source as a page's parts: plain text, and glyphs as they are drawn."""
    return [
        ("glyph", (s.label, s.name)) if isinstance(s, Glyph) else ("text", s)
        for s in segments(source)
    ]


def joined(parts):
    found = []
    for kind, value in parts:
        if kind == "text" and found and found[-1][0] == "text":
            found[-1] = ("text", found[-1][1] + value)
        else:
            found.append((kind, value))
    return found


@given(texts, languages)
def test_the_page_shows_the_source_and_nothing_else(read, source, language):
    page = page_of(read, render_code(source, language))
    assert joined(page.parts) == expected(source)


@given(texts, languages)
def test_the_only_tags_are_spans_with_classes_of_ours(read, source, language):
    page = page_of(read, render_code(source, language))
    assert all(tag == "span" and CLASS.fullmatch(css) for tag, css in page.tags)


@given(texts, languages)
def test_there_is_one_fragment_a_line_and_none_holds_a_line_break(source, language):
    rendered = render_code(source, language)
    assert rendered.line_count == source.count("\n") + 1
    assert all(isinstance(line, SafeString) and "\n" not in line for line in rendered.lines)


@given(texts, languages)
def test_every_line_is_markup_that_is_complete_in_itself(read, source, language):
    for line in render_code(source, language).lines:
        read(line)


@pytest.mark.parametrize("language", ["python", "html", "", None, '"><script>', "text\u202e"])
@pytest.mark.parametrize("source", HOSTILE)
def test_hostile_text_stays_text(read, source, language):
    page = page_of(read, render_code(source, language))
    assert joined(page.parts) == expected(source)
    assert all(tag == "span" and CLASS.fullmatch(css) for tag, css in page.tags)


def test_code_is_coloured_with_the_short_classes_of_pygments():
    assert render_code("import os", "python").lines == [
        '<span class="kn">import</span> <span class="nn">os</span>'
    ]


def test_a_glyph_says_what_it_stands_for():
    assert render_code("a\u202eb").lines == [
        'a<span class="glyph glyph-direction" title="U+202E RIGHT-TO-LEFT OVERRIDE">RLO</span>b'
    ]


def test_a_glyph_inside_a_coloured_token_splits_it():
    (line,) = render_code('"a\u200bb"', "python").lines
    glyph = '<span class="glyph glyph-invisible" title="U+200B ZERO WIDTH SPACE">ZWSP</span>'
    assert line == f'<span class="s2">&quot;a</span>{glyph}<span class="s2">b&quot;</span>'


def test_a_token_over_several_lines_is_coloured_on_each():
    assert render_code('"""a\n\nb"""', "python").lines == [
        '<span class="sd">&quot;&quot;&quot;a</span>',
        "",
        '<span class="sd">b&quot;&quot;&quot;</span>',
    ]


def test_only_a_line_feed_ends_a_line():
    assert render_code("a\rb\u2028c\x0bd\x85e\r\nf\n").line_count == 3


def test_an_empty_text_has_one_empty_line():
    assert render_code("").lines == [""]


def test_what_follows_a_lone_cr_is_never_coloured_as_comment():
    (line,) = render_code("# comment\rimport os", "python").lines
    assert line.endswith('<span class="kn">import</span> <span class="nn">os</span>')


def test_windows_line_ends_keep_their_colours_and_show_their_cr():
    rendered = render_code("import os\r\nimport re\r\n", "python")
    assert rendered.highlighted
    assert rendered.lines[0].startswith(
        '<span class="kn">import</span> <span class="nn">os</span>'
    )
    assert rendered.lines[0].endswith('title="U+000D CARRIAGE RETURN">CR</span>')


def test_what_is_hidden_is_said_once_in_words():
    assert render_code("a\u202eb\u200bc\u200b").warnings == [
        "U+200B ZERO WIDTH SPACE: 2",
        "U+202E RIGHT-TO-LEFT OVERRIDE: 1",
    ]


def test_windows_line_ends_are_no_warning():
    assert render_code("a\r\nb\r\n").warnings == []


def test_many_kinds_of_hidden_characters_make_a_short_warning():
    warnings = render_code("a".join(map(chr, range(0xE000, 0xE100)))).warnings
    assert len(warnings) == 11
    assert warnings[-1] == "other hidden characters: 246"


def test_an_unknown_language_is_shown_without_colours():
    rendered = render_code("import os", "klingon")
    assert (rendered.lines, rendered.language, rendered.highlighted) == (
        ["import os"],
        "text",
        False,
    )


def test_the_digest_names_the_language_and_the_very_source():
    sources = [("a", "python"), ("a", "text"), ("a\n", "text"), ("\ud83d\ude00", ""), ("😀", "")]
    assert len({render_code(source, language).digest for source, language in sources}) == 5


def test_a_second_look_comes_from_the_cache(monkeypatch):
    first = render_code("import os", "python")
    monkeypatch.setattr(drawn_code, "_render", None)
    assert render_code("import os", "py") == first


def test_a_large_page_is_not_kept(monkeypatch):
    render_code("a" * (drawn_code.CACHED_CHARACTERS + 1))
    monkeypatch.setattr(drawn_code, "_render", lambda *_: pytest.fail("rendered again"))
    with pytest.raises(pytest.fail.Exception):
        render_code("a" * (drawn_code.CACHED_CHARACTERS + 1))


def test_code_whose_colours_failed_is_tried_again_after_a_minute(monkeypatch):
    kept = []
    monkeypatch.setattr(cache, "set", lambda *call: kept.append(call[2]))
    monkeypatch.setattr(drawn_code, "tokenize", lambda *_: None)
    render_code("import os", "python")
    render_code("import os\n" * 300, "text")
    assert kept == [60, 3600]


def test_a_page_stops_colouring_when_its_budget_is_spent(monkeypatch):
    budget = ColourBudget(left_s=0.02)
    monkeypatch.setattr(sandbox, "call", lambda *_: time.sleep(0.03) or b"[]")
    render_code("import os", "python", budget)
    monkeypatch.setattr(sandbox, "call", lambda *_: pytest.fail("asked again"))
    assert not render_code("import re", "python", budget).highlighted


def test_a_mebibyte_of_20_000_lines_is_rendered_in_a_second_and_a_half():
    source = "    x = compute(alpha, beta)  # a plain comment with <é>\n" * 20_000
    started_at = time.thread_time()
    assert render_code(source).line_count == 20_001
    assert time.thread_time() - started_at < 1.5


def test_html_is_marked_safe_in_one_place_only():
    web = Path(drawn_code.__file__).parents[1]
    made_safe, composed = set(), set()
    for path in web.rglob("*.py"):
        text, name = path.read_text(), str(path.relative_to(web))
        made_safe |= {
            (name, line.strip()) for line in text.splitlines() if MAKES_SAFE.search(line)
        }
        composed |= {name} if "format_html" in text else set()
    assert made_safe == {("drawing/markup.py", "return SafeString(html)")}
    assert composed == {
        "desk/answer.py",
        "desk/judgement.py",
        "desk/snooze.py",
        "drawing/lines.py",
        "drawing/moments.py",
        "drawing/summary.py",
        "drawing/tree.py",
        "findings.py",
        "office/events.py",
        "office/webhooks.py",
        "templatetags/desk.py",
    }


def test_the_first_window_of_a_long_text_waits_for_the_colours_of_its_beginning_only(monkeypatch):
    asked = []
    monkeypatch.setattr(drawn_code, "tokenize", lambda text, *_: asked.append(text.count("\n")))
    rendered = render_code("x = 1\n" * 4_500, "python")

    rendered.lines_in(rendered.windows[0])
    (beginning,) = asked
    assert 1_999 <= beginning < 4_500

    rendered.lines_in(rendered.windows[3])
    assert asked == [beginning, 4_500]


def test_what_begins_in_the_first_window_and_ends_after_it_is_coloured_as_one():
    comment = "a();\n" * 990 + "/* one\n" + "two\n" * 200 + "*/\n" + "b();\n" * 500
    rendered = render_code(comment, "javascript")

    last = rendered.lines_in(rendered.windows[0])[-1]
    assert last == '<span class="cm">two</span>'


def test_a_long_text_is_coloured_alike_in_every_window():
    rendered = render_code('x = 1  # "one"\n' * 2_500, "python")

    drawn = {line for window in rendered.windows for line in rendered.lines_in(window)}

    assert len(drawn - {""}) == 1
