from uuid import uuid4

import pytest

from dashboard.approvals.models import View
from dashboard.web.desk import request
from tests import make
from tests.web.pages import page_of, read


def test_the_title_says_what_it_is_and_what_it_does(browser, ask):
    page = page_of(browser, ask(content={"code": "rm -rf /srv/old", "language": "bash"}))

    said = "Bash, 1 line: deletes a folder"
    assert (page.one("h1").text, page.one("title").text) == (said, f"{said} · Approvals")


def test_opened_from_the_list_it_is_drawn_without_the_list(browser, ask):
    url, asked_for = f"/approvals/{ask().pk}", {"HX-Request": "true", "HX-Target": "pane"}

    opened, page = read(browser.get(url, headers=asked_for)), read(browser.get(url))

    assert opened.one("title").text == page.one("title").text
    assert opened.one(id="request-title").text == page.one(id="request-title").text
    assert page.one(id="list")
    assert [*opened.all(id="list")] == []


def test_every_line_of_the_content_is_on_the_page(browser, ask):
    code = "\n".join(f"line_{n}" for n in range(500))

    page = page_of(browser, ask(content={"code": code}))

    block = page.one(class_="block")
    assert [line.raw for line in block.all("code", class_="line")] == code.split("\n")
    assert page.one(class_="content-fact").text == "plain text · 500 lines"


def test_hidden_characters_are_drawn_and_warned_about(browser, ask):
    block = page_of(browser, ask(content={"code": "a\u202e" + " " * 10_000 + "b"})).one("figure")

    assert [glyph.text for glyph in block.all(class_="glyph")] == ["RLO", "10000 spaces"]
    assert "U+202E RIGHT-TO-LEFT OVERRIDE: 1" in block.one(class_="block-warning").text


def test_what_the_agent_says_stands_in_its_frame_and_nowhere_else(browser, ask):
    evidence = {"safety_concerns": ["SPEECH two"], "SPEECH key": "SPEECH three"}
    page = page_of(browser, ask(objective="SPEECH one", evidence=evidence))

    frames = [frame.raw.count("SPEECH") for frame in page.all(class_="untrusted")]
    assert (page.raw.count("SPEECH"), frames) == (4, [1, 3])


def test_the_purpose_stands_under_the_title_and_is_not_verified(browser, ask):
    head = page_of(browser, ask(objective="Trim C01.")).one(class_="request-head")

    assert head.one(class_="says").text == "Agent says: “Trim C01.” — not verified"
    assert list(head.all("details")) == []


def test_a_long_purpose_unfolds(browser, ask):
    head = page_of(browser, ask(objective=" ".join(["word"] * 50))).one(class_="request-head")

    assert head.one("details", class_="says").one(class_="prose").text == " ".join(["word"] * 50)


def test_evidence_that_no_page_can_hold_is_left_out_and_that_is_told(browser, ask):
    page = page_of(browser, ask(evidence={"numbers": [0] * request.MOST_LINES_SAID}))

    frame = page.one(class_="untrusted")
    assert frame.one("strong").text == "It also sent more than fits on a page."
    assert "disabled" not in page.one("button", value="approve").attributes


def test_silence_of_the_agent_is_told(browser, ask):
    page = page_of(browser, ask())

    assert list(page.all("section", class_="untrusted")) == []
    assert "The agent gives no reason." in page.text


def test_agent_text_is_in_no_title_button_link_or_label(browser, ask):
    evil = {"notebook_link": "https://evil.example/evil", "evil": ["evil"], "context": ["evil"]}
    page = page_of(browser, ask(content={"code": "evil"}, objective="evil", evidence=evil))

    places = [e for tag in ("title", "h1", "h2", "h3", "button", "a") for e in page.all(tag)]
    assert [place.text for place in places if "evil" in place.text] == []


def test_a_notebook_link_shows_its_host_and_leaves_without_a_trace(browser, ask):
    evidence = {"notebook_path": "a/b.ipynb", "notebook_link": "https://jupyter.example/b"}
    frame = page_of(browser, ask(evidence=evidence)).one(class_="untrusted")

    link = frame.one("a")
    assert (link["href"], link["rel"]) == ("https://jupyter.example/b", "noopener noreferrer")
    assert frame.one("strong").text == "jupyter.example"
    assert frame.one("p").text == "a/b.ipynb"


@pytest.mark.parametrize("url", ["http://127.0.0.1:8888/x", "javascript:alert(1)", "file:///etc"])
def test_a_notebook_link_that_could_act_as_us_is_text(browser, ask, url):
    frame = page_of(browser, ask(evidence={"notebook_link": url})).one(class_="untrusted")

    assert list(frame.all("a")) == []
    assert (frame.one(class_="prose").text, frame.text.count("Not a link:")) == (url, 1)


def test_seen_is_recorded_once(browser, ask, alice):
    approval = ask()

    answers = [browser.post(f"/approvals/{approval.pk}/seen").status_code for _ in range(2)]

    assert answers == [200, 200]
    assert [view.person for view in View.objects.filter(approval=approval)] == [alice]


@pytest.mark.parametrize("path", ["", "/state"])
def test_what_is_not_there_is_a_page_that_says_so(browser, path):
    response = browser.get(f"/approvals/{uuid4()}{path}")

    assert response.status_code == 404
    assert read(response).one("h1").text == "Page not found"


@pytest.mark.parametrize("path", ["/", "/queue", "/approvals/{}", "/approvals/{}/state"])
def test_without_a_role_nothing_is_read(browser_of, ask, path):
    nora = browser_of(make.person("nora"))

    assert nora.get(path.format(ask().pk)).status_code == 403
