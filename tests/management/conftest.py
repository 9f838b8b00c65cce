"""A data folder of one's own, and commands that are called in this process."""

from io import StringIO

import pytest
from django.core.management import call_command


@pytest.fixture
def place(settings, tmp_path):
    """Have everything that ``start`` makes in a folder of the test's own."""
    settings.DATA_DIR = tmp_path / "var"
    settings.MADE_KEY_FILE = settings.DATA_DIR / "secret_key"
    settings.STATIC_ROOT = settings.DATA_DIR / "static"
    settings.SECRET_KEY = "unset"
    settings.SECRET_KEY_IS_CONFIGURED = False
    settings.PUBLIC_URL = "http://127.0.0.1:8000"
    settings.PUBLIC_URL_IS_CONFIGURED = False
    settings.ALLOWED_HOSTS = ["127.0.0.1"]
    return settings.DATA_DIR


@pytest.fixture
def command(db):
    """Call a command and return what it printed."""

    def call(*arguments, **options):
        out = StringIO()
        call_command(*arguments, stdout=out, **options)
        return out.getvalue()

    return call
