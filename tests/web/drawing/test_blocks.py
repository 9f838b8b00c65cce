"""The texts of a call as the page draws them."""

import pytest

from dashboard.inspection.parts import parts_of_call
from dashboard.web.drawing.blocks import of_part


@pytest.mark.parametrize(
    ("tool", "language"), [("run", "bash"), ("bash", "bash"), ("python", ""), ("mysql", "")]
)
def test_a_text_that_may_be_in_two_languages_has_no_colours(tool, language):
    (part,) = parts_of_call(tool, {"command": 'echo "a" # """; f()'})

    assert of_part(part).language == language
