#!/usr/bin/env python3
"""The operator's door: every command starts here."""

from dashboard.management.__main__ import main

if __name__ == "__main__":
    main()
