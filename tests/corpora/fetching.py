"""Fetches what is pinned in ``corpora.toml`` into an ignored folder, and nothing else.

Source packages come from PyPI's index by name and are kept only if their hash is right. They are
unpacked and never built: what is in them is read, not run. What no package carries is read from
copies in the folder that the environment variable ``CORPORA`` names: ``tldr.jsonl`` (a page, what
it says and a command a line), ``gtfobins`` and ``semgrep-rules`` (checkouts of both).
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import time
import tomllib
import urllib.request
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
FOLDER = CHECKOUT / ".corpora"
PINS = tomllib.loads(Path(__file__).with_name("corpora.toml").read_text())
_INDEX = os.environ.get("PIP_INDEX_URL", "https://pypi.org/simple").rstrip("/")
_FORMAT = "application/vnd.pypi.simple.v1+json"
_REQUIREMENTS = Path(__file__).with_name("tools.txt")
_TIMEOUT_S = 120
_PAUSES_S = (2, 10, 0)  # between tries: an index is sometimes busy


class FetchError(Exception):
    """Something that is pinned could not be had, or is not what was pinned."""


def fetch():
    """Have all packages unpacked and all tools installed; what is there already is left alone."""
    for package in PINS["packages"]:
        if not folder_of(package).is_dir():
            _unpack(package, _download(package["name"], package["file"]))
    _install()


def folder_of(package):
    """Return where a package is unpacked; its hash is part of the name."""
    return FOLDER / f"{package['name']}-{package['sha256'][:12]}"


def unpacked(name):
    """Return the folder of the package of this name."""
    return folder_of(next(package for package in PINS["packages"] if package["name"] == name))


def python():
    """Return the interpreter of the environment that holds numpy, pandas and bandit."""
    return _environment() / "bin" / "python"


def given(name):
    """Return a copy in the folder that ``CORPORA`` names, or None where there is none."""
    folder = os.environ.get("CORPORA")
    copy = Path(folder) / name if folder else None
    return copy if copy is not None and copy.exists() else None


def checked(data, package):
    """Return the bytes of a package.

    Raises:
        FetchError: They are others than those that were pinned.
    """
    digest = hashlib.sha256(data).hexdigest()
    if digest != package["sha256"]:
        raise FetchError(
            f"{package['file']} has the SHA-256 {digest} instead of {package['sha256']}. "
            "It was not unpacked."
        )
    return data


def _download(name, file):
    listed = json.loads(_get(f"{_INDEX}/{name}/", {"Accept": _FORMAT}))["files"]
    url = next((entry["url"] for entry in listed if entry["filename"] == file), None)
    if url is None:
        raise FetchError(f"{_INDEX} has no {file}.")
    return _get(url)


def _get(url, headers=None):
    request = urllib.request.Request(url, headers=headers or {})  # noqa: S310 - the index's address
    for pause_s in _PAUSES_S:
        try:
            with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as answer:  # noqa: S310
                return answer.read()
        except OSError as error:
            reason = error
            time.sleep(pause_s)
    raise FetchError(f"{url} could not be read: {reason}")


def _unpack(package, data):
    FOLDER.mkdir(exist_ok=True)
    archive, half = FOLDER / package["file"], FOLDER / f"half-{package['name']}"
    archive.write_bytes(checked(data, package))
    shutil.rmtree(half, ignore_errors=True)
    with tarfile.open(archive) as opened:
        opened.extractall(half, filter="data")
    (inner,) = half.iterdir()
    inner.rename(folder_of(package))
    half.rmdir()
    archive.unlink()


def _environment():
    digest = hashlib.sha256(_REQUIREMENTS.read_bytes()).hexdigest()
    return FOLDER / f"tools-{digest[:12]}"


def _install():
    place, ready = _environment(), _environment() / "ready"
    if ready.exists():
        return
    uv = Path(sys.executable).with_name("uv")
    subprocess.run([uv, "venv", "-q", "--clear", "--python", sys.executable, place], check=True)
    subprocess.run(
        [
            *(uv, "pip", "install", "-q", "--python", place / "bin" / "python"),
            *("--require-hashes", "--only-binary", ":all:", "-r", _REQUIREMENTS),
        ],
        check=True,
    )
    ready.touch()
