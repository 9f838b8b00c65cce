"""In a form each name stands once, in every state of it: a script then knows what it sets.

htmx reads the pages that it fetches with scripting off, and so do these tests: what stands in a
``<noscript>`` are controls like any other there.
"""

from types import SimpleNamespace

import pytest

from approval_client.wire import Kind
from tests import make
from tests.web.pages import named_twice, page_of, read

WHOLE = {"whole_content": True, "editor_may_approve": True, "grants_allowed": True}
CALL = {"tool": "move_file", "arguments": {"from": "/data/a", "to": "/data/b"}}
STEPS = [{"capability": "one"}, {"capability": "two"}, {"capability": "three"}]


@pytest.fixture(autouse=True)
def _nothing_is_found(inspected):
    inspected()


@pytest.fixture(params=["whole", "whole-two-people", "any-part"])
def policy(request, db):
    demands = {
        "whole": WHOLE,
        "whole-two-people": {"whole_content": True, "approvals": 2, "reason_required": True},
        "any-part": WHOLE | {"whole_content": False},
    }
    make.in_force({"name": "May", "effect": "review", "demands": demands[request.param]})


def page_at(browser, path):
    response = browser.get(path)
    assert response.status_code == 200
    return read(response)


def request_page(asked, browser):
    return page_of(browser, asked.code)


def call_page(asked, browser):
    return page_of(browser, asked.call)


def plan_page(asked, browser):
    return page_of(browser, asked.plan)


def editor_page(asked, browser):
    return page_at(browser, f"/approvals/{asked.code.pk}/edit")


def edit_page(asked, browser):
    made = make.edited(asked.code, asked.bob)
    return page_at(browser, f"/approvals/{asked.code.pk}/edits/{made.pk}")


def replacement_page(asked, browser):
    made = make.edited(asked.other, asked.bob)
    return page_at(browser, f"/approvals/{asked.other.pk}/edits/{made.pk}")


def bulk_page(asked, browser):
    return page_at(browser, f"/bulk?id={asked.other.pk}&id={asked.same.pk}")


@pytest.fixture
def asked(ask, bob, policy):
    """One of each kind that a person answers."""
    patient = {"accepts_edits": True, "accepts_grants": True, "run_id": "7f3a"}
    return SimpleNamespace(
        bob=bob,
        code=ask(**patient),
        other=ask(),
        same=ask(),
        call=ask(content=CALL, kind=Kind.TOOL_CALL, capability="files", **patient),
        plan=ask(content={"steps": STEPS}, kind=Kind.PLAN, capability="plan", **patient),
    )


PAGES = [
    request_page,
    call_page,
    plan_page,
    editor_page,
    edit_page,
    replacement_page,
    bulk_page,
]


def test_a_name_stands_once_in_a_form(asked, browser):
    pages = {page.__name__: page(asked, browser) for page in PAGES}

    assert {name: twice for name, page in pages.items() if (twice := named_twice(page))} == {}


def test_one_box_says_that_the_end_was_in_sight_and_starts_empty(asked, browser):
    for page in (request_page, edit_page, replacement_page):
        [box] = page(asked, browser).all("input", name="end_seen")

        assert box["type"] == "checkbox"
        assert "checked" not in box.attributes
        assert box["autocomplete"] == "off"  # or a reload would keep it ticked


def words_in(page):
    """The fields in which a person writes to somebody, or looks for words: name -> direction."""
    wanted = {"reason", "approve_reason", "note", "note-0", "q", "find"}
    fields = [*page.all("textarea"), *page.all("input")]
    named = [one for one in fields if one.attributes.get("name") in wanted]
    return {one["name"]: one.attributes.get("dir") for one in named}


def test_what_a_person_writes_runs_in_the_direction_of_its_script(asked, browser):
    found = [words_in(page(asked, browser)) for page in PAGES]

    names = {name for fields in found for name in fields}
    assert names == {"reason", "approve_reason", "note", "note-0", "q"}
    assert {way for fields in found for way in fields.values()} == {"auto"}
