"""The verbs about people and agents."""
