"""The agents' library: ask people before something runs, and wait for their answer.

It needs httpx2 and nothing of the server. ``DASHBOARD_URL`` and ``DASHBOARD_TOKEN`` say where
the dashboard is and who asks. Only ``approved`` lets anything run.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from approval_client._answers import Access, Answer, Decision
    from approval_client._async_client import AsyncClient
    from approval_client._decorators import requires_approval
    from approval_client._defaults import approval_func
    from approval_client._errors import (
        AlreadyUsed,
        Cancelled,
        DashboardError,
        DigestMismatch,
        Expired,
        NotADashboard,
        NotApproved,
        NotConfigured,
        OnHold,
        ProtocolMismatch,
        Rejected,
        RequestRefused,
        TakenBack,
        TokenRefused,
        TooLate,
        Unreachable,
    )
    from approval_client._models import ApprovalRequest, ApprovalResponse, Asked, Pending
    from approval_client._runs import run
    from approval_client._sync_client import Client

__all__ = [
    "Access",
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
    "NotADashboard",
    "NotApproved",
    "NotConfigured",
    "OnHold",
    "Pending",
    "ProtocolMismatch",
    "Rejected",
    "RequestRefused",
    "TakenBack",
    "TokenRefused",
    "TooLate",
    "Unreachable",
    "approval_func",
    "requires_approval",
    "run",
]

_MODULES = {
    "Access": "_answers",
    "AlreadyUsed": "_errors",
    "Answer": "_answers",
    "ApprovalRequest": "_models",
    "ApprovalResponse": "_models",
    "Asked": "_models",
    "AsyncClient": "_async_client",
    "Cancelled": "_errors",
    "Client": "_sync_client",
    "DashboardError": "_errors",
    "Decision": "_answers",
    "DigestMismatch": "_errors",
    "Expired": "_errors",
    "NotADashboard": "_errors",
    "NotApproved": "_errors",
    "NotConfigured": "_errors",
    "OnHold": "_errors",
    "Pending": "_models",
    "ProtocolMismatch": "_errors",
    "Rejected": "_errors",
    "RequestRefused": "_errors",
    "TakenBack": "_errors",
    "TokenRefused": "_errors",
    "TooLate": "_errors",
    "Unreachable": "_errors",
    "approval_func": "_defaults",
    "requires_approval": "_decorators",
    "run": "_runs",
}


def __getattr__(name: str) -> Any:
    """Import a name when it is first used, so that ``approval_client.wire`` costs nothing else."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
