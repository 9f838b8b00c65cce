"""What there is to look at: every page and state, stage after stage.

A stage is a function that brings the dashboard to a state and returns the scenes of it. Of a scene
its name, who looks ("" for nobody), the path, and what they do there first.
"""

import re
from typing import NamedTuple

from dashboard.management.demo.notebooks import notebook
from tests.browser.conftest import see_all
from tests.browser.samples import COMMENTED, TRIM, everything, leftwards
from tests.browser.stages import CHANNELS, DOUBTED, LINK, PAST, POLICY, PROPOSED, WEBHOOK
from tests.notebooks import digest_of

KINDS = ["trim", "fenced", "tool", "plan", "memory", "evil", "long"]
RUN = "7f3a-morning-setup"
PATIENT = {"time_limit_s": 3000}  # all pictures take a while


class Scene(NamedTuple):
    name: str
    who: str
    path: str
    act: object = None


async def _reject(page):
    await page.locator(".reject > summary").click()
    await page.get_by_label("Why not?").fill("Sector 1 is in use until 15:00. Ask again then.")


async def _remember(page):
    await see_all(page)
    await page.locator(".remember > summary").click()


async def _steps(page):
    await page.get_by_role("group", name="Step 1").get_by_label("Allow").check()
    await page.get_by_role("group", name="Step 2").get_by_label("Refuse").check()


async def _propose(page):
    field = page.locator("#edit-text")
    await field.fill((await field.input_value()).replace("0.05", "0.02"))
    await page.get_by_role("button", name="Preview changes").click()
    await page.get_by_role("heading", name="Changes").wait_for()


async def _raw(page):
    await page.locator(".raw > summary").click()


RAW = {"call": _raw}


async def _other_words(page):
    field = page.locator("#edit-text")
    text = await field.input_value()
    await field.fill(text.replace("ליאור", "דן").replace("ارسال", "ارسال پیام"))
    await page.get_by_role("button", name="Preview changes").click()
    await page.get_by_role("heading", name="Changes").wait_for()


async def _keys(page):
    await page.keyboard.press("?")


async def _filter(page):
    await page.locator(".filters-more > summary").click()


async def _offline(page):
    await page.context.set_offline(True)
    await page.evaluate("dispatchEvent(new Event('offline'))")
    await page.locator("#live[data-state=off]").wait_for()


async def _menu(page):
    await page.locator(".header > .menu > summary").click()


async def _new_secret(page):
    await page.get_by_role("button", name="Make a new secret").click()
    await page.locator("#secret").wait_for()


async def _begin_draft(page):
    begin = page.get_by_role("button", name="Start a draft")
    if await begin.count():  # it stays begun
        await begin.click()
        await page.wait_for_load_state()


def empty(house):
    """Nothing was asked yet."""
    for name in ("bob", "nora"):
        house.sign_in(name, () if name == "nora" else ("reviewer",))
    return [
        Scene(f"empty-{name}", "alice", path)
        for name, path in {
            "queue": "/",
            "decided": "/?show=decided",
            "history": "/history",
            "insight": "/insight",
            "grants": "/grants",
            "run": "/runs/agent-0?run=nothing",
        }.items()
    ]


def door(house):
    """The way in, and what stands in it."""
    link = re.search(r"LINK (\S+)", house.shell(LINK))[1]
    return [
        Scene("sign-in", "", "/sign-in"),
        Scene("sign-in-link", "", f"/sign-in/{link}"),
        Scene("sign-in-link-dead", "", "/sign-in/nothing"),
        Scene("no-role", "nora", "/"),
        Scene("forbidden", "alice", "/people"),
        Scene("not-found", "alice", "/nothing"),
        Scene("unavailable", "alice", "/unavailable"),
    ]


