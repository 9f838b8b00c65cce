import pytest
from hypothesis import given
from hypothesis import strategies as st
from pygments.lexers import get_lexer_by_name

from dashboard.inspection.languages import _SPELLINGS, is_known, lexer_alias


@pytest.mark.parametrize(
    ("language", "alias"),
    [
        ("python", "python"),
        ("Python", "python"),
        (" py ", "python"),
        ("sh", "bash"),
        ("shell", "bash"),
        ("SQL", "sql"),
        ("js", "javascript"),
        ("ts", "typescript"),
        ("c++", "cpp"),
        ("yml", "yaml"),
        ("pwsh", "powershell"),
    ],
)
def test_the_spellings_that_agents_use_are_known(language, alias):
    assert lexer_alias(language) == alias


@pytest.mark.parametrize("language", ["python", "TXT", "text", "sh"])
def test_a_known_spelling_is_said_to_be_known(language):
    assert is_known(language)


HOSTILE = [
    None,
    "",
    "klingon",
    "python\0",
    'x" onmouseover="alert(1)',
    "<b>",
    "../c",
    "\u212aotlin",
]


@pytest.mark.parametrize("language", HOSTILE)
def test_anything_else_is_text_and_not_known(language):
    assert (lexer_alias(language), is_known(language)) == ("text", False)


@pytest.mark.parametrize(
    "language", ["java", "scala", "make", "fish", "tcsh", "csharp", "r", "ini"]
)
def test_lexers_known_to_hang_are_left_out(language):
    assert lexer_alias(language) == "text"


@pytest.mark.parametrize("alias", sorted(_SPELLINGS))
def test_every_alias_is_a_lexer_of_pygments_and_a_spelling_of_itself(alias):
    assert alias in get_lexer_by_name(alias).aliases
    assert lexer_alias(alias) == alias


@given(st.text())
def test_whatever_an_agent_writes_becomes_an_alias_of_ours(language):
    assert lexer_alias(language) in {*_SPELLINGS, "text"}
