import pytest

from approval_client.capabilities.quoting import SHOWN, block, is_web_address, quoted


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("Load data", "`Load data`"),
        ("", "`(nothing)`"),
        (3, "`3`"),
        ("a`b", "``a`b``"),
        ("`a`", "`` `a` ``"),
        ("```", "```` ``` ````"),
        ("a\nb\r\tc", r"`a\nb\r\tc`"),
        ("a\u202eb\u200b\U000e0041", r"`a\u202eb\u200b\U000e0041`"),
        ("a\ud800", r"`a\ud800`"),
        ("größe", "`größe`"),
    ],
)
def test_words_are_quoted_on_one_line_with_what_is_hidden_spelled_out(words, shown):
    assert quoted(words) == shown


def test_a_long_quotation_is_cut_and_says_so():
    assert quoted("x" * SHOWN) == f"`{'x' * SHOWN}`"
    assert quoted("x" * (SHOWN + 1234)) == f"`{'x' * SHOWN}` … (1,234 more characters)"


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("a\n\tb", "```\na\n\tb\n```"),
        ("```\n**yes**", "````\n```\n**yes**\n````"),
        ("a\u202e\r\n", "```\na\\u202e\\r\n\n```"),
    ],
)
def test_a_block_keeps_lines_and_cannot_be_ended_from_within(words, shown):
    assert block(words) == shown


def test_a_block_shows_everything():
    assert block("x" * 10_000) == f"```\n{'x' * 10_000}\n```"


@pytest.mark.parametrize(
    "link",
    [
        "http://localhost:8888/notebooks/review.ipynb",
        "https://jupyter.example.org/lab/tree/a%20b.ipynb?token=x#top",
        "http://jupyter",
        "HTTPS://[::1]:8888/",
    ],
)
def test_a_plain_http_address_can_be_followed(link):
    assert is_web_address(link)


@pytest.mark.parametrize(
    "link",
    [
        "javascript:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "//jupyter/a",
        "http://",
        "http:///a",
        "https://bank.example@evil.example/",
        "http://a/b) [click](http://evil.example",
        "http://a/b\n- **`yes`**",
        "http://a/\n",
        "http://a/ b",
        "http://jupytеr/",  # a Cyrillic letter
        "http://a/\u202e",
        " http://a/",
        "http://a/<b>",
        "",
        None,
        5,
    ],
)
def test_anything_else_cannot(link):
    assert not is_web_address(link)
