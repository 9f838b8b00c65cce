"""Rewords what findings and judgements say, to show that no behaviour hangs on the words.

    pytest -p tests.rewording

Each sentence becomes another one before anything else reads it. What then fails tests a wording.
"""

from types import MappingProxyType

from dashboard.inspection import sentences
from dashboard.policies.judgements import wording


def _reworded(text):
    """The same words the other way round; what is filled in and the full stop stay."""
    stop = "." if text.endswith(".") else ""
    return " ".join(reversed(text.removesuffix(".").split())).capitalize() + stop


sentences.SENTENCES = MappingProxyType(
    {code: _reworded(text) for code, text in sentences.SENTENCES.items()}
)
for _table in (wording.MODES, wording.NOT_COVERED, wording.TREATED, wording._ANSWERS):
    _table.update({key: _reworded(text) for key, text in _table.items()})
for _name in ("IN_DOUBT", "ON_HOLD", "NOT_APPROVED", "NOT_REJECTED"):
    setattr(wording, _name, _reworded(getattr(wording, _name)))
