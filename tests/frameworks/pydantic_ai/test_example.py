"""The example for Pydantic AI prints what its page says."""

from tests.frameworks.examples import check


def test_the_example_prints_what_its_page_says():
    check("pydantic_ai", "approve", "Not on a Sunday.")
