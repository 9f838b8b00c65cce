"""AutoGen's examples print what their pages say."""

from tests.frameworks.examples import begins, check


def test_the_page_begins_with_code_that_runs(tmp_path):
    assert begins("autogen", tmp_path, noise="<string>:").strip() == "42"


def test_the_example_prints_what_its_page_says():
    check("autogen", "approve", "Not on a Sunday.")


def test_the_example_of_magentic_one_prints_what_its_page_says():
    check("magentic_one", "approve", "Not on a Sunday.")
