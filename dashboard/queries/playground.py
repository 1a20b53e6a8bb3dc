"""Queries of the playground: examples to try, what a context contains and why, and what it left
out."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models.functions import Left
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from accounts.models import EndUser
from contacts import key_index, lookup
from contacts.models import Contact
from dashboard import words
from dashboard.queries.memories import with_people
from memories.context import what
from memories.context.types import FoundMemory, Trace
from memories.context.who import stored_turns
from memories.models import Memory
from memories.providers.errors import OutputError, ProviderError, TransientError
from memories.providers.factory import embedder
from memories.search import recall, relevance
from memories.search.recall import SearchRequest
from understanding.people.mentions import keys_in
from understanding.statements.wordings import greets
from understanding.text import estimate_tokens, normalise
from understanding.types import Mention

RECENT = 300  # messages in which the latest sessions are looked for
SESSIONS = 6
LAST_LINES = 2
WIDTH = 200  # characters of a line
EXAMPLES = 3
CLEAR = 0.5  # confidence of a mention with rivals from which on it counts as clear

# A question by name, and one by pronoun, in the end user's language.
ABOUT = {"zh": "{name}最近怎么样了", "en": "How is {name} doing?"}
PRONOUNS = {
    "zh": {"female": "她最近怎么样了", "male": "他最近怎么样了"},
    "en": {"female": "How is she doing?", "male": "How is he doing?"},
}


class Session(NamedTuple):
    """A stored conversation with its last ``lines`` (role, text), oldest first."""

    id: str
    at: datetime
    lines: list[tuple[str, str]]


def sessions(end_user: EndUser) -> list[Session]:
    """Returns the sessions of the latest messages, the latest first."""
    rows = end_user.messages.order_by("-seq").values_list(
        "session_id", "role", Left("content", WIDTH), "created_at"
    )
    known: dict[str, Session] = {}
    for session, role, text, at in rows[:RECENT]:
        lines = known.setdefault(session, Session(session, at, [])).lines
        if len(lines) < LAST_LINES:
            lines.insert(0, (role, text))
    return list(known.values())[:SESSIONS]


def examples(end_user: EndUser, known: Sequence[Session]) -> list[dict[str, str]]:
    """Returns messages to try about this user's own people, each with what it ``shows``: the first
    by pronoun if the latest session makes clear who is meant, the others by name."""
    language, suggested = end_user.writing_language, list[dict[str, str]]()
    latest = Contact.objects.of(end_user).standing().order_by("-last_mentioned_at", "id")
    people = list(latest.only("name", "gender")[: EXAMPLES * 2])
    for person in people:
        if not suggested and known and person.gender:
            question, session = PRONOUNS[language][person.gender], known[0].id
            mentions, *_spans = lookup.look_up(
                end_user, question, partial(stored_turns, end_user, session)
            )
            names = {mention.person.id: mention.person.name for mention in mentions}
            if len(names) == 1:
                shows = _("A pronoun: in the last conversation it means %(name)s.")
                shows %= {"name": next(iter(names.values()))}
                suggested.append({"message": question, "session_id": session, "shows": shows})
    shows = _("A name, in a new conversation.")
    suggested += [
        {"message": ABOUT[language].format(name=person.name), "session_id": "", "shows": shows}
        for person in people[: EXAMPLES - len(suggested)]
    ]
    return suggested


def answer(end_user: EndUser, trace: Trace) -> dict[str, Any]:
    """Returns the trace for the page; two statements. ``meant``: mentions with their ``alias`` and
    ``rivals`` for the same span; ``memories``: with ``doubted`` links to these people."""
    rows = with_people(Memory.objects.of(end_user)).in_bulk(
        [one.memory.pk for one in trace.found_memories]
    )
    names = {mention.person.id: mention.person.name for mention in trace.mentions}
    injected = [one for one in trace.found_memories if one.memory.pk in rows and one.kept]
    surest = sorted(trace.mentions, key=lambda mention: -mention.confidence)
    meant = [_mention_row(mention, trace.mentions) for mention in surest]
    timing = trace.injection.timing
    longest = max(timing.values(), default=0.0) or 1.0
    return {
        "trace": trace,
        "spans": tuple((m.start, m.end) for m in trace.mentions if m.start < m.end),
        "meant": meant,
        "unclear": any(one["rivals"] and one["mention"].confidence < CLEAR for one in meant),
        "memories": [_memory_row(one, rows[one.memory.pk], names) for one in injected],
        "bars": [
            {"name": words.in_words(words.STEPS, name), "ms": ms, "share": 100 * ms / longest}
            for name, ms in timing.items()
        ],
        "tokens": estimate_tokens(trace.injection.system_prompt),
    }  # fmt: skip


def _mention_row(mention: Mention, mentions: Iterable[Mention]) -> dict[str, Any]:
    """Returns a mention as the page shows it, with the alias found and its rivals."""
    text, span = normalise(mention.text), (mention.start, mention.end)
    aliases = (alias for alias in mention.person.aliases if normalise(alias) == text)
    rivals = (one for one in mentions if (one.start, one.end) == span)
    return {
        "mention": mention,
        "how": words.in_words(words.HOW, mention.how),
        "alias": next(aliases, ""),
        "rivals": [one for one in rivals if one.person.id != mention.person.id],
    }


def _memory_row(found: FoundMemory, memory: Memory, people: Mapping[UUID, str]) -> dict[str, Any]:
    """Returns a memory as the page shows it, with why it was found and its links to ``people``."""
    links = [link for link in memory.links.all() if link.contact_id in people]
    reasons = []
    if found.found and found.found.names:
        reasons.append(words.reason(found.found.reason))
    elif found.found:
        name = ", ".join(people[link.contact_id] for link in links)
        reasons.append(_("linked to %(name)s") % {"name": name})
    if found.hit:
        reasons += map(words.reason, found.hit.reasons)
    if memory.kind == Memory.Kind.PROFILE:
        reasons.append(_("a profile, distilled from others"))
    return {"way": found, "memory": memory, "reasons": reasons, "doubted": links}


def refusal(error: ProviderError) -> str:
    """Returns why a model gave no reply, for the person who waits for it."""
    if isinstance(error, TransientError):
        if error.retry_after:
            text = _("The model asks to wait. Try again in %(seconds)d seconds.")
            return text % {"seconds": round(error.retry_after)}
        return _("The model could not be reached, was too busy or broke off. Try again.")
    if isinstance(error, OutputError):
        return _("The reply ended too early, or was not in the expected form.")
    return _("The model refused: the key, the model's name or the message is not accepted.")


MOST_LEFT_OUT = 10  # memories, and as many people
# Hits that the search reads beyond the limit, since those that were injected come first.
READ = 40


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A memory or person that was not injected; ``fix`` is what to correct if ``reason`` is wrong.
    ``likely`` is the relevance of a memory in 0..1, None if it was not judged."""

    row: Any
    reason: str
    fix: str
    likely: float | None = None
    instead: UUID | None = None  # the person who was identified instead


