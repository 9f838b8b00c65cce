"""``python -m dashboard.cli``."""

from dashboard.cli.main import main

main()
