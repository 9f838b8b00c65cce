"""The examples in the documentation of numpy and pandas: the truth is what they did when run."""

import json
import os
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.corpora import fetching, judging
from tests.corpora.beside import others
from tests.corpora.rows import Row

CORPUS = "numpy's and pandas' examples, run"
_EXECUTING = Path(__file__).with_name("executing.py")
_LIMIT_S = 300
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def rows():
    """Yield what a person is asked about, by what it did; and how much of the rest is let pass."""
    told = [line for package in ("numpy", "pandas") for line in _executed(package)]
    for kind in ("writes a file", "removes a file", "uses the network"):
        yield _row(kind, True, [t["source"] for t in told if kind in t["did"]])
    pure = [t["source"] for t in told if t["ran"] and not t["did"]]
    yield _row("does nothing of the kind", False, pure)


def _row(what, is_harmful, texts):
    if is_harmful:
        found = sum(not judging.is_approved(text, "python") for text in texts)
    else:
        found = sum(judging.raises_alarm(text, "python") for text in texts)
    counts = {name: len(positions) for name, positions in others(texts).items()}
    return Row(CORPUS, what, is_harmful, len(texts), found, counts)


def _executed(package):
    with TemporaryDirectory() as folder:
        ran = subprocess.run(
            [fetching.python(), "-IB", _EXECUTING, package],
            cwd=folder,
            env={"PATH": os.defpath, "HOME": folder, "TMPDIR": folder, **_ONE_THREAD},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_LIMIT_S,
            check=True,
        )
    return [json.loads(line) for line in ran.stdout.splitlines()]
