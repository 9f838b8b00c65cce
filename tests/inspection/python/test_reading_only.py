import pytest

from dashboard.inspection.findings import Severity
from dashboard.inspection.python.inspector import inspect_python
from tests.inspection.python.found import names

READING = {
    "numbers": "values = [1, 2, 3]\nprint(sum(values) / len(values))",
    "math": """
import math
print(math.sqrt(2), [math.hypot(x, 1) for x in range(3)])
""",
    "numpy": """
import numpy as np
x = np.linspace(0, 1, 50)
slope, offset = np.polyfit(x, 3 * x + np.random.default_rng(0).normal(size=50), 1)
print(f"{slope:.3f} {offset:.3f}", np.fft.rfft(x).shape, np.linalg.norm(x))
""",
    "pandas": """
import pandas as pd
df = pd.read_csv("shots.csv", parse_dates=["time"])
df["norm"] = df["signal"] / df["current"]
print(df[df["current"] > 100].groupby("cell").agg({"norm": ["mean", "std"]}).to_string())
print(df.query("current > 100").rename(columns={"norm": "n"}).describe())
""",
    "matplotlib": """
import matplotlib.pyplot as plt
import numpy as np
fig, ax = plt.subplots(figsize=(8, 4))
ax.plot(np.arange(10), label="signal")
ax.set(xlabel="time (s)")
ax.legend()
plt.show()
""",
    "scipy": """
from scipy import signal
from scipy.optimize import curve_fit
b, a = signal.butter(4, 0.1)
print(curve_fit(lambda x, k: k * x, [1, 2], [2, 4]), signal.filtfilt(b, a, range(50)))
""",
    "epics": """
import time
import epics
names = [f"SR:BPM{i}:X" for i in range(10)]
for _ in range(3):
    print(epics.caget_many(names), epics.caget("SR:DCCT"), time.time())
pv = epics.PV("SR:DCCT", auto_monitor=True)
print(pv.get(timeout=1), pv.units)
""",
    "channels": """
from osprey.runtime import read_channel
history = [read_channel("BEAM:CURRENT") for _ in range(5)]
print(max(history))
""",
    "files": """
import json
from pathlib import Path
with open("config.json") as file:
    config = json.load(file)
print(config, [path.name for path in Path("data").glob("*.h5")])
""",
    "hdf5": """
import h5py
with h5py.File("scan.h5", "r") as f:
    print(f["entry/data"][:].mean())
""",
    "classes": """
from dataclasses import dataclass, field
@dataclass
class Ring:
    energy: float
    cells: list[str] = field(default_factory=list)
    def add(self, name: str) -> None:
        self.cells.append(name)
ring = Ring(3.0)
ring.add("A")
print(ring)
""",
    "an archive that is asked in SQL": """
import sqlite3
with sqlite3.connect("log.db") as con:
    print(con.execute("SELECT time, value FROM readings WHERE value > ?", (3,)).fetchall())
""",
}


@pytest.mark.parametrize("title", READING)
def test_python_that_only_reads_has_no_finding_above_info_and_no_doubt(title):
    above = [
        finding
        for finding in inspect_python(READING[title])
        if finding.severity is not Severity.INFO or finding.is_doubt
    ]
    assert above == []


def test_danger_that_is_only_mentioned_is_no_finding():
    source = (
        '"""Never call os.system, nor rm -rf."""\n# eval(exec())\nprint("caput is not called")'
    )
    assert names(source) == set()


def test_names_of_dangerous_things_are_ordinary_names_too():
    source = (
        "system = {'a': 1}\nremove = 3\nprint(system['a'], remove)\nfor exec in [1]: print(exec)"
    )
    assert names(source) == set()