def waiting(house):
    """Something of every kind waits."""
    house.shell(POLICY)
    house.asked = {
        name: f"/approvals/{house.submit(**PATIENT | question)['id']}"
        for name, question in zip(KINDS, everything(), strict=True)
    }
    house.submit(content={"code": "caput('SR:C01', 0.05)"}, run_id=RUN, time_limit_s=30)
    asked, memory = house.asked, list(everything())[KINDS.index("memory")]
    grants = {**memory, "accepts_grants": True} | PATIENT
    grantable = house.submit(**grants | {"run_id": "19c2"})
    house.grantable = [
        f"/approvals/{house.submit(**grants | {'content': content})['id']}"
        for content in (
            {**memory["content"], "content": f"Prefers plots in {unit}."}
            for unit in ("metres", "inches")
        )
    ]
    return [
        Scene("queue", "alice", "/"),
        Scene("queue-menu", "root", "/", _menu),
        Scene("queue-filters", "alice", "/?q=orders", _filter),
        Scene("queue-by-risk", "alice", "/?order=risk&severity=medium"),
        Scene("queue-nothing-passes", "alice", "/?q=nothing-like-it"),
        Scene("queue-offline", "alice", "/", _offline),
        Scene("queue-keys", "alice", "/", _keys),
        *(Scene(name, "alice", path) for name, path in asked.items()),
        Scene("reject", "alice", asked["trim"], _reject),
        Scene("remember", "alice", f"/approvals/{grantable['id']}", _remember),
        Scene("may-not-decide", "root", asked["trim"]),
        Scene("notebook", "alice", f"{_with_notebook(house)}/notebook"),
        Scene("together", "alice", _together(house)),
    ]


def _with_notebook(house):
    """Ask with the notebook of the demo; returns the path of the request's page."""
    body = notebook(TRIM)
    house.api.put(f"notebooks/{digest_of(body)}", content=body)
    content = {"code": TRIM, "language": "python"}
    asked = house.submit(content=content, evidence={"notebook": digest_of(body)})
    return f"/approvals/{asked['id']}"


def _together(house):
    """Ask for the same thing three times; returns the path of the page of all three."""
    arguments = [{"path": f"/data/run-{number}.csv"} for number in range(3)]
    content = [{"tool": "read_file", "arguments": one} for one in arguments]
    asked = [house.submit(kind="tool_call", capability="read_file", content=c) for c in content]
    return "/bulk?" + "&".join(f"id={approval['id']}" for approval in asked)


def changing(house):
    """What a reviewer may change, what is long, and what holds a secret."""
    code, plan = [list(everything())[KINDS.index(name)] for name in ("trim", "plan")]
    changed, steps = [
        f"/approvals/{house.submit(**{**what, 'accepts_edits': True, **PATIENT})['id']}"
        for what in (code, plan)
    ]
    secret = 'connect("archiver", password="kT9-4wq_LmZ2p", timeout_s=3)'
    masked = house.submit(content={"code": secret, "language": "python"}, **PATIENT)
    long_code = [f"def step_{n}(x):\n    return x + {n}\n" for n in range(1_000)]
    long_code[400:400] = ["import shutil\nshutil.rmtree('/srv/old')\n"]
    long_code[900:900] = ["import subprocess\nsubprocess.run('make clean', shell=True)\n"]
    many = "\n".join(long_code)
    lines = house.submit(content={"code": many, "language": "python"}, **PATIENT)
    lines = f"/approvals/{lines['id']}"
    return [
        Scene("edit", "alice", f"{changed}/edit"),
        Scene("change", "alice", f"{changed}/edit", _propose),
        Scene("change-proposed", "bob", changed),
        Scene("steps", "alice", steps, _steps),
        Scene("masked", "alice", f"/approvals/{masked['id']}"),
        Scene("lines", "alice", lines),
        Scene("lines-window", "alice", f"{lines}/lines?find=step_500"),
        Scene("lines-outline", "alice", f"{lines}/outline"),
    ]


def from_the_right(house):
    """Hebrew, Arabic and Persian in all that an agent may send."""
    asked = {name: house.submit(**PATIENT | question) for name, question in leftwards()}
    code = {"code": COMMENTED, "language": "python"}
    editable = house.submit(content=code, accepts_edits=True, **PATIENT)
    return [
        *(
            Scene(f"rtl-{name}", "alice", f"/approvals/{one['id']}", RAW.get(name))
            for name, one in asked.items()
        ),
        Scene("rtl-difference", "alice", f"/approvals/{editable['id']}/edit", _other_words),
    ]


async def answer(page, url, verdict, reason=""):
    """Answer without script, as a test would; ``page`` is of a context without it."""
    await page.goto(url)
    if await page.get_by_label("All of it was in view").count():
        await page.get_by_label("All of it was in view").check()
    if verdict == "reject":
        await page.locator(".reject > summary").click()
        await page.get_by_label("Why not?").fill(reason)
    elif reason:
        await page.get_by_label("Why do you approve?").fill(reason)
    await page.locator(f".decide [value={verdict}]").first.click()


