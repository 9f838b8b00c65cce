"""AutoGen's examples print what their pages say."""

from tests.frameworks.examples import check


def test_the_example_prints_what_its_page_says():
    check("autogen", "approve", "Not on a Sunday.")


def test_the_example_of_magentic_one_prints_what_its_page_says():
    check("magentic_one", "approve", "Not on a Sunday.")
