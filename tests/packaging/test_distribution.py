"""What is installed, with what, and what must not be in the tree."""

import ast
import re
import subprocess
import sys
import tomllib
from itertools import chain
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = {"approval-dashboard": ROOT, "approval-client": ROOT / "client"}
PROJECTS = {
    name: tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    for name, folder in FOLDERS.items()
}
PACKAGES = [ROOT / "dashboard", ROOT / "client" / "approval_client"]
PINNED = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;]+)(?: ; (.+))?$", re.MULTILINE)
MADE = [
    ".ruff_cache/x",
    ".venv-client/bin/python",
    ".venv-frameworks/bin/python",
    ".venv/bin/python",
    "approval_dashboard.egg-info/x",
    "client/approval_client/__pycache__/x.pyc",
    "client/dist/x.whl",
    "dashboard/__pycache__/x.pyc",
    "dist/x.whl",
    "screenshots/x.png",
    "tests/static/node_modules/x",
    "var/dashboard.sqlite3",
]


def dependencies(name):
    return {Requirement(text).name: text for text in PROJECTS[name]["dependencies"]}


def requirements():
    extras = [extra for p in PROJECTS.values() for extra in p["optional-dependencies"].values()]
    texts = chain(*(project["dependencies"] for project in PROJECTS.values()), *extras)
    found = [Requirement(text) for text in sorted(set(texts))]
    return [requirement for requirement in found if requirement.name not in PROJECTS]


def imported(path):
    """Name what a file imports when it runs: nothing that it names for type checkers alone."""
    waiting = [ast.parse(path.read_text())]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            waiting += node.orelse
            continue
        waiting += ast.iter_child_nodes(node)
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def imports_of(folder):
    files = [folder] if folder.is_file() else sorted(folder.rglob("*.py"))
    return {m.partition(".")[0] for f in files for m in imported(f)} - sys.stdlib_module_names


def test_the_agents_library_imports_httpx2_and_its_commands_what_the_extras_bring():
    library, command = PACKAGES[1], PACKAGES[1] / "command"
    rest = [path for path in library.iterdir() if path not in {command, library / "__pycache__"}]

    assert set().union(*map(imports_of, rest)) == {"approval_client", "httpx2"}
    assert imports_of(command) == {"approval_client", "rich", "typer"}


def test_workers_import_the_standard_library_alone():
    assert imports_of(ROOT / "dashboard" / "sandbox.py") == set()


def test_the_agents_library_needs_httpx2_alone():
    assert set(dependencies("approval-client")) == {"httpx2"}


def test_the_server_needs_the_library_of_its_own_version():
    assert PROJECTS["approval-dashboard"]["version"] == PROJECTS["approval-client"]["version"]
    needed = Requirement(dependencies("approval-dashboard")["approval-client"])
    assert PROJECTS["approval-client"]["version"] in needed.specifier


def test_there_are_extras_for_the_command_mcp_chats_traces_scale_and_developers():
    extras = {name: p["optional-dependencies"] for name, p in PROJECTS.items()}

    assert {name: sorted(found) for name, found in extras.items()} == {
        "approval-client": ["cli", "mcp"],
        "approval-dashboard": ["dev", "notify", "otel", "scale"],
    }
    assert {"approval-client[cli]", "approval-dashboard[scale,notify,otel]"} <= {
        *extras["approval-dashboard"]["dev"]
    }


def test_both_packages_are_typed_and_have_the_licence():
    assert [package for package in PACKAGES if not (package / "py.typed").exists()] == []
    assert {tuple(project["license-files"]) for project in PROJECTS.values()} == {("LICENSE",)}
    (text,) = {(folder / "LICENSE").read_text() for folder in FOLDERS.values()}
    assert "Apache License" in text


@pytest.mark.parametrize("requirement", requirements(), ids=str)
def test_every_dependency_is_pinned_to_what_it_asks_for(requirement):
    pins = PINNED.findall((ROOT / "constraints.txt").read_text())
    versions = {v for name, v, _ in pins if name == canonicalize_name(requirement.name)}

    assert versions
    assert all(version in requirement.specifier for version in versions)


def test_every_line_of_the_constraints_is_an_exact_pin():
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    names = [line for line in lines if line and not line.lstrip().startswith("#")]

    assert [line for line in names if not PINNED.match(line)] == []


def test_what_runs_make_is_not_kept():
    kept = subprocess.run(
        ["git", "check-ignore", "--no-index", *MADE],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )

    assert sorted(kept.stdout.split()) == sorted(MADE)


def test_nothing_in_the_tree_names_a_place_on_this_machine():
    places = {str(ROOT), f"{Path.home()}/", sys.prefix} - {"//"}
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout

    files = [path for path in map(ROOT.joinpath, names.splitlines()) if path.is_file()]
    assert [path for path in files if any(p.encode() in path.read_bytes() for p in places)] == []


def test_the_tree_has_nothing_at_its_top_that_convention_does_not_expect():
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout

    assert {name.partition("/")[0] for name in names.splitlines()} <= {
        *(".ci", ".dockerignore", ".djlint_rules.yaml", ".gitignore"),
        *("Containerfile", "compose.yaml"),
        *("CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "README.md"),
        *(
            "client",
            "constraints.txt",
            "dashboard",
            "deploy",
            "docs",
            "examples",
            "manage.py",
            "pyproject.toml",
        ),
        *("static", "templates", "tests"),
    }
