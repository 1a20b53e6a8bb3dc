"""Runs the steps of the pipeline in order, for batches and for consolidations.

Every function may be called twice, by any worker, at any time: the claims decide who works,
and a worker that lost its claim (because it was thought dead) writes nothing.
"""

import logging
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

from django.db import InterfaceError, OperationalError
from django.db.models import F, QuerySet
from django.utils import timezone
from tenacity import retry as retrying
from tenacity import retry_if_exception_type, stop_after_delay, wait_fixed

from accounts.cells import atomic, connection
from accounts.models import EndUser
from accounts.reasons import Reason, fault, stored
from memories import model_calls
from memories.budget import TimeLimitExceeded, time_limit
from memories.corrections import auto_merge, denials, not_people, unwanted
from memories.erasure import name_hashes
from memories.models import Batch, Consolidation, Link, Work
from memories.pipeline import (
    buffer,
    candidates,
    consolidate,
    context_usage,
    forget_requests,
    read_facts,
    store_memories,
    sync_contacts,
)
from memories.providers.errors import (
    OutputError,
    PermanentError,
    ProviderError,
    RefusedError,
    TransientError,
)
from memories.providers.factory import embedder, language_provider
from memories.types import ProfilePatch, ProfileRequest

log = logging.getLogger(__name__)

# Tries of work that fails by an error of our own: another may help if two workers collided.
MAX_FAULTS = 3
# Tries at a model server that is unavailable or overloaded: five within a few hours, then one every
# six hours for a week.
MAX_AWAY, LONGEST_WAIT = 33, timedelta(hours=6)
# Tries of work whose text was erased before its result could be stored: no fault of the model, and
# each erasure uses one.
MAX_ERASURES = 20
# The sweep probes a model server that refuses everything every minute; work that waits for it is
# due when it accepts the probe, or without a sweep after this.
REFUSED_AGAIN = timedelta(minutes=15)
# A database server that is restarted is back by then.
RECONNECT_S = 30


class LostClaim(Exception):
    """Another worker took over the work while this one was busy."""


class ErasedMeanwhileError(TransientError):
    """Text was erased before its extraction could be stored: the batch is read again at once."""

    def __init__(self) -> None:
        super().__init__(Reason("held_forgotten"))


def extract_next(end_user_id: int, *, everything: bool = False) -> bool:
    """Extracts one batch of an end user; False if there was none to do.

    buffer → extract → prepare → resolve → forget → sync contacts → store → link
    """
    batch = buffer.claim_next(end_user_id, now=timezone.now(), everything=everything)
    if batch is None:
        return False
    with_outcome(partial(_extract, batch), batch)
    return True


def _extract(batch: Batch) -> None:
    """Reads a batch and stores what it states. Raises LostClaim and ProviderError, and then stores
    nothing."""
    provider, end_user, vectors = language_provider(), batch.end_user, embedder()
    request = buffer.request_for(batch, vectors if provider.reads_memories else None)
    call = partial(provider.extract, request)
    extraction = model_calls.ask(end_user, provider, "extract", call, messages=len(request.turns))
    hashes = name_hashes.forgotten(end_user)
    extraction = name_hashes.without_forgotten(end_user, extraction, request.turns, hashes)
    end_user.refresh_from_db(fields=["unwanted", "not_people"])
    extraction = unwanted.without(end_user, extraction)
    extraction = not_people.without(end_user, extraction)
    people, drafts, cases = candidates.prepare(end_user, extraction, request, vectors)
    resolve = partial(provider.resolve, cases)
    resolutions = model_calls.ask(end_user, provider, "resolve", resolve) if cases else {}
    mentions: dict[str, list[datetime]] = {}
    for draft in drafts:
        for ref in draft.extracted.people:
            mentions.setdefault(ref, []).append(draft.said_at)
    last_said = request.turns[-1].said_at
    with atomic():
        locked = _lock_claimed(batch)
        is_unchanged = buffer.is_unchanged(locked, (*request.context, *request.turns))
        if not is_unchanged or name_hashes.forgotten(locked) != hashes:
            raise ErasedMeanwhileError
        forget_requests.follow(locked, request, extraction)
        denied = denials.since(locked, request.turns)
        contacts, created = sync_contacts.sync_contacts(
            locked, extraction.people, mentions, last_said, denied, extraction.user_names
        )
        contact_ids = {people[ref]: contact.id for ref, contact in contacts.items()}
        drafts = [candidates.settle(draft, contact_ids) for draft in drafts]
        resolutions = {
            key: [candidates.settle_ended(resolution, contact_ids) for resolution in found]
            for key, found in resolutions.items()
        }
        store_memories.retract(
            locked, extraction.retracted_turn_ids, last_said, extraction.retracted_memory_ids
        )
        stored = store_memories.store(locked, drafts, resolutions, vectors.space, batch)
        sync_contacts.connect(locked, extraction, contacts, drafts, stored.ids, denied)
        if contacts and not buffer.extraction_due(locked):
            auto_merge.follow(locked)  # once per backlog, after its last batch
        context_usage.note(locked, request, drafts, stored.ids, stored.added)
        _finish(
            batch,
            memories=len(stored.added),
            repeated=len(drafts) - len(stored.added),
            outdated=len(stored.outdated),
            contacts=created,
        )
    store_memories.embed_missing(locked, vectors)


