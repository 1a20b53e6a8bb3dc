"""The languages that Mio writes: the captions of cards, the signs and the parts of sentences of each.

To add a language: its tables in languages.toml, ``statements/fence.toml`` and ``memories/context/render.toml``,
a label of each attribute in attributes.toml, a choice of ``EndUser.language`` (a migration), its lists
in ``lexicon/``, the prompts that name both languages (``memories/prompts/``); then what compares with a
language (``git grep '"zh"' '*.py'``) and the ranges of Han characters
(``git grep -lE 'p.Han|u4e00' '*.py' '*.toml'``).
"""

from collections.abc import Mapping

from understanding.lexicon.rules import content

DEFAULT = "en"
_TABLES = content(__file__)
CAPTIONS = frozenset(text for table in _TABLES.values() for text in table["captions"].values())
LANGUAGES = tuple(_TABLES)


def captions(language: str) -> Mapping[str, str]:
    """What the lines of a card begin with; those of English for a language without a table."""
    return _TABLES.get(language, _TABLES[DEFAULT])["captions"]


def wording(language: str) -> Mapping[str, str]:
    """The signs and the parts of sentences, as ``captions``."""
    return _TABLES.get(language, _TABLES[DEFAULT])["wording"]
