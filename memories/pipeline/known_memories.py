"""What is known already of whom and what new turns speak, for a model that is to put it right."""

from dataclasses import replace

from accounts.models import EndUser
from memories import model_calls
from memories.models import Link, Memory
from memories.providers.embeddings import Embedder
from memories.search.vectors import space
from memories.types import CONTACT, ExtractionRequest, StoredMemory
from understanding.people.mentions import entries_of, find_mentions

NEWEST = 6  # of the people who are named, or were spoken of last
NEAREST = 8  # in meaning to what the user says
LATELY = 2  # people whom a pronoun may mean
LONGEST = 2000  # characters of the turns that are compared


def beside(end_user: EndUser, request: ExtractionRequest, embedder: Embedder) -> ExtractionRequest:
    """``request`` with the current memories that its turns may correct or ask to forget, the
    newest first: of the people named in them, and the nearest in meaning."""
    said = [turn.content for turn in request.turns if turn.role in ("user", CONTACT)]
    current = Memory.objects.of(end_user).active().facts()
    if not said or not current.exists():
        return request
    entries = entries_of(request.people)
    named = {mention.person.id for text in said for mention in find_mentions(text, entries)}
    lately = [person.id for person in request.people if person.id not in named][:LATELY]
    [vector] = model_calls.embed(end_user, embedder, ["\n".join(said)[-LONGEST:]])
    links = Link.objects.of(end_user).standing()
    about = links.filter(contact__in=[*named, *lately]).values("memory")
    newest = current.filter(pk__in=about).order_by("-said_at", "id")
    nearest = current.nearest(space(embedder), vector)
    memories = {
        memory.pk: memory.as_stored()
        for rows, most in ((newest, NEWEST), (nearest, NEAREST))
        for memory in rows.defer("tokens")[:most]
    }
    people = links.people_by_memory(memories)
    shown = [replace(one, people=frozenset(people[one.id])) for one in memories.values()]
    return replace(request, memories=tuple(sorted(shown, key=_newest_first)))


def _newest_first(memory: StoredMemory) -> tuple[float, str]:
    return -memory.said_at.timestamp(), str(memory.id)
