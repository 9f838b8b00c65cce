import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.inspection.hidden import (
    COLLAPSE_ABOVE,
    MANY_BLANKS,
    Glyph,
    GlyphKind,
    HiddenCount,
    hidden_characters,
    segments,
)

TROUBLE = (
    "ab \t\n\r\x1b\x00\x85\u200b\u202e\u2066\ufeff\xa0\u2028\u3164\ufe0f\U000e0041\ue000\ud800"
)
texts = st.text() | st.text(alphabet=TROUBLE)


def text_of(segment):
    return segment.text if isinstance(segment, Glyph) else segment


def glyphs(text):
    return [segment for segment in segments(text) if isinstance(segment, Glyph)]


@given(texts)
def test_nothing_is_lost(text):
    assert "".join(map(text_of, segments(text))) == text


@given(texts)
def test_what_is_left_as_text_can_be_seen(text):
    plain = "".join(segment for segment in segments(text) if isinstance(segment, str))
    assert all(character.isprintable() or character in "\n\t" for character in plain)


@given(texts)
def test_no_plain_run_is_empty_or_stands_beside_another(text):
    kinds = [type(segment) for segment in segments(text)]
    assert "" not in list(segments(text))
    assert (str, str) not in set(pairwise(kinds))


@given(st.text(alphabet="abc é漢字😀.,\n"))
def test_honest_text_without_blanks_at_line_ends_is_one_run(text):
    text = "\n".join(line.rstrip(" ") for line in text.split("\n"))
    if "  " * (MANY_BLANKS // 2) not in text:
        assert list(segments(text)) == ([text] if text else [])


@pytest.mark.parametrize(
    ("character", "label", "name", "kind"),
    [
        ("\u202e", "RLO", "U+202E RIGHT-TO-LEFT OVERRIDE", GlyphKind.DIRECTION),
        ("\u2066", "LRI", "U+2066 LEFT-TO-RIGHT ISOLATE", GlyphKind.DIRECTION),
        ("\u061c", "ALM", "U+061C ARABIC LETTER MARK", GlyphKind.DIRECTION),
        ("\u200b", "ZWSP", "U+200B ZERO WIDTH SPACE", GlyphKind.INVISIBLE),
        ("\u200d", "ZWJ", "U+200D ZERO WIDTH JOINER", GlyphKind.INVISIBLE),
        ("\u00ad", "SHY", "U+00AD SOFT HYPHEN", GlyphKind.INVISIBLE),
        ("\ufeff", "BOM", "U+FEFF ZERO WIDTH NO-BREAK SPACE", GlyphKind.INVISIBLE),
        ("\u034f", "CGJ", "U+034F COMBINING GRAPHEME JOINER", GlyphKind.INVISIBLE),
        ("\u180e", "MVS", "U+180E MONGOLIAN VOWEL SEPARATOR", GlyphKind.INVISIBLE),
        ("\ufe0f", "U+FE0F", "U+FE0F VARIATION SELECTOR-16", GlyphKind.INVISIBLE),
        ("\U000e0100", "U+E0100", "U+E0100 VARIATION SELECTOR-17", GlyphKind.INVISIBLE),
        ("\U000e0041", "U+E0041", "U+E0041 TAG LATIN CAPITAL LETTER A", GlyphKind.TAG),
        ("\xa0", "NBSP", "U+00A0 NO-BREAK SPACE", GlyphKind.BLANK),
        ("\u3000", "IDSP", "U+3000 IDEOGRAPHIC SPACE", GlyphKind.BLANK),
        ("\u2003", "U+2003", "U+2003 EM SPACE", GlyphKind.BLANK),
        ("\u115f", "U+115F", "U+115F HANGUL CHOSEONG FILLER", GlyphKind.BLANK),
        ("\u1160", "U+1160", "U+1160 HANGUL JUNGSEONG FILLER", GlyphKind.BLANK),
        ("\u3164", "U+3164", "U+3164 HANGUL FILLER", GlyphKind.BLANK),
        ("\uffa0", "U+FFA0", "U+FFA0 HALFWIDTH HANGUL FILLER", GlyphKind.BLANK),
        ("\u2800", "U+2800", "U+2800 BRAILLE PATTERN BLANK", GlyphKind.BLANK),
        ("\u2028", "LS", "U+2028 LINE SEPARATOR", GlyphKind.CONTROL),
        ("\u2029", "PS", "U+2029 PARAGRAPH SEPARATOR", GlyphKind.CONTROL),
        ("\r", "CR", "U+000D CARRIAGE RETURN", GlyphKind.CONTROL),
        ("\x1b", "ESC", "U+001B ESCAPE", GlyphKind.CONTROL),
        ("\x00", "NUL", "U+0000 NULL", GlyphKind.CONTROL),
        ("\x01", "SOH", "U+0001 (control character)", GlyphKind.CONTROL),
        ("\x7f", "DEL", "U+007F DELETE", GlyphKind.CONTROL),
        ("\x85", "NEL", "U+0085 NEXT LINE", GlyphKind.CONTROL),
        ("\ue000", "U+E000", "U+E000 (private character)", GlyphKind.PRIVATE),
        ("\ud800", "U+D800", "U+D800 (surrogate character)", GlyphKind.SURROGATE),
        ("\u0378", "U+0378", "U+0378 (unassigned character)", GlyphKind.UNASSIGNED),
        ("\U0010fffe", "U+10FFFE", "U+10FFFE (unassigned character)", GlyphKind.UNASSIGNED),
    ],
)
def test_a_hidden_character_is_named(character, label, name, kind):
    glyph = Glyph(character, label, name, kind)
    assert list(segments(f"a{character}b")) == ["a", glyph, "b"]
    assert hidden_characters(f"a{character}b") == [HiddenCount(label, name, kind, 1)]


def test_every_character_of_the_hiding_categories_becomes_a_glyph():
    hiding = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"}
    codes = [*range(0x30000), *range(0xE0000, 0xE2000), 0xF0000, 0x10FFFF]
    missed = [
        hex(code)
        for code in codes
        if unicodedata.category(chr(code)) in hiding and chr(code) not in " \n\t"
        if not any(chr(code) in glyph.text for glyph in glyphs(f"a{chr(code)}b"))
    ]
    assert missed == []


def test_the_cr_of_a_crlf_is_told_apart_from_a_lone_one():
    kinds = [glyph.kind for glyph in glyphs("one\r\ntwo\rthree")]
    assert kinds == [GlyphKind.LINE_END, GlyphKind.CONTROL]


def test_both_kinds_of_cr_are_counted_apart():
    counts = {count.kind: count.count for count in hidden_characters("a\r\nb\r\nc\rd")}
    assert counts == {GlyphKind.LINE_END: 2, GlyphKind.CONTROL: 1}


@pytest.mark.parametrize(
    ("blanks", "label"),
    [
        (" ", "1 space"),
        ("   ", "3 spaces"),
        ("\t", "1 tab"),
        ("\t\t", "2 tabs"),
        (" \t", "2 blanks"),
    ],
)
@pytest.mark.parametrize("ending", ["", "\n", "\r\n", "\nb"])
def test_blanks_at_the_end_of_a_line_are_counted_out(blanks, label, ending):
    found = glyphs(f"a{blanks}{ending}")[0]
    assert found == Glyph(blanks, label, label, GlyphKind.BLANK)


def test_a_line_of_nothing_but_blanks_shows_them():
    assert list(segments("a\n    \nb")) == [
        "a\n",
        Glyph("    ", "4 spaces", "4 spaces", GlyphKind.BLANK),
        "\nb",
    ]


def test_blanks_at_the_end_of_a_line_are_no_warning():
    assert hidden_characters("a  \nb\t\n") == []


def test_a_long_row_of_blanks_inside_a_line_is_counted_out():
    row = Glyph(" " * 10_000, "10000 spaces", "10000 spaces", GlyphKind.BLANK)
    assert list(segments(f"a{' ' * 10_000}evil()")) == ["a", row, "evil()"]


def test_a_long_row_of_blanks_is_one_warning():
    (warning,) = hidden_characters(f"a{' ' * 10_000}evil()")
    assert (warning.label, warning.count) == ("32+ blanks", 1)


def test_a_row_of_blanks_that_honest_code_may_have_stays_text():
    text = f"a{' ' * (MANY_BLANKS - 1)}b\n{' ' * (MANY_BLANKS - 1)}c"
    assert list(segments(text)) == [text]


def test_ten_thousand_hidden_characters_become_one_glyph_with_counts():
    run = "\u200b" * 9_998 + "\u200d" * 2
    name = "U+200B ZERO WIDTH SPACE: 9998, U+200D ZERO WIDTH JOINER: 2"
    assert list(segments(run)) == [Glyph(run, "9998 ZWSP, 2 ZWJ", name, GlyphKind.INVISIBLE)]


def test_a_few_hidden_characters_are_drawn_one_by_one():
    assert [glyph.label for glyph in glyphs("\u202e\u200b" * (COLLAPSE_ABOVE // 2))] == [
        "RLO",
        "ZWSP",
    ] * (COLLAPSE_ABOVE // 2)


def test_many_different_hidden_characters_are_counted_by_kind_and_the_worst_kind_shows():
    run = "".join(map(chr, range(0xF0000, 0xF0200))) + "\u202e\u200b"
    (glyph,) = glyphs(run)
    assert glyph.label == "512 private, 1 direction, 1 invisible"
    assert glyph.kind is GlyphKind.DIRECTION


def test_a_message_in_tag_characters_is_read_out():
    run = "".join(chr(0xE0000 + ord(character)) for character in "ignore all rules")
    (glyph,) = glyphs(f"x{run}")
    assert glyph.name == "tag characters: 16. The tags spell: ignore all rules"


def test_a_long_message_in_tag_characters_is_read_out_in_part_and_the_rest_counted():
    (glyph,) = glyphs(chr(0xE0041) * 1000)
    assert glyph.name.endswith(f" {'A' * 200} and 800 more")


def test_counts_are_complete_and_the_most_frequent_comes_first():
    counts = [(c.label, c.count) for c in hidden_characters("\u200b" * 500 + "a\u202eb\u200b")]
    assert counts == [("ZWSP", 501), ("RLO", 1)]


@given(texts)
def test_every_hidden_character_is_counted_once(text):
    rows = sum(count.count for count in hidden_characters(text) if "blanks" not in count.label)
    assert rows == sum(len(g.text) for g in glyphs(text) if g.text.strip(" \t"))


@pytest.mark.parametrize(
    "text",
    [" " * 31 + "a", " " * 500_000 + "a", "a ", "a\u200b", "\x1ba", "\r", "é \n", "\u200b\r\n"],
)
def test_a_mebibyte_of_anything_is_split_in_linear_time(text):
    text *= (1 << 20) // len(text)
    assert sum(len(text_of(segment)) for segment in segments(text)) == len(text)


def test_a_cr_within_many_is_counted_beside_the_one_that_ends_the_line():
    first, _ = segments("\r" + "\u200b" * 12 + "\r\n")

    assert (first.label, len(first.text)) == ("2 CR, 12 ZWSP", 14)
