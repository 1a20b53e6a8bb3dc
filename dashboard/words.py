"""What changes, jobs, counts, columns and edges (``words.toml``) are called in the reader's language."""

import tomllib
from pathlib import Path
from typing import Any

from django.utils.translation import get_language, gettext, pgettext

from accounts.reasons import Reason, Wording, read, render
from understanding.attributes import label

# How the actor of a change begins who is no machine.
OPERATOR, APP = "operator:", "app:"
USER = "user"
_TABLES: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
ACTORS, ASKERS, ERASED = _TABLES["actors"], _TABLES["askers"], _TABLES["erased"]
PURPOSES, VERBS, TYPES = _TABLES["purposes"], _TABLES["verbs"], _TABLES["types"]
JOBS, JOB_NAMES = _TABLES["jobs"], _TABLES["job_names"]
COUNTS, GROUPS = _TABLES["counts"], _TABLES["groups"]
FIELDS, EDGES, STANDS = _TABLES["fields"], _TABLES["edges"], _TABLES["stands"]
HOW, STEPS = _TABLES["how"], _TABLES["steps"]
SECRETS = ("key", "open_webui_secret")  # fields whose words are not repeated


def language_of() -> str:
    """The language of the operator's page, as cards and labels know it."""
    return "zh" if (get_language() or "").startswith("zh") else "en"


def in_words(table: dict[str, str], name: str) -> str:
    """What ``name`` is called; a name that the table lacks as it is, without underscores."""
    return gettext(table[name]) if name in table else name.replace("_", " ")


def field(name: str) -> str:
    """What a column or a field of a form is called."""
    return gettext(FIELDS[name])


def attribute(key: str) -> str:
    """What an attribute is called within a sentence."""
    return label(key, language_of()).lower()


def edge_kind(kind: str) -> str:
    """What an edge is called as a step from one memory to the next."""
    kind = kind.split(":")[0]
    return in_words(EDGES, kind)


def stands(kind: str, *, inverse: bool = False) -> str:
    """How one memory stands to another, as the words between the two."""
    kind, _colon, entity = kind.partition(":")
    if kind in STANDS:
        return gettext(STANDS[kind][inverse])
    return gettext("both mention %(name)s") % {"name": entity} if entity else edge_kind(kind)


def reason(why: Reason | str) -> str:
    """A reason, or the stored form of one, in the reader's language; other words as they are."""
    here = Wording(gettext, attribute, edge_kind, pgettext("list", ", "))
    return render(read(why) if isinstance(why, str) else why, here)
