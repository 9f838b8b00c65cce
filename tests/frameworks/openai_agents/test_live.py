"""The OpenAI Agents SDK 0.24.0 and a real dashboard."""

from tests.frameworks.openai_agents.test_adapter import Magnet, call
from tests.frameworks.pausing import Live


class TestAPersonDecides(Live):
    make, call = Magnet, staticmethod(call)
