"""What a sentence says is over, or never was so: a value that was told of somebody before."""

import re

from understanding.lexicon.rules import patterns
from understanding.sentences import sentences
from understanding.text import simplified

RE = patterns(__file__)
_WORK = frozenset({"company", "job_title"})


def is_over(text: str, key: str, value: str) -> bool:
    """Whether a clause of ``text``, which is about one person, says that the ``value`` of the attribute
    ``key`` holds no longer or never did (she left Acme; 小岑不在这家公司). Only of where somebody works or
    lives, since of other attributes the same words often say something else."""
    said = RE.work if key in _WORK else RE.home if key == "location" else None
    if said is None or not value:
        return False
    marked = re.sub(re.escape(simplified(value)), "@", simplified(text), flags=re.I)
    return any(
        said.search(one.text) is not None and RE.open.search(one.whole) is None
        for one in sentences(marked)
        if "@" in one.text
    )
