"""What changes, jobs, counts, columns and edges are called in the reader's language.

The tables are here so that the catalogue of translations finds the words; tests compare them with
the names in use.
"""

from django.utils.translation import get_language, gettext, pgettext
from django.utils.translation import gettext_noop as _

from accounts.reasons import Reason, Wording, read, render
from understanding.attributes import label

# How the actor of a change begins who is no machine.
OPERATOR, APP = "operator:", "app:"
USER = "user"
ACTORS = {
    "user": _("End user"),
    "assistant": _("Assistant"),
    "extractor": _("extraction"),
    "classifier": _("search for edges"),
    "suggestions": _("search for duplicates"),
    "forgetting": _("forgetting"),
    "refiner": _("tidying"),
    "judge": _("the model"),
    "doctor": _("doctor"),
    "import:mem0": _("imported from mem0"),
    "import:memory-graph": _("imported from an MCP memory"),
}
# Who may have asked an operator to erase something.
ASKERS = {
    "user": _("The end user"),
    "person": _("The person it is about"),
    "owner": _("Whoever runs the app"),
    "officer": _("A data protection officer"),
}
ERASED = {
    "user": _("an end user with everything"),
    "person": _("a person"),
    "memories": _("memories"),
    "messages": _("messages"),
    "request": _("what was asked for in a chat"),
}
PURPOSES = {
    "extract": _("extract memories"),
    "resolve": _("resolve conflicts"),
    "consolidate": _("consolidate a person"),
    "classify": _("find edges"),
    "embed": _("embed"),
    "refine": _("tidy memories"),
    "review": _("check a merge"),
    "judge": _("judge who is one person"),
    "who": _("say who is meant"),
}
VERBS = {
    "add": _("added a memory"),
    "add_relation": _("added a relation"),
    "archive": _("archived a person"),
    "unarchive": _("brought a person back from the archive"),
    "confirm": _("confirmed a link"),
    "connect": _("connected memories"),
    "create_contact": _("added a person"),
    "create_contacts": _("added people"),
    "disconnect": _("disconnected memories"),
    "edit": _("edited a memory"),
    "edit_card": _("edited the user's card"),
    "edit_contact": _("edited a person"),
    "import_chat": _("imported a chat history"),
    "import_people": _("imported people and memories"),
    "hide": _("hid what was to be forgotten"),
    "merge": _("merged two people"),
    "merge_memories": _("merged memories"),
    "move": _("moved a memory to another person"),
    "not_the_same": _("kept people apart"),
    "outdate": _("marked as no longer true"),
    "remove_relation": _("removed a relation"),
    "resolve": _("chose between values"),
    "keep_all": _("kept all values"),
    "split": _("split a person in two"),
    "split_memory": _("split a memory"),
    "trim": _("shortened a memory"),
    "link": _("said whom a memory is about"),
    "unlink": _("took a memory off a person"),
    "unwant": _("asked not to remember a kind of thing"),
    "want": _("allowed a kind of thing to be remembered again"),
}
# Of memories.
TYPES = {
    "preference": _("preference"),
    "plan": _("plan"),
    "health": _("health"),
    "professional": _("professional"),
}
JOBS = {
    "sweep": _("queue what no message triggers: idle users, due tries, stopped jobs"),
    "relate": _("find the entities and edges of new memories"),
    "suggest": _("look for contacts that are one person"),
    "judge": _("ask the model about pairs that may be one person"),
    "webhooks": _("send webhooks that are due"),
    "dates": _("tell webhooks of dates that come within a week"),
    "erase": _("erase what users asked to forget"),
    "rescore": _("bring the importance of memories up to date"),
    "index": _("index the vectors of users who have many"),
    "tally": _("add the figures of days that are over to their totals"),
    "refine": _("split and trim long memories, merge those that say the same"),
    "collect": _("delete entities without memories, and old injection records"),
}
COUNTS = {
    "rows": _("rows"),
    "users": _("users"),
    "memories": _("memories"),
    "repeated": _("repeated"),
    "outdated": _("outdated"),
    "contacts": _("new people"),
    "changed": _("changed"),
    "edges": _("edges"),
    "entities": _("entities"),
    "erased": _("erased"),
    "webhooks": _("webhooks queued"),
    "dates": _("dates told"),
    "retried": _("retried"),
    "split": _("split"),
    "trimmed": _("trimmed"),
    "merged": _("merged"),
    "calls": _("model calls"),
    "messages": _("messages"),
    "extract": _("extractions queued"),
    "embed": _("users to embed"),
    "consolidate": _("consolidations queued"),
    "resume": _("jobs resumed"),
    "quarantined": _("quarantined"),
    "requests": _("requests"),
    "open": _("open"),
    "answered": _("answered"),
    "failed": _("failed"),
    "returned": _("returned"),
    "ignored": _("ignored"),
    "adopted": _("adopted"),
    "cancelled": _("cancelled"),
    "deleted": _("deleted"),
    "errors": _("errors"),
    "batches": _("batches"),
    "consolidations": _("consolidations"),
    "looked_at": _("looked at"),
    "discarded": _("discarded"),
    "compared": _("compared"),
    "clusters": _("groups"),
    "refused": _("rejected"),
    "into": _("merged into"),
    "erasures": _("forget requests completed"),
    "injections": _("injection records"),
    "jobs": _("finished jobs of apps"),
    "left_out": _("users skipped"),
    "indexes": _("indexes"),
    "judged": _("pairs judged"),
    "different": _("kept apart"),
}

