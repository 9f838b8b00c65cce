"""Answers to single steps of a plan: what is recorded is what the button named."""

import pytest

from approval_client.wire import Status, StepAnswer, canonical_json, parse_json
from dashboard.approvals.models import Decision, Edit, Vote
from dashboard.approvals.rules.step import StepSaid
from dashboard.web.drawing.tree import MOST_MEMBERS
from tests import make
from tests.web.pages import bar_of, page_of, read

EDITORS = {"name": "Edit", "effect": "review", "demands": {"editor_may_approve": True}}
PLAN = {"steps": [{"capability": "one"}, {"capability": "two"}, {"capability": "three"}]}
SOME = {"step-1": "allowed", "step-2": "refused", "note-2": "Never."}


@pytest.fixture
def plan(ask):
    """A plan of three steps whose agent takes a part of it."""
    make.in_force(EDITORS)
    return ask(kind="plan", capability="plan", content=PLAN, accepts_edits=True)


@pytest.fixture
def whole(ask):
    """A plan of three steps whose agent takes it whole or not at all."""
    return ask(kind="plan", capability="plan", content=PLAN)


def sent(browser, approval):
    """What the form of the page sends by itself, without script."""
    inputs = bar_of(browser, approval).one("form", class_="decide").all("input", type="hidden")
    named = {one["name"]: one["value"] for one in inputs}
    return {name: value for name, value in named.items() if "csrf" not in name}


def press(browser, approval, verdict="approve", *, htmx=True, **said):
    """Press a button of the bar; ``said`` is what steps.js and the person filled in."""
    form = sent(browser, approval) | {"verdict": verdict, "end_seen": "yes"}
    named = {name.replace("_", "-"): value for name, value in said.items()}
    headers = {"HX-Request": "true"} if htmx else {}
    path = f"/approvals/{approval.pk}/decide"
    return browser.post(path, form | named, headers=headers)


def nothing_recorded():
    return not (Decision.objects.exists() or Vote.objects.exists() or Edit.objects.exists())


def test_the_page_of_a_plan_asks_about_each_step_in_the_form_that_decides(browser, plan):
    page = page_of(browser, plan)

    radios = list(page.all("input", type="radio", name="step-1"))
    assert [radio["value"] for radio in radios] == ["allowed", "held", "refused"]
    assert {radio["form"] for radio in radios} == {page.one("form", class_="decide")["id"]}
    assert not [r for r in page.all("input", type="radio") if "checked" in r.attributes]


def test_a_plan_without_answers_is_approved_by_the_number_of_all_its_steps(browser, plan):
    press(browser, plan, approves="3")

    decision = Decision.objects.get()
    assert (decision.status, decision.edit) == (Status.APPROVED, None)


@pytest.mark.parametrize("approves", ["", "2", "4", "0", "-3", "all"])
def test_another_number_than_all_steps_approves_no_plan(browser, plan, approves):
    reply = press(browser, plan, approves=approves)

    assert reply.status_code == 422
    assert "Nothing was recorded" in read(reply).one(role="alert").text
    assert nothing_recorded()


def test_a_refused_step_leads_to_the_shorter_plan_and_approves_nothing(browser, plan):
    reply = press(browser, plan, approves="2", **SOME)

    kept = Edit.objects.get()
    assert reply.headers["HX-Redirect"] == f"/approvals/{plan.pk}/edits/{kept.pk}"
    assert kept.content == canonical_json({"steps": PLAN["steps"][:2]})
    assert not Decision.objects.exists()


def test_the_page_of_the_shorter_plan_names_its_number_and_approves_it(browser, plan):
    path = press(browser, plan, approves="2", **SOME).headers["HX-Redirect"]
    bar = read(browser.get(path)).one(id="request-bar")
    form = {i["name"]: i["value"] for i in bar.all("input", type="hidden")}

    assert bar.one("button", value="approve").text == "Approve 2 of 3 steps"
    browser.post(path, form | {"verdict": "approve", "end_seen": "yes"})

    decision = Decision.objects.get()
    assert decision.edit.content == canonical_json({"steps": PLAN["steps"][:2]})
    assert parse_json(decision.steps) == [
        {"answer": "allowed", "index": 0},
        {"answer": "allowed", "index": 1},
        {"answer": "refused", "index": 2, "note": "Never."},
    ]


