"""Stores incoming messages, has a worker claim a range of them as a batch, and builds the request
that a provider gets for it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

import regex
from django.conf import settings
from django.db import IntegrityError
from django.utils import timezone

from accounts import placement
from accounts.cells import atomic
from accounts.models import App, EndUser, Placement
from accounts.scope import user_scope
from contacts.key_index import hits
from contacts.models import Contact
from memories import model_calls, queue
from memories.erasure import name_hashes, redact_messages
from memories.models import Batch, Link, Memory, Message
from memories.providers.embeddings import Embedder
from memories.types import CONTACT, ExtractionRequest, Turn
from understanding.people.mentions import candidate_keys, entries_of, find_mentions
from understanding.requests import forget_reading
from understanding.text import HAN
from understanding.types import Person

# A backlog is read in larger pieces than the live cadence, so that statements are read together
# with the corrections and answers that follow.
BACKLOG_FACTOR = 4
IDLE = timedelta(minutes=5)
CONTEXT_MESSAGES = 6
RECENT_MESSAGES = 100  # of a session, which show who takes part in it
KNOWN_CONTACTS = 200  # in a request, besides those that are named
LANGUAGE_SAMPLE = 50
CLEAR_MAJORITY = 0.7
# Memories shown to a model so that it can correct them: the newest about people who are named or
# were mentioned last, and the nearest in meaning to what the user says.
NEWEST, NEAREST = 6, 8
LATELY = 2  # people mentioned last, to whom a pronoun may refer
LONGEST = 2000  # last characters of the turns, which are embedded

_LATIN = regex.compile(r"\p{Latin}{2,}")


@dataclass(frozen=True, slots=True)
class Incoming:
    """A message as a client sends it. ``created_at`` has the time zone of the sender's clock if
    that is known; None is now. ``speaker`` names its author if that is not the end user."""

    role: str
    content: str
    id: str | None = None
    created_at: datetime | None = None
    session_id: str = ""
    metadata: dict[str, Any] = field(default_factory=dict)
    speaker: str | None = None

    @property
    def by_user(self) -> bool:
        return self.role == Message.Role.USER and self.speaker is None


@dataclass(frozen=True, slots=True)
class Received:
    """The outcome of ``receive``. ``conflicts`` are ids that came with other content than before;
    ``extraction_due``: enough messages wait for a batch."""

    end_user: EndUser
    accepted: int
    duplicates: int
    conflicts: tuple[str, ...]
    extraction_due: bool


@atomic(savepoint=False)
def receive(app: App, external_id: str, incoming: Sequence[Incoming]) -> Received:
    """Stores the new messages in order, and creates the end user with the first of them.

    A client id that is stored already, or twice in ``incoming``, is a duplicate if role, speaker
    and content are the same, else a conflict: it is reported and not stored.
    """
    rows = EndUser.objects.select_for_update(no_key=True).filter(app=app, external_id=external_id)
    if (end_user := rows.order_by().first()) is None:
        new_user = EndUser(pk=placement.claim(app, external_id), app=app, external_id=external_id)
        EndUser.objects.bulk_create([new_user], ignore_conflicts=True)
        end_user = rows.get()
    end_user.app = app
    Placement.check_here(end_user.pk)
    with user_scope(end_user):
        return _store(end_user, incoming)


def _store(end_user: EndUser, incoming: Sequence[Incoming]) -> Received:
    ids = {item.id for item in incoming if item.id is not None}
    erased = redact_messages.erased_ids(end_user, ids)
    stored_rows = Message.objects.of(end_user).filter(client_id__in=[*ids, *erased])
    columns = stored_rows.values_list("client_id", "role", "speaker", "content")
    stored_by_id = {
        erased.get(client_id or "", client_id): (role, speaker, content)
        for client_id, role, speaker, content in columns
    }
    fresh, duplicates, conflicts = list[Incoming](), 0, list[str]()
    for item in incoming:
        if item.id is None or item.id not in stored_by_id:
            fresh.append(item)
            if item.id is not None:
                stored_by_id[item.id] = (item.role, item.speaker, item.content)
        elif _is_repeat(end_user, stored_by_id[item.id], item):
            duplicates += 1
        else:
            conflicts.append(item.id)
    now = timezone.now()
    erased_names = name_hashes.forgotten(end_user)
    fresh = [_without_erased(end_user, item, erased_names) for item in fresh]
    rows = [
        Message(
            end_user=end_user,
            seq=number,
            client_id=item.id,
            role=item.role,
            speaker=item.speaker,
            content=item.content,
            session_id=item.session_id,
            created_at=item.created_at or now,
            metadata=item.metadata,
            utc_offset=end_user.offset_of(item.created_at or now),
        )
        for number, item in enumerate(fresh, start=end_user.message_seq + 1)
    ]
    for row in rows:
        if row.by_user:
            end_user.note_activity(row.created_at, row.utc_offset)
    Message.objects.bulk_create(rows)
    if fresh:
        end_user.message_seq += len(fresh)
        end_user.last_message_at = now
        # The provider decides whether something is to be forgotten, but at once.
        if any(item.by_user and forget_reading.may_ask(item.content) for item in fresh):
            end_user.due_seq = end_user.message_seq
        end_user.save()
    conflicting = tuple(dict.fromkeys(conflicts))
    return Received(end_user, len(fresh), duplicates, conflicting, extraction_due(end_user))


def _is_repeat(end_user: EndUser, stored: tuple[str, str | None, str], item: Incoming) -> bool:
    """Whether a message equals the stored one, or this is what an erasure left of it."""
    *author, content = stored
    if not content or (author, content) == ([item.role, item.speaker], item.content):
        return True
    may_be_left = author == [item.role, item.speaker] and end_user.forgetting_until is not None
    return may_be_left and redact_messages.may_be_redacted_from(content, item.content)


def _without_erased(
    end_user: EndUser, item: Incoming, erased_names: Mapping[str, datetime]
) -> Incoming:
    """Returns the message; it is emptied if it was said before the erasure of somebody whom it
    names."""
    said_at = item.created_at
    erased_later = {one for one, asked in erased_names.items() if said_at and said_at <= asked}
    names = f"{item.speaker or ''}\n{item.content}"
    names_erased = erased_later and name_hashes.named_in(end_user, names, erased_later)
    return replace(item, content="", metadata={}, speaker=None) if names_erased else item


def is_unchanged(end_user: EndUser, turns: Iterable[Turn]) -> bool:
    """Whether the stored messages still have the content of ``turns``: none was erased since."""
    contents = {turn.id: turn.content for turn in turns}
    rows = Message.objects.of(end_user).filter(pk__in=contents)
    return {row.pk: row.turn_in(end_user.zone).content for row in rows} == contents


def extraction_due(end_user: EndUser) -> bool:
    """Whether enough messages wait for a batch, or one that can't wait."""
    full = end_user.message_seq - end_user.extracted_seq >= settings.MIO_EXTRACT_EVERY
    return full or end_user.due_seq > end_user.extracted_seq


