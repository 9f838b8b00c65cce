"""Remembered answers in one list: what each allows, how often it was used, and the end of it."""

import pytest

from approval_client.wire import Kind, Status
from dashboard.accounts.services import people
from dashboard.approvals.models import Grant
from dashboard.approvals.rules.grant import GrantScope, GrantTerms
from dashboard.approvals.services import end_forbidden_grants
from dashboard.inspection.findings import Finding, Severity
from tests import make
from tests.web.pages import links
from tests.web.pages import read as tree

CALL = {"tool": "move_file", "arguments": {"from": "/data/a", "to": "/data/b"}}
TOOL = {"kind": Kind.TOOL_CALL, "capability": "files", "content": CALL}
EVERY_MOVE = GrantTerms(scope=GrantScope.TOOL, this_run=False, most_uses=3)
FROM_THERE = GrantTerms(
    scope=GrantScope.ARGUMENTS, this_run=False, arguments=("from",), most_uses=3
)


@pytest.fixture(autouse=True)
def _nothing_is_found(found):
    """Unless a test says what."""


@pytest.fixture
def grant(token, alice):
    """A yes of alice's to a call of a tool, whatever its values."""
    return make.granted(token, alice, terms=EVERY_MOVE, **TOOL)


def use(token, times=1):
    """Ask for what is allowed; returns the requests."""
    return [make.pending(token, accepts_grants=True, **TOOL) for _ in range(times)]


def cards(client):
    return list(tree(client.get("/grants")).all("article", class_="grant"))


def facts(card):
    """What a card says: name -> text."""
    told = card.one("dl", class_="grant-facts")
    return dict(zip(*([e.text for e in told.all(tag)] for tag in ("dt", "dd")), strict=True))


# --- what the list says -------------------------------------------------------------------------


def test_a_grant_says_for_whom_and_for_what(reviewer, grant):
    (card,) = cards(reviewer)

    assert card.one("h2").text == "beamline may"
    assert card.one(class_="grant-what").text == "call move_file with any values"


def test_a_grant_whose_maker_reviews_no_more_says_that_it_answers_nothing(
    enter, grant, alice, bob
):
    people.change_roles(alice, roles={}, by=make.BY)

    (card,) = cards(enter(bob))

    assert "alice is no longer a reviewer" in card.one(class_="notice").text


def test_a_grant_that_answers_warns_of_nothing(reviewer, grant):
    (card,) = cards(reviewer)

    assert list(card.all(class_="notice")) == []


def test_a_grant_for_a_step_shows_the_step_and_not_its_plan(reviewer, token, alice):
    make.in_force(make.REMEMBERS)
    steps = [{"objective": "Read it first", **CALL}, {"objective": "Then think"}]
    plan = make.pending(
        token,
        kind=Kind.PLAN,
        capability="plan",
        content={"steps": steps},
        run_id="r1",
        accepts_grants=True,
    )
    make.decided(plan, alice, allow_steps=True)

    (card,) = cards(reviewer)

    assert "/data/a" in card.text
    assert "Then think" not in card.text


def test_values_that_have_to_be_the_same_are_listed(reviewer, token, alice):
    make.granted(token, alice, terms=FROM_THERE, **TOOL)

    (card,) = cards(reviewer)
    assert card.one(class_="grant-what").text == (
        'call move_file with these values, whatever its other arguments are: from = "/data/a"'
    )


def test_a_grant_for_one_content_shows_its_digest_and_leads_to_it(reviewer, token, alice):
    made = make.granted(token, alice)

    what = cards(reviewer)[0].one(class_="grant-what")
    assert what.text.startswith("exactly this code " + made.digest[:6])
    assert what.one(class_="grant-summary").text == "print(1)"
    assert ("read it whole", f"/approvals/{made.made_from_id}") in links(what)


@pytest.mark.parametrize(
    ("this_run", "said"), [(True, "only in run night-7"), (False, "in any run of beamline")]
)
def test_where_it_holds_is_said(reviewer, token, alice, this_run, said):
    terms = GrantTerms(scope=GrantScope.TOOL, this_run=this_run, most_uses=3)
    make.granted(token, alice, terms=terms, run_id="night-7", **TOOL)

    assert facts(cards(reviewer)[0])["Where"] == said


def test_how_often_it_was_used_is_counted_and_the_last_are_linked(reviewer, grant, token):
    answered = use(token, 2)

    (card,) = cards(reviewer)
    assert facts(card)["Used"].startswith("2 of 3 times · last")
    addresses = [address for _, address in links(card)]
    assert [f"/approvals/{a.pk}" in addresses for a in answered] == [True, True]


def test_any_number_is_said_to_be(reviewer, token, alice):
    make.granted(token, alice, terms=GrantTerms(scope=GrantScope.TOOL, this_run=False), **TOOL)

    assert facts(cards(reviewer)[0])["Used"] == "0 times, no limit"


def test_who_allowed_it_is_said_with_the_request_it_answered(reviewer, grant, enter, bob):
    own, others = cards(reviewer)[0], cards(enter(bob))[0]

    assert facts(own)["Allowed"].startswith("by you just now with this request")
    assert facts(others)["Allowed"].startswith("by alice just now")
    assert ("this request", f"/approvals/{grant.made_from_id}") in links(own)


