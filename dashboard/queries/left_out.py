"""Memories and people that are relevant to a message and were not injected, each with its reason."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from accounts.models import EndUser
from contacts import key_index, lookup
from contacts.models import Contact
from dashboard.queries.memories import with_people
from memories.context import what
from memories.context.build import Trace
from memories.models import Memory
from memories.providers.factory import embedder
from memories.search import recall, relevance
from memories.search.recall import Hit, SearchRequest
from understanding.statements.wordings import greets

MOST = 10  # of each
# Search reads so many, among which those that were injected stand first.
READ = 40


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A memory or a person; ``fix`` is what to correct where ``reason``
    is wrong: "about", "status", "wording", "names", "archive" or "who". ``likely`` is how
    relevant a memory is, in 0..1, None where it was not judged."""

    row: Any
    reason: str
    fix: str
    likely: float | None = None
    instead: UUID | None = None  # the person who was taken to be meant


def near(end_user: EndUser, trace: Trace, asked: Mapping[str, Any]) -> dict[str, list[LeftOut]]:
    """The nearest of each that ``build.trace`` left out when it was ``asked`` so. Embeds the message
    once more; at most ten statements, whatever there is."""
    hits = recall.search(
        end_user,
        SearchRequest(
            asked["message"],
            limit=READ + asked["limit"],
            statuses=list(Memory.Status),
            heal=False,
        ),
        embedder=embedder(),
    )
    found_hits = {way.memory.pk: way.hit for way in trace.ways}
    ids = list(dict.fromkeys([*found_hits, *(hit.memory.pk for hit in hits)]))
    rows = with_people(Memory.objects.of(end_user)).in_bulk(ids)
    judged = {hit.memory.pk: hit for hit in hits} | {
        pk: hit for pk, hit in found_hits.items() if hit
    }
    why = _Why(end_user, trace, asked, [pk for pk in ids if pk in rows])
    memories = [
        why.memory(rows[pk], judged.get(pk)) for pk in ids if pk in rows and pk not in why.kept
    ]
    people = _people(end_user, trace, asked["message"], rows)
    return {"memories": memories[:MOST], "people": people}


class _Why:
    """Says why a memory was left out, by the rules of ``build.trace`` in their order."""

    def __init__(
        self, end_user: EndUser, trace: Trace, asked: Mapping[str, Any], ids: list[UUID]
    ) -> None:
        self.kept = {memory.id for memory in trace.injection.memories}
        self.found = {way.memory.pk for way in trace.ways}
        self.asked = asked
        self.searched = "search" in asked["include"] and not greets(asked["message"])
        self.late = trace.injection.searched == "late"
        self.cards = {contact.id for contact in trace.injection.contacts}
        self.meant = {m.person.id: m.person.name for m in trace.mentions if m.how != "conversation"}
        self.denied = (
            what.said_not_to_be_about(end_user, list(self.meant), ids) if self.meant else set()
        )
        # Where little is known of those who are meant, memories of others are searched as well.
        of_them = len(trace.about.found) if trace.about else 0
        self.narrowed = bool(self.meant) and not (trace.about and of_them < asked["limit"])

    def memory(self, memory: Memory, hit: Hit | None) -> LeftOut:
        judged = hit.relevance if hit else None
        reason, fix = next(self._reasons(memory, judged.likely if judged else None))
        return LeftOut(memory, reason, fix, judged.likely if judged else None)

    def _reasons(self, memory: Memory, likely: float | None) -> Iterator[tuple[str, str]]:
        """Each reason that holds, in the order of the rules, with what to correct."""
        people = {link.contact_id: link.contact.name for link in memory.links.all()}
        names = pgettext("list", ", ").join(self.meant.values())
        if memory.status == Memory.Status.ARCHIVED:
            yield _("It is archived."), "status"
        if memory.pk in self.found:
            yield self._no_room(), "wording"
        if memory.status == Memory.Status.OUTDATED:
            yield _("It is no longer true, and the message does not ask what used to be."), "status"
        if memory.kind == Memory.Kind.PROFILE and not self.cards.isdisjoint(people):
            yield _("The card of the person says it."), "wording"
        if memory.pk in self.denied:
            yield _("Somebody said that it is not about %(name)s.") % {"name": names}, "about"
        if self.narrowed and self.meant.keys().isdisjoint(people):
            yield _of_others(people.values(), names), "about"
        if not self.searched:
            yield _("Nothing was searched for: a greeting, or the search is off."), "wording"
        if self.late:
            yield _("The search would have come too late."), "wording"
        if likely is not None and likely < relevance.FLOOR:
            shares = {"likely": f"{likely:.0%}", "floor": f"{relevance.FLOOR:.0%}"}
            yield _("Below relevance: %(likely)s, of %(floor)s needed.") % shares, "wording"
        yield _("Others fit the message better."), "wording"

    def _no_room(self) -> str:
        most = self.asked["limit"]
        if len(self.kept) >= most:
            text = ngettext(
                "It was found, and %(n)d memory is the most that is wanted.",
                "It was found, and %(n)d memories are the most that is wanted.",
                most,
            )
            return text % {"n": most}
        text = _("It was found, and is over the budget of %(n)d tokens.")
        return text % {"n": self.asked["token_budget"]}


def _of_others(people: Iterable[str], meant: str) -> str:
    about = pgettext("list", ", ").join(people)
    if not about:
        return _("It is linked to nobody; the message means %(name)s.") % {"name": meant}
    text = _("It is about %(others)s; the message means %(name)s.")
    return text % {"others": about, "name": meant}


def _people(
    end_user: EndUser, trace: Trace, message: str, memories: Mapping[UUID, Memory]
) -> list[LeftOut]:
    """Whom the message may name and was not taken to mean, then whom most of the memories near to it
    are about."""
    injected = {contact.id for contact in trace.injection.contacts}
    named: dict[UUID, tuple[str, bool]] = {}
    for hit in key_index.hits(end_user, lookup.keys_in(message[: lookup.CHARACTERS])):
        named.setdefault(UUID(hit.known["id"]), (hit.text, hit.known["archived"]))
    about = Counter(link.contact_id for memory in memories.values() for link in memory.links.all())
    ids = [pk for pk in dict.fromkeys([*named, *(pk for pk, _n in about.most_common())])
           if pk not in injected][:MOST]  # fmt: skip
    rows = Contact.objects.of(end_user).standing().light().in_bulk(ids)
    meant = next((m.person for m in trace.mentions if m.how != "conversation"), None)
    left_out = []
    for pk in (pk for pk in ids if pk in rows):
        text, archived = named.get(pk, ("", rows[pk].archived_at is not None))
        if archived:
            left_out.append(LeftOut(rows[pk], _("They are archived."), "archive"))
        elif text and meant:
            reason = _("“%(text)s” may mean them; %(name)s was taken to be meant.")
            names = {"text": text, "name": meant.name}
            left_out.append(LeftOut(rows[pk], reason % names, "who", instead=meant.id))
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
