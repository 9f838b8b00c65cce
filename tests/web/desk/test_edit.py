"""The pages on which a reviewer changes what was asked. All of it works without script."""

import re

import pytest

from approval_client.wire import Status, parse_json
from dashboard.approvals.models import Decision, Edit
from tests import make
from tests.web.pages import bar_of, page_of, read

EDITORS = {"name": "Edit", "effect": "review", "demands": {"editor_may_approve": True}}
CODE = {"code": "a = 1\nb = 2\n", "language": "python"}
CALL = {"tool": "move", "arguments": {"x": 1}}


@pytest.fixture
def editable(ask):
    make.in_force(EDITORS)
    return ask(content=CODE, accepts_edits=True)


def edit(browser, approval, text):
    return browser.post(f"/approvals/{approval.pk}/edit", {"text": text})


def page_after(browser, reply):
    return read(browser.get(reply.url))


def hidden_of(page):
    inputs = page.one(id="request-bar").all("input", type="hidden")
    return {one["name"]: one["value"] for one in inputs if "csrf" not in one["name"]}


def answer(browser, reply, verdict="approve", **changes):
    form = hidden_of(page_after(browser, reply)) | {"verdict": verdict, "end_seen": "yes"}
    return browser.post(reply.url, form | changes)


def test_the_page_of_a_request_leads_to_the_editor(browser, editable):
    link = bar_of(browser, editable).one("a", class_="edit-open")

    assert (link.text, link["href"]) == ("Edit", f"/approvals/{editable.pk}/edit")


def test_where_edits_are_not_accepted_it_leads_to_a_replacement(browser, ask):
    link = bar_of(browser, ask()).one("a", class_="edit-open")

    assert link.text == "Replacement"


def test_the_field_holds_the_code_as_it_is(browser, editable):
    page = read(browser.get(f"/approvals/{editable.pk}/edit"))

    assert page.one("textarea", name="text").raw == "\n" + CODE["code"]


def test_what_was_made_of_it_is_shown_as_a_difference(browser, editable):
    page = page_after(browser, edit(browser, editable, "a = 1\r\nb = 3\r\n"))

    assert [line.text for line in page.all("del")] == ["removed: b = 2"]
    assert [line.text for line in page.all("ins")] == ["added: b = 3"]


def test_it_is_approved_with_its_own_digest(browser, editable):
    reply = answer(browser, edit(browser, editable, "a = 1\r\nb = 3\r\n"))

    decision = Decision.objects.get()
    assert (reply.status_code, decision.edit) == (303, Edit.objects.get())
    assert parse_json(decision.edit.content) == {**CODE, "code": "a = 1\nb = 3\n"}


def test_what_a_page_of_the_request_showed_is_no_basis_for_a_change(browser, editable):
    reply = edit(browser, editable, "a = 2")
    shown = hidden_of(page_of(browser, editable))["shown"]

    assert answer(browser, reply, shown=shown).status_code == 409


def test_who_wrote_it_is_told_that_somebody_else_has_to_approve(browser, ask):
    approval = ask(content=CODE, accepts_edits=True)

    page = page_after(browser, edit(browser, approval, "a = 2"))

    assert "disabled" in page.one("button", value="approve").attributes
    assert page.one(id="why-not").text.startswith("This is your own change")


def test_whoever_edits_is_told_first_that_another_person_must_approve(browser, ask, bob):
    path = f"/approvals/{ask(content=CODE, accepts_edits=True).pk}/edit"

    told = read(browser.get(path)).one(class_="editor-who").text

    assert told.startswith("Another person must approve it The policy asks for that.")


def test_whoever_edits_alone_is_told_first_that_nobody_can_approve(browser, ask):
    path = f"/approvals/{ask(content=CODE, accepts_edits=True).pk}/edit"

    assert (
        "There is no other reviewer yet" in read(browser.get(path)).one(class_="editor-who").text
    )


def test_where_the_editor_may_approve_nothing_is_said(browser, ask):
    demands = {"editor_may_approve": True}
    make.in_force({"name": "Alone", "effect": "review", "demands": demands})
    path = f"/approvals/{ask(content=CODE, accepts_edits=True).pk}/edit"

    assert list(read(browser.get(path)).all(class_="editor-who")) == []


def test_the_others_find_it_on_the_page_of_the_request(browser, browser_of, bob, editable):
    edit(browser, editable, "a = 2")

    said = bar_of(browser_of(bob), editable).one(class_="proposed").text

    assert re.fullmatch(r"alice suggested a change just now\. Preview it \(change \d+\)", said)


@pytest.mark.parametrize(
    ("text", "why"), [("a = 1\r\nb = 2\r\n", "to the last character"), ("", "must not be empty")]
)
def test_what_changes_nothing_or_is_nothing_is_refused_with_words(browser, editable, text, why):
    reply = edit(browser, editable, text)

    assert reply.status_code == 422
    assert why in read(reply).one(role="alert").text
    assert not Edit.objects.exists()


def test_what_was_typed_is_kept_when_it_is_refused(browser, ask):
    approval = ask(kind="tool_call", capability="move", content=CALL, accepts_edits=True)

    page = read(edit(browser, approval, '{"x": 1,, }'))

    assert page.one("textarea", name="text").raw == '\n{"x": 1,, }'
    assert "This is not valid JSON: Expecting" in page.one(role="alert").text


