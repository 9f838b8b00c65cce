import pytest

from approval_client.wire import Kind
from dashboard.web import words


@pytest.mark.parametrize(
    ("languages", "said"),
    [
        ([], "Code wants to run"),
        (["text"], "Code wants to run"),
        (["python", "python"], "Python code wants to run"),
        (["python", "bash", "sql"], "Python, Bash and SQL code wants to run"),
    ],
)
def test_languages_are_named_once_and_as_people_write_them(languages, said):
    assert words.wish(Kind.CODE, languages=languages) == said
