"""The example for langchain prints what its page says."""

from tests.frameworks.examples import check


def test_the_example_prints_what_its_page_says():
    check("langchain", "approve", "Not on a Sunday.")
