"""The pinned notebook on a request's page, and on a page of its own."""

import re

import pytest

from dashboard import sandbox
from dashboard.approvals import services
from dashboard.approvals.rules import notebook as notebook_rules
from dashboard.web.desk import notebook as page_of_notebook
from tests import make
from tests.notebooks import (
    code,
    digest_of,
    display,
    error,
    markdown,
    notebook,
    picture,
    png,
    stream,
)
from tests.web.pages import page_of, read

pytestmark = pytest.mark.django_db
EVIL = "<script>alert(1)</script><img src=x onerror=alert(1)>"


@pytest.fixture(autouse=True)
def _unhurried(monkeypatch):
    monkeypatch.setattr(notebook_rules, "READ_WITHIN_S", 20.0)
    monkeypatch.setattr(notebook_rules, "CHECK_WITHIN_S", 20.0)


@pytest.fixture
def show(ask, token):
    """Submit with a notebook of these cells."""

    def submit(*cells, evidence=None, **more):
        body = notebook(*cells)
        services.send_notebook(token=token, digest=digest_of(body), body=body)
        return ask(evidence={"notebook": digest_of(body)} | (evidence or {}), **more)

    return submit


def cells_of(browser, approval, start=""):
    response = browser.get(f"/approvals/{approval.pk}/notebook{start}")
    assert response.status_code == 200
    return read(response)


def said(page):
    return [p.one("span").text for p in page.all("p", class_="pinned-said")]


def test_a_page_says_that_a_notebook_was_pinned_and_where_it_is_read(browser, show):
    approval = show(code("print(1)"))

    section = page_of(browser, approval).one("section", class_="pinned")
    assert re.match(r"Notebook 1 cell · pinned just now · SHA-256 \w{6}…\w{4}", section.text)
    assert f"/approvals/{approval.pk}/notebook" in [a["href"] for a in section.all("a")]


def test_a_page_without_a_notebook_says_nothing_of_one(browser, ask):
    assert list(page_of(browser, ask()).all("section", class_="pinned")) == []


def test_a_notebook_that_was_never_sent_is_said_to_be_missing(browser, ask):
    approval = ask(evidence={"notebook": "a" * 64})

    section = page_of(browser, approval).one("section", class_="pinned")
    assert "It is not here The agent names a notebook that it had not sent" in section.text
    assert browser.get(f"/approvals/{approval.pk}/notebook").status_code == 404


def test_why_a_notebook_was_not_sent_stands_in_the_agents_frame(browser, ask):
    why = "Not sent: the file could not be read (FileNotFoundError)."
    page = page_of(browser, ask(evidence={"notebook": why}))

    assert why in page.one("section", class_="untrusted").text
    assert list(page.all("section", class_="pinned")) == []


@pytest.mark.parametrize(
    ("cells", "sentence"),
    [
        ([markdown("m"), code("print(1)\n")], "The code that would run is cell 2 of"),
        ([code("print(2)")], page_of_notebook.NOTHING),
        ([markdown("print(1)")], page_of_notebook.NOTHING),
        ([], page_of_notebook.NOTHING),
    ],
)
def test_a_page_says_whether_the_notebook_holds_what_would_run(browser, show, cells, sentence):
    [first] = said(page_of(browser, show(*cells)))

    assert first.startswith(sentence)


def test_a_page_says_that_all_cells_are_what_would_run(browser, show):
    approval = show(code("a"), code("b"), content={"code": "a\nb"})

    assert said(page_of(browser, approval))[0].startswith(page_of_notebook.EVERYTHING)
    runs = list(cells_of(browser, approval).all("article", class_="cell--run"))
    assert len(runs) == 2


def test_what_is_no_code_is_compared_with_nothing(browser, show):
    content = {"tool": "t", "arguments": {}}
    approval = show(code("x"), kind="tool_call", capability="t", content=content)

    assert said(page_of(browser, approval)) == []


