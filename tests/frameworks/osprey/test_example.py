"""The example for osprey prints what its page says."""

from tests.frameworks.examples import check


def test_the_example_prints_what_its_page_says():
    check("osprey", "approve", "Not on a Sunday.")
