"""Pydantic AI 2.68.0 and a real dashboard."""

from tests.frameworks.pausing import Live
from tests.frameworks.pydantic_ai.test_adapter import Magnet, call


class TestAPersonDecides(Live):
    make, call = Magnet, staticmethod(call)
