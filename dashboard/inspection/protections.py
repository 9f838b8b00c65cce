"""What the call of a tool asks to be let out of: a sandbox, a container, somebody's approval."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from dashboard.inspection import effects
from dashboard.inspection.findings import Finding
from dashboard.inspection.notes import FindingKind, Notes, names
from dashboard.inspection.parts import WHOLE, keys, members, paths, switches, words

_LOOSENS = re.compile(
    r"""\b(?:privileged|allowPrivilegeEscalation|host(?:PID|IPC|Network))["']?\s*:\s*["']?true\b"""
    r"""|\bhostPath["']?\s*:"""
)
"""What lets a container of Kubernetes or Compose out."""

_REACHES_HOST = names("privileged host_pid host_ipc host_network allow_privilege_escalation")
_MOUNTS = names("volumes volume binds bind mounts mount source host_path")
_MOUNTS_HOST = re.compile(r"/(?:etc|root|proc|sys|dev|var|home)?/?(?::|\Z)|.*docker\.sock")
_CONTAINERS = names("""
    docker podman container containers compose kubernetes kubectl k8s helm pod pods manifest
    manifests image
""")
_LOOSE = names("""
    dangerously_disable_sandbox disable_sandbox no_sandbox skip_sandbox without_sandbox unsandboxed
    dangerously_skip_permissions skip_permissions bypass_permissions skip_approval skip_approvals
    bypass_approvals dangerously_bypass_approvals_and_sandbox dangerously_allow_browser
    auto_approve allow_dangerous_code allow_dangerous_requests
""")
_GUARDS = names("sandbox sandboxed use_sandbox")
"""Switches that protect while they are on."""


def asked_without(tool: str, arguments: Mapping[str, Any]) -> list[Finding]:
    """Return which protections a call asks to go without."""
    notes = Notes(WHOLE)
    with notes.at(0, 0):
        for name, is_on in switches(arguments):
            if (name in _LOOSE and is_on) or (name in _GUARDS and not is_on):
                notes.add(effects.WITHOUT_PROTECTION)
        if _is_of_containers(tool, arguments):
            notes.add(*_out_of_container(arguments))
    return notes.found


def _is_of_containers(tool: str, arguments: Mapping[str, Any]) -> bool:
    """Whether a call may start a container, or write the text that one is started by."""
    spelled = {*words(tool).split("_"), *map(words, keys(arguments))}
    return not _CONTAINERS.isdisjoint(spelled) or any(
        path.endswith((".yml", ".yaml")) for _, path in paths(arguments)
    )


def _out_of_container(arguments: Mapping[str, Any]) -> Iterator[FindingKind]:
    if any(name in _REACHES_HOST and is_on for name, is_on in switches(arguments)):
        yield effects.LEAVES_CONTAINER
    for name, text in members(arguments):
        if _LOOSENS.search(text) or (name in _MOUNTS and _MOUNTS_HOST.match(text)):
            yield effects.LEAVES_CONTAINER
