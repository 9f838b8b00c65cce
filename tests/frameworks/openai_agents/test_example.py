"""The example for the OpenAI Agents SDK prints what its page says."""

from tests.frameworks.examples import check


def test_the_example_prints_what_its_page_says():
    check("openai_agents", "approve", "Not on a Sunday.")
