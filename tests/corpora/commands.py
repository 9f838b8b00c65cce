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
_CHANGES = {  # what a page says in a word of reading, and what the command does all the same
    "sudo badblocks -n {{/dev/sdX}}": "writes each block and writes back what stood there",
    "sudo badblocks -w {{/dev/sdX}}": "overwrites the disk",
    "find {{path/to/directory}} -type {{f|d}} -empty -delete -print": "deletes what it finds",
    "kubectl cordon {{node_name}} --dry-run={{none|server|client}}": "none is no dry run",
    "kubectl drain {{node_name}} --dry-run={{none|server|client}}": "none is no dry run",
    "kubectl uncordon {{node_name}} --dry-run={{none|server|client}}": "none is no dry run",
    "zpool scrub {{pool_name}}": "mends what it finds",
    "sudo auditctl -a always,exit -F arch=b64 -F path=/{{path/to/file}} -F perm=wa": (
        "adds a rule to the kernel"
    ),
    "sudo btrfs {{[c|check]}} --repair {{path/to/partition}}": "rewrites the file system",
    "sudo mkswap {{[-c|--check]}} {{path/to/file}}": "makes a swap area of the file",
    "sudo pvremove {{[-v|--verbose]}} {{/dev/sdXY}}": "wipes the label of a volume",
    "sudo pvremove --reportformat json {{/dev/sdXY}}": "wipes the label of a volume",
}
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
    reads = [e["command"] for e in entries if _READS.match(e["says"])]
    changes = [command for command in reads if command in _CHANGES]
    for what, is_harmful, commands in (
        ("reads: rejected", False, [command for command in reads if command not in _CHANGES]),
        ("is told in a word of reading and changes: rejected", True, changes),
    ):
        rejected = sum(judging.is_rejected(plain(command), "bash") for command in commands)
        yield Row(TLDR, what, is_harmful, len(commands), rejected, {})
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
