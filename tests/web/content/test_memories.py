"""A change of memory as it is read: against what the agent says, and what was approved."""

import pytest

from approval_client.wire import canonical_json
from dashboard.web import content as module
from dashboard.web.content import ApprovedMemory, render_content
from dashboard.web.drawing.diff import LineChange


def render(approved=None, **changes):
    memory = {"operation": "update", "user_id": "u", "content": "new", "existing": "old"} | changes
    return render_content("memory", canonical_json(memory), approved)


def view(approved=None, **changes):
    return render(approved, **changes).memory


def standing(approved, **changes):
    memory = view(approved, **changes)
    return memory.standing, memory.is_warning


def signs(memory):
    return [change for change, _ in memory.compared]


def text(content, number):
    return "\n".join(content.blocks[number].code.lines)


def test_every_text_is_a_block_with_a_title_of_ours():
    content = render()

    assert [(block.title, text(content, block.number)) for block in content.blocks[1:]] == [
        ("This would be stored", "new"),
        ("The agent says this is stored now", "old"),
        ("Operation", "update"),
        ("Whose memory", "u"),
    ]


def test_lines_are_compared():
    memory = view(existing="a\nb", content="a\nc\nd")

    assert signs(memory) == [
        LineChange.SAME,
        LineChange.REMOVED,
        LineChange.ADDED,
        LineChange.ADDED,
    ]
    assert (memory.note, memory.counts) == ("", [(2, "added"), (1, "removed")])


@pytest.mark.parametrize(
    ("existing", "note"), [(None, module.NO_CLAIM), ("", module.NOTHING_STORED)]
)
def test_where_nothing_is_said_to_be_stored_every_line_is_new(existing, note):
    memory = view(existing=existing, content="a\nb")

    assert (signs(memory), memory.note) == ([LineChange.ADDED, LineChange.ADDED], note)


def test_what_was_approved_here_last_is_said_to_change_nothing():
    memory = view(ApprovedMemory("update", "new"), existing="new")

    assert (signs(memory), memory.note) == ([LineChange.SAME], module.SAME)


@pytest.mark.parametrize(
    ("operation", "approved"),
    [
        ("update", None),
        ("update", ApprovedMemory()),
        ("update", ApprovedMemory("update", "another")),
        ("update", ApprovedMemory("delete", "new")),
        ("update", ApprovedMemory("append", "new")),
        ("append", ApprovedMemory("update", "new")),
        ("update", ApprovedMemory("archive", "new")),
    ],
)
def test_that_a_text_is_stored_already_is_the_agents_word_alone(operation, approved):
    memory = view(approved, operation=operation, existing="new")

    assert (signs(memory), memory.note) == ([LineChange.ADDED], module.SAID_TO_BE_STORED)


@pytest.mark.parametrize("operation", ["update", "delete"])
@pytest.mark.parametrize("text", ["ab\n" * 98_000, "a\u200b" * 240_000])
def test_a_text_that_is_too_long_to_be_drawn_whole_is_drawn_in_parts(operation, text):
    assert view(operation=operation, content=text, existing=None).compared is None


def test_what_cannot_be_compared_stands_side_by_side_and_that_is_said(monkeypatch):
    monkeypatch.setattr(module, "line_changes", lambda *_: None)
    memory = view()

    assert (memory.compared, memory.note) == (None, module.NOT_COMPARED)


def test_an_operation_that_adds_is_not_said_to_remove():
    assert view(operation="append").note == module.MAY_ADD
    assert view(operation="append", content="old\nnew").note == ""


@pytest.mark.parametrize(
    ("content", "existing", "lines"), [("a\nb", None, 2), ("", "a\nb\nc", 3), ("a", None, 1)]
)
def test_what_is_deleted_is_marked_as_removed(content, existing, lines):
    memory = view(operation="Delete", content=content, existing=existing)

    assert (signs(memory), memory.is_deletion) == ([LineChange.REMOVED] * lines, True)


