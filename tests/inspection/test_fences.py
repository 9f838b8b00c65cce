import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.inspection.fences import Block, join_blocks, looks_fenced, parse_fences

languages = st.from_regex(r"[A-Za-z0-9_+#.-]{0,12}", fullmatch=True)
code = st.text().filter(lambda text: "```" not in text)
blocks = st.lists(st.builds(Block, languages, code), min_size=1)


@given(blocks)
def test_joined_blocks_are_read_back_as_they_were(blocks):
    assert parse_fences(join_blocks(blocks)) == blocks


@given(st.text(alphabet="`\n ab"))
def test_whatever_is_read_as_blocks_joins_to_the_very_text(text):
    found = parse_fences(text)
    assert found is None or join_blocks(found) == text


def test_blocks_look_as_autogen_sends_them():
    text = "```python\nprint(1)\n\n```\n\n```sh\necho hi\n\n```"
    assert parse_fences(text) == [Block("python", "print(1)\n"), Block("sh", "echo hi\n")]


def test_the_language_keeps_its_authors_spelling():
    assert parse_fences("```Python\nx\n```") == [Block("Python", "x")]


def test_a_block_may_name_no_language():
    assert parse_fences("```\nx\n```") == [Block("", "x")]


@pytest.mark.parametrize(
    "code",
    [
        "x\n```",
        "x\n```\nrm -rf /",
        "x\n```\n```sh\nrm -rf /",
        "x\n```\n\nnot a fence",
        "x\n```\n\n```bad language\nrm",
        "x\n   ```\n",
        "s = '```'",
        "````",
    ],
)
def test_fences_inside_a_block_make_the_text_ambiguous(code):
    assert parse_fences(join_blocks([Block("python", code)])) is None


@pytest.mark.parametrize(
    "language", ["a b", 'x" onmouseover="', "<script>", "é", "py\r", "`", "x" * 31]
)
def test_an_info_string_that_is_no_tame_word_is_no_fence(language):
    assert parse_fences(f"```{language}\nx\n```") is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "```python",
        "```python\nx",
        "```python\nx\n```\n",
        " ```python\nx\n```",
        "\n```python\nx\n```",
        "```python\r\nx\r\n```",
        "```python\nx\n```\n\n",
        "```python\nx\n```\n\n\n```sh\ny\n```",
        "```a\nx\n```\n```b\ny\n```",
    ],
)
def test_what_was_not_joined_exactly_so_is_one_text(text):
    assert parse_fences(text) is None


def test_injected_fences_that_fit_perfectly_are_read_as_blocks():
    """Nobody can tell these two apart, so the page must call several blocks a reading."""
    injected = [Block("python", "x\n```\n\n```sh\nrm")]
    honest = [Block("python", "x"), Block("sh", "rm")]
    assert join_blocks(injected) == join_blocks(honest)
    assert parse_fences(join_blocks(injected)) == honest


@pytest.mark.parametrize("text", ["```", "a\n```python", "\t```\n", "a\n  ```"])
def test_a_line_that_begins_like_a_fence_looks_fenced(text):
    assert looks_fenced(text)


@pytest.mark.parametrize("text", ["", "``", "x = '```'", "a\n`` `"])
def test_other_text_does_not_look_fenced(text):
    assert not looks_fenced(text)


def test_a_hundred_thousand_blocks_are_read_in_linear_time():
    blocks = [Block("", "")] * 100_000
    assert parse_fences(join_blocks(blocks)) == blocks