def longest_batch() -> int:
    """Returns the most messages that one batch takes."""
    return BACKLOG_FACTOR * settings.MIO_EXTRACT_EVERY


def consolidation_due(end_user: EndUser) -> bool:
    """Whether enough messages were extracted since the last consolidation."""
    return end_user.extracted_seq - end_user.consolidated_seq >= settings.MIO_CONSOLIDATE_EVERY


def claim_next(end_user_id: int, *, now: datetime, everything: bool = False) -> Batch | None:
    """Returns the end user's next batch, claimed for this worker; None if there is none to do.

    First comes a batch that failed or whose worker died, then a new range of messages: if a full
    cadence of them waits or one that asks to forget something, if the user has been idle, or with
    ``everything`` whatever waits. Only one batch of an end user runs at a time.
    """
    try:
        with atomic():
            end_user = EndUser.objects.lock(end_user_id)
            if end_user is None:
                return None
            batches = Batch.objects.of(end_user)
            for pk in batches.claimable(now).order_by("first_seq").values_list("pk", flat=True)[:1]:
                return Batch.objects.get(pk=pk) if Batch.objects.claim(pk, now) else None
            if batches.filter(state=Batch.State.RUNNING).exists():
                return None
            return _new_batch(end_user, now, everything)
    except IntegrityError:  # another worker claimed it between our query and our claim
        return None


def _new_batch(end_user: EndUser, now: datetime, everything: bool) -> Batch | None:
    waiting = end_user.message_seq - end_user.extracted_seq
    last_at = end_user.last_message_at
    due = extraction_due(end_user) or (last_at is not None and last_at <= now - IDLE)
    if waiting == 0 or not (everything or due):
        return None
    first = end_user.extracted_seq + 1
    last = min(end_user.message_seq, first - 1 + longest_batch())
    batch = Batch.objects.create(end_user=end_user, first_seq=first, last_seq=last)
    end_user.extracted_seq = last
    end_user.save(update_fields=["extracted_seq"])
    Batch.objects.claim(batch.pk, now)
    batch.refresh_from_db()
    return batch


