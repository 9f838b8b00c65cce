from dashboard.web.drawing import diff
from dashboard.web.drawing import diff as differences
from dashboard.web.drawing.diff import DiffLine, Gap, difference, tally

NUMBERS = "\n".join(map(str, range(20)))


def signs(found):
    return [line if isinstance(line, Gap) else (line.change, line.text) for line in found.lines]


def test_what_is_far_from_a_change_is_left_out_and_counted():
    found = difference(NUMBERS, NUMBERS.replace("10", "ten"))

    assert signs(found) == [
        Gap(7),
        *[("same", str(n)) for n in (7, 8, 9)],
        ("removed", "10"),
        ("added", "ten"),
        *[("same", str(n)) for n in (11, 12, 13)],
        Gap(6),
    ]
    assert (found.added, found.removed, found.left_out) == (1, 1, 0)


def test_what_cannot_be_compared_is_shown_as_replaced_whole(monkeypatch):
    monkeypatch.setattr(diff, "MAX_LINES", 1)

    assert signs(difference("a\nb", "a\nc")) == [
        ("removed", "a"),
        ("removed", "b"),
        ("added", "a"),
        ("added", "c"),
    ]


def test_a_difference_without_end_is_cut_and_what_is_missing_counted(monkeypatch):
    monkeypatch.setattr(differences, "MOST_LINES", 3)

    found = difference("a", "b\n" * 9)

    assert (len(found.lines), found.left_out, found.added) == (3, 8, 10)


def test_hidden_characters_and_markup_are_drawn():
    line = next(
        x
        for x in difference("a", "<b>\u200b").lines
        if isinstance(x, DiffLine) and x.change == "added"
    )

    assert line.text.startswith("&lt;b&gt;<span class=")


def test_lines_are_tallied_wherever_they_stand():
    assert tally("a\nb\nb", "b\na\nc") == (1, 1)
