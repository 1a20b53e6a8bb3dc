"""Extraction that nobody waits for, by a model server's batch API: half the price, in a day.

    due batches → claimed → announced (RemoteBatch, SUBMITTED) → uploaded → created → named
    polled → answers taken in as if they had come at once → files deleted at the server

A remote batch is announced in our tables before the server hears of it and carries its row
in its metadata, so that whatever dies in between is found again: adopted when the server has
it, given back when it has not. An answer is taken by one conditional UPDATE that demands the
same attempt, so two polls, or a late answer, do nothing twice.
"""

import logging
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID, uuid4

from django.db.models import F, Q, QuerySet
from django.utils import timezone

from accounts.cells import atomic
from accounts.models import EndUser
from accounts.reasons import Reason, fault, stored
from memories import model_calls, remote_batches
from memories.models import Batch, RemoteBatch, Work
from memories.pipeline import buffer, cadence, known_memories, run
from memories.pipeline.remote import cleanup as traces
from memories.pipeline.remote import collect_answers as answers
from memories.providers.errors import PermanentError, ProviderError
from memories.providers.factory import batch_server, batching_provider, embedder
from memories.providers.openai.batch_api import BatchServer, ServerBatch, answers_in, request_line
from memories.providers.openai.transport import NotFoundError
from memories.types import Extraction

log = logging.getLogger(__name__)

State = RemoteBatch.State
Open = State.OPEN
# One file: far below the protocol's 50,000 requests and 200 MB, so that claiming and writing
# it takes less than a lease.
MOST_REQUESTS = 500
MOST_BYTES = 50_000_000
# A submission that has no name at the server by then is taken for dead.
NAMED_WITHIN = Work.LEASE
# The server promises its answer within 24 hours.
ANSWERED_WITHIN = timedelta(hours=26)
# How the server's word for an end is kept, and what it means for a request with no answer.
ENDS = {
    "completed": State.DONE,
    "expired": State.EXPIRED,
    "cancelled": State.CANCELLED,
    "failed": State.FAILED,
}
WHY_NOT = {
    "completed": Reason("batch_unreadable"),
    "expired": Reason("batch_no_time"),
    "cancelled": Reason("batch_cancelled"),
    "failed": Reason("batch_refused"),
}


@dataclass(frozen=True, slots=True)
class _Request:
    """A batch that is to be sent: its line, whom it shows, and where its context begins."""

    batch: Batch
    line: str
    shown: list[UUID]
    from_seq: int
    said: str


def is_urgent(end_user_id: int) -> bool:
    """Whether the end user's messages are to be extracted at once: always without
    MIO_LLM_BATCH, else only where the user asked for something that can't wait."""
    if batching_provider() is None:
        return True
    due = EndUser.objects.unextracted().filter(pk=end_user_id, due_seq__gt=F("extracted_seq"))
    return due.exists()


def submit_due() -> dict[str, int]:
    """Hands what is due of all end users to the model server as one batch; returns how many
    ``requests`` it has. Nothing while MIO_LLM_BATCH is off."""
    provider, server = batching_provider(), batch_server()
    if provider is None or server is None or model_calls.is_refused(provider):
        return {}
    requests = list(_claimed(timezone.now()))
    remote = _announce(requests, provider.model) if requests else None
    if remote is None:
        return {"requests": 0}
    try:
        _hand_over(server, remote, [request.line for request in requests])
    except ProviderError as error:
        log.warning("remote batch %s was not handed over: %s", remote.pk, type(error).__name__)
    return {"requests": remote.requests}


def _claimed(now: datetime) -> Iterator[_Request]:
    """The due batches, claimed one after the other. One in which the user said nothing is
    done at once."""
    size = 0
    for end_user_id in _users_due(now)[:MOST_REQUESTS]:
        batch = buffer.claim_next(end_user_id, now=timezone.now())
        request = _request_of(batch) if batch else None
        if request is not None:
            yield request
            size += len(request.line.encode())
        if size > MOST_BYTES:
            return


