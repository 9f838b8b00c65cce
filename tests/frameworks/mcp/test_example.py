"""The example runs, and prints what its page says."""

from tests.frameworks.examples import check


def test_the_example_prints_what_its_page_says():
    # The host is told by the result of its call; the server's own standard error stays with it.
    check("mcp", "approve", "Not on a Sunday.", tells=False)
