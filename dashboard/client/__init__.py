"""The agents' library: ask people before something runs, and wait for their answer.

It needs httpx2 and nothing of the server. ``DASHBOARD_URL`` and ``DASHBOARD_TOKEN`` say where
the dashboard is and who asks. ``approved`` is the only word that opens.
"""

from dashboard.client._answers import Answer, Decision
from dashboard.client._asked import Asked
from dashboard.client._async_client import AsyncClient
from dashboard.client._decorators import requires_approval
from dashboard.client._defaults import approval_func
from dashboard.client._errors import (
    AlreadyUsed,
    Cancelled,
    DashboardError,
    DigestMismatch,
    Expired,
    NotApproved,
    NotConfigured,
    OnHold,
    Rejected,
    RequestRefused,
    TokenRefused,
    TooLate,
    Unreachable,
)
from dashboard.client._models import ApprovalRequest, ApprovalResponse, Pending
from dashboard.client._sync_client import Client

__all__ = [
    "AlreadyUsed",
    "Answer",
    "ApprovalRequest",
    "ApprovalResponse",
    "Asked",
    "AsyncClient",
    "Cancelled",
    "Client",
    "DashboardError",
    "Decision",
    "DigestMismatch",
    "Expired",
    "NotApproved",
    "NotConfigured",
    "OnHold",
    "Pending",
    "Rejected",
    "RequestRefused",
    "TokenRefused",
    "TooLate",
    "Unreachable",
    "approval_func",
    "requires_approval",
]
