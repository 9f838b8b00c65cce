"""Calls of tools as agents make them, each as the JSON of its content."""

from __future__ import annotations

from tests.inspection.corpus.snippet import read

DANGEROUS = read("tools_dangerous.txt", "tool call")
HARMLESS = read("tools_harmless.txt", "tool call")
