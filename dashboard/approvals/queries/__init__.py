"""Reads of requests and of what hangs on them, by noun."""
