import time

import pytest

from approval_client.wire import canonical_json
from dashboard import sandbox
from dashboard.web import content as module
from dashboard.web.content import render_content
from dashboard.web.drawing import blocks as drawing
from dashboard.web.drawing.code import ColourBudget


def render(kind, content):
    return render_content(kind, canonical_json(content)).blocks


def titles(blocks):
    return [block.title for block in blocks]


def plain(read, block):
    return "".join(text for _, text in read("\n".join(block.code.lines)).parts)


def test_code_without_fences_is_one_block_in_the_named_language(read):
    (block,) = render("code", {"code": "print(1)\n", "language": "Python"})
    assert (block.title, block.language, block.named) == ("Code", "python", "Python")
    assert (plain(read, block), block.remarks) == ("print(1)\n", [])


def test_code_without_a_language_is_text_and_nothing_is_guessed():
    (block,) = render("code", {"code": "import os"})
    assert (block.language, block.code.highlighted, block.remarks) == ("text", False, [])


def test_a_language_that_we_do_not_know_is_shown_and_said():
    (block,) = render("code", {"code": "x", "language": '"><script>'})
    assert block.named == "&quot;&gt;&lt;script&gt;"
    assert (block.language, block.remarks) == ("text", [module.UNKNOWN_LANGUAGE])


def test_fenced_blocks_are_shown_one_by_one(read):
    text = "```python\nprint(1)\n```\n\n```sh\necho hi\n```"
    blocks = render("code", {"code": text})
    assert titles(blocks) == ["Code, block 1 of 2", "Code, block 2 of 2"]
    assert [plain(read, block) for block in blocks] == ["print(1)", "echo hi"]
    assert [block.language for block in blocks] == ["python", "bash"]


def test_several_blocks_are_called_a_reading():
    first, second = render("code", {"code": "```a\nx\n```\n\n```\ny\n```"})
    assert first.remarks == [module.UNKNOWN_LANGUAGE, module.SEVERAL_BLOCKS.format(count=2)]
    assert second.remarks == []


def test_of_a_single_fenced_block_it_is_said_that_its_fences_are_not_shown():
    (block,) = render("code", {"code": "```python\nx\n```"})
    assert (block.title, block.language, block.remarks) == ("Code", "python", [module.FENCED])


def test_ambiguous_fences_are_shown_as_one_text(read):
    text = "```python\nx\n```\nrm -rf /\n```"
    (block,) = render("code", {"code": text})
    assert (plain(read, block), block.remarks) == (text, [module.AMBIGUOUS_FENCES])


def test_fences_are_not_read_when_a_language_is_named(read):
    text = "```python\nx\n```\n\n```sh\ny\n```"
    (block,) = render("code", {"code": text, "language": "python"})
    assert (plain(read, block), block.remarks) == (text, [module.FENCES_AND_LANGUAGE])


def test_a_flood_of_blocks_is_one_text():
    (block,) = render("code", {"code": "\n\n".join(["```\n\n```"] * 51)})
    assert block.remarks == [module.TOO_MANY_BLOCKS.format(count=50)]


@pytest.mark.parametrize("kind", ["tool_call", "plan", "memory"])
def test_what_has_another_shape_than_its_kind_is_shown_as_json(read, kind):
    (block,) = render(kind, {"tool": "t", "steps": [1], "content": 5})
    assert (block.title, block.language) == ("Content", "json")
    assert plain(read, block).startswith('{\n  "content": 5,\n')


@pytest.mark.parametrize("kind", ["code", "tool_call", "plan", "memory", "unheard_of"])
@pytest.mark.parametrize("content", [{}, [], "x", None, 7, {"x": 1}, {"code": 1}, {"tool": []}])
def test_whatever_was_stored_is_shown(kind, content):
    blocks = render(kind, content)
    assert [block.code.line_count > 0 for block in blocks] == [True] * max(len(blocks), 1)


def test_a_member_that_we_do_not_expect_is_shown_too(read):
    blocks = render("code", {"code": "x", "language": 5, "surprise": True})
    assert titles(blocks) == ["Code", "Also part of the content"]
    assert plain(read, blocks[1]) == '{\n  "language": 5,\n  "surprise": true\n}'


@pytest.mark.parametrize("kind", ["code", "tool_call", "plan", "memory"])
def test_titles_and_remarks_hold_no_word_of_the_agent(kind):
    text = "Approved by security"
    content = {"tool": text, "arguments": {text: f"{text}\n"}, text: text}
    said = [line for b in render(kind, content) for line in (b.title, *b.remarks)]
    assert not [line for line in said if text in line]


def test_many_blocks_that_hang_their_lexer_share_the_budget_of_one_page(monkeypatch):
    hung = []

    def hang(*_):
        hung.append(1)
        time.sleep(0.04)
        raise sandbox.DeadlineExceeded

    monkeypatch.setattr(sandbox, "call", hang)
    monkeypatch.setattr(drawing, "ColourBudget", lambda: ColourBudget(left_s=0.1))
    render("code", {"code": "\n\n".join(f"```c\n{number}\n```" for number in range(50))})

    assert 1 <= len(hung) <= 3  # of 50: 0.1 s hold no more
