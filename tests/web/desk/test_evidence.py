import time

import pytest

from dashboard.web.desk.evidence import evidence_fields


def shown(read, item):
    html = item.text if item.code is None else "\n".join(item.code.lines)
    return "".join(text for _, text in read(html).parts)


def field(evidence, name):
    (found,) = [field for field in evidence_fields(evidence) if field.name == name]
    return found


def test_fields_stand_in_our_order_and_what_the_framework_sent_comes_last():
    names = [
        "source_event",
        "x",
        "context",
        "notebook_path",
        "analysis_details",
        "safety_concerns",
    ]
    ours = ["safety_concerns", "analysis_details", "notebook_path", "context"]
    fields = evidence_fields(dict.fromkeys(names, "-"))
    assert [field.name for field in fields] == [*ours, "other", "source_event"]


def test_labels_are_ours_even_for_what_we_do_not_know():
    evidence = {"execution_mode": "readonly", "Approved by security": "yes"}
    assert [f.label for f in evidence_fields(evidence)] == ["Execution mode", "Anything else"]


def test_what_a_model_wrote_comes_first_under_a_label_of_ours():
    first, _ = evidence_fields({"context": [], "written_by_the_model": '{"n": "5"}'})

    assert first.label == "Arguments as the model wrote them"


def test_only_what_the_framework_sent_is_collapsed():
    fields = evidence_fields({"source_event": {}, "notebook": {}, "context": [], "x": 1})
    assert {f.name for f in fields if f.collapsed} == {"source_event", "notebook"}


def test_no_evidence_is_no_field():
    assert evidence_fields({}) == []


def test_each_safety_concern_is_an_item(read):
    items = field({"safety_concerns": ["deletes files", "<b>bold</b>"]}, "safety_concerns").items
    assert [item.text for item in items] == ["deletes files", "&lt;b&gt;bold&lt;/b&gt;"]


def test_prose_keeps_its_lines_and_shows_what_it_hides():
    (item,) = field({"expected_results": "one\ntwo\u202e"}, "expected_results").items
    assert item.text == (
        'one\ntwo<span class="glyph glyph-direction" title="U+202E RIGHT-TO-LEFT OVERRIDE">'
        "RLO</span>"
    )


def test_what_has_structure_is_json(read):
    (item,) = field({"analysis_details": {"level": "low"}}, "analysis_details").items
    assert shown(read, item) == '{\n  "level": "low"\n}'
    assert item.text is None


def test_an_unknown_key_is_the_agents_word_and_escaped_as_json(read):
    (item,) = field({'a"\n<b>': "x"}, "other").items
    assert item.caption == "&quot;a\\&quot;\\n&lt;b&gt;&quot;"
    assert item.text == "x"


def test_a_conversation_shows_who_says_what(read):
    context = [
        {"type": "UserMessage", "source": "user", "content": "go on"},
        {"role": "assistant", "content": "done"},
    ]
    items = field({"context": context}, "context").items
    assert [(i.caption, i.text) for i in items] == [
        ("UserMessage · user", "go on"),
        ("assistant", "done"),
    ]


def test_what_else_a_message_holds_is_shown_below_it(read):
    message = {"role": "assistant", "content": "hm", "thought": "evil", "source": 7}
    said, rest = field({"context": [message]}, "context").items
    assert (said.caption, said.text, rest.caption) == ("assistant", "hm", "assistant")
    assert shown(read, rest) == '{\n  "source": 7,\n  "thought": "evil"\n}'


def test_content_that_is_no_text_is_json(read):
    message = {"type": "AssistantMessage", "content": [{"name": "f", "arguments": "{}"}]}
    (item,) = field({"context": [message]}, "context").items
    assert shown(read, item) == '[\n  {\n    "arguments": "{}",\n    "name": "f"\n  }\n]'


@pytest.mark.parametrize("value", ["x", 7, None, True, [], {}, [1, None], [[]], [{}], {"a": []}])
def test_every_shape_of_every_field_is_shown(value):
    names = ["safety_concerns", "context", "notebook", "source_event", "zzz", ""]
    fields = evidence_fields(dict.fromkeys(names, value))
    assert all(field.items for field in fields)


def test_a_flood_of_items_is_one_text(read):
    evidence = {"safety_concerns": list(range(100_000)), "context": [{"a": 1}] * 50_000}
    started_at = time.thread_time()
    fields = evidence_fields(evidence | {f"k{number}": 1 for number in range(20_000)})
    assert [len(field.items) for field in fields] == [1, 1, 1]
    assert time.thread_time() - started_at < 5