def consolidate_user(end_user_id: int, until: float = float("inf")) -> int:
    """Consolidates every contact of an end user that has new memories; returns how many runs
    were made. Without new memories no provider is called. ``until`` is a ``time.monotonic()``
    after which no further group of contacts is begun."""
    begin_consolidation(end_user_id)
    return sum(
        consolidate_contacts(end_user_id, contact_ids)
        for contact_ids in consolidate.in_groups(consolidate.contacts_due(end_user_id))
        if time.monotonic() < until
    )


def begin_consolidation(end_user_id: int) -> None:
    """Stores that all extracted messages are being consolidated, and has memories read again whose
    day was ahead when a profile read them, and is over now."""
    if (end_user := EndUser.objects.filter(pk=end_user_id).select_related("app").first()) is None:
        return
    if (over_links := Link.objects.over_since(end_user)).exists():
        over_links.update(consolidated_at=None)
    EndUser.objects.filter(pk=end_user_id).update(consolidated_seq=F("extracted_seq"))


def consolidate_contacts(end_user_id: int, contact_ids: Iterable[UUID]) -> int:
    """Consolidates all new memories of these contacts; returns the number of runs. The provider is
    asked about them together, but about each contact whose last run failed alone."""
    runs = 0
    now = timezone.now
    while works := [w for pk in contact_ids if (w := consolidate.claim(end_user_id, pk, now()))]:
        groups = [[work] for work in works if work.attempts > 1]
        if fresh := [work for work in works if work.attempts == 1]:
            groups.append(fresh)
        done = {work.contact_id for group in groups for work in _consolidate(group)}
        runs += len(works)
        due = done.intersection(consolidate.contacts_due(end_user_id))
        claimable = Consolidation.objects.claimable(timezone.now())
        contact_ids = [
            work.contact_id
            for work in works
            if work.contact_id in due or (work.contact_id not in done and claimable.contains(work))
        ]
    return runs


def _consolidate(works: Sequence[Consolidation]) -> list[Consolidation]:
    """Asks about all ``works`` together, then alone about each that got no answer. Returns those
    that succeeded."""
    provider, end_user = language_provider(), works[0].end_user
    asked: dict[UUID, tuple[ProfileRequest, list[Link]]] = {}
    patches: dict[UUID, ProfilePatch] = {}

    def ask() -> None:
        asked.update((work.contact_id, consolidate.request_for(work)) for work in works)
        requests = [request for request, links in asked.values() if links]
        call = partial(provider.consolidate, requests)
        try:
            answers = model_calls.ask(end_user, provider, "consolidate", call) if requests else {}
        except (OutputError, PermanentError) as error:
            if len(works) == 1 or isinstance(error, RefusedError):
                raise
            return  # one of them may be the cause
        patches.update(answers)

    def write(work: Consolidation) -> None:
        _, links = asked[work.contact_id]
        with atomic():
            locked = _lock_claimed(work)
            if links:
                consolidate.write(work, links, patches.get(work.contact_id, ProfilePatch()))
            _finish(work, memories=len(links))
        store_memories.embed_missing(locked, embedder())

    if not with_outcome(ask, *works):
        return []
    left_out = [
        work
        for work in works
        if len(works) > 1 and asked[work.contact_id][1] and work.contact_id not in patches
    ]
    done = [
        work for work in works if work not in left_out and with_outcome(partial(write, work), work)
    ]
    return done + [done_work for work in left_out for done_work in _consolidate([work])]


def process(end_user_id: int) -> None:
    """Runs all work of an end user that is due or waits, to the end."""
    while extract_next(end_user_id, everything=True):
        pass
    for memory in read_facts.waiting(end_user_id):
        read_facts.read(end_user_id, memory)
    consolidate_user(end_user_id)


