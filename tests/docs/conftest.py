"""An example that configures approval does so for itself alone."""

import pytest

from approval_client.capabilities.singleton import forget_approval


@pytest.fixture(autouse=True)
def _forget_approval():
    forget_approval()
    yield
    forget_approval()
