"""AG2's example prints what its page says."""

from tests.frameworks.examples import check


def test_the_example_prints_what_its_page_says():
    check("ag2", "approve", "Not on a Sunday.")
