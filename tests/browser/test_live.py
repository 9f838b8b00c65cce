"""What happens on an open page while nobody reloads it."""

import asyncio
import json
import re

from tests.browser.conftest import PHONE, armed, expect, see_all

AT_ONCE = """
addEventListener("DOMContentLoaded", () => {
  const approve = document.querySelector("[value=approve]");
  if (!approve) return;
  approve.disabled = false;
  approve.click();
  window.pressed = true;
});
"""
SIGN_OUT = """
from django.contrib.sessions.models import Session
Session.objects.filter(session_key={key!r}).delete()
"""


def row(page, approval):
    return page.locator(f'.item[data-id="{approval["id"]}"]')


async def approve(page):
    await armed(page)
    await page.get_by_role("button", name="Approve").click()


async def test_a_new_request_appears_by_itself(house, visit):
    page = await visit("/")
    await page.evaluate("window.stayed = true")

    approval = await asyncio.to_thread(house.submit)

    await row(page, approval).wait_for()
    assert await page.evaluate("window.stayed")


async def test_what_came_before_the_page_could_hear_appears_too(house, visit):
    page = await visit("/")
    is_asked = asyncio.Event()

    async def later(socket):
        await is_asked.wait()
        socket.connect_to_server()

    await page.route_web_socket("**/ws/queue/", later)
    await page.reload()
    approval = await asyncio.to_thread(house.submit)
    is_asked.set()

    await row(page, approval).wait_for()


async def test_approve_reaches_the_agent_that_waits(house, visit, path_of):
    approval = house.submit()
    waiting = asyncio.create_task(asyncio.to_thread(house.wait, approval))
    page = await visit(path_of(approval))

    await approve(page)

    assert (await waiting)["decision"]["decided_by"] == "alice"
    await expect(page.locator(".result-title strong")).to_have_text("Approved by you")


async def test_reject_with_a_reason_reaches_the_agent(house, visit, path_of):
    approval = house.submit()
    page = await visit(path_of(approval), viewport=PHONE)

    await armed(page)
    await page.get_by_text("Reject…").click()
    await page.get_by_label("Why not?").fill("Wrong sector.")
    await page.get_by_role("button", name="Reject", exact=True).click()

    await page.locator(".result--rejected").wait_for()
    assert house.wait(approval)["decision"]["reason"] == "Wrong sector."


async def test_everything_works_without_script(house, visit, path_of):
    approval = house.submit()
    page = await visit(path_of(approval), java_script_enabled=False)

    await page.get_by_label("All of it was in view").check()
    await page.get_by_role("button", name="Approve").click()

    await expect(page.locator(".result-title strong")).to_have_text("Approved by you")
    assert house.wait(approval)["status"] == "approved"


async def test_another_open_page_sees_the_decision_and_keeps_its_content(house, visit, path_of):
    approval = house.submit()
    alices, bobs = await visit(path_of(approval)), await visit(path_of(approval), "bob")
    await bobs.evaluate("window.line = document.querySelector('.code .line')")

    await approve(alices)

    await bobs.get_by_text("Approved by alice").first.wait_for()
    await expect(bobs.get_by_role("button", name="Approve")).to_have_count(0)
    assert await bobs.evaluate("window.line.isConnected")
    await bobs.locator("#announcer", has_text="Approved by alice").wait_for()


async def test_what_the_agent_reports_is_told_live(house, visit, path_of):
    approval = house.submit()
    page = await visit(path_of(approval))
    await approve(page)
    await page.locator(".result").wait_for()

    await asyncio.to_thread(house.report, approval, "started")
    await asyncio.to_thread(house.report, approval, "finished", exit_code=0)

    await page.get_by_text("It finished, exit code 0, says the agent.").wait_for()


async def test_a_decided_request_leaves_the_list(house, visit, path_of):
    approval = house.submit()
    page = await visit("/")
    await row(page, approval).wait_for()

    await asyncio.to_thread(house.cancel, approval)

    await row(page, approval).wait_for(state="detached")