# What people are to the end user (understanding.names.GROUPS).
GROUPS = {
    "family": _("Family"),
    "partner": _("Partner"),
    "friend": _("Friends"),
    "colleague": _("Work"),
    "other": _("Others"),
}

# Columns, and fields of forms, that hold words.
FIELDS = {
    "name": _("Name"),
    "relationship": _("Relationship"),
    "gender": _("Gender"),
    "personality": _("Personality"),
    "note": _("Note"),
    "aliases": _("Also called"),
    "content": _("What it says"),
    "new": _("New value"),
    "label": _("What it is for"),
    "limit": _("Requests a minute"),
    "rate_limit": _("Requests a minute"),
    "time_zone": _("Time zone"),
    "url": _("Address"),
    "state": _("State"),
    "status": _("State"),
    "why": _("Reason"),
    "kind": _("Kind"),
    "disabled_at": _("Stopped"),
    "archived_at": _("Archived"),
    "revoked_at": _("Revoked"),
    "placement": _("Placement"),
    # Secrets, whose words are not repeated.
    "key": _("Its key"),
    "open_webui_secret": _("Secret of Open WebUI"),
}
SECRETS = ("key", "open_webui_secret")

EDGES = {
    "supersedes": _("superseded"),
    "complements": _("more detail"),
    "conflicts": _("conflict"),
    "causes": _("cause"),
    "instance_of": _("pattern"),
    "invalidated_by": _("no longer so"),
    "motivated_by": _("reason"),
    "was_context_for": _("used together"),
    "part_of": _("part"),
    "shares_entity": _("same name in both"),
}


#: How one memory stands to another, and the other to it.
STANDS = {
    "supersedes": (_("replaces"), _("replaced by")),
    "complements": (_("adds detail to"), _("more detail in")),
    "conflicts": (_("contradicts"), _("contradicts")),
    "causes": (_("leads to"), _("follows from")),
    "instance_of": (_("is an example of"), _("shown by the example")),
    "invalidated_by": (_("no longer true because of"), _("makes untrue")),
    "motivated_by": (_("done because of"), _("is the reason for")),
    "was_context_for": (_("used when learning"), _("learnt while using")),
    "part_of": (_("is part of"), _("contains")),
}


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
