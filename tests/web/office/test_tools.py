"""Admins see every tool that was asked for, and class it."""

import pytest

from approval_client.wire import Kind
from dashboard.approvals.models import Tool
from dashboard.approvals.services import ClassChange, class_tools, judge_pending_again
from dashboard.audit.models import AuditEntry
from tests import make
from tests.web.pages import links
from tests.web.pages import read as read_tree

SCHEMA = {"type": "object", "properties": {"user": {"type": "string"}}}


def ask(token, tool="delete_user", schema=SCHEMA, **evidence):
    if schema:
        evidence["tool_schema"] = schema
    content = {"tool": tool, "arguments": {"user": "u1"}}
    return make.pending(
        token, kind=Kind.TOOL_CALL, capability=tool, content=content, evidence=evidence
    )


def fields(*tools, **classes):
    """What the page sends: each tool's class as it was shown, and as it is chosen."""
    sent = {}
    for tool in tools:
        sent[f"shown-{tool.pk}"] = tool.tool_class
        sent[f"class-{tool.pk}"] = classes.get(tool.name, tool.tool_class)
    return sent


def test_without_a_tool_the_page_says_when_one_appears(admin, read):
    said = read(admin.get("/tools"), "main")

    assert "No tool yet" in said
    assert "when an agent asks to call it" in said


def test_a_tool_stands_with_its_agent_its_calls_and_what_is_claimed(admin, read, token, alice):
    approval = ask(token, tool_annotations={"readOnlyHint": True, "destructiveHint": False})
    make.decided(approval, alice)
    ask(token, schema=None, tool="search")

    said = read(admin.get("/tools"), "main")

    for words in ("delete_user", "beamline", "1 approved · 0 rejected", "none sent", "nothing"):
        assert words in said
    assert "destroys nothing, only reads" in said
    assert approval.tool.schema_digest[:8] in said


def test_letters_of_a_name_that_pass_for_others_are_marked(admin, token):
    ask(token, "delet\u0435_user")

    assert (
        'title="U+0435 CYRILLIC SMALL LETTER IE, looks like e"'
        in admin.get("/tools").content.decode()
    )


def test_those_that_nobody_has_classed_come_first(admin, token, ada):
    old, new = ask(token, "a_old").tool, ask(token, "b_new").tool
    class_tools({new.pk: ClassChange("", "reads")}, by=ada, auth="x")

    page = admin.get("/tools").content.decode()

    assert page.index("a_old") < page.index("b_new")
    assert f'name="class-{old.pk}"' in page
    assert "b_new" not in admin.get("/tools?show=unclassed").content.decode()


def test_classes_are_saved_all_at_once(admin, read, token):
    tools = [ask(token, name).tool for name in ("pay", "search", "later")]

    reply = admin.post("/tools", fields(*tools, pay="money", search="reads"), follow=True)

    assert "2 tools are classed." in read(reply)
    assert list(Tool.objects.order_by("name").values_list("name", "tool_class")) == [
        ("later", ""),
        ("pay", "money"),
        ("search", "reads"),
    ]
    assert AuditEntry.objects.filter(action="tool.classed").count() == 2


def test_what_was_classed_in_the_meantime_is_left_and_said(admin, read, token, ada):
    tool = ask(token).tool
    sent = fields(tool, delete_user="reads")
    class_tools({tool.pk: ClassChange("", "irreversible")}, by=ada, auth="x")

    reply = admin.post("/tools", sent, follow=True)

    said = read(reply)
    assert "“delete_user” of beamline was classed by somebody else in the meantime" in said
    tool.refresh_from_db()
    assert tool.tool_class == "irreversible"


