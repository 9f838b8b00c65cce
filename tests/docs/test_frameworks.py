"""Every adapter has an example, a page and tests, and what the pages name is there."""

import re

import pytest

from tests.docs.reading import AGENTS, ROOT, cells

ADAPTERS = sorted(
    path.parent.name for path in (ROOT / "client/approval_client/adapters").glob("*/__init__.py")
)
FRAMEWORKS = sorted((ROOT / "docs/frameworks").glob("*.md"))
PAGES_OF_FRAMEWORKS = [page for page in FRAMEWORKS if page.stem != "upstream"]
TESTS = ROOT / "tests" / "frameworks"
WITHOUT_A_FILE = {"claude_code"}  # its example is the settings on its page


@pytest.mark.parametrize("name", ADAPTERS)
def test_every_adapter_has_a_page_that_the_list_leads_to(name):
    assert (ROOT / "docs/frameworks" / f"{name}.md").exists()
    assert f"(frameworks/{name}.md)" in AGENTS.read_text()


@pytest.mark.parametrize("name", sorted({*ADAPTERS} - WITHOUT_A_FILE))
def test_every_adapter_has_an_example_that_is_run(name):
    assert (ROOT / "examples" / f"with_{name}.py").exists()
    assert f'check("{name}"' in (TESTS / name / "test_example.py").read_text()


@pytest.mark.parametrize("name", ADAPTERS)
def test_every_adapter_has_tests_against_the_real_package(name):
    assert (TESTS / name / "newest.txt").exists()
    assert sorted((TESTS / name).glob("test_*.py")) != []


@pytest.mark.parametrize("page", FRAMEWORKS, ids=lambda page: page.stem)
def test_every_test_that_a_page_names_is_there(page):
    tests = "".join(path.read_text() for path in TESTS.parent.rglob("test_*.py"))
    there = set(re.findall(r"^(?:async )?def (test_\w+)", tests, re.MULTILINE))

    assert {name for name in cells(page) if name.startswith("test_")} - there == set()


def test_every_folder_of_tests_is_of_an_adapter_and_says_what_it_needs():
    needs = (TESTS / "conftest.py").read_text()
    folders = {path.parent.name for path in TESTS.glob("*/*.txt")}
    folders |= {path.parent.name for path in TESTS.glob("*/*.py")}

    assert folders == {*ADAPTERS, "any"}  # which needs none
    assert {name for name in folders if f'"{name}": ' not in needs} == set()


BEGINNING = re.compile(
    r"# With [^\n]+\n\n"
    r"(?:(?!```)[^\n#|][^\n]*\n)+\n"  # what it does, in a few lines
    r"```sh\npip install '?\./client[^\n]*\n(?:(?:pip|npm) install [^\n]+\n)?"
    r"export DASHBOARD_URL=[^\n]+\nexport DASHBOARD_TOKEN=[^\n]+\n```\n\n"
    r"(?:(?:<!-- needs: [^\n]+ -->|(?!```)[^\n#|][^\n]*)\n\n?)?"
    r"```(?P<language>python|json)\n.*?^```\n\n"
    r"(?P<sees>[^#|]+?\n\n)(?:```console\nWaiting for a person to decide, .*?^```\n\n)?"
    r"If you see something else, \[`approvals doctor`\][^\n]+ says what is wrong\.\n\n"
    r"Checked against ",
    re.DOTALL | re.MULTILINE,
)


@pytest.mark.parametrize("page", PAGES_OF_FRAMEWORKS, ids=lambda page: page.stem)
def test_every_page_begins_alike(page):
    """Installing, where and who, a few lines of code, and what one then sees."""
    begins = BEGINNING.match(page.read_text())

    assert begins, "see the docstring"
    if begins["language"] == "python":
        assert "standard error says" in begins["sees"]
        assert "```console" in begins[0]
    else:
        assert "queue" in begins["sees"]
