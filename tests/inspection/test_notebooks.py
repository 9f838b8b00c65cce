"""Hostile notebooks come out as short texts under words of ours."""

import base64
import json

import pytest

from dashboard.inspection import notebooks
from dashboard.inspection.notebooks import changes, cut, match, without_colours
from tests.notebooks import code, display, error, markdown, notebook, picture, png, stream


def read(*cells, first=0, count=50):
    asked = json.dumps([first, count]).encode()
    return json.loads(notebooks.read(asked + b"\n" + notebook(*cells)))


def output(one):
    return read(code("x", one))[0]["outputs"][0]


def outline(*cells):
    return notebooks.outline(json.loads(notebook(*cells)))


def test_cells_come_in_order_with_their_counts():
    cells = read(markdown("# A"), code(["a\n", "b"], count=7), code("c", count=None))

    assert [(c["number"], c["kind"], c["count"], c["source"]) for c in cells] == [
        (1, "markdown", None, "# A"),
        (2, "code", 7, "a\nb"),
        (3, "code", None, "c"),
    ]


@pytest.mark.parametrize("count", ["7", -1, True, 1.5, 10**9, [1], {"a": 1}])
def test_a_count_that_is_none_is_not_told(count):
    assert read(code("x", count=count))[0]["count"] is None


@pytest.mark.parametrize(
    ("one", "kind", "text"),
    [
        (stream("out"), "stdout", "out"),
        (stream(["o", "ut"], "stderr"), "stderr", "out"),
        (stream("out", "<b>"), "stdout", "out"),
        (stream(1), "stdout", ""),
        (display(text_plain="<Axes>"), "display", "<Axes>"),
        (display(text_plain={"a": 1}), "display", ""),
        (error("one", "two"), "error", "one\ntwo"),
        (error(), "error", "E: e"),
        (error(1), "error", "E: e"),
        ({"output_type": "execute_result", "data": []}, "result", ""),
        ({"output_type": "pyout"}, "unknown", ""),
        ("text", "unknown", ""),
    ],
)
def test_outputs_are_reduced_to_text(one, kind, text):
    found = output(one)

    assert (found["kind"], found["text"]) == (kind, text)


def test_what_could_run_or_load_is_named_and_left_out():
    evil = "<script>alert(1)</script>"
    found = output(
        display(
            text_html=evil,
            image_svg_xml=evil,
            application_javascript=evil,
            text_plain="plain",
            **{"x-evil_<img src=x>": evil, "made_up": evil},
        )
    )

    assert (found["text"], found["picture"]) == ("plain", None)
    assert found["not_shown"] == [
        "text/html",
        "application/javascript",
        "3 formats that we do not know",
    ]
    assert "evil" not in json.dumps(found)
    assert "alert" not in json.dumps(found)


def test_a_picture_is_told_by_its_place_and_size_alone():
    found = read(code("x", stream("a"), picture(png(40, 30))))[0]["outputs"][1]

    assert found["picture"] == {"output": 1, "width": 40, "height": 30}
    assert found["not_shown"] == []


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"GIF89a" + b"x" * 60, "image/png that holds no picture"),
        (b"<svg onload=alert(1)>" + b"x" * 60, "image/png that holds no picture"),
        (png()[:20], "image/png that holds no picture"),
        (b"", "image/png that holds no picture"),
        (png(claims=(0, 5)), "image/png that holds no picture"),
        (png(claims=(60_000, 60_000)), "image/png that claims 60,000 × 60,000 pixels"),
        (png(claims=(10_001, 1)), "image/png that claims 10,001 × 1 pixels"),
        (png() + b"x" * 5_000_000, "image/png of more than 4 MiB"),
    ],
)
def test_a_picture_that_is_none_or_a_bomb_is_not_shown(raw, why):
    found = output(picture(raw))

    assert (found["picture"], found["not_shown"]) == (None, [why])


@pytest.mark.parametrize("data", [1, {"a": 1}, ["x", 1], "!!!", "ÿ" * 100])
def test_a_picture_that_is_no_base64_is_not_shown(data):
    assert output(display(image_png=data))["picture"] is None


def test_a_picture_is_handed_out_by_its_place():
    body = notebook(markdown("a"), code("x", stream("a"), picture(png(4, 3))))

    assert notebooks.picture(b"[1, 1]\n" + body) == png(4, 3)
    for place in (b"[0, 0]", b"[1, 0]", b"[9, 0]"):
        assert notebooks.picture(place + b"\n" + body) == b""


