"""Figures for people to read."""


def milliseconds(seconds):
    """The middle and the slow end of many durations."""
    ordered = sorted(seconds)
    middle, slow = (ordered[int((len(ordered) - 1) * part)] * 1000 for part in (0.5, 0.99))
    return f"p50 {middle:.1f} ms, p99 {slow:.1f} ms"


def show(figures):
    for name, figure in figures.items():
        print(f"{name:<44} {figure}", flush=True)  # noqa: T201 - it is what this is for