async def remember(page, url):
    """Approve without script, and have it remembered."""
    await page.goto(url)
    if await page.get_by_label("All of it was in view").count():
        await page.get_by_label("All of it was in view").check()
    await page.locator(".remember > summary").click()
    await page.locator(".decide [value=remember-content]").click()


async def end_grant(page, url):
    """End the remembered approval that stands first, without script."""
    await page.goto(f"{url}/grants")
    await page.get_by_role("button", name="End remembered approval").first.click()


async def take_back(page, url, reason):
    """Take an approval back without script."""
    await page.goto(f"{url}/take-back")
    await page.get_by_label("Why do you take it back?").fill(reason)
    await page.get_by_role("button", name="Take back").click()


def decided(house):
    """Some of it is answered, one is asked again, one has half of its votes."""
    fenced = list(everything())[KINDS.index("fenced")]
    changed = fenced["content"]["code"].replace("days=3", "days=4")
    again = house.submit(**{**fenced, "content": {"code": changed}})
    house.shell(PAST)
    asked = house.asked
    return [
        Scene("approved", "alice", asked["trim"]),
        Scene("take-back", "alice", f"{asked['trim']}/take-back"),
        Scene("taken-back", "alice", asked["memory"]),
        Scene("rejected", "alice", asked["fenced"]),
        Scene("votes", "alice", asked["tool"]),
        Scene("votes-for-another", "bob", asked["tool"]),
        Scene("chain", "alice", f"/approvals/{again['id']}"),
        Scene("decided", "alice", "/?show=decided"),
        Scene("run", "alice", f"/runs/agent-0?run={RUN}"),
        Scene("history", "alice", "/history"),
        Scene("history-nothing", "alice", "/history?agent=nobody"),
        Scene("history-wrong", "alice", "/history?since=yesterday"),
        *(
            Scene(f"insight-{by}", "root", f"/insight?by={by}")
            for by in ("agent", "capability", "rule", "person", "day")
        ),
        Scene("insight-own", "alice", "/insight?by=person&days=7"),
        Scene("grants", "alice", "/grants"),
    ]


def office(house):
    """What admins and auditors have."""
    proposal = re.search(r"PROPOSAL (\d+)", house.shell(PROPOSED))[1]
    hooked = re.search(r"AGENT (\d+)", house.shell(WEBHOOK))[1]
    mail, slack = re.search(r"CHANNELS (\d+) (\d+)", house.shell(CHANNELS)).groups()
    paths = {
        "channels": "/channels",
        "channel": f"/channels/{mail}",
        "channel-fails": f"/channels/{slack}",
        "channel-new-mail": "/channels/new/email",
        "channel-new-chat": "/channels/new/chat",
        "people": "/people",
        "person": "/people/2",
        "group": "/people/groups/1",
        "agents": "/agents",
        "agent": "/agents/1",
        "agent-hooked": f"/agents/{hooked}",
        "webhook": f"/agents/{hooked}/webhook",
        "webhook-none": "/agents/1/webhook",
        "policies": "/policies",
        "revision": "/policies/revisions/1",
        "proposal": f"/policies/proposals/{proposal}",
        "import": "/policies/draft/import",
        "bench": "/policies/bench",
        "bench-past": f"/policies/bench?request={house.asked['trim'].rpartition('/')[2]}",
        "backtest": "/policies/backtest",
        "backtest-result": "/policies/backtest?policy=1&days=30",
        "audit": "/audit",
        "account": "/account",
        "hold": "/hold",
    }
    return [
        *(Scene(f"office-{name}", "root", path) for name, path in paths.items()),
        Scene("office-webhook-secret", "root", f"/agents/{hooked}/webhook", _new_secret),
        Scene("office-told", "alice", "/account/told"),
        Scene("office-told-none", "bob", "/account/told"),
        Scene("office-draft-none", "root", "/policies/draft"),
        Scene("office-draft", "root", "/policies/draft", _begin_draft),
        Scene("office-rule-new", "root", "/policies/draft/rules/new"),
    ]


def doubted(house):
    """A verification found a table that says something else than the log."""
    house.shell(DOUBTED)
    return [
        Scene("doubted-queue", "alice", "/"),
        Scene("doubted-audit", "root", "/audit"),
    ]


def held(house):
    """Everything is stopped."""
    return [
        Scene("held-queue", "alice", "/"),
        Scene("held-request", "alice", house.asked["plan"]),
        Scene("held-hold", "root", "/hold"),
    ]
