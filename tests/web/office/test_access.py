import pytest

from tests import make

ADMINS = ["/people", "/agents", "/hold"]


@pytest.fixture
def nobody_yet(enter, db):
    """The browser of pat, whom nobody gave a role."""
    return enter(make.person("pat"))


@pytest.mark.parametrize("path", ADMINS)
def test_a_reviewer_is_told_whom_an_admins_page_is_for(reviewer, read, path):
    reply = reviewer.get(path)

    assert reply.status_code == 403
    said = "You are signed in as alice, a reviewer. This page is for admins. Nothing was done."
    assert said in read(reply, "main")


@pytest.mark.parametrize("path", ADMINS)
def test_an_auditor_does_not_administer(auditor, path):
    assert auditor.get(path).status_code == 403


def test_a_reviewer_does_not_audit(reviewer, read):
    reply = reviewer.get("/audit")

    assert reply.status_code == 403
    assert "This page is for auditors and admins." in read(reply, "main")


@pytest.mark.parametrize("path", [*ADMINS, "/audit", "/policies"])
def test_somebody_without_a_role_is_told_that_an_admin_has_to_give_one(nobody_yet, read, path):
    reply = nobody_yet.get(path)

    assert reply.status_code == 403
    said = "as pat, without a role. This page is for "
    assert said in read(reply, "main")


def test_a_new_role_counts_at_the_next_request(reviewer, alice):
    alice.is_auditor = True
    alice.save()

    assert reviewer.get("/audit").status_code == 200