def near(end_user: EndUser, trace: Trace, asked: Mapping[str, Any]) -> dict[str, list[LeftOut]]:
    """Returns the nearest memories and people that a trace ``asked`` with this form left out."""
    most = READ + asked["limit"]
    request = SearchRequest(asked["message"], limit=most, statuses=list(Memory.Status), heal=False)
    hits = {hit.memory.pk: hit for hit in recall.search(end_user, request, embedder=embedder())}
    found_hits = {one.memory.pk: one.hit for one in trace.found_memories}
    ids = list(dict.fromkeys([*found_hits, *hits]))
    rows = with_people(Memory.objects.of(end_user)).in_bulk(ids)
    hits |= {pk: hit for pk, hit in found_hits.items() if hit}
    injected = {memory.id for memory in trace.injection.memories}
    why = _why_left_out(end_user, trace, asked, list(rows))
    memories = []
    for memory in (rows[pk] for pk in ids if pk in rows and pk not in injected):
        judged = hits[memory.pk].relevance if memory.pk in hits else None
        likely = judged.likely if judged else None
        memories.append(LeftOut(memory, *why(memory, likely), likely))
    people = _people_left_out(end_user, trace, asked["message"], rows)
    return {"memories": memories[:MOST_LEFT_OUT], "people": people}