def request_for(batch: Batch, embedder: Embedder | None = None) -> ExtractionRequest:
    """Returns what a provider is given for a batch: its turns, a few before, and known contacts:
    those named in the turns first, then those mentioned most recently; with an ``embedder`` also
    the memories that the turns may correct."""
    end_user = batch.end_user
    messages = Message.objects.of(end_user)
    zone = end_user.zone
    new = messages.filter(seq__range=(batch.first_seq, batch.last_seq))
    turns = [message.turn_in(zone) for message in new]
    earlier = messages.filter(seq__lt=batch.first_seq).order_by("-seq")[:CONTEXT_MESSAGES]
    context = [message.turn_in(zone) for message in reversed(earlier)]
    texts = [turn.content for turn in [*turns, *context]]
    speakers = dict.fromkeys(turn.speaker for turn in [*turns, *context] if turn.speaker)
    people = _relevant_people(end_user, [*texts, *speakers])
    # The roles of recent turns in the sessions of the batch, so that a chat with people is known as
    # one in each of its batches. Messages without a session form no chat.
    earlier_roles = frozenset(
        (session, CONTACT if speaker else role)
        for session in {turn.session_id for turn in turns if turn.session_id}
        for role, speaker in messages.filter(seq__lt=batch.first_seq, session_id=session)
        .order_by("-seq")
        .values_list("role", "speaker")[:RECENT_MESSAGES]
    )
    request = ExtractionRequest(
        turns=tuple(turns),
        context=tuple(context),
        people=tuple(people),
        language=_language(end_user, batch.last_seq),
        user_names=tuple(end_user.names),
        earlier=earlier_roles,
    )
    return _with_memories(end_user, request, embedder) if embedder else request


def _with_memories(
    end_user: EndUser, request: ExtractionRequest, embedder: Embedder
) -> ExtractionRequest:
    """Returns ``request`` with the active memories that its turns may correct or ask to forget, the
    newest first: those about people named there or mentioned last, and the nearest in meaning."""
    texts = [turn.content for turn in request.turns if turn.role in ("user", CONTACT)]
    current = Memory.objects.of(end_user).active().facts()
    if not texts or not current.exists():
        return request
    entries = entries_of(request.people)
    named = {mention.person.id for text in texts for mention in find_mentions(text, entries)}
    recent_people = [person.id for person in request.people if person.id not in named][:LATELY]
    [vector] = model_calls.embed(end_user, embedder, ["\n".join(texts)[-LONGEST:]])
    links = Link.objects.of(end_user).standing()
    memories_about = links.filter(contact__in=[*named, *recent_people]).values("memory")
    newest = current.filter(pk__in=memories_about).order_by("-said_at", "id")
    nearest = current.nearest(embedder.space, vector)
    memories = {
        memory.pk: memory.as_stored()
        for rows, most in ((newest, NEWEST), (nearest, NEAREST))
        for memory in rows.defer("tokens")[:most]
    }
    people = links.people_by_memory(memories)
    shown = [replace(one, people=frozenset(people[one.id])) for one in memories.values()]
    return replace(
        request,
        memories=tuple(sorted(shown, key=lambda one: (-one.said_at.timestamp(), str(one.id)))),
    )


def _relevant_people(end_user: EndUser, texts: Sequence[str]) -> list[Person]:
    keys = frozenset().union(*map(candidate_keys, texts))
    entries = [hit.entry for hit in hits(end_user, keys)] if keys else []
    named = {
        mention.person.id: mention.person
        for text in texts
        for mention in find_mentions(text, entries)
    }
    recent = Contact.objects.of(end_user).standing().light().order_by("-last_mentioned_at", "id")
    recent_people = [c.person for c in recent[:KNOWN_CONTACTS] if c.id not in named]
    named_people = list(named.values())
    if len({person.name for person in named_people}) < len(named_people):
        # Of people who share a name, the first to bear it comes first: a bare name refers to them.
        namesake_order = dict(Contact.objects.filter(pk__in=named).values_list("pk", "namesake"))
        named_people.sort(key=lambda person: namesake_order.get(person.id, 0))
    return [*named_people, *recent_people]


def _language(end_user: EndUser, up_to_seq: int) -> str:
    """Returns the end user's language by what they wrote lately, and stores it if it changed."""
    rows = Message.objects.of(end_user).by_user().filter(seq__lte=up_to_seq).order_by("-seq")
    texts = list(rows.values_list("content", flat=True)[:LANGUAGE_SAMPLE])
    language = detect_language(texts, end_user.language)
    if language != end_user.language:
        EndUser.objects.filter(pk=end_user.pk).update(language=language)
        if end_user.contacts.exists():
            queue.enqueue("render_cards", end_user.pk)
        end_user.language = language
    return language


def detect_language(texts: Sequence[str], current: str = "") -> str:
    """Returns zh or en, whichever most of ``texts`` are in; a text with any Han counts as zh.

    A ``current`` language changes only with a clear majority, so that a user who mixes both
    does not flip from day to day.
    """
    han = sum(bool(HAN.search(text)) for text in texts)
    latin = sum(bool(_LATIN.search(text)) and not HAN.search(text) for text in texts)
    if not han + latin:
        return current or "en"
    share = han / (han + latin)
    if current and abs(share - 0.5) < CLEAR_MAJORITY - 0.5:
        return current
    return "zh" if share >= 0.5 else "en"
