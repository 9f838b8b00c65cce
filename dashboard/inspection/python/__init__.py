"""Says what a Python source does, from its syntax tree, without running any of it."""