@pytest.mark.parametrize("approves", ["", "3", "1"])
def test_the_shorter_plan_is_not_approved_by_another_number(browser, plan, approves):
    path = press(browser, plan, approves="2", **SOME).headers["HX-Redirect"]
    bar = read(browser.get(path)).one(id="request-bar")
    form = {i["name"]: i["value"] for i in bar.all("input", type="hidden")}

    changed = {"verdict": "approve", "end_seen": "yes", "approves": approves}
    reply = browser.post(path, form | changed)

    assert reply.status_code == 422
    assert not Decision.objects.exists()


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"approves": "3", **SOME}, "2 of 3 steps would be approved"),
        ({"approves": "", **SOME}, "2 of 3 steps would be approved"),
        ({"approves": "3", "step-0": "maybe"}, "2 of 3 steps would be approved"),
        ({"approves": "3", "step-0": ["allowed", "held"]}, "2 of 3 steps would be approved"),
        ({"approves": "0", **{f"step-{n}": "refused" for n in range(3)}}, "nothing is left"),
        ({"approves": "3", "step-3": "allowed"}, "steps that the plan does not have"),
        ({"approves": "2", "step-0": "refused", "step-00": "allowed"}, "does not have"),
        ({"approves": "2", "step-0": "held", "note-0": "x" * 501}, "longer than 500"),
        ({"approves": "2", "step-0": "held", "judgement": "1000000"}, "Nothing was recorded"),
        ({"approves": "2", "step-0": "held", "digest": "0" * 64}, "Nothing was recorded"),
    ],
)
def test_a_form_that_does_not_fit_the_steps_records_nothing(browser, plan, said, why):
    reply = press(browser, plan, **said)

    assert reply.status_code in (409, 422)
    assert why in read(reply).one(role="alert").text
    assert nothing_recorded()


@pytest.mark.parametrize("verdict", ["same-approve", "same-reject", "remember-content"])
def test_what_answers_the_whole_plan_takes_no_answers_to_steps(browser, plan, verdict):
    reply = press(browser, plan, verdict, approves="2", **SOME)

    assert reply.status_code == 422
    assert "about the whole plan" in read(reply).one(role="alert").text
    assert nothing_recorded()


def test_a_plan_that_is_taken_whole_is_not_approved_in_part(browser, whole):
    reply = press(browser, whole, approves="2", **SOME)

    assert reply.status_code == 422
    assert "takes whole plans only" in read(reply).one(role="alert").text
    assert nothing_recorded()


def test_a_rejection_takes_the_answers_along_and_holds_what_has_none(browser, whole):
    press(browser, whole, "reject", step_0="allowed", step_1="refused", note_1="Too far.")

    decision = Decision.objects.get()
    assert decision.status == Status.REJECTED
    assert decision.reason == (
        "Step 1 may stay as it is.\nStep 2 is refused: Too far.\nStep 3 is held back."
    )


def test_a_rejection_without_answers_says_nothing_of_steps(browser, whole):
    press(browser, whole, "reject", reason="No.", **dict.fromkeys(["note-0", "note-1"], ""))

    decision = Decision.objects.get()
    assert (decision.reason, decision.steps) == ("No.", "[]")


@pytest.mark.parametrize("verdict", ["approve", "reject"])
def test_the_longest_plan_that_is_drawn_in_steps_is_answered_step_by_step(browser, ask, verdict):
    longest = ask(kind="plan", capability="plan", content={"steps": [{}] * MOST_MEMBERS})
    named = {field["name"]: "" for field in page_of(browser, longest).all("input", form="decide")}
    word = "allowed" if verdict == "approve" else "held"
    said = {name: word if name.startswith("step-") else "" for name in named}

    press(browser, longest, verdict, **said, approves=f"{MOST_MEMBERS}")

    assert len(said) == 2 * MOST_MEMBERS
    assert Decision.objects.get().status == {"approve": "approved", "reject": "rejected"}[verdict]


def test_answers_without_what_the_page_showed_are_incomplete(browser, whole):
    path = f"/approvals/{whole.pk}/decide"

    reply = browser.post(path, {"verdict": "reject", "step-0": "held"})

    assert reply.status_code == 422
    assert "did not send all" in read(reply).one(role="alert").text
    assert nothing_recorded()


def test_without_script_a_page_lists_what_would_be_approved(browser, plan):
    reply = press(browser, plan, htmx=False, **SOME)

    page = read(reply)
    assert reply.status_code == 422
    assert [row.one(class_="badge").text for row in page.all(class_="answered-step")] == [
        "Allowed",
        "Allowed",
        "Refused",
    ]
    assert page.one("button", value="approve").text == "Approve 2 of 3 steps…"
    assert nothing_recorded()


