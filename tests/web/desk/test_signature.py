"""Pressing Approve where it has to be signed: what the page asks for, and what it sends again."""

import html
import json
import re

import pytest
from django.core import signing

from approval_client.wire import Status
from dashboard.accounts.services import passkeys
from dashboard.approvals.models import Signature
from dashboard.audit.services import Actor
from dashboard.web.desk import signature
from tests import make
from tests.authenticator import Device
from tests.web.pages import bar_of, page_of, read

HTMX = {"HX-Request": "true", "HX-Target": "request-bar"}
AT = {"origin": "http://localhost:8000", "host": "localhost"}
SIGNED = {"name": "Signed", "effect": "review", "when": {}, "demands": {"proof": "passkey"}}
FIRST = b"a challenge of thirty-two bytes."


@pytest.fixture(autouse=True)
def _signed_here(db, settings):
    """A dashboard with a name, and a policy that has everything signed."""
    settings.PUBLIC_URL = "http://localhost:8000"
    make.in_force(SIGNED)


@pytest.fixture
def device(alice):
    """Alice's, which counts."""
    root = make.person("root", admin=True)
    device = Device()
    made = device.make(passkeys.creation_options(alice, FIRST), **AT)
    by = Actor.of_user("alice", "session:password")
    key = passkeys.add(alice, name="Phone", made=made, challenge=FIRST, by=by)
    passkeys.confirm(key, admin=root, by=Actor.of_user("root", "session:password"))
    return device


def fields(reply):
    """The form that the answer has the device sign: (options, what it sends along)."""
    text = reply.content.decode()
    [options] = re.findall(r'data-passkey-now\s+data-options="([^"]*)"', text)
    [pending] = re.findall(r'name="pending" value="([^"]*)"', text)
    return json.loads(html.unescape(options)), html.unescape(pending)


def sent(browser, approval, device, reply, **changes):
    options, pending = fields(reply)
    form = {"pending": pending, "signed": device.sign(options, **AT)} | changes
    return browser.post(f"/approvals/{approval.pk}/decide", form)


@pytest.mark.parametrize("headers", [HTMX, {}], ids=["in place", "without script"])
def test_approve_asks_for_a_signature_and_is_recorded_with_it(
    browser, ask, answer, device, headers
):
    approval = ask()

    asked = answer(browser, approval, headers=headers, approve_reason="Looks fine.")
    done = sent(browser, approval, device, asked)

    approval.refresh_from_db()
    assert (asked.status_code, done.status_code) == (422, 303)
    assert "Not approved yet." in read(asked).text
    assert approval.status == Status.APPROVED
    assert approval.decision.reason == "Looks fine."
    assert Signature.objects.get().vote.person.username == "alice"


def test_what_was_pressed_is_what_counts(browser, ask, answer, device):
    """Whatever else the second form says."""
    approval = ask()

    sent(
        browser, approval, device, answer(browser, approval), verdict="reject", approve_reason="x"
    )

    approval.refresh_from_db()
    assert (approval.status, approval.decision.reason) == (Status.APPROVED, "")


def test_the_answers_stay_on_the_page_out_of_sight(browser, ask, answer, device):
    asked = read(answer(browser, ask(), headers=HTMX))

    [row] = [div for div in asked.all("div") if "inert" in div.attributes]
    assert "hidden" in row.attributes
    assert row.one("form", id="decide")


def test_a_form_that_names_its_own_nonce_is_not_believed(browser, ask, answer, device):
    approval = ask()
    asked = answer(browser, approval, nonce="mine", signed="{}")

    assert "mine" not in signing.loads(fields(asked)[1], salt=signature._SALT)["nonce"]


def test_a_signature_that_does_not_count_is_said_and_the_answers_come_back(
    browser, ask, answer, device
):
    approval = ask()
    refused = sent(browser, approval, device, answer(browser, approval), signed="{}")

    page = read(refused)
    assert refused.status_code == 403
    assert "Your approval was not recorded. Press Approve again." in page.one(role="alert").text
    assert page.one("button", value="approve")
    assert Signature.objects.count() == 0


def test_a_device_has_five_minutes_and_what_was_written_stays(
    browser, ask, answer, device, monkeypatch
):
    approval = ask()
    asked = answer(browser, approval, approve_reason="Looks fine.")
    monkeypatch.setattr(signature, "WITHIN_S", -1)

    page = read(sent(browser, approval, device, asked))

    assert "they are over" in page.one(role="alert").text
    assert "Looks fine." in page.text


def test_a_policy_that_changes_nothing_wastes_no_signature(browser, ask, answer, device):
    """The request is judged anew when Approve is pressed, with the same result."""
    approval = ask()
    make.in_force(SIGNED)

    done = sent(browser, approval, device, answer(browser, approval))

    approval.refresh_from_db()
    assert (done.status_code, approval.status) == (303, Status.APPROVED)


@pytest.mark.parametrize("pending", ["", "x", "x" * 30_000])
def test_what_was_not_sealed_here_is_refused(browser, ask, answer, device, pending):
    approval = ask()
    refused = sent(browser, approval, device, answer(browser, approval), pending=pending)

    assert refused.status_code == 403
    assert "not the one that your page was given" in read(refused).one(role="alert").text


def test_what_was_sealed_for_another_page_is_refused(browser, ask, answer, device):
    one, other = ask(), ask()

    assert sent(browser, other, device, answer(browser, one)).status_code == 403


def test_what_was_sealed_for_somebody_else_is_refused(
    browser, browser_of, ask, answer, device, bob
):
    approval = ask()

    assert sent(browser_of(bob), approval, device, answer(browser, approval)).status_code == 403


def test_sent_twice_it_is_recorded_once(browser, ask, answer, device):
    approval = ask()
    asked = answer(browser, approval)

    assert sent(browser, approval, device, asked).status_code == 303
    assert sent(browser, approval, device, asked).status_code == 303
    assert Signature.objects.count() == 1


def test_who_has_no_passkey_is_told_what_to_do(browser, ask):
    bar = bar_of(browser, ask())

    assert "disabled" in bar.one("button", value="approve").attributes
    assert "Add one in your account" in bar.text


def test_at_an_address_without_passkeys_it_says_so(browser_of, alice, ask, settings):
    settings.PUBLIC_URL = "http://127.0.0.1:8000"

    assert "PUBLIC_URL" in bar_of(browser_of(alice), ask()).text


def test_the_page_says_that_it_has_to_be_signed(browser, ask):
    assert "sign it with a passkey" in page_of(browser, ask()).text


def test_an_edit_is_signed_on_its_own_page(browser, ask, answer, device, bob):
    approval = ask(accepts_edits=True)
    edit = make.edited(approval, bob)
    path = f"/approvals/{approval.pk}/edits/{edit.pk}"
    shown = read(browser.get(path))
    form = {
        name: shown.one("input", name=name)["value"] for name in ("digest", "judgement", "shown")
    }

    asked = browser.post(path, form | {"verdict": "approve", "end_seen": "yes"})
    options, pending = fields(asked)
    browser.post(path, {"pending": pending, "signed": device.sign(options, **AT)})

    approval.refresh_from_db()
    assert approval.status == Status.APPROVED
    assert approval.decision.edit == edit


def test_several_are_never_approved_together(browser, ask, device):
    one, other = ask(), ask()

    page = read(browser.get(f"/bulk?id={one.pk}&id={other.pk}"))

    assert "has to sign it with their passkey" in page.text
