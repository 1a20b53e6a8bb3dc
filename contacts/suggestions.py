"""The background job that suggests which contacts may be one person: block, compare, record.

A person's answer ("different", "merged") is never changed; an open suggestion is kept up to date,
and deleted once nothing supports it any more."""

import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from accounts.cells import atomic
from accounts.models import EndUser
from accounts.reasons import Reason
from contacts.models import Contact, ContactKey, Relation, Suggestion
from understanding import names
from understanding.same_person import blocking
from understanding.same_person.pair_scoring import LIKELY, Comparison, among_rivals, compare
from understanding.same_person.records import MAX_FACTS, Record, record
from understanding.same_person.text_overlap import rarity_of
from understanding.types import How, NameKey

Pair = tuple[UUID, UUID]
# For some of an end user's contacts, up to so many of the newest facts about each: the contact's
# id, the text, and the words to search it by.
NewestFacts = Callable[[EndUser, Collection[UUID], int], Iterable[tuple[UUID, str, Iterable[str]]]]
State = Suggestion.State
CHUNK = 500  # contacts read at once: bounds memory, not results
MAX_EVIDENCE = 8  # the weightiest evidence is stored with a suggestion
# The evidence that a model read in a chat that two are one, and its confidence: set by hand, as no
# set of such cases is known.
TOLD, TOLD_SURE = Reason("said_to_be_one"), 0.7


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run did. ``explicit`` are the pairs that a fact states to be one person, certain and
    uncontradicted, each with that fact: the only ones that may be merged unasked."""

    contacts: int
    compared: int
    suggested: int
    withdrawn: int
    explicit: tuple[tuple[Pair, str], ...]
    merged: int = 0


@dataclass(slots=True)
class _People:
    """The listed contacts of an end user with their blocks; ``changed``: to compare (None: all)."""

    records: dict[UUID, Record]
    same_name: dict[UUID, str]
    blocks: dict[UUID, set[blocking.Block]]
    changed: set[UUID] | None


def suggest(end_user: EndUser, newest: NewestFacts, since: datetime | None = None) -> Outcome:
    """Compares contacts that share a key, and records suggestions where a question is worth asking.

    ``newest`` reads the newest facts about each contact. With ``since``, only contacts that changed
    from then on are compared (with all others)."""
    people = _read_people(end_user, newest, since)
    answered = Suggestion.objects.of(end_user).filter(state__in=[State.DIFFERENT, State.MERGED])
    settled = set(answered.values_list("first", "second"))
    candidates = [
        pair for pair in blocking.pairs(people.blocks, people.changed) if pair not in settled
    ]
    # A relation between two contacts shows that they are two people.
    related = Relation.objects.of(end_user).values_list("subject", "object")
    apart = {(min(pair), max(pair)) for pair in related if pair[0] in people.records}
    comparisons = dict(_compare_pairs(people, candidates, apart))
    withdrawn, suggested = _update_suggestions(end_user, comparisons, people.changed)
    explicit = tuple(
        (pair, comparison.statement)
        for pair, comparison in comparisons.items()
        if comparison.statement and pair in suggested
    )
    return Outcome(len(people.records), len(candidates), len(suggested), withdrawn, explicit)


def _read_people(end_user: EndUser, newest: NewestFacts, since: datetime | None) -> _People:
    """Reads the contacts to compare: none if none changed from ``since`` on."""
    standing = Contact.objects.of(end_user).listed()
    ids = list(standing.order_by("id").values_list("id", flat=True))
    people = _People({}, {}, {}, None)
    if since is not None:
        changed = standing.filter(updated_at__gte=since)
        people.changed = set(changed.values_list("id", flat=True))
        if not people.changed:
            return people
    tokens: dict[UUID, set[str]] = defaultdict(set)
    keys: dict[UUID, list[NameKey]] = defaultdict(list)
    for start in range(0, len(ids), CHUNK):
        chunk = ids[start : start + CHUNK]
        people.records |= records_of(end_user, chunk, newest, tokens)
        people.same_name |= standing.filter(pk__in=chunk).values_list("id", "name_key")
    # Keys for typos are many; what they could find, the sound of a name finds as well.
    typos = Q(how="fuzzy") & ~Q(key__startswith=names.SOUND)
    indexed = ContactKey.objects.of(end_user).exclude(how="kinship").exclude(typos)
    for pk, key, how in indexed.values_list("contact", "key", "how").iterator():
        keys[pk].append(NameKey(key, cast(How, how), ""))
    # How rare a word is among this user's people decides whether it tells two of them apart.
    spread = Counter(word for words in tokens.values() for word in words)
    for pk, person in people.records.items():
        rare = {w for w in tokens.pop(pk, ()) if 1 < spread[w] <= blocking.MOST[blocking.WORD]}
        people.blocks[pk] = blocking.blocks_of(person, keys.pop(pk, []), rare)
    return people


def records_of(
    end_user: EndUser,
    contact_ids: Collection[UUID],
    newest: NewestFacts,
    tokens: dict[UUID, set[str]] | None = None,
) -> dict[UUID, Record]:
    """Returns the records of these contacts, if they are listed, by id; adds the words of their
    facts to ``tokens``. Two statements."""
    facts: dict[UUID, list[str]] = defaultdict(list)
    for pk, content, words in newest(end_user, contact_ids, MAX_FACTS):
        facts[pk].append(content)
        if tokens is not None:
            tokens[pk] |= set(map(sys.intern, words))
    contacts = Contact.objects.of(end_user).listed().filter(pk__in=contact_ids).order_by("id")
    contacts = contacts.defer("memory_ids", "card", "timeline", "personality")
    return {row.id: record(row.person, row.attributes, facts[row.id]) for row in contacts}


def _compare_pairs(
    people: _People, candidates: Collection[Pair], apart: Collection[Pair]
) -> Iterator[tuple[Pair, Comparison]]:
    """Yields comparisons that are worth a question; rivals of a contact make each less probable."""
    records = people.records
    if not candidates:
        return
    rarity = rarity_of([record.words_and_role for record in records.values()])
    crowd = rarity_of([{r.relationship: 1.0} for r in records.values() if r.relationship])
    comparisons: dict[Pair, Comparison] = {}
    for first, second in candidates:
        # Two contacts of one name exist only because somebody stated that they are two people.
        namesakes = people.same_name[first] == people.same_name[second]
        comparison = compare(
            records[first],
            records[second],
            together=namesakes or (first, second) in apart,
            rarity=rarity,
            crowd=crowd,
        )
        if comparison.verdict != "none":
            comparisons[first, second] = comparison
    fits = Counter(pk for pair, c in comparisons.items() if c.score >= LIKELY for pk in pair)
    for pair, comparison in comparisons.items():
        rivals = max(fits[pk] for pk in pair) - (comparison.score >= LIKELY)
        comparison = among_rivals(comparison, rivals)
        if comparison.verdict != "none":
            yield pair, comparison


@atomic()
def _update_suggestions(
    end_user: EndUser, compared: dict[Pair, Comparison], changed: set[UUID] | None
) -> tuple[int, set[Pair]]:
    """Makes the open suggestions equal to ``compared``; returns how many were deleted, and which
    pairs are suggested. A decision or a merge made meanwhile wins."""
    locked = EndUser.objects.lock(end_user.pk)
    if locked is None:
        return 0, set()
    ids = {pk for pair in compared for pk in pair}
    standing = set(
        Contact.objects.of(locked).listed().filter(pk__in=ids).values_list("id", flat=True)
    )
    compared = {pair: c for pair, c in compared.items() if standing.issuperset(pair)}
    rows = {(row.first_id, row.second_id): row for row in Suggestion.objects.of(locked)}
    unanswered = {pair: row for pair, row in rows.items() if row.state in (State.OPEN, State.LATER)}
    gone = [
        row.pk
        for pair, row in unanswered.items()
        if pair not in compared
        and row.state == State.OPEN
        and not _chat_evidence(row)
        and (changed is None or not changed.isdisjoint(pair))
    ]
    Suggestion.objects.of(locked).filter(pk__in=gone).delete()
    renewed = [_updated(unanswered[pair], c) for pair, c in compared.items() if pair in unanswered]
    Suggestion.objects.bulk_update(
        renewed, ["verdict", "confidence", "evidence", "updated_at"], batch_size=CHUNK
    )
    new = {pair: c for pair, c in compared.items() if pair not in rows}
    Suggestion.objects.bulk_create(
        [
            _updated(Suggestion(end_user=locked, first_id=first, second_id=second), comparison)
            for (first, second), comparison in new.items()
        ],
        batch_size=CHUNK,
    )
    return len(gone), compared.keys() & (unanswered.keys() | new.keys())


def _updated(row: Suggestion, comparison: Comparison) -> Suggestion:
    """The suggestion with the result of a comparison (unsaved)."""
    row.verdict, row.confidence = comparison.verdict, round(comparison.score, 4)
    compared = [evidence.as_json for evidence in comparison.evidence[:MAX_EVIDENCE]]
    row.evidence = [*_chat_evidence(row), *compared]
    row.updated_at = timezone.now()
    return row


def _chat_evidence(row: Suggestion) -> list[dict[str, Any]]:
    """The evidence that a model read in a chat: it stays however alike the two look."""
    return [evidence for evidence in row.evidence if evidence.get("code") == TOLD.code]


def suggest_one(end_user: EndUser, pair: Pair) -> None:
    """Suggests that two contacts are one person, which somebody's words made likely. An answer that
    was given stays. The caller holds the end user's lock."""
    first, second = sorted(pair)
    row, _ = Suggestion.objects.get_or_create(
        end_user=end_user,
        first_id=first,
        second_id=second,
        defaults={"verdict": Suggestion.Verdict.LIKELY, "confidence": TOLD_SURE},
    )
    if row.state in (State.OPEN, State.LATER) and not _chat_evidence(row):
        row.evidence = [{**TOLD.as_json, "weight": 1.0}, *row.evidence]
        row.save(update_fields=["evidence", "updated_at"])


def survivor_first(end_user: EndUser, pair: Pair) -> Pair:
    """Returns the pair with the contact first that is mentioned more often and should survive."""
    known = Contact.objects.of(end_user).filter(pk__in=pair)
    counts = dict(known.values_list("id", "mention_count"))
    first, second = sorted(pair, key=lambda pk: (-counts.get(pk, 0), pk))
    return first, second
