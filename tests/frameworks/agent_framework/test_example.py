"""The example of Microsoft Agent Framework prints what its page says."""

from tests.frameworks.examples import check

# 1.15 says so of each answer that it finds in its history again.
NOISE = ("Ignored an approval response with request id",)


def test_the_example_prints_what_its_page_says():
    check("agent_framework", "approve", "Not on a Sunday.", noise=NOISE)
