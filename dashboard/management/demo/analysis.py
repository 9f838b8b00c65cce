"""A long piece of code, as an agent that analyses data would write it."""

ORBIT_DRIFT = '''\
"""Which beam position monitors drifted over the week, and do they follow the tunnel?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import fmean, median

from archiver import Archiver
from lattice import bpms_in_order

ARCHIVE = "https://archiver.accelerator.example/retrieval"
SECTORS = ("C01", "C02", "C03", "C04")
WEEK = timedelta(days=7)
STEP = timedelta(minutes=10)
SUSPICIOUS_UM = 25.0
BEAM_CURRENT = "SR:C00-BI{DCCT:1}I:Real-I"
TUNNEL_TEMPERATURE = "SR:{sector}-UT{{T:Air}}T-I"


@dataclass(frozen=True)
class Drift:
    """How far one monitor wandered, in micrometres, and with what."""

    bpm: str
    plane: str
    total_um: float
    per_day_um: float
    follows_temperature: float


def fetch(archiver: Archiver, channel: str, until: datetime) -> list[float]:
    """Return one value every ten minutes; gaps become NaN."""
    samples = archiver.get(channel, start=until - WEEK, end=until, step=STEP)
    return [sample.value if sample.ok else math.nan for sample in samples]


def with_beam(values: list[float], current: list[float]) -> list[float]:
    """Leave out what was measured without beam: it says nothing about the orbit."""
    return [v if c > 50.0 else math.nan for v, c in zip(values, current, strict=True)]


def slope_per_day(values: list[float]) -> float:
    """Return the slope of a line through the values that are there."""
    points = [(i * STEP / timedelta(days=1), v) for i, v in enumerate(values) if v == v]
    if len(points) < 12:
        return math.nan
    mean_x, mean_y = fmean(x for x, _ in points), fmean(y for _, y in points)
    above = sum((x - mean_x) * (y - mean_y) for x, y in points)
    return above / sum((x - mean_x) ** 2 for x, _ in points)


def correlation(first: list[float], second: list[float]) -> float:
    """Return Pearson's r over the moments at which both were measured."""
    pairs = [(a, b) for a, b in zip(first, second, strict=True) if a == a and b == b]
    mean_a, mean_b = fmean(a for a, _ in pairs), fmean(b for _, b in pairs)
    spread = math.sqrt(
        sum((a - mean_a) ** 2 for a, _ in pairs) * sum((b - mean_b) ** 2 for _, b in pairs)
    )
    return sum((a - mean_a) * (b - mean_b) for a, b in pairs) / spread if spread else 0.0


def drifts(archiver: Archiver, sector: str, until: datetime) -> list[Drift]:
    """Look at both planes of every monitor of a sector."""
    current = fetch(archiver, BEAM_CURRENT, until)
    temperature = fetch(archiver, TUNNEL_TEMPERATURE.format(sector=sector), until)
    found = []
    for bpm in bpms_in_order(sector):
        for plane in ("X", "Y"):
            orbit = with_beam(fetch(archiver, f"{bpm}Pos:{plane}-I", until), current)
            total = 1e3 * (median(orbit[-144:]) - median(orbit[:144]))
            follows = correlation(orbit, temperature)
            found.append(Drift(bpm, plane, total, 1e3 * slope_per_day(orbit), follows))
    return found


archiver = Archiver(ARCHIVE, readonly=True)
for sector in SECTORS:
    worst = sorted(drifts(archiver, sector, datetime.now()), key=lambda d: -abs(d.total_um))
    for drift in worst[:3]:
        mark = "!" if abs(drift.total_um) > SUSPICIOUS_UM else " "
        size = f"{drift.total_um:+7.1f} um  {drift.per_day_um:+6.1f} um a day"
        print(f"{mark} {drift.bpm} {drift.plane} {size}  r={drift.follows_temperature:+.2f}")
'''
