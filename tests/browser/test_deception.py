"""Hundreds of hostile texts in every field of every kind: none runs, loads, leaves or hides.

All in at most 60 page loads, so many stand on one page.
"""

from itertools import cycle
from pathlib import Path

import pytest
import pytest_asyncio
from pydantic import TypeAdapter, ValidationError

from dashboard.approvals.rules.content import Name
from dashboard.inspection.hidden import Glyph, segments
from tests.browser.deceptions import HIDDEN, LINKS, MARK, corpus


def may_be_a_name(text):
    try:
        return bool(TypeAdapter(Name).validate_python(text))
    except ValidationError:
        return False


TEXTS = list(dict.fromkeys(corpus()))
MOST_LOADS = 60
TOGETHER = 30
LOOK = Path(__file__).with_name("look_for.js").read_text(encoding="utf-8")
SHORT = [text for text in TEXTS if may_be_a_name(text)]


def packed(texts, most=200):
    """Put as many texts as fit into each line."""
    line = ""
    for text in texts:
        if line and len(line) + len(text) >= most:
            yield line
            line = ""
        line += text
    yield line


@pytest.fixture(scope="module")
def asked(house):
    """Ask everything; gives the paths and how many boxes the content of code has."""
    lines, links = cycle(packed(SHORT)), cycle(LINKS)
    found = []
    for start in range(0, len(TEXTS), TOGETHER):
        texts = TEXTS[start : start + TOGETHER]
        for kind, content in contents(texts, lines):
            evidence = said(texts) | {"notebook_link": next(links).format(m=MARK)}
            approval = house.submit(
                kind,
                content,
                capability=next(lines),
                run_id=next(lines),
                objective="\n".join(texts)[:4000],
                evidence=evidence,
            )
            found.append((approval["id"], kind, content))
    return found


def contents(texts, lines):
    """Yield a content of each kind that holds all texts."""
    whole = "\n".join(texts)
    each = [{"task": text, "tool": text, text[:100]: [text]} for text in texts]
    arguments = {text: text for text in texts} | {"deep": [{"list": list(texts)}]}
    memory = {"content": whole, "existing": "\n".join(reversed(texts))}
    yield "code", {"code": whole, "language": "python"}
    yield "tool_call", {"tool": next(lines), "arguments": arguments}
    yield "plan", {"steps": each}
    yield "memory", {"operation": next(lines), "user_id": next(lines), **memory}


def said(texts):
    """Return evidence that holds all texts, as far as a page draws that much."""
    short = [text for text in texts if len(text) < 5_000 and text.count("\n") < 50]
    return {
        "safety_concerns": short,
        "analysis_details": "\n".join(short),
        "execution_mode": short[0],
        "notebook_path": short[-1],
        "context": [{"role": text, "content": text} for text in short[:5]],
        short[0]: {short[-1]: short[1]},
    }


@pytest_asyncio.fixture(loop_scope="session")
async def watched(visit, house):
    """A page that is watched for all that it should not do."""
    page = await visit("/")
    done, loads = [], []
    page.on("dialog", lambda dialog: done.append(f"dialog {dialog.message}"))
    page.on(
        "request",
        lambda request: (
            done.append(f"request {request.url}") if is_foreign(house, request) else None
        ),
    )
    page.on("framenavigated", lambda frame: loads.append(frame.url))
    page.on("popup", lambda popup: done.append(f"popup {popup.url}"))
    return page, done, loads


def is_foreign(house, request):
    is_steal = "zqxsteal" in request.url.partition("?")[0]
    return is_steal or not request.url.startswith((house.url, house.url.replace("http", "ws", 1)))


def boxes(text):
    return sum(
        isinstance(segment, Glyph) for line in text.split("\n") for segment in segments(line)
    )


def test_there_are_at_least_300_texts():
    assert len(TEXTS) >= 300


async def test_nothing_runs_loads_leaves_its_frame_or_stays_hidden(house, watched, asked):
    page, done, loads = watched
    wrong = {}
    for number, kind, content in asked:
        await page.goto(f"{house.url}/approvals/{number}")
        wrong[f"{kind} {number}"] = await page.evaluate(LOOK, [MARK, HIDDEN])
        if kind == "code" and content["code"].count("\n") < 900 and len(content["code"]) < 90_000:
            drawn = await page.locator("figure.block .code .glyph").count()
            assert drawn == boxes(content["code"])
    late = next(n for n, kind, c in asked if kind == "code" and c["code"].count("\n") > 39_000)
    for path in (f"/approvals/{late}/lines?find=script", "/", "/history", "/history?kind=plan"):
        await page.goto(house.url + path)
        wrong[path] = await page.evaluate(LOOK, [MARK, HIDDEN])

    assert {where: found for where, found in wrong.items() if found} == {}
    assert done == []
    assert len(loads) <= MOST_LOADS