def with_outcome(step: Callable[[], None], *works: Work) -> bool:
    """Runs a ``step`` of ``works`` within their time limit; True if it succeeded. Stores any
    failure with their rows: another try later if that may help, quarantine if it can't or was tried
    often enough."""
    try:
        with time_limit(works[0].TIME_LIMIT.total_seconds()):
            step()
    except LostClaim:
        for work in works:
            log.warning("%s %s was taken over by another worker", work._meta.model_name, work.pk)
        return False
    except Exception as error:  # noqa: BLE001 a failure concerns this work alone
        for work in works:
            _record_failure(work, error)
        return False
    return True


def _record_failure(work: Work, error: Exception) -> None:
    reason = fault(error)
    most, wait = _retry_policy(work, error)
    attempts = work.attempts
    if isinstance(error, RefusedError):
        reason = Reason("server_refuses", cause=reason)
        attempts -= not error.opens  # no fault of the work, unless others are not refused
    final = attempts >= most
    now = timezone.now()
    _write_failure(
        work,
        state=Work.State.QUARANTINED if final else Work.State.FAILED,
        attempts=attempts,
        error=stored(reason),
        retry_at=None if final else now + wait,
        finished_at=now,
        leased_until=None,
    )
    log.warning(
        "%s %s failed at try %s%s: %s",
        work._meta.model_name,
        work.pk,
        attempts,
        ", the last" if final else "",
        reason,
    )


def _retry_policy(work: Work, error: Exception) -> tuple[int, timedelta]:
    """Returns how many tries are made in all after such an error, and the wait for the next."""
    backoff = timedelta(minutes=4 ** min(work.attempts - 1, Work.MAX_ATTEMPTS))
    match error:
        case RefusedError():
            return Work.MAX_ATTEMPTS, REFUSED_AGAIN
        case ErasedMeanwhileError():
            return MAX_ERASURES, timedelta()
        case TransientError():
            asked = timedelta(seconds=error.retry_after or 0)
            return MAX_AWAY, max(min(backoff, LONGEST_WAIT), asked)
        case OutputError():  # a model's output is random: the next may be well-formed
            return MAX_FAULTS, backoff
        case ProviderError():
            return 0, backoff
        case OperationalError() | InterfaceError():  # the connection or the whole server was lost
            return Work.MAX_ATTEMPTS, timedelta()
        case TimeLimitExceeded():
            return MAX_FAULTS, backoff
        case _:
            return MAX_FAULTS, timedelta()


@retrying(
    retry=retry_if_exception_type((OperationalError, InterfaceError)),
    stop=stop_after_delay(RECONNECT_S),
    wait=wait_fixed(0.5),
    reraise=True,
)
def _write_failure(work: Work, **fields: object) -> None:
    # A usable connection is kept: callers have set it up, or are in a transaction of it.
    if connection.errors_occurred and not connection.in_atomic_block and not connection.is_usable():
        connection.close()
    _claimed_row(work).update(**fields)


def retry(work: Work) -> bool:
    """Makes failed, quarantined or cancelled work pending again, as an operator asks, with no tries
    counted; False if it is in another state."""
    rows = type(work).objects.filter(pk=work.pk, state__in=Work.RETRIABLE)
    return bool(rows.update(state=Work.State.PENDING, attempts=0, error="", retry_at=None))


def cancel(work: Work) -> bool:
    """Cancels work, as an operator asks: its messages are not extracted until it is retried.
    False if it is running or done."""
    rows = type(work).objects.filter(pk=work.pk, state__in=Work.CANCELLABLE)
    now = timezone.now()
    return bool(rows.update(state=Work.State.CANCELLED, retry_at=None, finished_at=now))


def _claimed_row(work: Work) -> QuerySet:
    """Returns the row of the work if this worker still has the claim."""
    return type(work).objects.filter(pk=work.pk, state=Work.State.RUNNING, attempts=work.attempts)


def _lock_claimed(work: Batch | Consolidation) -> EndUser:
    """Locks and returns the end user of work that this worker still claims. Raises LostClaim."""
    end_user = EndUser.objects.lock(work.end_user_id)
    if end_user is None or not _claimed_row(work).exists():
        raise LostClaim
    return end_user


def _finish(work: Work, **result: int) -> None:
    done = _claimed_row(work).update(
        state=Work.State.DONE,
        error="",
        result=result,
        provider=language_provider().name,
        finished_at=timezone.now(),
        leased_until=None,
    )
    if not done:
        raise LostClaim
