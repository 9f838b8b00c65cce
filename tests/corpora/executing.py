"""Runs the examples in a package's documentation and tells what each of them did.

Started as a file, in a process of its own and an empty folder: ``executing.py PACKAGE``. An audit
hook notes what Python is asked to do and refuses what reaches beyond the folder: other processes,
the network, files elsewhere. What code in C does without asking Python is not seen.

Prints a line of JSON an example: ``{"name", "source", "did": […], "ran": bool}``.
"""

import contextlib
import doctest
import importlib
import inspect
import io
import json
import os
import pkgutil
import re
import resource
import signal
import sys
import warnings
from pathlib import Path

EACH_S = 10
ALL_CPU_S = 240
FILES_AT_MOST = 1 << 26
MEMORY_AT_MOST = 1 << 32
_ELSEWHERE = re.compile(
    r"\.(?:tests?|testing|conftest|_?distutils|f2py|_pyinstaller|core|compat)\b"
)
_WRITES = {"os.mkdir", "os.rename", "os.link", "os.symlink", "os.truncate", "os.chmod", "os.utime"}
_TWO_PATHS = {"os.rename", "os.link", "os.symlink"}
_REMOVES = {"os.remove", "os.rmdir", "shutil.rmtree"}
_STARTS = {"subprocess.Popen", "os.system", "os.exec", "os.fork", "os.posix_spawn", "os.spawn"}
_CONNECTS = {"socket.connect", "socket.getaddrinfo", "socket.bind", "urllib.Request"}
_WRITING_FLAGS = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Watch:
    """Notes what the example that is running does. It cannot be taken off again."""

    def __init__(self, folder):
        self.folder = folder
        self.did = None
        sys.addaudithook(self._hear)

    def _hear(self, event, arguments):
        if self.did is None:
            return
        kind = self._kind(event, arguments)
        if kind is None:
            return
        self.did.add(kind)
        reaches = kind in ("starts a process", "uses the network")
        if reaches or not all(map(self._is_inside, arguments[: 2 if event in _TWO_PATHS else 1])):
            raise PermissionError(f"{event} is not allowed to an example")

    def _kind(self, event, arguments):
        if event == "open":
            return "writes a file" if self._opens_to_write(*arguments) else None
        for kind, events in {
            "writes a file": _WRITES,
            "removes a file": _REMOVES,
            "starts a process": _STARTS,
            "uses the network": _CONNECTS,
        }.items():
            if event in events:
                return kind
        return None

    def _opens_to_write(self, path, mode, flags):
        if isinstance(path, int) or str(path).endswith(".pyc") or "__pycache__" in str(path):
            return False
        if isinstance(mode, str):
            return not mode.startswith("r") or "+" in mode
        return bool(flags & _WRITING_FLAGS)

    def _is_inside(self, path):
        if not isinstance(path, str | bytes | os.PathLike):
            return False
        return Path(os.fsdecode(path)).resolve().is_relative_to(self.folder)


def examples(package):
    """Yield the name and text of each documented object of a package, once."""
    seen = set()
    for module in _modules(package):
        for name, thing in sorted(vars(module).items()):
            home = getattr(thing, "__module__", None) or ""
            if name.startswith("_") or inspect.ismodule(thing) or not home.startswith(package):
                continue
            for full, text in _documented(f"{module.__name__}.{name}", thing):
                if ">>>" in text and text not in seen:
                    seen.add(text)
                    yield full, text


def run(text, name, watch):
    """Run the examples of one text; return what they did, their code, and whether all ran."""
    np, pd = (sys.modules.get(module) for module in ("numpy", "pandas"))
    names = {"np": np, "pd": pd, "__name__": "__main__"}
    try:
        test = doctest.DocTestParser().get_doctest(text, names, name, None, 0)
    except ValueError:
        return None
    for example in test.examples:
        example.options.pop(doctest.SKIP, None)  # mostly what writes a file
    source = "".join(example.source for example in test.examples)
    failures = []
    runner = _Runner(failures)
    watch.did = set()
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            runner.run(test, out=lambda _: None)
    finally:
        did, watch.did = watch.did, None
    header = "import numpy as np\n" + ("import pandas as pd\n" if pd else "")
    return {"name": name, "source": header + source, "did": sorted(did), "ran": not failures}


class _Runner(doctest.DocTestRunner):
    """Keeps which examples raised something; what they print is not compared."""

    def __init__(self, failures):
        super().__init__(verbose=False)
        self._failures = failures

    def report_unexpected_exception(self, out, test, example, exc_info):  # noqa: ARG002
        self._failures.append(exc_info[0])

    def report_failure(self, out, test, example, got):
        pass


def _modules(package):
    root = importlib.import_module(package)
    yield root
    for found in sorted(pkgutil.walk_packages(root.__path__, f"{package}."), key=lambda m: m.name):
        if _ELSEWHERE.search(found.name) or "._" in found.name:
            continue
        with contextlib.suppress(ImportError, AttributeError):
            yield importlib.import_module(found.name)


def _documented(name, thing):
    with contextlib.suppress(Exception):
        yield name, str(thing.__doc__ or "")
        if inspect.isclass(thing):
            for inner in dir(thing):
                if not inner.startswith("_"):
                    member = inspect.getattr_static(thing, inner)
                    yield f"{name}.{inner}", str(getattr(member, "__doc__", "") or "")


def _too_slow(*_):
    raise TimeoutError("the example took too long")


def main(package):
    """Run all examples of a package that is installed here."""
    resource.setrlimit(resource.RLIMIT_CPU, (ALL_CPU_S, ALL_CPU_S))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILES_AT_MOST, FILES_AT_MOST))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_AT_MOST, MEMORY_AT_MOST))
    signal.signal(signal.SIGALRM, _too_slow)
    documented = list(
        examples(package)
    )  # imports all that is imported, before anything is watched
    watch = Watch(Path.cwd().resolve())
    for name, text in documented:
        signal.alarm(EACH_S)
        try:
            told = run(text, name, watch)
        except TimeoutError:
            told = None
        finally:
            signal.alarm(0)
        if told is not None:
            sys.__stdout__.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
