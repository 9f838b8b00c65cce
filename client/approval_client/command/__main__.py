"""``python -m approval_client.command``."""

from approval_client.command.main import main

main()
