"""Secrets are masked wherever they stand, and looking for them costs little whatever is sent."""

import re
import time
from itertools import pairwise

import pytest
from django.utils.html import escape
from hypothesis import given
from hypothesis import strategies as st

from dashboard.inspection.hidden import Glyph, segments
from dashboard.web.desk.evidence import evidence_fields
from dashboard.web.drawing.blocks import BlockDraft, rendered
from dashboard.web.drawing.markup import COVERED, REDACTED, draw, untrusted
from dashboard.web.drawing.redaction import MOST_PLACES, MOST_SOUGHT, KnownSecrets
from dashboard.web.drawing.text import Span, apart, pieces

MOST_CPU_S = 1.0  # of a shared machine; each takes a tenth of that, and took seconds before
AKIA, GLPAT = "AKIA" + "Q" * 16, "glpat-" + "x" * 20
JWT = "eyJ" + "a" * 20 + ".eyJ" + "b" * 20 + "." + "c" * 20
words = st.text(alphabet="ab\u200b ", max_size=40)


@pytest.fixture
def cpu():
    """Says how long this thread has worked since."""
    began = time.thread_time()
    return lambda: time.thread_time() - began


def said(text, *secrets):
    (field,) = evidence_fields({"analysis_details": text}, frozenset(secrets))
    return field.items[0].text


def value(text, name="x"):
    (block,) = rendered([BlockDraft("Text", text, named_value=name)], redacts=True)
    return "".join(block.code.lines)


def test_many_secrets_in_a_long_text_cost_little(cpu):
    secrets = {"A" * 1_000 + str(number) for number in range(40)}
    said("A" * 120_000, "B" * 20, *secrets)

    assert cpu() < MOST_CPU_S


def test_a_secret_between_hidden_characters_costs_little(cpu):
    said("abc\u200b" * 12_000, "abc")

    assert cpu() < MOST_CPU_S


@pytest.mark.parametrize("unit", ["-eyJ", "-eyJ" + "a" * 60, "://a:", "secret='", "-sk-", ".eyJ"])
def test_half_secrets_cost_little(cpu, unit):
    value(unit * (900_000 // len(unit)))

    assert cpu() < MOST_CPU_S


def test_of_more_secrets_than_are_sought_nothing_is_shown():
    secrets = [f"secret{number:04}" for number in range(MOST_SOUGHT + 1)]

    assert said(f"It is {secrets[-1]}.", *secrets) == COVERED


def test_in_more_places_than_are_masked_nothing_is_shown():
    assert said("abc " * MOST_PLACES, "abc").count(REDACTED) == MOST_PLACES
    assert said("abc " * (MOST_PLACES + 1), "abc") == COVERED


def test_a_secret_that_is_known_by_its_beginning_is_masked_to_its_end():
    secret = "".join(map(str, range(1_000)))

    assert said(f"Use {secret}!", secret) == f"Use {REDACTED}!"


@given(words, st.sets(st.text(alphabet="ab", min_size=2, max_size=5), max_size=4))
def test_no_character_of_a_known_secret_is_left(text, secrets):
    redacted = {
        at for run in KnownSecrets(secrets).occurrences(text) for at in range(run.start, run.end)
    }

    for secret in secrets:
        places = (at for at in range(len(text)) if text.startswith(secret, at))
        assert redacted.issuperset(at + n for at in places for n in range(len(secret)))


@pytest.mark.parametrize("text", [f"{GLPAT} {AKIA}", f"{AKIA} {GLPAT}", f"sk-{'a' * 20}-{AKIA}"])
def test_each_secret_of_a_value_is_masked_in_whatever_order_they_stand(text):
    drawn = value(text)

    assert "xxx" not in drawn
    assert "QQQ" not in drawn


@pytest.mark.parametrize(
    "before", ["", "x-", "x.", "eyJ", "x-eyJ-", "a" * 3_000 + "-", "eyJx.eyJ-"]
)
def test_a_signed_token_is_masked_wherever_it_begins(before):
    drawn = value(f"{before}{JWT} and more")

    assert "bbb" not in drawn
    assert "ccc" not in drawn
    assert drawn.endswith(f"eyJ{REDACTED} and more")


@given(words, st.lists(st.tuples(st.integers(0, 40), st.integers(1, 9))), st.integers(0, 9))
def test_pieces_are_all_of_a_text_and_masked_ones_are_boxes(text, places, start):
    runs = apart(Span(first, first + length) for first, length in places)
    found = list(pieces(text, start, runs))

    assert "".join(piece.text for piece in found) == text
    at = start
    for piece in found:
        first, at = at, at + len(piece.text)
        if (
            piece.html == REDACTED
        ):  # hidden characters are masked with the end of a run: it touches
            assert any(run.start < at and first <= run.end for run in runs)
        elif piece.html is None:
            assert not any(run.start < at and first < run.end for run in runs)
            assert "\u200b" not in piece.text


def test_runs_are_put_in_order_and_apart():
    runs = apart([Span(5, 9), Span(0, 2), Span(1, 3), Span(6, 7)])

    assert runs == (Span(0, 3), Span(5, 9))
    assert all(one.end < other.start for one, other in pairwise(runs))


@given(st.text() | st.text(alphabet="ab& \t\n\r\x1b\u200b\u202e\xa0\u2028\U000e0041\ue000<😀"))
def test_a_text_is_drawn_as_its_segments_are(text):
    drawn = [draw(one) if isinstance(one, Glyph) else escape(one) for one in segments(text)]
    html = re.sub('<span class="alike"[^>]*>(.*?)</span>', r"\1", untrusted(text))

    assert re.sub("</?bdi[^>]*>", "", html) == "".join(drawn)
