import re

import pytest
from django.core.management import call_command

from dashboard.web.staticfiles import HashedStaticFiles


@pytest.fixture
def collected(settings, tmp_path):
    settings.STATIC_ROOT = tmp_path
    backend = {"BACKEND": "dashboard.web.staticfiles.HashedStaticFiles"}
    settings.STORAGES = {**settings.STORAGES, "staticfiles": backend}
    call_command("collectstatic", verbosity=0, interactive=False)
    return HashedStaticFiles(location=tmp_path)


def test_a_module_imports_other_modules_under_their_hashed_names(collected):
    name = collected.stored_name("js/live.js")

    with collected.open(name) as file:
        imports = re.findall(r'from "\./([^"]+)"', file.read().decode())

    assert imports
    assert all(re.fullmatch(r"\w+\.[0-9a-f]{12}\.js", file) for file in imports)


def test_a_missing_file_costs_a_picture_and_not_the_page(collected):
    assert collected.stored_name("img/nothing.svg") == "img/nothing.svg"
