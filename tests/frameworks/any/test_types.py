"""What the docs show, the page of any framework too, passes two type checkers."""

from tests.frameworks.typed import problems, shown


def test_what_the_docs_show_is_typed(tmp_path):
    # smolagents says of nothing of what type it is
    assert problems(tmp_path, shown(tmp_path), has_types=False) == []
