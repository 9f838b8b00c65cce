"""Commands of a shell whose options or subcommands decide what they do. Data only."""

from __future__ import annotations

from typing import NamedTuple

from dashboard.inspection.findings import Severity
from dashboard.inspection.notes import Effect
from dashboard.inspection.shell.tables import (
    CHANGES_SYSTEM,
    HIDES_TRACES,
    INSTALLS,
    RUNS_COMMAND,
    RUNS_PROGRAM,
    STAYS_BEHIND,
    STOPS_PROCESSES,
    USES_NETWORK,
    WRITES_FILE,
)

HIGH, MEDIUM = Severity.HIGH, Severity.MEDIUM


class Option(NamedTuple):
    """What a command does once one of its arguments begins with a pattern."""

    pattern: str
    effect: Effect


_OPTIONS: tuple[tuple[str, tuple[Option, ...]], ...] = (
    ("sort", (Option("-[a-zA-Z]*o|--o", WRITES_FILE), Option("--co", RUNS_COMMAND))),
    ("tree", (Option("-[a-zA-Z]*o", WRITES_FILE),)),
    ("date", (Option("-[uRn]*s|--s|[0-9]{10,12}", CHANGES_SYSTEM),)),
    ("hostname", (Option("[^-]|-[a-zA-Z]*[bF]|--(b|fil)", CHANGES_SYSTEM),)),
    ("rg", (Option("--pre|--hostname-bin", RUNS_COMMAND),)),
    ("fd fdfind", (Option("-[a-zA-Z]*[xX]|--exec", RUNS_COMMAND),)),
    ("yq", (Option("-[a-zA-Z]*i|--in", WRITES_FILE),)),
    ("dmesg", (Option("-[a-zA-Z]*[cCDEn]|--(c|console|read-clear)", CHANGES_SYSTEM),)),
    ("journalctl", (Option("--(vacuum|rotate|flush|setup|update|relinquish)", CHANGES_SYSTEM),)),
    ("sysctl", (Option("-[a-zA-Z]*[wp]|--(w|l|s)|.*=", CHANGES_SYSTEM),)),
    ("man info less more", (Option("-[a-zA-Z]*[PHkKoOL]|--|[+]", RUNS_COMMAND),)),
    ("crontab", (Option("(?!-l$)", STAYS_BEHIND),)),
    ("atq getfacl lsattr getcap bc envsubst stty", ()),
    ("file", (Option("-[a-zA-Z]*C|--comp", WRITES_FILE),)),
    ("hash", (Option("-[a-z]*p", RUNS_COMMAND),)),
    ("uniq", ()),
    ("xxd", (Option("-[a-zA-Z]*r", WRITES_FILE),)),
    ("ifconfig", (Option("(up|down|netmask|add|del|hw|mtu|[0-9])", CHANGES_SYSTEM),)),
    (
        "ip route bridge tc",
        (Option("(add|del|set|change|replace|flush|append|exec)", CHANGES_SYSTEM),),
    ),
    ("ss netstat", (Option("-[a-zA-Z]*K|--kill", STOPS_PROCESSES),)),
    ("history", (Option("-[a-zA-Z]*[cdwanr]", HIDES_TRACES),)),
    ("cloc tokei mypy flake8 shellcheck pyright", ()),
    ("sqlformat jsonlint yamllint xmllint", (Option("-o|--output|--shell", WRITES_FILE),)),
    ("bat batcat", (Option("--(pager|p)", RUNS_COMMAND),)),
    (
        "ruff",
        (
            Option("format$|clean$|--fix|--unsafe|--add-noqa|--o|-o", WRITES_FILE),
            Option("--config|rule$", RUNS_PROGRAM),
        ),
    ),
    (
        "zip",
        (
            Option("[^-]|-[a-zA-Z]*m|--m", WRITES_FILE),
            Option("-[a-zA-Z]*T|--(t|u)", RUNS_COMMAND),
        ),
    ),
    ("exiftool", (Option("-|@", WRITES_FILE),)),
)
OPTIONS = {name: options for names, options in _OPTIONS for name in names.split()}
MOST_OPERANDS = {"uniq": 1, "xxd": 1}
"""Of these the operand after so many is a file that they write."""


class Subcommands(NamedTuple):
    """What a command with subcommands does.

    Attributes:
        effects: By subcommand; none for those that only read.
        otherwise: What every other one does.
        values: The options before the subcommand that take a value.
    """

    effects: dict[str, tuple[Effect, ...]]
    otherwise: tuple[Effect, ...]
    values: frozenset[str] = frozenset()


