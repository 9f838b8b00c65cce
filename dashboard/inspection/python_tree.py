"""Python's syntax tree, up to a depth that is ours and the same on every Python."""

from __future__ import annotations

import ast
import warnings

MOST_LEVELS = 1000
"""How deep a tree may be: what every Python that we support parses, and we can follow."""


def parse(source: str) -> ast.Module:
    """Return the syntax tree of a source.

    Raises:
        SyntaxError: It is not Python.
        ValueError: The same: it holds NUL, or a number that Python does not read.
        RecursionError: It is nested more than ``MOST_LEVELS`` deep.
        MemoryError: The same, where the parser gives up before the tree is there.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about escapes in texts; no business of ours
        tree = ast.parse(source)
    level: list[ast.AST] = [tree]
    for _ in range(MOST_LEVELS):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return tree
    raise RecursionError(f"This is nested more than {MOST_LEVELS} levels deep.")
