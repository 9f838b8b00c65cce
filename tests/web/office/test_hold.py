import pytest

from dashboard.accounts import tokens
from dashboard.accounts.services import people
from dashboard.approvals import services
from dashboard.approvals.queries.hold import active_hold
from tests import make

BY_ADA = ("user:ada", "session:password", "")


def test_placing_a_hold_stops_everything(admin, recorded, read):
    reply = admin.post("/hold", {"reason": "beam dump"}, follow=True)

    assert active_hold().reason == "beam dump"
    assert recorded("hold.placed") == [BY_ADA]
    assert "Everything is on hold until an admin lifts it." in read(reply)


def test_a_hold_needs_no_reason(admin):
    admin.post("/hold")

    assert active_hold() is not None


def test_the_page_says_who_and_why(admin, read):
    admin.post("/hold", {"reason": "beam dump"})

    assert "Placed by ada Why beam dump" in read(admin.get("/hold"), "main")


def test_a_reason_that_is_too_long_stops_nothing_and_is_not_lost(admin):
    reply = admin.post("/hold", {"reason": "x" * 501})

    assert reply.status_code == 422
    assert b"x" * 501 in reply.content
    assert active_hold() is None


def test_lifting_lets_approving_go_on(admin, recorded, read):
    admin.post("/hold")
    reply = admin.post("/hold/lift", follow=True)

    assert active_hold() is None
    assert recorded("hold.lifted") == [BY_ADA]
    assert "The hold is lifted." in read(reply)


def test_lifting_twice_says_so(admin, read, recorded):
    reply = admin.post("/hold/lift", follow=True)

    assert "There was no hold. Nothing was changed." in read(reply)
    assert recorded("hold.lifted") == []


def test_opening_the_address_of_lifting_lifts_nothing(admin):
    admin.post("/hold")

    assert admin.get("/hold/lift").url == "/hold"
    assert active_hold() is not None


@pytest.mark.parametrize("who", ["reviewer", "auditor"])
@pytest.mark.parametrize("path", ["/hold", "/hold/lift"])
def test_others_neither_place_nor_lift(request, admin, who, path):
    if path == "/hold/lift":
        admin.post("/hold")
    reply = request.getfixturevalue(who).post(path)

    assert reply.status_code == 403
    assert (active_hold() is not None) == (path == "/hold/lift")


def test_a_demoted_admin_cannot_lift_from_a_page_that_is_still_open(admin, ada):
    admin.post("/hold")
    make.person("carol", admin=True)
    people.change_roles(ada, roles={}, by=make.BY)
    admin.post("/hold/lift")

    assert active_hold() is not None


@pytest.fixture
def after_a_restore(ada):
    """Everything is on hold because an older database was put in place."""
    from dashboard.audit.heads import Head  # noqa: PLC0415 - only here

    services.accept_database(Head(900, "a" * 64), admin=ada)


ALL = list(services.TO_CONFIRM)


def test_after_a_restore_what_is_old_is_listed(after_a_restore, agent, admin, read):
    tokens.issue(agent, by=make.BY)
    page = read(admin.get("/hold"), "main")

    assert "The database was restored from a backup" in page
    assert "beamline: dash_" in page
    assert "ada: reviewer admin" in page or "ada: admin" in page
    assert "Revision 1 is in force" in page


@pytest.mark.parametrize("left_out", ALL)
def test_after_a_restore_the_hold_stays_until_all_is_ticked(
    after_a_restore, admin, read, left_out
):
    ticked = [name for name in ALL if name != left_out]
    reply = admin.post("/hold/lift", {"confirmed": ticked})

    assert reply.status_code == 422
    assert "The hold was not lifted. Look through each of them, and tick it." in read(reply)
    assert reply.content.count(b"checked") == len(ticked)
    assert active_hold() is not None


def test_after_a_restore_the_hold_is_lifted_once_all_is_ticked(after_a_restore, admin, recorded):
    admin.post("/hold/lift", {"confirmed": ALL})

    assert active_hold() is None
    assert recorded("hold.lifted") == [BY_ADA]


def test_the_next_hold_is_an_ordinary_one(after_a_restore, admin):
    admin.post("/hold/lift", {"confirmed": ALL})
    admin.post("/hold")
    admin.post("/hold/lift")

    assert active_hold() is None
