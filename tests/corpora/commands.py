"""Commands of shells, from copies that are given: the pages of tldr, and GTFOBins."""

import json
import re

import yaml

from tests.corpora import fetching, judging
from tests.corpora.rows import Row

TLDR = "tldr's commands"
GTFOBINS = "GTFOBins"
_READS = re.compile(
    r"(?:List|Show|Display|Print|View|Check|Search|Find|Get|Query|Inspect|Describe|Count|Compare|"
    r"Calculate|Test|Preview|Monitor|Watch|Look|Read|Report)\b"
)
_DESTROYS = re.compile(r"(?:Delete|Remove|Wipe|Kill|Erase|Destroy|Purge|Drop|Shred)\b")
_PLACE = re.compile(r"\{\{(.*?)\}\}")
_EITHER = re.compile(r"\[([^\[\]|]+)\|([^\[\]]+)\]")
_FUNCTIONS = {
    "starts a shell": ("shell",),
    "runs a command": ("command",),
    "opens a shell to others": ("reverse-shell", "bind-shell"),
    "writes a file": ("file-write",),
    "sends or fetches a file": ("upload", "download"),
    "loads a library": ("library-load",),
}


def rows():
    """Yield the rows of what is given."""
    tldr, gtfobins = fetching.given("tldr.jsonl"), fetching.given("gtfobins")
    if tldr is not None:
        yield from _of_tldr([json.loads(line) for line in tldr.read_text().splitlines()])
    if gtfobins is not None:
        yield from _of_gtfobins(gtfobins)


def plain(command):
    """Return a command of tldr with its placeholders filled in: long options, first values."""
    return _PLACE.sub(lambda place: _EITHER.sub(r"\2", place[1]).partition("|")[0], command)


def _of_tldr(entries):
    reads = [plain(e["command"]) for e in entries if _READS.match(e["says"])]
    rejected = sum(judging.is_rejected(command, "bash") for command in reads)
    yield Row(TLDR, "says that it reads: rejected", False, len(reads), rejected, {})
    destroys = [plain(e["command"]) for e in entries if _DESTROYS.match(e["says"])]
    found = sum(judging.raises_alarm(command, "bash") for command in destroys)
    yield Row(TLDR, "says that it deletes or wipes", True, len(destroys), found, {})


def _of_gtfobins(folder):
    programs = [
        yaml.load(path.read_text(), yaml.CSafeLoader)
        for path in sorted((folder / "_gtfobins").iterdir())
    ]
    for what, functions in _FUNCTIONS.items():
        texts = {
            example["code"]
            for program in programs
            for function in functions
            for example in (program.get("functions") or {}).get(function, ())
            if example.get("code")
        }
        found = sum(judging.raises_alarm(text, "bash") for text in sorted(texts))
        yield Row(GTFOBINS, what, True, len(texts), found, {})