def test_the_findings_that_a_yes_covers_are_named(reviewer, token, alice, found):
    found(Finding("file-write", Severity.MEDIUM, 1, 1, "writes-file"))
    make.granted(token, alice)

    assert facts(cards(reviewer)[0])["Covers"] == "file-write (Medium)"


def test_without_findings_it_covers_what_has_none(reviewer, grant):
    assert facts(cards(reviewer)[0])["Covers"] == "only requests without findings"


def test_what_an_agent_wrote_is_drawn_and_never_markup(reviewer, token, alice):
    call = {"tool": "<b>x\u202e</b>", "arguments": {"a": "<i>\u200b</i></article>"}}
    terms = GrantTerms(scope=GrantScope.ARGUMENTS, this_run=False, arguments=("a",), most_uses=1)
    make.granted(token, alice, terms=terms, **TOOL | {"content": call})

    (card,) = cards(reviewer)
    assert list(card.all("b")) + list(card.all("i")) == []
    assert [glyph.text for glyph in card.all(class_="glyph")] == ["RLO", "ZWSP"]


def test_where_nothing_is_remembered_it_says_how_to(reviewer, read):
    assert "No remembered approvals" in read(reviewer.get("/grants"), "main")


def test_many_grants_take_as_many_queries_as_one(reviewer, cost, token, alice, grant):
    few = cost(reviewer, "/grants")

    for number in range(20):
        make.granted(token, alice, content={"code": f"print({number})"})
    use(token, 2)
    assert cost(reviewer, "/grants") == few


# --- the end of it ------------------------------------------------------------------------------


def end(client, grant, **more):
    return client.post(f"/grants/{grant.pk}/end", **more)


def test_one_press_ends_it_and_the_next_one_is_asked(reviewer, grant, token, read):
    reply = end(reviewer, grant, follow=True)

    said = f"Remembered approval {grant.pk} has ended. A person is asked again from now on."
    assert said in read(reply)
    assert cards(reviewer) == []
    assert use(token)[0].status == Status.PENDING


def test_the_end_is_recorded_with_who_it_was(reviewer, grant, recorded):
    end(reviewer, grant)

    assert recorded("grant.ended") == [("user:alice", "session:password", f"grant:{grant.pk}")]


def test_an_admin_may_end_it(admin, grant):
    assert end(admin, grant).status_code == 302
    assert cards(admin) == []


@pytest.mark.parametrize("who", ["bob", "auditor"])
def test_nobody_else_may(request, enter, grant, who):
    person = request.getfixturevalue(who)
    client = enter(person) if who == "bob" else person

    assert [list(card.all("form")) for card in cards(client)] == [[]]
    assert end(client, grant).status_code == 403
    assert Grant.objects.get().ended_at is None


def test_who_reviews_no_more_may_not_end_their_own(reviewer, grant, alice):
    people.change_roles(alice, roles={"auditor": True}, by=make.BY)

    assert end(reviewer, grant).status_code == 403


def test_opening_the_address_of_the_end_ends_nothing(reviewer, grant):
    assert reviewer.get(f"/grants/{grant.pk}/end").url == "/grants"
    assert Grant.objects.get().ended_at is None


def test_what_is_not_there_cannot_be_ended(reviewer):
    assert reviewer.post("/grants/99/end").status_code == 404


def test_a_form_from_elsewhere_is_refused(reviewer, grant):
    reviewer.handler.enforce_csrf_checks = True

    assert end(reviewer, grant).status_code == 403
    assert Grant.objects.get().ended_at is None


def test_who_has_no_role_may_not_look(enter, db):
    assert enter(make.person("nina")).get("/grants").status_code == 403


# --- those that are over ------------------------------------------------------------------------


def over(client):
    """Why the first grant that is over is."""
    row = next(tree(client.get("/grants")).one("tbody").all("tr"))
    return row.one("td", **{"data-label": "Over"}).text


def test_one_that_was_ended_says_by_whom(reviewer, admin, grant):
    end(admin, grant)

    assert over(reviewer).startswith("Ended by ada ")


def test_one_whose_time_is_over_says_so_and_answers_nothing(reviewer, grant, token):
    make.outdated(grant)

    assert over(reviewer).startswith("Its time is over ")
    assert use(token)[0].status == Status.PENDING


def test_one_that_is_used_up_says_so_and_answers_nothing(reviewer, grant, token):
    asked = use(token, 4)

    asked[-1].refresh_from_db()
    assert over(reviewer) == "Used up"
    assert asked[-1].status == Status.PENDING


def test_one_that_the_policy_forbids_now_says_so(reviewer, grant):
    make.in_force()
    end_forbidden_grants()

    assert over(reviewer).startswith(
        "Ended: The policy no longer allows remembering this approval."
    )


def test_one_that_is_over_cannot_be_ended_again(reviewer, grant, recorded):
    end(reviewer, grant)
    end(reviewer, grant)

    assert list(tree(reviewer.get("/grants")).all("form", action=f"/grants/{grant.pk}/end")) == []
    assert len(recorded("grant.ended")) == 1
