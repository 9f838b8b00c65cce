"""What bandit and semgrep report on the same Python: on which texts they have any result."""

import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.corpora import fetching

_NO_EFFECT = "B101"  # an assertion, of which bandit says nothing about what it does
_RUN_SEMGREP = [
    *("tool", "run", "-q", "--from", "semgrep==1.185.0", "semgrep", "scan"),
    *("--json", "--quiet", "--metrics=off", "--disable-version-check", "--no-git-ignore"),
]
_SEMGREP_RULES = Path("python") / "lang" / "security"


def others(texts):
    """Return, by the tool's name, the positions of the texts about which it reports something.

    semgrep's rules are in no package, so it is asked only where a copy of them is given.
    """
    with TemporaryDirectory() as name:
        folder = Path(name)
        for number, text in enumerate(texts):
            (folder / f"{number}.py").write_text(text)
        reported = {"bandit": _bandit(folder)}
        rules = fetching.given("semgrep-rules")
        if rules is not None:
            reported["semgrep"] = _semgrep(folder, rules / _SEMGREP_RULES)
    return reported


def bandit_results(folder):
    """Return bandit's results on a folder, as it tells them."""
    program = fetching.python().with_name("bandit")
    told = subprocess.run(
        [program, "-q", "-r", "-f", "json", "--ignore-nosec", folder],
        capture_output=True,
        check=False,  # it ends with 1 where it has results
    )
    return json.loads(told.stdout)["results"]


def _bandit(folder):
    results = bandit_results(folder)
    return {_number(r["filename"]) for r in results if r["test_id"] != _NO_EFFECT}


def _semgrep(folder, rules):
    uv = Path(sys.executable).with_name("uv")
    told = subprocess.run(
        [uv, *_RUN_SEMGREP, "--config", rules, folder],
        capture_output=True,
        check=True,
    )
    return {_number(result["path"]) for result in json.loads(told.stdout)["results"]}


def _number(path):
    return int(Path(path).stem)
