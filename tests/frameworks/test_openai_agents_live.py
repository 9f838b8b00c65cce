"""The OpenAI Agents SDK 0.24.0 and a real dashboard."""

from tests.frameworks.pausing import Live
from tests.frameworks.test_openai_agents import Magnet, call


class TestAPersonDecides(Live):
    make, call = Magnet, staticmethod(call)
