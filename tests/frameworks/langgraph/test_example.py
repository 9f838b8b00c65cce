"""The example for langgraph prints what its page says."""

from tests.frameworks.examples import begins, check


def test_the_page_begins_with_code_that_runs(tmp_path):
    assert begins("langgraph", tmp_path) == "runs: print(6 * 7)\n"


def test_the_example_prints_what_its_page_says():
    check("langgraph", "approve", "Not on a Sunday.")
