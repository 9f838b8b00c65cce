"""Figures for people to read."""

import os
from pathlib import Path


def milliseconds(seconds):
    """The middle and the slow end of many durations."""
    ordered = sorted(seconds)
    middle, slow = (ordered[int((len(ordered) - 1) * part)] * 1000 for part in (0.5, 0.99))
    return f"p50 {middle:.1f} ms, p99 {slow:.1f} ms"


def middle(seconds):
    """The middle of many durations, in seconds."""
    return sorted(seconds)[(len(seconds) - 1) // 2]


def cpu_s(pid):
    """The CPU that a process has taken so far, with all of its threads."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def show(figures):
    for name, figure in figures.items():
        print(f"{name:<44} {figure}", flush=True)  # noqa: T201 - it is what this is for
