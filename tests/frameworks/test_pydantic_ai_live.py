"""Pydantic AI 2.68.0 and a real dashboard."""

from tests.frameworks.pausing import Live
from tests.frameworks.test_pydantic_ai import Magnet, call


class TestAPersonDecides(Live):
    make, call = Magnet, staticmethod(call)
