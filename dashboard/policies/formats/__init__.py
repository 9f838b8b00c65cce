"""Policies as files: our YAML, and Osprey's. Pure."""
