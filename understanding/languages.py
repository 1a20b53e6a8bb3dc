"""The languages that Mio writes: captions of cards, signs and parts of sentences of each, and which
of them a text is in.

To add a language: its tables in languages.toml, ``statements/fence.toml`` and
``memories/context/render.toml``, a label of each attribute in attributes.toml, a choice of
``EndUser.language`` (a migration), its lists in ``lexicon/``, the prompts that name both languages
(``memories/prompts/``); then code that compares with one (``git grep '"zh"' '*.py'``) and the
ranges of Han characters (``git grep -lE 'p.Han|u4e00' '*.py' '*.toml'``).
"""

from collections.abc import Mapping

from understanding.lexicon.rules import content
from understanding.text import is_chinese

DEFAULT = "en"
_TABLES = content(__file__)
CAPTIONS = frozenset(text for table in _TABLES.values() for text in table["captions"].values())
LANGUAGES = tuple(_TABLES)


def language_of_text(text: str) -> str:
    """Returns the language that a text reads as, by its script."""
    return "zh" if is_chinese(text) else DEFAULT


def locale(language: str) -> str:
    """Returns what Django calls a language; English for one without a table."""
    return _TABLES.get(language, _TABLES[DEFAULT])["locale"]


def captions(language: str) -> Mapping[str, str]:
    """Returns the captions of a card's lines; those of English for a language without a table."""
    return _TABLES.get(language, _TABLES[DEFAULT])["captions"]


def wording(language: str) -> Mapping[str, str]:
    """Returns the signs and parts of sentences, as ``captions``."""
    return _TABLES.get(language, _TABLES[DEFAULT])["wording"]
