"""The record of who did what, chained so that a change to the past shows."""