async def test_the_list_does_not_move_under_the_pointer(house, visit):
    first = house.submit(time_limit_s=300)
    page = await visit("/")
    await row(page, first).hover()

    second = await asyncio.to_thread(house.submit, time_limit_s=200)

    await page.get_by_role("button", name="1 new").click()
    await row(page, second).wait_for()


async def test_what_was_held_back_comes_when_the_pointer_leaves(house, visit):
    page = await visit("/")
    await page.locator(".queue").hover()
    approval = await asyncio.to_thread(house.submit)
    await page.get_by_role("button", name="1 new").wait_for()

    await page.mouse.move(1000, 500)

    await row(page, approval).wait_for()


async def test_what_is_answered_while_the_list_is_held_says_so_in_its_place(house, visit):
    approval = house.submit()
    page = await visit("/")
    await row(page, approval).hover()

    await asyncio.to_thread(house.cancel, approval)

    await row(page, approval).get_by_text("no longer here").wait_for()


async def test_choosing_from_the_list_keeps_the_page_and_leads_to_the_heading(house, visit):
    approval = house.submit(kind="plan", content={"steps": [{"task": "look"}]})
    page = await visit("/")
    await page.evaluate("window.stayed = true")

    await armed(page)
    await row(page, approval).get_by_role("link").click()

    await page.locator("#request-title:focus").wait_for()
    assert page.url == f"{house.url}/approvals/{approval['id']}"
    await expect(page).to_have_title(re.compile(r"^(\(\d+\) )?Plan from agent-0 · Approvals$"))
    assert await page.evaluate("window.stayed")


async def test_going_back_from_a_request_shows_the_queue_afresh(house, visit):
    approval = house.submit()
    page = await visit("/")
    await armed(page)
    await row(page, approval).get_by_role("link").click()
    await page.locator("#request").wait_for()

    await page.go_back()

    await page.locator("#choose").wait_for()
    kept = await page.evaluate("[...Object.keys(sessionStorage), ...Object.keys(localStorage)]")
    # And no page with what an agent sent.
    assert kept == ["htmx-current-path-for-history", "approvals:open-next"]


async def test_who_decides_by_keyboard_stays_in_the_bar(house, visit, path_of):
    page = await visit(path_of(house.submit()))
    await armed(page)
    approve = page.get_by_role("button", name="Approve")
    await expect(approve).to_be_enabled()
    await approve.focus()

    await page.keyboard.press("Enter")

    await page.locator(".result:focus").wait_for()


async def test_a_press_within_half_a_second_does_not_count(house, visit, path_of):
    approval = house.submit()
    page = await visit("/")
    await row(page, approval).wait_for()
    await page.add_init_script(AT_ONCE)

    await page.goto(house.url + path_of(approval))

    await armed(page)
    assert await page.evaluate("window.pressed")
    assert house.api.get(f"approvals/{approval['id']}").json()["status"] == "pending"


async def test_a_double_press_is_sent_once(house, visit, path_of):
    page = await visit(path_of(house.submit()))
    sent = []
    page.on("request", lambda request: sent.append(request.url.rpartition("/")[2]))

    await armed(page)
    await page.get_by_role("button", name="Approve").dblclick()

    await page.locator(".result").wait_for()
    assert sent.count("decide") == 1
    await expect(page.locator("#announcer.is-seen")).to_have_count(0)


async def test_a_hold_turns_approve_off_and_keeps_what_is_typed(house, visit, path_of):
    page, admins = await visit(path_of(house.submit())), await visit("/hold", "root")
    await page.get_by_text("Reject…").click()
    await page.get_by_label("Why not?").fill("Half a thought")

    await admins.locator("main form button").first.click()
    await page.get_by_text("On hold: nothing is approved or started.").wait_for()
    await page.locator("[value=approve]:disabled").wait_for()
    typed = await page.get_by_label("Why not?").input_value()
    await admins.goto(f"{house.url}/hold")
    await admins.locator("main form button").first.click()

    await page.locator("[value=approve]:enabled").wait_for()
    assert typed == "Half a thought"


async def test_time_that_runs_out_is_told_without_a_reload(house, visit, path_of):
    page = await visit(path_of(house.submit(time_limit_s=5)))

    await page.locator(".result", has_text="Expired: nobody decided in time").wait_for()

    await expect(page.get_by_role("button", name="Approve")).to_have_count(0)


