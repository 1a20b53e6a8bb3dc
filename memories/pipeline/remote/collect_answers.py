"""What becomes of the requests of a remote batch: taken in, failed, or given back."""

from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any
from uuid import UUID

from django.db.models import F, QuerySet
from django.utils import timezone

from accounts.reasons import Reason, stored
from memories import model_calls, queue, remote_batches
from memories.models import Batch, RemoteBatch, Work
from memories.pipeline import buffer, known_memories, run
from memories.providers.errors import PermanentError, ProviderError, TransientError
from memories.providers.factory import embedder, openai_provider
from memories.providers.openai.batch_api import Answer, BadLine
from memories.providers.openai.provider import OpenAIProvider
from memories.providers.openai.transport import UnsupportedParameterError, in_brackets
from memories.types import Extraction, Reply

CHANGED = Reason("said_changed")


def custom_id(batch: Batch) -> str:
    """The name of a request: this attempt at this batch."""
    return f"{batch.pk}-{batch.attempts}"


def take(remote: RemoteBatch, answers: Iterable[Answer]) -> Counter[str]:
    """Takes in each answer to a request that still waits for it, through all that follows an
    extraction. Others are counted as ``ignored``: of another batch, of an attempt that is
    over, of a user who was forgotten, or taken in before."""
    effect: Counter[str] = Counter()
    for answer in answers:
        batch = _claim(remote, answer.custom_id)
        if batch is None:
            effect["ignored"] += 1
        elif not remote_batches.stands(batch):
            effect["returned"] += give_back(Batch.objects.filter(pk=batch.pk), CHANGED)
        else:
            provider = openai_provider(remote.model)
            step = partial(_take_in, provider, batch, answer)
            effect[_settle(remote, batch, step)] += 1
    return effect


def refuse(remote: RemoteBatch, bad_lines: Iterable[BadLine]) -> Counter[str]:
    """Fails a batch that the server did not validate: for good at the lines it names, and
    for another try later where it names none."""
    effect: Counter[str] = Counter()
    codes = {line.line: in_brackets(line.code) for line in bad_lines}
    for batch in waiting(remote).order_by("pk"):
        number = batch.result.get("line")
        error: ProviderError
        if number in codes:
            error = PermanentError(Reason("request_refused", code=codes[number]))
        elif set(codes) - {None}:
            continue
        else:
            code = codes.get(None, "")
            error = TransientError(Reason("file_refused", code=code))
        effect.update(_fail(remote, batch, error))
    return effect


def fail_all(remote: RemoteBatch, error: ProviderError) -> None:
    """Fails every request that waits, as if each had been asked for at once."""
    for batch in waiting(remote).order_by("pk"):
        _fail(remote, batch, error)
    close(remote, RemoteBatch.State.FAILED, error.reason)


def give_back_all(remote: RemoteBatch, why: Reason) -> int:
    """Gives every request that still waits back to the pipeline."""
    return give_back(waiting(remote), why)


def give_back(batches: QuerySet[Batch], why: Reason) -> int:
    """Batches for which there is no answer wait for another try, or for an operator when
    they had enough of them; returns how many."""
    ours = batches.filter(state__in=(Work.State.RUNNING, Work.State.SUBMITTED))
    fields: dict[str, Any] = {"error": why.stored, "leased_until": None, "result": {}}
    tried = ours.filter(attempts__gte=Work.MAX_ATTEMPTS)
    ended = tried.update(state=Work.State.QUARANTINED, finished_at=timezone.now(), **fields)
    return ended + ours.update(state=Work.State.PENDING, **fields)


def close(remote: RemoteBatch, state: str, error: Reason | str = "") -> None:
    """Ends an open remote batch here; what it left at the server is cleaned away next."""
    open_ = RemoteBatch.objects.filter(pk=remote.pk, state=RemoteBatch.State.OPEN)
    open_.update(state=state, error=stored(error), checked_at=timezone.now())
    remote.refresh_from_db()


def waiting(remote: RemoteBatch) -> QuerySet[Batch]:
    """The requests that have no answer yet."""
    return Batch.objects.filter(remote=remote, state=Work.State.SUBMITTED)


def _claim(remote: RemoteBatch, custom_id: str) -> Batch | None:
    """The batch that an answer is for, claimed for this worker."""
    pk, _, attempt = custom_id.partition("-")
    if not (pk.isdecimal() and attempt.isdecimal() and len(custom_id) < 30):
        return None
    now = timezone.now()
    claimed = waiting(remote).filter(pk=int(pk), attempts=int(attempt)).update(**Work.held(now))
    return Batch.objects.select_related("end_user").filter(pk=pk).first() if claimed else None


def _fail(remote: RemoteBatch, batch: Batch, error: ProviderError) -> Counter[str]:
    return take(remote, [Answer(custom_id(batch), error=error)])


def _settle(remote: RemoteBatch, batch: Batch, step: Callable[[], None]) -> str:
    """Runs the step, counts its outcome, and has the user's next work looked for."""
    outcome = "answered" if run.with_outcome(step, batch) else "failed"
    RemoteBatch.objects.filter(pk=remote.pk).update(**{outcome: F(outcome) + 1})
    queue.enqueue("extract", batch.end_user_id)
    return outcome


def _take_in(provider: OpenAIProvider, batch: Batch, answer: Answer) -> None:
    shown = [UUID(pk) for pk in batch.result["shown"]]
    request = buffer.request_for(batch, shown)
    request = known_memories.beside(batch.end_user, request, embedder())

    def read() -> Reply[Extraction]:
        if isinstance(answer.error, UnsupportedParameterError):
            return provider.extract(request)  # finds out what may be asked for, and asks
        if answer.error is not None:
            raise answer.error
        return provider.read_extraction(request, shown, answer.completion)

    extraction = model_calls.ask(
        batch.end_user, provider, "extract", read, messages=len(request.turns)
    )
    run.take_in(batch, request, extraction)
