import json

import pytest

from approval_client.wire import Kind
from dashboard.api.schemas import CONTENTS
from dashboard.approvals.models import ApprovalRequest, Inspection, Tool
from dashboard.approvals.rules.content import problems_with
from dashboard.approvals.services.tool import ClassChange, class_tools
from dashboard.audit.models import AuditEntry
from dashboard.inspection.findings import Finding, Severity
from dashboard.inspection.sentences import SENTENCES
from dashboard.policies import inspections
from dashboard.policies.judgements.grounds import ModeSays
from dashboard.policies.judgements.wording import MODES
from dashboard.policies.models import PolicyDraft
from tests import make
from tests.web.pages import read as tree

REJECTS = {
    "name": "no shell",
    "when": {"languages": ["bash"]},
    "effect": "reject",
    "reason": "No.",
}
READS = {"name": "prints", "when": {"content_matches": "print"}, "effect": "review"}
TWO = {
    "name": "two",
    "when": {"kinds": ["code"]},
    "effect": "review",
    "demands": {"approvals": 2, "groups": ["operators"], "reason_required": True},
}
CALL = {"tool": "delete_user", "arguments": {"user_id": "12"}}
NOTHING_SET = {
    "global_mode": "selective",
    "capabilities": {"python_execution": None, "memory": None},
}
TOO_MANY = 1_000_001


@pytest.fixture
def attempt(reviewer, found):
    """Send the form as a person filled it in; returns the answer."""

    def send(client=reviewer, **changes):
        form = {"policy": "in_force", "kind": "code", "content": "print(1)", "agent": "example"}
        return client.post("/policies/bench", form | changes)

    return send


def steps(reply):
    return [
        (step.one("strong").text, step["data-outcome"], step.one(class_="step-why").text)
        for step in tree(reply).all("li", class_="step")
    ]


def test_the_trace_stands_line_by_line(attempt):
    make.in_force(REJECTS, READS, TWO)

    assert steps(attempt()) == [
        ("no shell", "does not match", "No language of it is 'bash'."),
        ("prints", "matches", "All of its conditions hold."),
        ("two", "not reached", "The answer was found before."),
        ("Modes", "apply", "All code requires approval."),
    ]


def test_what_a_review_asks_for_is_said_in_words(attempt, read):
    make.in_force(TWO)

    answer = read(attempt(), "answer")
    assert "A person is asked. 2 different people approve." in answer
    assert "Approvers must be members of operators." in answer
    assert "A reason is needed to approve." in answer


def test_a_rejection_says_what_the_agent_is_told(attempt, found, read):
    make.in_force(REJECTS)
    found(languages=("bash",))

    assert "It is rejected at once. Nobody is asked. The agent is told: No." in read(
        attempt(), "answer"
    )


def test_what_opens_by_itself_is_said_to(attempt, read):
    make.in_force(modes={"global_mode": "disabled"})

    assert "It is approved at once. Nobody is asked." in read(attempt(), "answer")


def test_findings_come_with_their_lines(attempt, found, read):
    found(Finding("network", Severity.MEDIUM, 2, 3, "uses-network"))

    answer = read(attempt(content="a\nb\nc\n"), "answer")
    assert SENTENCES["uses-network"] in answer
    assert "lines 2 to 3" in answer


def test_how_the_answer_adds_up_is_what_the_page_of_a_request_would_say(attempt):
    make.in_force(READS)

    trace = tree(attempt()).one("ol", class_="trace")
    assert [line.text for line in trace.all("li")] == [
        MODES[ModeSays.ALL_CODE],
        "Rule “prints”: a person must approve.",
    ]


def test_a_call_whose_tool_is_classed_with_another_schema_asks_a_person(
    attempt, read, reviewer, token, ada
):
    reads = {"name": "Reading", "effect": "approve", "when": {"tools": ["get_order"]}}
    make.in_force(reads, modes=NOTHING_SET)
    call = {"tool": "get_order", "arguments": {}}
    make.pending(token, kind="tool_call", content=call)
    tool = Tool.objects.get()
    class_tools({tool.pk: ClassChange("", "reads")}, by=ada, auth="session:password")
    schema = {"tool_schema": {"type": "string"}}
    asked = make.pending(token, kind="tool_call", content=call, evidence=schema)
    copy = tree(reviewer.get(f"/policies/bench?copy={asked.pk}"))
    options = copy.one("select", name="tool_class").all("option")
    [chosen] = [option for option in options if "selected" in option.attributes]

    typed = {"kind": "tool_call", "content": json.dumps(call), "agent": token.agent.name}
    for tool_class in (chosen["value"], ""):
        answer = read(attempt(**typed, tool_class=tool_class), "answer")
        assert "A person is asked." in answer
    assert "approved at once" in read(attempt(**typed, tool_class="reads"), "answer")


