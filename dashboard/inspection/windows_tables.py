"""Dangerous commands of Windows. Data only."""

from __future__ import annotations

from typing import NamedTuple

from dashboard.inspection.findings import Severity
from dashboard.inspection.notes import Effect, doubt, names
from dashboard.inspection.shell import tables

HIGH, MEDIUM = Severity.HIGH, Severity.MEDIUM
_ERASES = (tables.DELETES_FOLDERS,)
_DELETES = (tables.DELETES_FILES,)
_CHANGES = (tables.CHANGES_SYSTEM,)
_REGISTRY = (Effect("system-change", HIGH, "Changes the registry of Windows."),)
_EVALUATES = (Effect("dynamic-code", HIGH, "Runs text as code."),)
_LOADS = (Effect("dynamic-code", HIGH, "Loads or compiles code while it runs."),)
_RENAMES = Effect("dynamic-code", MEDIUM, "Gives a command another name.")
_COMPUTED = (
    doubt(
        "cannot-be-followed",
        "The name of a command is put together while it runs, so it is not known.",
    ),
)
_ENCODED = (
    Effect("dynamic-code", HIGH, "Runs code that is encoded, so that nobody can read it."),
    doubt("cannot-be-followed", "Holds encoded code."),
)
_FORMATS = (
    Effect("system-change", HIGH, "Formats a drive."),
    Effect("recursive-delete", HIGH, "Formats a drive: everything on it is gone."),
)
_RIGHTS = (tables.OPENS_RIGHTS,)
_SHADOWS = (Effect("recursive-delete", HIGH, "Deletes backups of this machine."),)


class Row(NamedTuple):
    """Commands, and what one of their words has to begin with for the effects to be theirs."""

    names: frozenset[str]
    flags: str
    effects: tuple[Effect, ...]


