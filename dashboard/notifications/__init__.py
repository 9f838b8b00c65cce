"""Telling other machines what was decided. Nothing here delays a decision or can make one fail."""