def test_what_the_agent_claims_is_tried_too(attempt):
    make.in_force({"name": "runs", "when": {"runs": ["night-*"]}, "effect": "review"})

    assert [s[1] for s in steps(attempt(run="night-7"))] == ["matches", "apply"]
    assert [s[1] for s in steps(attempt(run="day-7"))] == ["does not match", "apply"]


def test_the_moment_is_tried_too(attempt):
    night = {"from": "22:00", "until": "06:00"}
    make.in_force({"name": "night", "when": {"hours": night}, "effect": "reject"})

    outcomes = [steps(attempt(asked_at=f"2026-03-01T{at}"))[0][1] for at in ("23:00", "12:00")]
    assert outcomes == ["matches", "does not match"]


def test_an_old_revision_can_be_tried(attempt):
    make.in_force(READS)
    make.in_force(TWO)

    assert steps(attempt(policy="2"))[0][0] == "prints"


def path(reply):
    """The boxes of the path: name, what it says, state."""
    boxes = tree(reply).one("ol", class_="path").all("li")
    return [
        (
            box.one("strong").text,
            box.one(class_="path-note").text,
            box["class"].rpartition("--")[2],
        )
        for box in boxes
    ]


def test_the_path_lights_the_rule_and_the_modes_that_decide(attempt):
    make.in_force(REJECTS, READS, TWO)

    assert path(attempt()) == [
        ("Request", "Code", "speaks"),
        ("Rules that reject", "None matches", "silent"),
        ("Other rules", "“prints” asks a person", "decides"),
        ("Modes", "All code requires approval.", "decides"),
        ("Answer", "A person is asked", "speaks"),
    ]


def test_the_path_ends_at_a_rule_that_rejects(attempt, found):
    make.in_force(READS, REJECTS)
    found(languages=("bash",))

    assert path(attempt())[1:] == [
        ("Rules that reject", "“no shell” rejects", "decides"),
        ("Other rules", "Not reached", "skipped"),
        ("Modes", "Not reached", "skipped"),
        ("Answer", "Rejected at once", "speaks"),
    ]


def test_where_nothing_speaks_the_answer_itself_is_lit(attempt):
    make.in_force()
    plan = {"kind": "plan", "content": json.dumps({"steps": [{"task": "Look"}]})}

    assert path(attempt(**plan))[1:] == [
        ("Rules that reject", "There are none", "silent"),
        ("Other rules", "There are none", "silent"),
        ("Modes", "No mode covers a plan.", "silent"),
        ("Answer", "A person is asked: nothing else applies", "decides"),
    ]


def test_hidden_characters_in_the_names_of_rules_are_drawn_in_the_path(attempt):
    make.in_force({"name": "evil\u202e", "when": {"kinds": ["code"]}, "effect": "review"})

    assert "\u202e" not in tree(attempt()).one("ol", class_="path").raw


def test_the_policy_page_draws_the_path_still(reviewer):
    make.in_force(READS, REJECTS)

    assert path(reviewer.get("/policies")) == [
        ("Request", "From an agent", "still"),
        ("Rules that reject", "1 rule. A match rejects at once", "still"),
        ("Other rules", "1 rule. In order; the first match applies", "still"),
        ("Modes", "Apply as well as the rules", "still"),
        ("Answer", "The stricter wins; by default a person is asked", "still"),
    ]


def draft_of(person, *rules):
    revision = make.in_force(*rules)
    PolicyDraft.objects.create(
        author=person,
        document=revision.document,
        based_on=1,
        updated_at=revision.published_at,
    )
    make.in_force()


def test_ones_own_draft_can_be_tried(attempt, alice):
    draft_of(alice, READS)

    assert steps(attempt(policy="draft"))[0][0] == "prints"


def test_ones_own_draft_is_offered_first(reviewer, alice):
    draft_of(alice, READS)

    offered = [option.text for option in tree(reviewer.get("/policies/bench")).all("option")]
    assert offered[:2] == ["Your draft", "In force: revision 3"]


def test_the_draft_of_somebody_else_cannot(attempt, ada, read):
    draft_of(ada, READS)

    reply = attempt(policy="draft")
    assert reply.status_code == 422
    assert "There is no such policy" in read(reply)


def test_nothing_is_stored(attempt, alice):
    entries = AuditEntry.objects.count()

    attempt()
    assert not ApprovalRequest.objects.exists()
    assert not Inspection.objects.exists()
    assert AuditEntry.objects.count() == entries