async def test_somebody_signed_out_is_led_to_the_sign_in_page(house, visit, cookies):
    leaving = house.sign_in("leaving")
    cookies["leaving"] = leaving
    page = await visit("/", "leaving")

    await asyncio.to_thread(house.shell, SIGN_OUT.format(key=leaving[0]["value"]))

    await page.wait_for_url("**/sign-in?next=/")


async def test_signed_out_on_the_way_to_another_page_they_arrive_there(house, visit, cookies):
    leaving = house.sign_in("leaving_late")
    cookies["leaving late"] = leaving
    page = await visit("/history", "leaving late")
    is_cut = asyncio.Event()

    async def slowly(route):
        await asyncio.to_thread(house.shell, SIGN_OUT.format(key=leaving[0]["value"]))
        await is_cut.wait()
        await asyncio.sleep(0.5)  # a reload of the page that is left would have come in between
        await route.continue_()

    page.on("websocket", lambda socket: socket.on("close", lambda _: is_cut.set()))
    await page.reload()
    await page.locator("#live[data-state=live]").wait_for()
    await page.route(f"{house.url}/", slowly)
    await page.get_by_role("link", name="Queue", exact=True).evaluate("(link) => link.click()")

    await page.wait_for_url("**/sign-in?next=/")


async def test_a_lost_connection_is_said_and_what_was_missed_is_fetched(house, visit):
    page = await visit("/")
    sockets = []

    def between(route):
        sockets.append(route)
        route.connect_to_server()

    await page.route_web_socket("**/ws/queue/", between)
    await page.reload()
    await page.locator("#live[data-state=live]").wait_for()

    await sockets[0].close(code=1012)
    await page.get_by_text("Reconnecting…").wait_for()
    approval = await asyncio.to_thread(house.submit)

    await page.get_by_text("Live", exact=True).wait_for()
    await row(page, approval).wait_for()


async def test_a_server_that_hears_late_is_said_and_what_changed_is_fetched(house, visit):
    page = await visit("/")
    sockets = []

    def between(route):  # nothing of the server's own reaches the page
        sockets.append(route)

    await page.route_web_socket("**/ws/queue/", between)
    await page.reload()
    await page.locator("#live[data-state=live]").wait_for()
    approval = await asyncio.to_thread(house.submit)

    sockets[0].send(json.dumps({"id": "all", "version": 0, "late": True}))
    await page.get_by_text("Live, 3 s late").wait_for()
    await row(page, approval).wait_for()

    sockets[0].send(json.dumps({"id": "all", "version": 0, "late": False}))
    await page.get_by_text("Live", exact=True).wait_for()


async def test_approve_of_long_content_opens_when_all_of_it_was_in_view(house, visit, path_of):
    approval = house.submit(content={"code": "x = 1\n" * 300})
    page = await visit(path_of(approval))
    await page.locator("#request-bar[data-unseen]").wait_for()

    await page.locator("#content-end").scroll_into_view_if_needed()
    await expect(page.locator("[name=end_seen]")).not_to_be_checked()
    await see_all(page)

    await page.locator("#request-bar:not([data-unseen])").wait_for()
    await expect(page.locator("[name=end_seen]")).to_be_checked()


async def test_seen_is_recorded_after_a_second_in_sight(house, visit, path_of):
    approval = house.submit()
    page = await visit("/")

    async with page.expect_response("**/seen") as answer:
        await page.goto(house.url + path_of(approval))

    assert (await answer.value).ok


async def test_the_browser_says_times_as_the_server_does(visit):
    from dashboard.web import times  # noqa: PLC0415 - browser tests need no Django

    page = await visit("/")
    seconds = [0, 1, 59, 60, 61, 3599, 3600, 7261, 86_399, 86_400, 200_000]
    said = await page.evaluate(
        "async (all) => { const m = await import('/static/js/countdown.js');"
        "return all.map((s) => m.left(s)) }",
        seconds,
    )

    assert said == [times.left(s) for s in seconds]
