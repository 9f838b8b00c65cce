"""What the docs show, AG2's page too, passes two type checkers."""

from tests.frameworks.typed import problems, shown, write

PROMISED = """
from typing import assert_type

from ag2 import Agent, tool
from ag2.middleware.base import MiddlewareFactory

from approval_client.adapters.ag2 import approval_required, gate, hitl_hook


@tool(middleware=[approval_required(time_limit_s=300)])
def set_field(tesla: float) -> str:
    return f"set to {tesla}"


assert_type(gate(time_limit_s=300), MiddlewareFactory)
Agent("operator", tools=[set_field], middleware=[gate()], hitl_hook=hitl_hook())
"""


def test_what_the_docs_show_is_typed(tmp_path):
    files = shown(tmp_path, "ag2")

    assert problems(tmp_path, files) == []


def test_what_is_returned_has_the_types_of_the_framework(tmp_path):
    assert problems(tmp_path, [write(tmp_path / "promised.py", PROMISED)]) == []
