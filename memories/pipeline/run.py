"""The order of the pipeline, on one screen.

Every function may be called twice, by any worker, at any time: the claims decide who works,
and a claim that was lost (a worker that was thought dead) writes nothing.
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

# Tries of what raises an error of our own: another may help where two workers met.
MAX_FAULTS = 3
# Tries at a model server that is away or overloaded: five within a few hours, then one every six
# hours for a week.
MAX_AWAY, LONGEST_WAIT = 33, timedelta(hours=6)
# Tries of what read text that was erased before it could be stored: no fault of the model, and each
# erasure takes one.
MAX_ERASURES = 20
# A model server that refuses everything is probed every minute by the sweep, and work that
# waits for it is due when it takes the probe; without a sweep, after this.
REFUSED_AGAIN = timedelta(minutes=15)
# A database server that is started again is back by then.
RECONNECT_S = 30


class LostClaim(Exception):
    """Another worker took the work over while this one was busy."""


class ErasedMeanwhileError(TransientError):
    """What was read was erased before its extraction could be stored: it is read anew at once."""

    def __init__(self) -> None:
        super().__init__(Reason("held_forgotten"))


def extract_next(end_user_id: int, *, everything: bool = False) -> bool:
    """Extracts one batch of an end user; False when none was to be done.

    buffer → extract → prepare → resolve → forget → sync contacts → store → link
    """
    batch = buffer.claim_next(end_user_id, now=timezone.now(), everything=everything)
    if batch is None:
        return False
    with_outcome(partial(_extract, batch), batch)
    return True


def _extract(batch: Batch) -> None:
    """Reads a batch and stores what it says. Raises LostClaim and ProviderError; nothing is
    written then."""
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
        locked = _hold(batch)
        same = buffer.says_the_same(locked, (*request.context, *request.turns))
        if not same or name_hashes.forgotten(locked) != hashes:
            raise ErasedMeanwhileError
        forget_requests.follow(locked, request, extraction)
        denied = denials.since(locked, request.turns)
        contacts, created = sync_contacts.sync_contacts(
            locked, extraction.people, mentions, last_said, denied, extraction.user_names
        )
        contact_ids = {people[ref]: contact.id for ref, contact in contacts.items()}
        drafts = [candidates.settle(draft, contact_ids) for draft in drafts]
        resolutions = {
            key: [candidates.settle_ended(one, contact_ids) for one in found]
            for key, found in resolutions.items()
        }
        store_memories.retract(
            locked, extraction.retracted_turn_ids, last_said, extraction.retracted_memory_ids
        )
        stored = store_memories.store(locked, drafts, resolutions, vectors.space, batch)
        sync_contacts.connect(locked, extraction, contacts, drafts, stored.ids, denied)
        if contacts and not buffer.extraction_due(locked):
            auto_merge.follow(locked)  # once a backlog, after its last batch
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
    """Consolidates every contact of an end user that has something new; returns how many
    runs were made. Nothing new makes no provider call. ``until`` is a ``time.monotonic()``
    after which no further contact is begun."""
    begin_consolidation(end_user_id)
    return sum(
        consolidate_contacts(end_user_id, several)
        for several in consolidate.together(consolidate.contacts_due(end_user_id))
        if time.monotonic() < until
    )


def begin_consolidation(end_user_id: int) -> None:
    """Notes that all that is extracted is being consolidated, and lets what was ahead when a
    profile took it in, and is over now, be read again."""
    if (end_user := EndUser.objects.filter(pk=end_user_id).select_related("app").first()) is None:
        return
    if (over := Link.objects.over_since(end_user)).exists():
        over.update(consolidated_at=None)
    EndUser.objects.filter(pk=end_user_id).update(consolidated_seq=F("extracted_seq"))


def consolidate_contacts(end_user_id: int, contact_ids: Iterable[UUID]) -> int:
    """Takes all that is new about contacts into their profiles; returns the runs it took. They are
    asked about together, and each whose last run failed alone."""
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
    """Asks about all ``works`` together, and about each that has no answer then alone. Those that
    succeeded."""
    provider, end_user = language_provider(), works[0].end_user
    asked: dict[UUID, tuple[ProfileRequest, list[Link]]] = {}
    patches: dict[UUID, ProfilePatch] = {}

    def ask() -> None:
        asked.update((work.contact_id, consolidate.request_for(work)) for work in works)
        requests = [request for request, links in asked.values() if links]
        call = partial(provider.consolidate, requests)
        try:
            found = model_calls.ask(end_user, provider, "consolidate", call) if requests else {}
        except (OutputError, PermanentError) as error:
            if len(works) == 1 or isinstance(error, RefusedError):
                raise
            return  # one of them may be why
        patches.update(found)

    def write(work: Consolidation) -> None:
        _, links = asked[work.contact_id]
        with atomic():
            locked = _hold(work)
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
    return done + [one for work in left_out for one in _consolidate([work])]


def process(end_user_id: int) -> None:
    """Runs all that is due or waits for an end user, to the end."""
    while extract_next(end_user_id, everything=True):
        pass
    for memory in read_facts.waiting(end_user_id):
        read_facts.read(end_user_id, memory)
    consolidate_user(end_user_id)


def with_outcome(step: Callable[[], None], *works: Work) -> bool:
    """Runs a ``step`` of ``works`` within their time and writes its failure on their rows, whatever
    it was: another try later when it may help, quarantine when it can't or was tried often enough.
    True when it succeeded."""
    try:
        with time_limit(works[0].TIME_LIMIT.total_seconds()):
            step()
    except LostClaim:
        for work in works:
            log.warning("%s %s was taken over by another worker", work._meta.model_name, work.pk)
        return False
    except Exception as error:  # noqa: BLE001 what fails is this work alone
        for work in works:
            _fail(work, error)
        return False
    return True


def _fail(work: Work, error: Exception) -> None:
    reason = fault(error)
    most, wait = _another_try(work, error)
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


def _another_try(work: Work, error: Exception) -> tuple[int, timedelta]:
    """How many tries are made in all after such an error, and how long the next one waits."""
    backoff = timedelta(minutes=4 ** min(work.attempts - 1, Work.MAX_ATTEMPTS))
    match error:
        case RefusedError():
            return Work.MAX_ATTEMPTS, REFUSED_AGAIN
        case ErasedMeanwhileError():
            return MAX_ERASURES, timedelta()
        case TransientError():
            asked = timedelta(seconds=error.retry_after or 0)
            return MAX_AWAY, max(min(backoff, LONGEST_WAIT), asked)
        case OutputError():  # what a model writes is a draw: the next may be in form
            return MAX_FAULTS, backoff
        case ProviderError():
            return 0, backoff
        case OperationalError() | InterfaceError():  # the connection, or the whole server, went
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
    # One that works is kept: others up the stack have set it up, or are in a transaction of it.
    if connection.errors_occurred and not connection.in_atomic_block and not connection.is_usable():
        connection.close()
    _held(work).update(**fields)


def retry(work: Work) -> bool:
    """Sends failed or quarantined work round again from the start, as an operator asks;
    False when it is neither."""
    rows = type(work).objects.filter(pk=work.pk, state__in=Work.RETRIABLE)
    return bool(rows.update(state=Work.State.PENDING, attempts=0, error="", retry_at=None))


def cancel(work: Work) -> bool:
    """Leaves work undone for good, as an operator asks: its messages stay unread by extraction,
    until it is retried. False when it runs or is over."""
    rows = type(work).objects.filter(pk=work.pk, state__in=Work.CANCELLABLE)
    now = timezone.now()
    return bool(rows.update(state=Work.State.CANCELLED, retry_at=None, finished_at=now))


def _held(work: Work) -> QuerySet:
    """The row of work, where this worker still holds it."""
    return type(work).objects.filter(pk=work.pk, state=Work.State.RUNNING, attempts=work.attempts)


def _hold(work: Batch | Consolidation) -> EndUser:
    """The locked end user of work that is still ours. Raises LostClaim."""
    end_user = EndUser.objects.lock(work.end_user_id)
    if end_user is None or not _held(work).exists():
        raise LostClaim
    return end_user


def _finish(work: Work, **result: int) -> None:
    done = _held(work).update(
        state=Work.State.DONE,
        error="",
        result=result,
        provider=language_provider().name,
        finished_at=timezone.now(),
        leased_until=None,
    )
    if not done:
        raise LostClaim
