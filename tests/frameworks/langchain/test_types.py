"""What the docs show, LangChain's page too, passes two type checkers."""

from tests.frameworks.typed import problems, shown


def test_what_the_docs_show_is_typed(tmp_path):
    assert problems(tmp_path, shown(tmp_path, "langchain")) == []
