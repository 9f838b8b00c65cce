"""Scripts for a shell as agents write them: what does harm, plainly or in disguise, and none."""

from __future__ import annotations

from tests.inspection.corpus.snippet import read

PLAIN = read("shell_plain.txt", "bash")
EVASIVE = read("shell_evasive.txt", "bash")
DANGEROUS = [*PLAIN, *EVASIVE]
HARMLESS = read("shell_harmless.txt", "bash")