def _users_due(now: datetime) -> QuerySet[EndUser, int]:
    left = Batch.objects.claimable(now)
    under_way = Batch.objects.filter(state__in=(Work.State.RUNNING, Work.State.SUBMITTED))
    busy = under_way.exclude(pk__in=left).values("end_user")
    waiting = cadence.full_batch_waits()
    idle = Q(message_seq__gt=F("extracted_seq")) & cadence.idle_users(now)
    due = EndUser.objects.filter(waiting | idle | Q(pk__in=left.values("end_user"))).exclude(
        pk__in=busy
    )
    due = due.exclude(due_seq__gt=F("extracted_seq"))
    return due.order_by("last_message_at", "pk").values_list("pk", flat=True)


def _request_of(batch: Batch) -> _Request | None:
    made: list[_Request] = []

    def make() -> None:
        provider = batching_provider()
        request = known_memories.beside(batch.end_user, buffer.request_for(batch), embedder())
        body, shown = provider.extraction_body(request) if provider else ({}, [])
        if not body:
            run.take_in(batch, request, Extraction())
            return
        from_seq = max(1, batch.first_seq - len(request.context))
        line = request_line(answers.custom_id(batch), body)
        said = remote_batches.fingerprint(batch, from_seq)
        made.append(_Request(batch, line, shown, from_seq, said))

    run.with_outcome(make, batch)
    return made[0] if made else None


def _announce(requests: list[_Request], model: str) -> RemoteBatch | None:
    """The row of a remote batch that the server has not heard of, with its requests
    submitted. None when none of them is still ours and says what it said."""
    remote = RemoteBatch.objects.create(remote_id=f"{traces.UNNAMED}{uuid4()}", model=model)
    for request in list(requests):
        if not _submit(remote, request, remote.requests + 1):
            requests.remove(request)
            continue
        remote.requests += 1
    remote.save(update_fields=["requests"])
    if not requests:
        remote.delete()
        return None
    return remote


@atomic()
def _submit(remote: RemoteBatch, request: _Request, number: int) -> bool:
    """Marks a batch as handed over; False where it is another's now, or where what is to be
    sent was changed or forgotten meanwhile, and it goes back untried."""
    batch = request.batch
    EndUser.objects.lock(batch.end_user_id)
    open_ = RemoteBatch.objects.select_for_update().filter(pk=remote.pk, state=Open).exists()
    mine = Batch.objects.filter(pk=batch.pk, state=Work.State.RUNNING, attempts=batch.attempts)
    batch.result = {
        "line": number,
        "shown": [str(pk) for pk in request.shown],
        "from_seq": request.from_seq,
        "said": request.said,
    }
    if not (open_ and remote_batches.stands(batch)):
        mine.update(state=Work.State.PENDING, attempts=F("attempts") - 1, leased_until=None)
        return False
    return bool(
        mine.update(
            state=Work.State.SUBMITTED,
            leased_until=None,
            remote=remote,
            result=batch.result,
            error="",
        )
    )


def _hand_over(server: BatchServer, remote: RemoteBatch, lines: list[str]) -> None:
    """Uploads the file and makes the batch. What surely failed is given back; whether what
    may have failed was done is seen by the next polls."""
    if not RemoteBatch.objects.filter(pk=remote.pk, state=Open).exists():
        return
    try:
        file_id = server.upload(traces.file_name(remote), "\n".join(lines) + "\n")
    except ProviderError as error:
        answers.fail_all(remote, error)
        raise
    RemoteBatch.objects.filter(pk=remote.pk).update(input_file_id=file_id)
    try:
        made = server.create(file_id, traces.metadata(remote))
    except PermanentError as error:
        answers.fail_all(remote, error)
        raise
    traces.name(remote, made)