def test_a_picture_that_is_broken_behind_its_head_is_none():
    text = display(image_png=base64.b64encode(png()).decode() + "!!!")

    assert notebooks.picture(b"[0, 0]\n" + notebook(code("x", text))) == b""


@pytest.mark.parametrize(
    "one",
    [
        stream([1, "a"]),
        stream({"a": 1}),
        display(text_plain={"a": 1}),
        display(text_plain=["a", None]),
        error("one", 2),
        error({}),
    ],
)
def test_a_text_that_is_not_written_as_one_is_said_to_be_there(one):
    assert output(one)["not_shown"] == ["a text that is not written as one"]


@pytest.mark.parametrize("kind", ["markdown", "raw"])
def test_outputs_of_a_cell_that_does_not_run_are_counted_and_left_out(kind):
    [cell] = read(code("x", *[stream("a")] * 21, cell_type=kind))

    assert (cell["outputs"], cell["outputs_left_out"]) == ([], 21)


def test_colours_of_a_terminal_are_taken_out_and_counted_and_nothing_else():
    text, count = without_colours("\x1b[0;31mred\x1b[m \x1b[2J\x1b]8;;http://evil\x07x")

    assert (text, count) == ("red \x1b[2J\x1b]8;;http://evil\x07x", 2)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\nb\nc", ("a\nb", 1)),
        ("a\nb", ("a\nb", 0)),
        ("a\nb\n", ("a\nb", 1)),
        ("x" * 20, ("x" * 10, 1)),
        ("", ("", 0)),
    ],
)
def test_what_is_cut_off_is_counted(text, expected):
    assert cut(text, 2, 10) == expected


def test_a_page_of_cells_never_grows_without_limit():
    huge = [code("x" * 60_000, *[stream("y" * 30_000)] * 30)] * 50

    cells = read(*huge)

    assert len(cells) == 1
    assert (cells[0]["left_out"], cells[0]["outputs_left_out"]) == (1, 10)


def test_pictures_beyond_twenty_are_counted_and_left_out():
    cells = read(*[code("x", *[picture(png())] * 3)] * 8)

    outputs = [output for cell in cells for output in cell["outputs"]]
    assert sum(output["picture"] is not None for output in outputs) == 20
    assert outputs[-1]["not_shown"] == ["image/png, after 20 others on this page"]


def test_attachments_are_counted_and_left_out():
    cell = read(markdown("![a](attachment:a.png)", attachments={"a.png": {"image/png": "x"}}))[0]

    assert cell["attachments"] == 1


def test_metadata_name_the_language_or_nothing_does():
    assert outline()["language"] == "python"
    for metadata in (None, [], {"kernelspec": 1}, {"language_info": {"name": ["x"]}}):
        body = json.loads(notebook(metadata=metadata))
        assert notebooks.outline(body)["language"] == ""


TWO = (markdown("m"), code("a"), code("b\n"))


@pytest.mark.parametrize(
    ("text", "language", "cells", "everything"),
    [
        ("a", "python", (2,), False),
        ("b", None, (3,), False),
        ("\nb\n\n", None, (3,), False),
        ("a\nb", "python", (), True),
        ("a\n\nb", None, (), True),
        ("```python\na\n```\n\n```python\nb\n```", None, (2, 3), False),
        ("```python\na\n```\n\n```python\nc\n```", None, (), False),
        ("```python\na\n```", "python", (), False),
        ("m", "python", (), False),
        (" a", "python", (), False),
        ("a ", "python", (), False),
        ("b\na", "python", (), False),
        ("A", "python", (), False),
    ],
)
def test_code_is_found_in_a_notebook_only_where_it_stands(text, language, cells, everything):
    found = match(text, language, outline(*TWO))

    assert (found.cells, found.is_everything) == (cells, everything)


def test_code_is_the_first_of_the_cells_that_are_it():
    assert match("a", None, outline(code("a"), code("a"))).cells == (1,)


def test_cells_are_paired_by_text_then_by_id_then_by_place():
    before = outline(code("a", id="1"), code("b", id="2"), code("c"), code("z", id="9"))
    now = outline(code("b2", id="2"), code("new", id="5"), code("c2"), code("a", id="1"))

    found = changes(before, now)

    assert (dict(found.earlier), found.new, found.gone) == ({0: 1, 2: 2}, {1}, 1)


def test_the_same_cells_are_no_change():
    assert not changes(outline(*TWO), outline(*TWO))
    assert not changes(outline(), outline())
