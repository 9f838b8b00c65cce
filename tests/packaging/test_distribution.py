"""What is installed, with what, and what must not be in the tree."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
BASE = ("client", "capabilities", "wire.py", "sandbox.py")
PINNED = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;]+)(?: ; (.+))?$", re.MULTILINE)
MADE = [
    ".ruff_cache/x",
    ".venv-client/bin/python",
    ".venv-frameworks/bin/python",
    ".venv/bin/python",
    "approval_dashboard.egg-info/x",
    "dashboard/__pycache__/x.pyc",
    "dist/x.whl",
    "screenshots/x.png",
    "var/dashboard.sqlite3",
]


def requirements():
    texts = [*PROJECT["dependencies"], *(text for extra in EXTRAS.values() for text in extra)]
    found = [Requirement(text) for text in texts]
    return [requirement for requirement in found if requirement.name != PROJECT["name"]]


def imported(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def files_of(name):
    path = ROOT / "dashboard" / name
    return [path] if path.is_file() else sorted(path.rglob("*.py"))


@pytest.mark.parametrize("name", BASE)
def test_what_agents_install_imports_httpx2_and_the_standard_library(name):
    tops = {module.partition(".")[0] for file in files_of(name) for module in imported(file)}

    assert tops - sys.stdlib_module_names <= {"dashboard", "httpx2"}


def test_the_base_install_needs_httpx2_alone():
    assert [Requirement(text).name for text in PROJECT["dependencies"]] == ["httpx2"]


def test_there_are_extras_for_the_command_mcp_the_server_scale_and_developers():
    assert sorted(EXTRAS) == ["cli", "dev", "mcp", "scale", "server"]
    assert "approval-dashboard[cli,server,scale]" in EXTRAS["dev"]


def test_the_package_is_typed_and_has_its_licence():
    assert (ROOT / "dashboard" / "py.typed").exists()
    assert PROJECT["license-files"] == ["LICENSE"]
    assert "Apache License" in (ROOT / "LICENSE").read_text()


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
        *(".ci", ".gitignore", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "README.md"),
        *("constraints.txt", "dashboard", "docs", "examples", "manage.py", "pyproject.toml"),
        *("static", "templates", "tests"),
    }
