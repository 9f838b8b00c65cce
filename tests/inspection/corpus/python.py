"""Python as agents write it: what does harm, plainly or in disguise, and what does none."""

from __future__ import annotations

from tests.inspection.corpus.snippet import read

PLAIN = read("python_plain.txt", "python")
EVASIVE = read("python_evasive.txt", "python")
DANGEROUS = [*PLAIN, *EVASIVE]
HARMLESS = read("python_harmless.txt", "python")
