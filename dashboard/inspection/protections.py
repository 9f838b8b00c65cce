"""What the call of a tool asks to be let out of: a sandbox, a container, somebody's approval."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import Any

from dashboard.inspection import effects
from dashboard.inspection.findings import Finding
from dashboard.inspection.notes import FindingKind, Notes, names
from dashboard.inspection.parts import (
    WHOLE,
    holds_command,
    keys,
    members,
    paths,
    switches,
    words,
)

_CONTAINERS = names("""
    docker podman container containers compose kubernetes kubectl k8s helm pod pods manifest
    manifests
""")
_MANIFESTS = (".yml", ".yaml", ".json")
_LOOSENS = re.compile(
    r"""(?:^|[{,])[ \t]*(?:-[ \t]+)?["']?(?:"""
    r"""(?:privileged|allowPrivilegeEscalation|host(?:PID|IPC|Network))["']?\s*:\s*["']?"""
    r"""(?:true|yes|on)\b|hostPath["']?\s*:\s*(?:\{|$))""",
    re.MULTILINE | re.IGNORECASE,
)
"""What lets a container of Kubernetes or Compose out, in the text that describes it."""

_OF_KUBERNETES = re.compile(r"""\b(?:apiVersion|services|volumes|securityContext)["']?\s*:""")
_REACHES_HOST = names("privileged host_pid host_ipc host_network allow_privilege_escalation")
_NAMESPACES = names("network network_mode pid pid_mode ipc ipc_mode userns_mode")
_CAPABILITIES = names("cap_add cap_adds capabilities_add")
_MOUNTS = names("volumes volume binds bind mounts mount host_path")
_SOURCES = names("source src host host_path")
_HOST_FOLDERS = names("/ /etc /root /proc /sys /dev /var /home")
_SOURCE = re.compile(r"(?:^|,)(?:source|src)=([^,]+)|^([^:,=]+):")
_LOOSE = names("""
    dangerously_disable_sandbox disable_sandbox no_sandbox skip_sandbox without_sandbox unsandboxed
    dangerously_skip_permissions skip_permissions bypass_permissions skip_approval skip_approvals
    bypass_approvals dangerously_bypass_approvals_and_sandbox dangerously_allow_browser
    with_escalated_permissions auto_approve allow_dangerous_code allow_dangerous_requests
""")
_GUARDS = names("sandbox sandboxed use_sandbox")
"""Switches that protect while they are on, of what runs something."""

_OPEN_MODES = names("danger-full-access bypasspermissions require_escalated")
_NEVER_ASKS = names("approval_policy ask_for_approval")


def asked_without(tool: str, arguments: Mapping[str, Any]) -> list[Finding]:
    """Return which protections a call asks to go without."""
    notes = Notes(WHOLE)
    with notes.at(0, 0):
        if _loosens(arguments):
            notes.add(effects.WITHOUT_PROTECTION)
        if _is_of_containers(tool, arguments):
            notes.add(*_out_of_container(arguments))
    return notes.found


def _loosens(arguments: Mapping[str, Any]) -> bool:
    guards = _GUARDS if holds_command(arguments) else frozenset[str]()
    return any(
        (name in _LOOSE and is_on) or (name in guards and not is_on)
        for name, is_on in switches(arguments)
    ) or any(
        text.strip().lower() in _OPEN_MODES or (name in _NEVER_ASKS and text == "never")
        for name, text in members(arguments)
    )


def _is_of_containers(tool: str, arguments: Mapping[str, Any]) -> bool:
    """Whether a call may start a container, or write the text that one is started by."""
    spelled = {*words(tool).split("_"), *map(words, keys(arguments))}
    return not _CONTAINERS.isdisjoint(spelled) or any(
        path.lower().endswith(_MANIFESTS) for _, path in paths(arguments)
    )


def _out_of_container(arguments: Mapping[str, Any]) -> Iterator[FindingKind]:
    if any(name in _REACHES_HOST and is_on for name, is_on in switches(arguments)):
        yield effects.LEAVES_CONTAINER
    if any(map(_is_of_host, _sources(arguments))):
        yield effects.LEAVES_CONTAINER
    for name, text in members(arguments):
        is_described = _OF_KUBERNETES.search(text) or "kind:" in text
        if (
            (is_described and _LOOSENS.search(text))
            or (name in _NAMESPACES and text == "host")
            or name in _CAPABILITIES
            or text == "--privileged"
        ):
            yield effects.LEAVES_CONTAINER


def _sources(value: Any, *, is_mount: bool = False) -> Iterator[str]:
    """Yield the folders of the host that members for mounts name, in all their forms."""
    if isinstance(value, Mapping):
        for key in sorted(value):
            if is_mount and isinstance(value[key], Mapping | str):
                yield key  # {"/": {"bind": "/host"}}
            if is_mount and words(key) in _SOURCES and isinstance(value[key], str):
                yield value[key]
            yield from _sources(value[key], is_mount=is_mount or words(key) in _MOUNTS)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _sources(item, is_mount=is_mount)
    elif is_mount and isinstance(value, str):
        yield from (match[1] or match[2] for match in _SOURCE.finditer(value))


def _is_of_host(path: str) -> bool:
    place = posixpath.normpath(path)
    return re.sub("^//", "/", place) in _HOST_FOLDERS or place.endswith(("docker.sock", "/.ssh"))