def test_the_live_link_stands_beside_the_copy_and_may_differ(browser, show):
    link = {"notebook_link": "https://lab.example/a.ipynb", "notebook_path": "/a.ipynb"}
    page = page_of(browser, show(code("x"), evidence=link))

    frame = page.one("section", class_="pinned").one("div", class_="untrusted")
    assert "may have changed since the copy was pinned" in frame.text
    assert "https://lab.example/a.ipynb" in [a["href"] for a in frame.all("a")]
    assert list(page.all("section", class_="untrusted")) == []


def test_a_page_says_what_changed_since_the_request_before(browser, show):
    show(code("a", id="1"), code("b", id="2"), run_id="r")
    approval = show(code("a", id="1"), code("c", id="2"), code("d", id="3"), run_id="r")

    assert said(page_of(browser, approval))[1] == (
        "1 cell changed, 1 new since the request before it in this run."
    )
    page = cells_of(browser, approval)
    badges = [b.text for b in page.all("span", class_="badge")]
    assert badges == ["changed", "new"]
    assert (page.one("del").text, page.one("ins").text) == ("removed: b", "added: c")


@pytest.mark.parametrize(
    ("cell", "sentence"),
    [
        (code("a"), page_of_notebook.THE_SAME),
        (code("a", stream("now with an output")), page_of_notebook.NO_CELL),
    ],
)
def test_a_page_says_that_no_cell_changed(browser, show, cell, sentence):
    show(code("a"), run_id="r")

    assert said(page_of(browser, show(cell, run_id="r")))[1] == sentence


def test_every_word_of_a_notebook_stands_in_the_agents_frame(browser, show):
    approval = show(
        markdown(f"evil [x](javascript:alert(1)) {EVIL}"),
        code(f"evil {EVIL}", stream(f"evil {EVIL}"), error(f"evil \x1b[31m{EVIL}")),
        code("x", display(text_html="evil", text_plain="evil", evil_a="evil")),
        metadata_is_ignored := markdown("evil", metadata={"evil": "evil"}),
    )

    page = cells_of(browser, approval)
    frame = page.one("section", class_="untrusted")
    assert metadata_is_ignored
    assert frame.text.count("evil") == page.text.count("evil") == 6
    assert [tag for tag in ("script", "iframe", "svg") if list(frame.all(tag))] == []
    assert [a["href"] for a in frame.all("a")] == []


def test_hidden_characters_in_cells_are_drawn_and_named(browser, show):
    page = cells_of(browser, show(code("a\u202eb", stream("c\u200bd"))))

    assert [glyph.text for glyph in page.all("span", class_="glyph")] == ["RLO", "ZWSP"]
    assert len(list(page.all("div", class_="block-warning"))) == 2


def test_a_cell_is_coloured_as_code_is(browser, show):
    page = cells_of(browser, show(code("import os")))

    assert page.one("span", class_="kn").text == "import"


def test_what_is_left_out_is_said(browser, show):
    cell = code("x\n" * 1_100, *[stream("y\n" * 300)] * 21)

    text = cells_of(browser, show(cell)).text
    assert "101 more lines of this cell are not shown." in text
    assert "101 more lines are not shown." in text
    assert "1 more output is not shown." in text


def test_what_else_an_output_held_is_named(browser, show):
    page = cells_of(browser, show(code("x", display(text_html=EVIL, image_svg_xml=EVIL))))

    assert "Not shown: text/html, a format that we do not know." in page.text


def test_a_long_notebook_is_read_a_page_at_a_time(browser, show):
    approval = show(*[code(f"cell_{n}") for n in range(1, 121)])

    first, second = cells_of(browser, approval), cells_of(browser, approval, "?from=51")
    assert "Cells 1 to 50 of 120. The others are not on this page." in first.text
    assert [a.text for a in first.one("nav", class_="cells-pages").all("a")] == [
        "Cells from 51 on"
    ]
    assert ("cell_51" in second.text, "cell_50" in second.text) == (True, False)