def test_the_form_of_that_page_approves_the_whole_plan_where_all_is_allowed(browser, plan):
    page = read(press(browser, plan, htmx=False))
    form = page.one("form", class_="decide")
    assert form.one("button", value="approve").text == "Approve 3 of 3 steps"
    named = {one["name"]: one["value"] for one in form.all("input", type="hidden")}

    browser.post(form["action"], named | {"verdict": "approve"})

    assert Decision.objects.get().status == Status.APPROVED


def test_the_form_of_that_page_leads_to_the_shorter_plan(browser, plan):
    form = read(press(browser, plan, htmx=False, **SOME)).one("form", class_="decide")
    named = {one["name"]: one["value"] for one in form.all("input", type="hidden")}

    reply = browser.post(form["action"], named | {"verdict": "approve"})

    assert reply.url == f"/approvals/{plan.pk}/edits/{Edit.objects.get().pk}"
    assert not Decision.objects.exists()


LOGS = {"capability": "shell", "objective": "List the logs"}
ALIKE = [LOGS, LOGS | {"command": "rm -rf /srv/logs"}, LOGS | {"command": "ls"}]


def rows_of(page):
    return [row.text for row in page.all(class_="answered-step")]


def test_the_last_page_before_the_press_shows_all_that_each_step_says(browser, ask):
    plan = ask(kind="plan", capability="x", content={"steps": ALIKE}, accepts_edits=True)

    bare, removes, lists = rows_of(read(press(browser, plan, htmx=False)))

    assert "command" not in bare
    assert "rm -rf /srv/logs" in removes
    assert "ls" in lists.split("command")[1]


def test_what_was_found_in_a_step_leads_from_there_to_the_page_of_the_request(browser, ask):
    plan = ask(kind="plan", capability="x", content={"steps": ALIKE}, accepts_edits=True)

    page = read(press(browser, plan, htmx=False))

    links = {link["href"].partition("#")[0] for link in page.all("a", class_="mark")}
    assert links == {f"/approvals/{plan.pk}"}


def test_it_says_where_it_cuts_a_long_step(browser, ask):
    steps = [LOGS | {"command": "ls\n" * 1_500}]
    plan = ask(kind="plan", capability="x", content={"steps": steps}, accepts_edits=True)

    page = read(press(browser, plan, htmx=False))

    assert "Lines 1,001 to 1,501" in rows_of(page)[0]
    assert "Not all of it stands here" in page.text


def test_a_step_of_a_plan_that_is_too_much_to_be_laid_out_is_shown_as_json(browser, ask):
    steps = [LOGS | {"with": [{}] * MOST_MEMBERS}, LOGS | {"command": "rm -rf /srv/logs"}]
    plan = ask(kind="plan", capability="x", content={"steps": steps}, accepts_edits=True)

    many, removes = rows_of(read(press(browser, plan, htmx=False)))

    assert "Cut here: " in many
    assert '"command":"rm -rf /srv/logs"' in removes


def test_a_secret_is_masked_on_that_page_as_on_the_page_of_the_request(browser, ask):
    steps = [LOGS | {"password": "hunter2-Xk9!vQz"}]
    plan = ask(kind="plan", capability="x", content={"steps": steps}, accepts_edits=True)

    [row] = rows_of(read(press(browser, plan, htmx=False)))

    assert "masked secret" in row
    assert "hunter2" not in row


def test_in_the_list_of_answers_two_steps_that_differ_are_told_apart(browser, ask, alice):
    plan = ask(kind="plan", capability="x", content={"steps": ALIKE}, accepts_edits=True)
    answers = [StepAnswer.ALLOWED, StepAnswer.ALLOWED, StepAnswer.REFUSED]
    part = make.part_of(plan, alice, [StepSaid(n, answer) for n, answer in enumerate(answers)])

    page = read(browser.get(f"/approvals/{plan.pk}/edits/{part.pk}"))

    bare, removes, lists = rows_of(page)
    assert "command" not in bare
    assert "rm -rf /srv/logs" in removes
    assert "ls" in lists.split("command")[1]


def test_that_list_says_where_it_cuts_a_long_step(browser, ask, alice):
    steps = [LOGS | {"command": "ls\n" * 1_500}, LOGS]
    plan = ask(kind="plan", capability="x", content={"steps": steps}, accepts_edits=True)
    answers = [StepSaid(0, StepAnswer.REFUSED), StepSaid(1, StepAnswer.ALLOWED)]
    part = make.part_of(plan, alice, answers)

    page = read(browser.get(f"/approvals/{plan.pk}/edits/{part.pk}"))

    long, short = rows_of(page)
    assert "Cut here: " in long
    assert "Cut here: " not in short
