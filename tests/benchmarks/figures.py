"""Figures for people to read."""

import os
from pathlib import Path

NANOSECONDS = 1_000_000_000


def part_of(seconds, part):
    """The duration below which ``part`` of many durations are, in seconds."""
    ordered = sorted(seconds)
    return ordered[int((len(ordered) - 1) * part)]


def middle(seconds):
    """The middle of many durations, in seconds."""
    return part_of(seconds, 0.5)


def milliseconds(seconds):
    """The middle and the slow end of many durations."""
    seconds = list(seconds)
    middle, slow = (part_of(seconds, part) * 1000 for part in (0.5, 0.99))
    return f"p50 {middle:.1f} ms, p99 {slow:.1f} ms"


def times(ours, theirs, asked=None):
    """How often as much ours is as theirs, round for round: the middle, and from where to where.

    ``asked`` is how often it may be at the most.
    """
    ratios = sorted(our / max(their, 1e-9) for our, their in zip(ours, theirs, strict=True))
    middle, least, most = (
        f"{ratio:.1f}" if ratio >= 1 else f"{ratio:.2g}"
        for ratio in (ratios[len(ratios) // 2], ratios[0], ratios[-1])
    )
    said = f"{middle} × ({least} to {most})" if len(ratios) > 1 else f"{middle} ×"
    return said if asked is None else f"{said}, asked {asked:g} ×"


def cpu_s(pid):
    """The CPU that a process has taken so far, with its threads and the processes it started.

    In nanoseconds where the kernel counts them, and in hundredths of a second elsewhere.
    """
    total = 0.0
    for task in Path(f"/proc/{pid}/task").iterdir():
        schedule, started = task / "schedstat", task / "children"
        if schedule.exists():
            total += int(schedule.read_text().split()[0]) / NANOSECONDS
        else:
            fields = (task / "stat").read_text().rpartition(")")[2].split()
            total += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        if started.exists():
            total += sum(cpu_s(child) for child in started.read_text().split())
    return total


def show(figures):
    """Print names and figures, of a dict or one pair after the other."""
    for name, figure in figures.items() if isinstance(figures, dict) else figures:
        print(f"{name:<56} {figure}", flush=True)  # noqa: T201 - it is what this is for