def _subcommands(
    reading: str,
    *rows: tuple[str, tuple[Effect, ...]],
    otherwise: tuple[Effect, ...],
    values: str = "",
) -> Subcommands:
    effects: dict[str, tuple[Effect, ...]] = dict.fromkeys(reading.split(), ())
    effects |= {name: row for names, row in rows for name in names.split()}
    return Subcommands(effects, otherwise, frozenset(values.split()))


_PACKAGES = (
    (
        "install i add ci update upgrade dist-upgrade full-upgrade get sync download",
        (USES_NETWORK, INSTALLS),
    ),
    (
        "uninstall remove rm purge autoremove erase prune",
        (Effect("file-delete", MEDIUM, "Uninstalls packages."),),
    ),
    ("run exec start test x publish", (RUNS_PROGRAM,)),
)
_PACKAGES_READING = (
    "list ls show freeze search info outdated view why check version versions help config-get "
    "policy depends rdepends tree metadata dump history"
)
_DELETES_SERVICES = Effect("system-change", HIGH, "Deletes what runs on other machines.")
_CHANGES_SERVICES = Effect("system-change", HIGH, "Changes what runs on other machines.")
_PACKAGE_MANAGERS = (
    "pip pip3 npm yarn pnpm bun gem cargo apt apt-get aptitude yum dnf brew conda mamba "
    "micromamba poetry uv pipenv pacman apk zypper snap flatpak composer nuget choco winget "
    "scoop go deno port"
)
SUBCOMMANDS: dict[str, Subcommands] = {
    **dict.fromkeys(
        _PACKAGE_MANAGERS.split(),
        _subcommands(_PACKAGES_READING, *_PACKAGES, otherwise=(RUNS_PROGRAM,)),
    ),
    "systemctl": _subcommands(
        (
            "status show list-units list-unit-files list-timers list-sockets list-jobs "
            "list-dependencies is-active is-enabled is-failed "
            "is-system-running cat help get-default"
        ),
        otherwise=(CHANGES_SYSTEM,),
        values="-H -M -t -p -n -o --host --machine --type --property --state",
    ),
    "docker": _subcommands(
        "ps images logs inspect version info stats top port diff history events search",
        ("run create start restart exec build compose up", (RUNS_PROGRAM,)),
        ("pull push login", (USES_NETWORK,)),
        ("cp save export load import commit tag", (WRITES_FILE,)),
        ("stop kill pause unpause", (STOPS_PROCESSES,)),
        (
            "rm rmi prune system volume network container image",
            (Effect("system-change", HIGH, "Deletes or changes containers, images or volumes."),),
        ),
        otherwise=(RUNS_PROGRAM,),
        values="-H --host -c --context --config -l --log-level",
    ),
    "kubectl": _subcommands(
        (
            "get describe logs top explain api-resources api-versions version cluster-info diff "
            "auth events options"
        ),
        ("delete drain evict", (_DELETES_SERVICES,)),
        ("exec run debug", (RUNS_PROGRAM, USES_NETWORK)),
        otherwise=(_CHANGES_SERVICES,),
        values="-n --namespace --context --cluster --kubeconfig --user -s --server --token --as",
    ),
    "helm": _subcommands(
        "list ls status get history show search template lint version env",
        ("uninstall delete un del", (_DELETES_SERVICES,)),
        otherwise=(_CHANGES_SERVICES,),
        values="-n --namespace --kube-context --kubeconfig",
    ),
    "terraform": _subcommands(
        "plan show validate version output providers graph",
        ("fmt", (WRITES_FILE,)),
        ("init get", (USES_NETWORK, INSTALLS)),
        ("destroy", (_DELETES_SERVICES,)),
        otherwise=(_CHANGES_SERVICES,),
    ),
}
SUBCOMMANDS |= {
    "podman": SUBCOMMANDS["docker"],
    "nerdctl": SUBCOMMANDS["docker"],
    "oc": SUBCOMMANDS["kubectl"],
    "tofu": SUBCOMMANDS["terraform"],
    "terragrunt": SUBCOMMANDS["terraform"],
    "service": Subcommands({"--status-all": ()}, (CHANGES_SYSTEM,)),
    "docker-compose": SUBCOMMANDS["docker"],
}