@pytest.mark.parametrize(
    "change",
    [
        {"class-{}": "harmless"},
        {"shown-{}": None},
        {"class-x": "reads", "shown-x": ""},
        {"class-9999999999999999999999": "reads", "shown-9999999999999999999999": ""},
        {"class-²": "reads", "shown-²": ""},
    ],
)
def test_a_form_that_no_page_of_ours_sends_changes_nothing(admin, read, token, change):
    tool = ask(token).tool
    sent = fields(tool, delete_user="reads")
    for name, value in change.items():
        sent[name.format(tool.pk)] = value
    sent = {name: value for name, value in sent.items() if value is not None}

    reply = admin.post("/tools", sent, follow=True)

    assert "No class was changed" in read(reply)
    tool.refresh_from_db()
    assert tool.tool_class == ""


def test_nothing_chosen_changes_nothing_and_says_so(admin, read, token):
    reply = admin.post("/tools", fields(ask(token).tool), follow=True)

    assert "No class was changed." in read(reply)


def test_saving_leads_back_to_what_was_looked_at(admin, token):
    sent = fields(ask(token).tool, delete_user="reads") | {"q": "dele te", "show": "unclassed"}

    assert admin.post("/tools", sent)["Location"] == "/tools?q=dele+te&show=unclassed"


@pytest.mark.parametrize(
    ("search", "count"), [("DELETE", 1), ("beam", 2), ("nothing", 0), ("\0", 2)]
)
def test_tools_are_searched_by_name_and_agent(admin, token, search, count):
    ask(token), ask(token, "search")

    page = admin.get("/tools", {"q": search}).content.decode()

    assert page.count('name="class-') == count


def test_the_calls_of_a_tool_lead_to_them(admin, token):
    ask(token, "search")
    call = ask(token, "delete all & more")

    found = links(read_tree(admin.get("/tools")).one("tbody"))
    hrefs = [href for _, href in found if href.startswith("/history")]
    pages = [admin.get(href).content.decode() for href in hrefs]

    assert [str(call.pk) in page for page in pages].count(True) == 1


def test_a_name_that_is_markup_is_drawn_as_text(admin, token):
    ask(token, "<b>x</b>")

    assert "&lt;b&gt;x&lt;/b&gt;" in admin.get("/tools").content.decode()


def test_as_many_queries_for_many_tools_as_for_one(admin, token, django_assert_num_queries):
    ask(token, "t0")
    with django_assert_num_queries(10) as one:
        admin.get("/tools")
    for number in range(1, 30):
        ask(token, f"t{number}")

    with django_assert_num_queries(len(one)):
        admin.get("/tools")


def test_two_hundred_stand_on_a_page(admin, read, token):
    agent = token.agent
    Tool.objects.bulk_create(
        Tool(
            agent=agent,
            name=f"t{number}",
            spelling=f"t{number}",
            first_asked_at=agent.created_at,
        )
        for number in range(201)
    )

    assert admin.get("/tools").content.decode().count('name="class-') == 200
    assert "201 to 201 of 201" in read(admin.get("/tools?page=2"), "main")


def test_the_log_says_it_in_a_sentence(admin, read, token, ada):
    tool = ask(token).tool
    class_tools({tool.pk: ClassChange("", "money")}, by=ada, auth="x")
    class_tools({tool.pk: ClassChange("money", "")}, by=ada, auth="x")

    said = read(admin.get("/audit"), "main")

    assert "ada classed the tool delete_user of beamline as “money”" in said
    assert "ada took the class of the tool delete_user of beamline away" in said


@pytest.mark.parametrize("tool_class", ["", "money"])
def test_a_request_says_how_its_tool_is_classed(admin, read, token, ada, tool_class):
    tool = ask(token).tool
    if tool_class:
        class_tools({tool.pk: ClassChange("", tool_class)}, by=ada, auth="x")
    approval = ask(token)

    said = read(admin.get(f"/approvals/{approval.pk}"), "main")

    words = "This tool is classed as “money”" if tool_class else "Nobody has classed this tool"
    assert words in said


def test_a_request_that_waits_says_it_once_its_tool_is_classed(admin, read, token, ada):
    approval = ask(token)
    class_tools({approval.tool.pk: ClassChange("", "money")}, by=ada, auth="x")
    make.allow_durable()
    judge_pending_again()

    assert "This tool is classed as “money”" in read(admin.get(f"/approvals/{approval.pk}"))