def test_a_number_that_is_refused_is_not_called_invalid(browser, ask):
    approval = ask(kind="tool_call", capability="move", content=CALL, accepts_edits=True)

    why = read(edit(browser, approval, '{"x": 1e400}')).one(role="alert").text

    assert "The number 1e400 is too large to be exact." in why
    assert "not valid JSON" not in why


def test_arguments_keep_their_digits(browser, ask):
    approval = ask(kind="tool_call", capability="move", content=CALL, accepts_edits=True)

    edit(browser, approval, '{"x": 1.50, "id": 12345678901234567890123}')

    kept = Edit.objects.get().content
    assert kept == '{"arguments":{"id":12345678901234567890123,"x":1.50},"tool":"move"}'


@pytest.mark.parametrize("code", ["a\r\nb\r\n", "a\nb", "a\r\nb\nc\rd", "\n\n a \n"])
def test_ends_of_lines_stay_what_they_were(browser, ask, code):
    make.in_force(EDITORS)
    approval = ask(content={"code": code}, accepts_edits=True)
    field = read(browser.get(f"/approvals/{approval.pk}/edit")).one("textarea", name="text").raw

    sent = field.removeprefix("\n").replace("\n", "\r\n") + "x"
    edit(browser, approval, sent)

    assert parse_json(Edit.objects.get().content) == {"code": code + "x"}


def test_a_text_whose_ends_no_field_keeps_cannot_be_edited(browser, ask):
    approval = ask(content={"code": "a\rb \u240d"}, accepts_edits=True)

    assert not list(bar_of(browser, approval).all(class_="edit-open"))
    assert edit(browser, approval, "x").url == f"/approvals/{approval.pk}"
    assert not Edit.objects.exists()


def test_a_replacement_goes_along_with_a_no(browser, ask):
    make.in_force(EDITORS)
    approval = ask(content=CODE, run_id="r1")

    answer(browser, edit(browser, approval, "a = 7"), "reject", reason="Not so.")

    decision = Decision.objects.get()
    assert (decision.status, decision.edit) == (Status.REJECTED, None)
    assert decision.reason.startswith("Not so.\n\nA reviewer suggests this instead:")
    assert "\na = 7\n--- end replacement" in decision.reason


def test_a_replacement_cannot_be_approved(browser, ask):
    make.in_force(EDITORS)

    reply = answer(browser, edit(browser, ask(content=CODE), "a = 7"))

    assert reply.status_code == 403
    assert not Decision.objects.exists()


def test_a_closed_request_shows_the_change_that_was_approved(browser, editable):
    reply = edit(browser, editable, "a = 2")
    answer(browser, reply)

    bar = bar_of(browser, editable)
    assert "Approved by you, with a change" in bar.text
    assert bar.one("a", href=reply.url).text == "See what was approved instead of what was asked"
    assert list(read(browser.get(reply.url)).all("ins"))


def test_who_only_reads_sees_a_change_and_answers_nothing(browser, browser_of, ada, editable):
    reply = edit(browser, editable, "a = 2")
    admin = browser_of(ada)

    assert not list(read(admin.get(reply.url)).all("button", name="verdict"))
    assert admin.post(reply.url, {"verdict": "approve"}).status_code == 403
    assert admin.get(f"/approvals/{editable.pk}/edit").status_code == 403


def test_what_was_approved_only_with_a_change_is_not_called_approved(browser, ask, editable):
    answer(browser, edit(browser, editable, "a = 2"))

    said = page_of(browser, ask(content=CODE)).one(class_="chain-said").text

    assert said.startswith("Approved with a change by you")


def test_a_memory_is_held_against_the_text_that_was_approved(browser, ask):
    make.in_force(EDITORS)
    memory = {"operation": "update", "user_id": "u", "content": "tea"}
    asked = {"kind": "memory", "capability": "memory", "content": memory}
    answer(browser, edit(browser, ask(**asked, accepts_edits=True), "coffee"))

    page = page_of(browser, ask(**{**asked, "content": {**memory, "existing": "coffee"}}))

    assert "is what was approved here last" in page.text


@pytest.mark.parametrize("asked", ["a = 1\n", "import os\nos.system('ls')\n"])
def test_a_secret_that_only_the_change_masks_can_be_revealed_and_approved(browser, ask, asked):
    make.in_force(EDITORS)
    approval = ask(content={"code": asked, "language": "python"}, accepts_edits=True)
    reply = edit(browser, approval, "password = 'kT9-4wq_LmZ2p'")
    assert answer(browser, reply).status_code == 403

    form = page_after(browser, reply).one("form", class_="reveal")
    sent = {one["name"]: one["value"] for one in form.all("input", type="hidden")}
    assert browser.post(form["action"], sent).url == f"{reply.url}#content-title"
    assert answer(browser, reply).status_code == 303


def test_a_change_is_not_edited_again_before_its_secrets_are_revealed(browser, bob, editable):
    made = make.edited(editable, bob, content={**CODE, "code": f"t = 'ghp_{'aB3d' * 9}'"})

    reply = browser.get(f"/approvals/{editable.pk}/edit?from={made.pk}")
    assert reply.url == f"/approvals/{editable.pk}/edits/{made.pk}"