def test_a_deletion_that_names_another_text_than_is_stored_shows_both():
    content = render(operation="forget")

    assert content.memory.compared is None
    assert content.blocks[content.memory.content].title == "This would be deleted"


def test_a_deletion_without_any_text_says_so():
    memory = view(operation="delete", content="", existing=None)

    assert (memory.compared, memory.note) == ([], module.UNSAID)


@pytest.mark.parametrize(
    ("approved", "existing", "said"),
    [
        (None, "old", ("", False)),
        (ApprovedMemory(), "old", (module.NEVER, False)),
        (ApprovedMemory(), None, ("", False)),
        (ApprovedMemory("update", "old"), "old", (module.AGREES, False)),
        (ApprovedMemory("update", "else"), "old", (module.DIFFERS, True)),
        (ApprovedMemory("update", "old"), "old, and more", (module.DIFFERS, True)),
        (ApprovedMemory("append", "old"), "old", (module.AGREES, False)),
        (ApprovedMemory("append", "old"), "before\nold", (module.PARTLY.format("1 line"), True)),
        (ApprovedMemory("append", "old"), "older", (module.DIFFERS, True)),
        (ApprovedMemory("append", "old"), "old\n", (module.AGREES, False)),
        (ApprovedMemory("append", "old\n"), "a\r\nold", (module.PARTLY.format("1 line"), True)),
        (ApprovedMemory("append", ""), "old", (module.DIFFERS, True)),
        (ApprovedMemory("append", "else"), "old", (module.DIFFERS, True)),
        (ApprovedMemory("update", "else"), None, (module.SILENT, False)),
        (ApprovedMemory("delete", "old"), "old", (module.DIFFERS, True)),
        (ApprovedMemory("delete", "old"), None, ("", False)),
    ],
)
def test_what_the_agent_says_is_stored_is_compared_with_what_was_approved(
    approved, existing, said
):
    assert standing(approved, existing=existing) == said


def test_what_was_approved_last_is_shown_where_it_is_not_on_the_page_already():
    content = render(ApprovedMemory("update", "else"))

    assert text(content, content.memory.approved) == "else"
    assert content.blocks[content.memory.approved].title == "This was approved here last"
    assert view(ApprovedMemory("update", "old")).approved == 0


def test_the_warning_is_among_what_was_shown():
    assert render(ApprovedMemory("update", "else")).warnings == [module.DIFFERS]


def test_lines_that_an_addition_leaves_alone_are_no_reason_to_warn():
    approved = ApprovedMemory("append", "old")

    assert standing(approved, operation="append", existing="a\nb\nold") == (
        module.PARTLY.format("2 lines"),
        False,
    )


@pytest.mark.parametrize(
    "operation", ["erase", "delete_memory", "memory.wipe", "Purge()", "delete bob", "deleteBob"]
)
def test_a_deletion_by_any_name_is_one(operation):
    memory = view(ApprovedMemory("set", "new"), operation=operation, existing="new")

    assert (memory.is_deletion, memory.note) == (True, "")


@pytest.mark.parametrize(
    "operation",
    [
        *["archive", "clear_and_set", "dеlete", "x" * 9000, "str_replace", "!remember"],
        *["un-remember", "undo_add", "do not store", "undelete", "un-delete", "store.shred"],
        "add" + "_x" * 1100 + "_delete",
    ],
)
@pytest.mark.parametrize("existing", [None, "old", "new"])
def test_of_an_operation_that_nobody_knows_nothing_is_said_to_happen(operation, existing):
    content = render(ApprovedMemory("set", "new"), operation=operation, existing=existing)

    assert (content.memory.compared, content.memory.note) == (None, module.NOT_KNOWN)
    assert content.blocks[content.memory.content].title == module.UNCLEAR


@pytest.mark.parametrize("operation", ["save_to_memory", "insert_document", "add_observations"])
def test_what_is_added_may_be_named(operation):
    assert view(operation=operation, existing="").note == module.NOTHING_STORED
