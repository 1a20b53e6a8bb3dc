"""Names of verbs, jobs, counts, columns and edges (``words.toml``) in the reader's language."""

import tomllib
from pathlib import Path
from typing import Any

from django.utils.translation import get_language, gettext, pgettext

from accounts.reasons import Reason, Wording, read, render
from understanding.attributes import label
from understanding.languages import DEFAULT, LANGUAGES

# Prefixes of actors that are operators or apps.
OPERATOR, APP = "operator:", "app:"
USER = "user"  # the actor of what end users do on their own page
_TABLES: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
ACTORS, ASKERS, ERASED = _TABLES["actors"], _TABLES["askers"], _TABLES["erased"]
PURPOSES, VERBS, TYPES = _TABLES["purposes"], _TABLES["verbs"], _TABLES["types"]
JOBS, JOB_NAMES = _TABLES["jobs"], _TABLES["job_names"]
COUNTS, GROUPS = _TABLES["counts"], _TABLES["groups"]
FIELDS, EDGES, EDGE_PHRASES = _TABLES["fields"], _TABLES["edges"], _TABLES["edge_phrases"]
HOW, STEPS = _TABLES["how"], _TABLES["steps"]
SECRETS = ("key", "open_webui_secret")  # fields whose values are never shown again


def language_of() -> str:
    """Returns the language of the current page as cards and labels name it: "zh" or "en"."""
    language = (get_language() or DEFAULT).partition("-")[0]
    return language if language in LANGUAGES else DEFAULT


def in_words(table: dict[str, str], name: str) -> str:
    """Returns what the table calls ``name``; if it is not there, ``name`` without underscores."""
    return gettext(table[name]) if name in table else name.replace("_", " ")


def field(name: str) -> str:
    """Returns the name of a column or of a form's field."""
    return gettext(FIELDS[name])


def attribute(key: str) -> str:
    """Returns the name of an attribute as used within a sentence."""
    return label(key, language_of()).lower()


def edge_kind(kind: str) -> str:
    """Returns the name of a kind of edge, as a step from one memory to the next."""
    kind = kind.split(":")[0]
    return in_words(EDGES, kind)


def edge_phrase(kind: str, *, inverse: bool = False) -> str:
    """Returns the words between two memories that an edge connects, such as "replaces"."""
    kind, _colon, entity = kind.partition(":")
    if kind in EDGE_PHRASES:
        return gettext(EDGE_PHRASES[kind][inverse])
    return gettext("both mention %(name)s") % {"name": entity} if entity else edge_kind(kind)


def reason(why: Reason | str) -> str:
    """Returns a reason or its stored form in the reader's language; other text unchanged."""
    wording = Wording(gettext, attribute, edge_kind, pgettext("list", ", "))
    return render(read(why) if isinstance(why, str) else why, wording)
