"""The names of ``approval_client``, for programs that have the server installed and say this."""

from approval_client import *  # noqa: F403 - all of its names, and only for others
from approval_client import __all__  # noqa: F401 - the same
