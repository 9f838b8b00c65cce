"""How fast it is, measured in one run, beside a floor. ``python -m tests.benchmarks``."""
