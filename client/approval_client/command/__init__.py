"""The ``approvals`` command: for shells, for people at a terminal, and Claude Code's hook."""