_ROWS: tuple[tuple[str, str, tuple[Effect, ...]], ...] = (
    ("del erase", r"/[sfq]|-r|-fo", _ERASES),
    ("del erase unlink", "", _DELETES),
    ("rd rmdir deltree", r"/s|-r|-fo", _ERASES),
    ("rd rmdir deltree", "", _DELETES),
    ("remove-item ri rm clear-recyclebin", r"-r|-fo", _ERASES),
    ("remove-item ri rm clear-content clc clear-item", "", _DELETES),
    ("robocopy", r"/mir|/purge|/move|/mov", _ERASES),
    ("format format.com", r"[a-z]:", _FORMATS),
    ("format-volume", "", _FORMATS),
    ("clear-disk initialize-disk diskpart cipher remove-partition", "", (tables.WRITES_DISK,)),
    ("vssadmin wbadmin", r"delete|resize", _SHADOWS),
    ("wmic", r"delete|shadowcopy|call|process", _CHANGES),
    ("iex invoke-expression invoke-command icm", "", _EVALUATES),
    ("iex invoke-expression", r".*(?:iwr|irm|invoke-webrequest|invoke-restmethod|download|http)",
     (tables.PIPES_TO_SHELL,)),
    ("add-type [reflection.assembly]::load frombase64string", "", _LOADS),
    (
        "powershell pwsh cmd powershell_ise",
        r"[-/]e(?:c|n|nc|nco\w*)?$",
        _ENCODED,
    ),
    ("-encodedcommand -enc -ec", "", _ENCODED),
    ("mshta rundll32 regsvr32 cscript wscript installutil msbuild msiexec forfiles", "",
     (tables.RUNS_COMMAND,)),
    ("start-process saps start invoke-item ii call", "", (tables.RUNS_PROGRAM,)),
    ("runas start-process saps", r"runas|/user", (tables.GAINS_RIGHTS,)),
    (
        ("invoke-webrequest iwr invoke-restmethod irm start-bitstransfer bitsadmin curl wget ftp "
        "net.webclient system.net.webclient new-pssession enter-pssession ssh scp nc telnet "
        "test-netconnection send-mailmessage"),
        "",
        (tables.USES_NETWORK,),
    ),
    ("certutil", r"-urlcache|/urlcache|-decode|/decode", (tables.USES_NETWORK,)),
    ("reg", r"add|delete|import|copy|restore|load|unload", _REGISTRY),
    (
        ("regedit regini set-itemproperty sp new-itemproperty remove-itemproperty rp "
        "clear-itemproperty rename-itemproperty"),
        "",
        _REGISTRY,
    ),
    (
        ("shutdown restart-computer stop-computer bcdedit bootrec stop-service set-service "
        "new-service remove-service restart-service suspend-service netsh set-executionpolicy "
        "set-mppreference add-mppreference disable-computerrestore dism sfc fsutil mountvol subst "
        "wevtutil clear-eventlog limit-eventlog new-netfirewallrule set-netfirewallprofile "
        "disable-windowsoptionalfeature uninstall-package logoff rename-computer setx"),
        "",
        _CHANGES,
    ),
    ("sc sc.exe", r"stop|delete|create|config|start", _CHANGES),
    ("net net1", r"stop|start|share|use|accounts", _CHANGES),
    ("net net1", r"user|localgroup|group", _RIGHTS),
    (
        ("icacls cacls takeown set-acl new-localuser add-localgroupmember set-localuser "
        "enable-localuser secedit"),
        "",
        _RIGHTS,
    ),
    ("taskkill stop-process spps kill tskill", "", (tables.STOPS_PROCESSES,)),
    (
        ("schtasks register-scheduledtask new-scheduledtask start-job start-threadjob "
        "register-wmievent set-wmiinstance"),
        "",
        (tables.STAYS_BEHIND,),
    ),
    (
        ("> set-content sc out-file add-content ac copy move xcopy robocopy ren mkdir md new-item "
        "ni copy-item move-item rename-item cp mv export-csv tee-object expand-archive "
        "compress-archive mklink attrib"),
        "",
        (tables.WRITES_FILE,),
    ),
    ("at", r"\d\d?:\d\d|/delete|/every|\\\\", (tables.STAYS_BEHIND,)),
    ("set-alias sal new-alias nal doskey", "", (_RENAMES,)),
    ("cmdkey get-credential vaultcmd mimikatz export-pfxcertificate", "", (tables.READS_SECRETS,)),
    ("caput caputq pvput dbpf", "", (tables.WRITES_CONTROL,)),
    ("pip npm choco winget install-module install-package scoop",
     r"install|i$|add|update|upgrade|download", (tables.USES_NETWORK, tables.INSTALLS)),
    ("sudo gsudo", "", (tables.GAINS_RIGHTS,)),
    ("bash wsl sh python py node perl", r"-c|-e", (tables.RUNS_COMMAND,)),
)  # fmt: skip
ROWS = tuple(Row(names(commands), flags, effects) for commands, flags, effects in _ROWS)
PATTERNS: tuple[tuple[str, tuple[Effect, ...]], ...] = (
    (r"(?:^|[;|&({=])\s*[&.]\s*[($]", _COMPUTED),
    (r"%\w+:[^%\s]+%|!\w+:[^!\s]+!|(?:^|[&|(@])\s*[%!]\w+[%!]|\w[%!]\w+[%!]\w*\s+[-/]", _COMPUTED),
    (r"\binvokecommand\b|\[ref\]\.assembly|amsi|\.invoke\(|\]::create\(", _EVALUATES),
    (
        r"\.downloadstring\(.{0,300}\biex\b|\biex\b.{0,300}\.downloadstring\(",
        (tables.PIPES_TO_SHELL,),
    ),
    (r"directory\]::delete\(", _ERASES),
    (r"(?:\]::|\.)delete\(", _DELETES),
    (r"\]::(?:write|append|create|copy|move|replace)|\.(?:copyto|moveto|savetofile)\(",
     (tables.WRITES_FILE,)),
    (r"process\]::start|\.(?:shellexecute|run|exec)\(|wscript\.shell|shell\.application",
     (tables.RUNS_COMMAND,)),
    (r"\.(?:download\w+|upload\w+|getasync|openread)\(|sockets\.", (tables.USES_NETWORK,)),
    (r"\]::(?:setenvironmentvariable|exit)\(", _CHANGES),
)  # fmt: skip
"""What is dangerous wherever it stands in a line."""