def poll() -> dict[str, int]:
    """Looks after every remote batch that is not settled: takes in what came, gives back what
    did not, and deletes its files at the server. Asks the server nothing when there is none.

    Returns the counts of what it did with the requests, and of remote batches still ``open``.
    """
    stranded = Batch.objects.filter(state=Work.State.SUBMITTED).exclude(remote__state=Open)
    answers.give_back(stranded, Reason("batch_gone"))
    unsettled = RemoteBatch.objects.filter(finished_at=None)
    if not unsettled.exists():
        return {}
    if batching_provider() is None:
        open_ = unsettled.filter(state=Open).values_list("pk", flat=True)
        remote_batches.call_off(list(open_), Reason("batches_off"))
    server = batch_server()
    if server is None:
        unsettled.update(finished_at=timezone.now(), error=Reason("files_left").stored)
        return {}
    effect: Counter[str] = Counter()
    if unsettled.filter(remote_id__startswith=traces.UNNAMED).exists():
        effect.update(_try(lambda: traces.adopt(server)))
    for pk in unsettled.order_by("pk").values_list("pk", flat=True):
        remote = RemoteBatch.objects.filter(pk=pk).first()
        if remote is not None:
            effect.update(_try(partial(_look_after, server, remote), remote))
    return {**effect, "open": unsettled.filter(state=Open).count()}


def _try(step: Callable[[], Counter[str]], remote: RemoteBatch | None = None) -> Counter[str]:
    """A server that fails is asked again by the next poll; its error shows on the row."""
    try:
        return step()
    except Exception as error:  # noqa: BLE001 the other remote batches go on
        reason = fault(error)
        log.warning("remote batch %s: %s", remote and remote.pk, reason)
        if remote is not None:
            row = RemoteBatch.objects.filter(pk=remote.pk)
            row.update(error=stored(reason), checked_at=timezone.now())
        return Counter(errors=1)


def _look_after(server: BatchServer, remote: RemoteBatch) -> Counter[str]:
    now = timezone.now()
    status = None
    effect: Counter[str] = Counter()
    unnamed = remote.remote_id.startswith(traces.UNNAMED)
    if remote.state == Open and unnamed and remote.created_at <= now - NAMED_WITHIN:
        effect["returned"] = answers.give_back_all(remote, Reason("never_handed_over"))
        answers.close(remote, State.FAILED, Reason("never_reached"))
    elif remote.state == Open and not unnamed:
        status, effect = _follow(server, remote, now)
    if remote.state != Open:
        traces.clean(server, remote, status)
    return effect


def _follow(
    server: BatchServer, remote: RemoteBatch, now: datetime
) -> tuple[ServerBatch | None, Counter[str]]:
    """Asks how an open remote batch stands, and settles its requests when it has ended."""
    effect: Counter[str] = Counter()
    try:
        status = server.retrieve(remote.remote_id)
    except NotFoundError:
        effect["returned"] = answers.give_back_all(remote, Reason("request_lost"))
        answers.close(remote, State.FAILED, Reason("batch_unknown"))
        return None, effect
    RemoteBatch.objects.filter(pk=remote.pk).update(checked_at=now, error="")
    if not status.ended:
        if not answers.waiting(remote).exists():
            answers.close(remote, State.CANCELLED, Reason("not_awaited"))
        elif remote.created_at <= now - ANSWERED_WITHIN:
            effect["returned"] = answers.give_back_all(remote, Reason("no_answer_in_time"))
            answers.close(remote, State.EXPIRED, Reason("not_ended_in_time"))
        return status, effect
    if status.status == "failed":
        effect += answers.refuse(remote, status.bad_lines)
    for file_id in (status.output_file_id, status.error_file_id):
        effect += answers.take(remote, answers_in(server.content(file_id)))
    effect["returned"] += answers.give_back_all(remote, WHY_NOT[status.status])
    answers.close(remote, ENDS[status.status])
    return status, effect