@pytest.mark.parametrize("start", ["?from=0", "?from=-1", "?from=x", "?from=9999999", "?from=²"])
def test_an_address_that_names_no_cell_shows_the_first_or_last(browser, show, start):
    assert "cell 1" in cells_of(browser, show(code("x")), start).text


def test_htmx_is_given_the_cells_alone(browser, show):
    approval = show(code("x"))

    response = browser.get(f"/approvals/{approval.pk}/notebook", headers={"HX-Request": "true"})
    assert response.content.decode().lstrip().startswith('<div id="notebook-cells"')


def test_a_picture_is_served_as_we_drew_it_and_under_a_policy_of_its_own(browser, show):
    approval = show(code("x", stream("a"), picture(png(40, 30))))
    image = cells_of(browser, approval).one("img", class_="cell-picture")

    response = browser.get(image["src"])

    assert (image["width"], image["height"]) == ("40", "30")
    assert response.content.startswith(b"\x89PNG")
    assert b"<script>" not in response.content
    assert response["Content-Type"] == "image/png"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Cross-Origin-Resource-Policy"] == "same-origin"
    assert response["Content-Security-Policy"] == (
        "default-src 'none'; frame-ancestors 'none'; sandbox"
    )


@pytest.mark.parametrize("place", ["1/0", "1/9", "0/0", "9/0", "2/0"])
def test_where_there_is_no_picture_there_is_nothing(browser, show, place):
    approval = show(code("x", stream("a")), code("y", picture(png(claims=(9_999, 9_999)))))

    assert browser.get(f"/approvals/{approval.pk}/notebook/{place}.png").status_code == 404


def test_a_request_without_a_notebook_has_no_picture(browser, ask):
    assert browser.get(f"/approvals/{ask().pk}/notebook/1/0.png").status_code == 404


def test_a_notebook_that_cannot_be_read_is_said_so(browser, show, monkeypatch):
    approval = show(code("secret words"))

    def fail(*_):
        raise sandbox.SandboxError

    monkeypatch.setattr(notebook_rules.sandbox, "call", fail)
    page = cells_of(browser, approval)

    assert "It could not be read" in page.text
    assert "secret words" not in page.text


def test_a_second_look_reads_no_bytes_of_the_notebook(browser, show, count_queries):
    approval = show(code("x"))
    cells_of(browser, approval)
    again = count_queries(lambda: cells_of(browser, approval))

    assert again == count_queries(lambda: cells_of(browser, approval))
    assert page_of_notebook.MOST_CELLS == 50


def test_who_has_no_role_reads_no_notebook(browser_of, show):
    stranger = browser_of(make.person("nobody"))

    assert stranger.get(f"/approvals/{show(code('x')).pk}/notebook").status_code == 403


def test_what_is_masked_in_the_code_is_masked_in_its_notebook_too(browser, show):
    secret = "ghp_" + "aB3d" * 9
    source = f'token = "{secret}"'
    cells = code(source, outputs=[stream(secret)]), markdown(secret)
    approval = show(*cells, content={"code": source, "language": "python"})
    path = f"/approvals/{approval.pk}/notebook"

    assert secret[4:] not in browser.get(path).content.decode()
    browser.post(f"/approvals/{approval.pk}/reveal")
    assert browser.get(path).content.decode().count(secret) == 3


def test_a_cell_of_prose_is_compared_as_prose_and_one_of_code_as_code(browser, show):
    names = "אב - גד"
    show(code("a", id="1"), markdown("b", id="2"), run_id="r")
    approval = show(code(names, id="1"), markdown(names, id="2"), run_id="r")

    html = browser.get(f"/approvals/{approval.pk}/notebook").content.decode()

    lines = re.findall(r'<ins class="diff-line">.*?</ins>', html, re.DOTALL)
    isolates = [re.findall(r'<bdi [^>]*dir="rtl">(.*?)</bdi>', line) for line in lines]
    assert isolates == [["אב", "גד"], [names]]