def _why_left_out(
    end_user: EndUser, trace: Trace, asked: Mapping[str, Any], ids: list[UUID]
) -> Callable[[Memory, float | None], tuple[str, str]]:
    """Returns a function that says why the trace left a memory out, and what to correct."""
    candidates = {one.memory.pk for one in trace.found_memories}
    cards = {contact.id for contact in trace.injection.contacts}
    names_by_id = {m.person.id: m.person.name for m in trace.mentions if m.how != "conversation"}
    denied = what.said_not_to_be_about(end_user, list(names_by_id), ids) if names_by_id else set()
    # If little is known about the people meant, memories about others are searched as well.
    about_them = len(trace.about.found) if trace.about else 0
    narrowed = bool(names_by_id) and not (trace.about and about_them < asked["limit"])
    searched = "search" in asked["include"] and not greets(asked["message"])
    late = trace.injection.searched == "late"
    no_room = _("It was found, and is over the budget of %(n)d tokens.")
    no_room %= {"n": asked["token_budget"]}
    if len(trace.injection.memories) >= asked["limit"]:
        no_room = ngettext(
            "It was found, and %(n)d memory is the most that is wanted.",
            "It was found, and %(n)d memories are the most that is wanted.",
            asked["limit"],
        ) % {"n": asked["limit"]}

    def why(memory: Memory, likely: float | None) -> tuple[str, str]:
        people = {link.contact_id: link.contact.name for link in memory.links.all()}
        between = pgettext("list", ", ")
        holes = {
            "name": between.join(names_by_id.values()),
            "others": between.join(people.values()),
            "likely": f"{likely or 0:.0%}",
            "floor": f"{relevance.FLOOR:.0%}",
        }
        of_others = narrowed and names_by_id.keys().isdisjoint(people)
        rules = [
            (memory.status == Memory.Status.ARCHIVED, _("It is archived."), "status"),
            (memory.pk in candidates, no_room, "wording"),
            (memory.status == Memory.Status.OUTDATED,
             _("It is no longer true, and the message does not ask what used to be."), "status"),
            (memory.kind == Memory.Kind.PROFILE and not cards.isdisjoint(people),
             _("The card of the person says it."), "wording"),
            (memory.pk in denied, _("Somebody said that it is not about %(name)s."), "about"),
            (of_others and not people,
             _("It is linked to nobody; the message means %(name)s."), "about"),
            (of_others, _("It is about %(others)s; the message means %(name)s."), "about"),
            (not searched,
             _("Nothing was searched for: a greeting, or the search is off."), "wording"),
            (late, _("The search would have come too late."), "wording"),
            (likely is not None and likely < relevance.FLOOR,
             _("Below relevance: %(likely)s, of %(floor)s needed."), "wording"),
            (True, _("Others fit the message better."), "wording"),
        ]  # fmt: skip
        return next((text % holes, fix) for holds, text, fix in rules if holds)

    return why


def _people_left_out(
    end_user: EndUser, trace: Trace, message: str, memories: Mapping[UUID, Memory]
) -> list[LeftOut]:
    """Returns the people who were not injected: first those whom the message may name, then those
    whom the nearest memories are about."""
    injected = {contact.id for contact in trace.injection.contacts}
    named: dict[UUID, tuple[str, bool]] = {}
    for hit in key_index.hits(end_user, keys_in(message[: lookup.CHARACTERS])):
        named.setdefault(UUID(hit.contact["id"]), (hit.text, hit.contact["archived"]))
    about = Counter(link.contact_id for memory in memories.values() for link in memory.links.all())
    ids = [pk for pk in dict.fromkeys([*named, *(pk for pk, _n in about.most_common())])
           if pk not in injected][:MOST_LEFT_OUT]  # fmt: skip
    rows = Contact.objects.of(end_user).standing().light().in_bulk(ids)
    first_meant = next((m.person for m in trace.mentions if m.how != "conversation"), None)
    left_out = []
    for pk in (pk for pk in ids if pk in rows):
        text, archived = named.get(pk, ("", rows[pk].archived_at is not None))
        if archived:
            left_out.append(LeftOut(rows[pk], _("They are archived."), "archive"))
        elif text and first_meant:
            reason = _("“%(text)s” may mean them; %(name)s was taken to be meant.")
            names = {"text": text, "name": first_meant.name}
            left_out.append(LeftOut(rows[pk], reason % names, "who", instead=first_meant.id))
        elif text:
            reason = _("“%(text)s” may mean them, and that was not sure enough.")
            left_out.append(LeftOut(rows[pk], reason % {"text": text}, "names"))
        else:
            reason = ngettext(
                "The message does not name them; %(n)d memory near to it is about them.",
                "The message does not name them; %(n)d memories near to it are about them.",
                about[pk],
            )
            left_out.append(LeftOut(rows[pk], reason % {"n": about[pk]}, "names"))
    return left_out