@pytest.mark.parametrize("who", ["reviewer", "admin", "auditor"])
def test_everybody_who_may_look_may_try(request, attempt, who):
    assert attempt(request.getfixturevalue(who)).status_code == 200


def test_who_has_no_role_may_not(enter, attempt):
    assert attempt(enter(make.person("nina"))).status_code == 403


def test_a_form_from_elsewhere_is_refused(reviewer):
    reviewer.handler.enforce_csrf_checks = True

    assert reviewer.post("/policies/bench", {"kind": "code"}).status_code == 403


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"kind": "plan", "content": "{"}, "The content is not valid JSON"),
        ({"kind": "plan", "content": "[]"}, "This must be a JSON object, in braces."),
        ({"kind": "plan", "content": '{"steps": []}'}, "'steps' must not be empty."),
        ({"kind": "tool_call", "content": '{"tool": "t"}'}, "'arguments' is missing."),
        ({"kind": "memory", "content": '{"a": 1, "a": 2}'}, "names the same key twice"),
        (
            {"kind": "plan", "content": '{"steps":[{"a":' + "[" * 29 + "]" * 29 + "}]}"},
            "deeper than 32",
        ),
        ({"content": ""}, "This field is required."),
        ({"kind": "sing"}, "Select a valid choice."),
        ({"policy": "99"}, "There is no such policy"),
        ({"policy": "9" * 40}, "There is no such policy"),
        ({"agent": "a\nb"}, "This must be one line"),
        ({"repeated": str(TOO_MANY)}, "less than or equal to 1000000"),
        ({"asked_at": "soon"}, "Enter a valid date/time."),
    ],
)
def test_what_cannot_be_tried_is_refused_and_said(attempt, read, changes, said):
    reply = attempt(**changes)

    assert reply.status_code == 422
    assert said in read(reply)
    assert steps(reply) == []


@pytest.mark.parametrize("content", [json.dumps(CALL), "{ broken"])
def test_what_was_typed_stays(attempt, content):
    page = tree(attempt(kind="tool_call", content=content, run="night-7"))

    assert page.one("textarea").raw.strip() == content
    assert page.one("input", name="run")["value"] == "night-7"
    assert page.one("option", selected=None, value="tool_call")


def test_ends_of_lines_are_those_that_were_pasted(attempt, monkeypatch):
    sent = []
    monkeypatch.setattr(inspections, "_inspected", lambda payload: sent.append(payload) or b"{}")

    attempt(content="a = 1\r\nb = 2")
    assert json.loads(sent[0])["content"] == {"code": "a = 1\nb = 2"}


def test_what_an_agent_wrote_is_drawn_and_never_markup(attempt):
    html = attempt(content="<b>\u202e").content.decode()

    assert "<b>\u202e" not in html.partition('id="answer"')[2]


CONTENT_SAMPLES = [
    (Kind.CODE, {"code": "1"}),
    (Kind.CODE, {"code": ""}),
    (Kind.CODE, {"code": 1}),
    (Kind.CODE, {"code": "1", "language": None}),
    (Kind.CODE, {"code": "1", "language": "a\nb"}),
    (Kind.CODE, {"code": "1", "lang": "python"}),
    (Kind.TOOL_CALL, CALL),
    (Kind.TOOL_CALL, CALL | {"tool": ""}),
    (Kind.TOOL_CALL, CALL | {"tool": "x" * 201}),
    (Kind.TOOL_CALL, CALL | {"arguments": []}),
    (Kind.PLAN, {"steps": [{}]}),
    (Kind.PLAN, {"steps": []}),
    (Kind.PLAN, {"steps": ["a"]}),
    (Kind.MEMORY, {"operation": "add", "user_id": "", "content": ""}),
    (Kind.MEMORY, {"operation": "", "user_id": "7", "content": "a"}),
    (Kind.MEMORY, {"operation": "add", "user_id": "7", "content": "a", "existing": 1}),
]


@pytest.mark.parametrize(("kind", "content"), CONTENT_SAMPLES)
def test_the_bench_takes_what_the_agents_door_takes(kind, content):
    try:
        CONTENTS[kind].model_validate(content)
        is_taken = True
    except ValueError:
        is_taken = False

    assert (not problems_with(kind, content)) == is_taken


def test_no_tool_is_called_like_a_capability():
    assert problems_with(Kind.TOOL_CALL, CALL | {"tool": "memory"}) == [
        "No tool may be called 'memory', which is a capability."
    ]
