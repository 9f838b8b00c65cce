"""Has two type checkers read what the docs show, with a framework's own types.

That code must be right as it stands: it is what people begin with.
"""

import os
import subprocess
import sys
from importlib.util import find_spec

from tests.docs.reading import PAGES, ROOT, python_blocks

EXAMPLES = ROOT / "examples"
UNTYPED = ["--disable-error-code=import-untyped", "--allow-untyped-decorators"]
STANDARD = '{"typeCheckingMode": "standard"}'  # its strict complains of the frameworks themselves


def shown(folder, *examples):
    """Write what the docs show into files: every block that can run here, and these examples."""
    files = {f"with_{name}.py": (EXAMPLES / f"with_{name}.py").read_text() for name in examples}
    for page in PAGES:
        for number, (code, needs) in enumerate(python_blocks(page), 1):
            if all(map(find_spec, needs.split())):
                files[f"{page.parent.name}_{page.stem}_{number}.py"] = code
    return [write(folder / name, code) for name, code in files.items()]


def write(file, code):
    file.write_text(code)
    return file


def problems(folder, files, *, has_types=True):
    """Return what mypy and pyright find, a line each.

    Args:
        folder: Where to work.
        files: What to read.
        has_types: Whether the frameworks say of what type anything is. mypy asks for it, if so.
    """
    more = [] if has_types else UNTYPED
    return [*_mypy(folder, files, more), *_pyright(folder, files)]


def _mypy(folder, files, more):
    # What it has read of the framework stands in the framework's environment, for the next test.
    options = ["--strict", "--config-file=", f"--cache-dir={sys.prefix}/.mypy_cache"]
    done = _run("mypy", folder, *options, *more, *files)
    *found, summary = done.stdout.splitlines() or [done.stderr]
    if not summary.startswith(("Success: no issues found in ", "Found ")):
        raise RuntimeError(done.stdout + done.stderr)
    return [f"mypy: {line}" for line in found]


def _pyright(folder, files):
    write(folder / "pyrightconfig.json", STANDARD)
    done = _run("pyright", folder, "--pythonpath", sys.executable, *files)
    if not done.stdout.rstrip().endswith(" informations"):
        raise RuntimeError(done.stdout + done.stderr)
    return [
        f"pyright: {line.strip()}" for line in done.stdout.splitlines() if " - error: " in line
    ]


def _run(checker, folder, *arguments):
    return subprocess.run(
        [sys.executable, "-m", checker, *arguments],
        cwd=folder,
        env=os.environ | {"MYPYPATH": str(ROOT / "client")},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
