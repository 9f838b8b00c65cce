"""Nothing that one test configured, made or was warned about reaches another."""

import pytest

from approval_client.capabilities.approval_types import forget_approval_types
from approval_client.capabilities.configs import forget_warnings
from approval_client.capabilities.singleton import forget_approval


@pytest.fixture(autouse=True)
def _fresh():
    for forget in (forget_approval, forget_approval_types, forget_warnings):
        forget()
    yield
    for forget in (forget_approval, forget_approval_types, forget_warnings):
        forget()
