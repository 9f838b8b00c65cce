"""``approval-dashboard COMMAND``; in a checkout, ``manage.py COMMAND`` is the same."""

import gc
import os
import sys


def main() -> None:
    """Run the command that is named on the command line."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")
    try:
        "".join(sys.argv).encode()
    except UnicodeEncodeError:
        sys.exit("Nothing was done. An argument is not UTF-8. Type it in a terminal of UTF-8.")
    gc.disable()  # what is imported stays: to look for garbage in it takes a tenth of a start
    try:
        import django  # noqa: PLC0415 - may be absent
        from django.core.exceptions import ImproperlyConfigured  # noqa: PLC0415 - may be absent
        from django.core.management import execute_from_command_line  # noqa: PLC0415 - the same
    except ImportError:
        sys.exit(
            "Django is not installed for this Python, so nothing was started. Install the server "
            "with: pip install -c constraints.txt -e ./client -e ."
        )
    try:
        django.setup()
        gc.freeze()
        gc.enable()
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(f"Nothing was done. {error}")


if __name__ == "__main__":
    main()
