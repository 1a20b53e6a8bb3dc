"""Every model call leaves a row: what was asked of whom, what it cost, how it ended."""

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from typing import TypeVar

from django.db import IntegrityError
from opentelemetry.trace import Span

from accounts import tracing
from accounts.cells import atomic
from accounts.models import EndUser
from accounts.reasons import stored
from memories.models import ModelCall, Outage
from memories.providers.embeddings import Embedder
from memories.providers.errors import OutputError, PermanentError, ProviderError, RefusedError
from memories.providers.interface import LanguageProvider
from memories.types import NO_USAGE, Reply, Usage
from understanding.statements.secrets import cleared, is_private
from understanding.text import encodable, estimate_tokens

T = TypeVar("T")
Asked = LanguageProvider | Embedder
MOST_KEPT = 4000  # code points of an answer that was of no use


def ask(
    end_user: EndUser,
    provider: LanguageProvider,
    purpose: str,
    call: Callable[[], Reply[T]],
    *,
    messages: int = 0,
) -> T:
    """The value of the reply without secrets, after the call is written down. Re-raises
    ProviderError."""
    try:
        with traced(provider, purpose) as span:
            reply = call()
            span.set_attribute("gen_ai.usage.input_tokens", reply.usage.tokens_in)
            span.set_attribute("gen_ai.usage.output_tokens", reply.usage.tokens_out)
    except ProviderError as error:
        write_failure(end_user, provider, purpose, error)
        raise
    write(end_user, provider, purpose, reply.usage, messages=messages)
    return cleared(reply.value)


def traced(asked: Asked, purpose: str) -> AbstractContextManager[Span]:
    """The span of a call of a model."""
    named = {"gen_ai.provider.name": asked.name, "gen_ai.request.model": asked.model}
    return tracing.span(f"{purpose} {asked.model}", {**named, "mio.purpose": purpose})


def embed(end_user: EndUser, embedder: Embedder, texts: Sequence[str]) -> list[list[float]]:
    """The vectors of ``texts``, after the call is written down. Re-raises ProviderError."""
    if not texts:
        return []
    started = time.perf_counter()
    try:
        with traced(embedder, "embed"):
            vectors = embedder.embed_passages(texts)
    except ProviderError as error:
        write_failure(end_user, embedder, "embed", error)
        raise
    tokens = sum(map(estimate_tokens, texts))
    taken = (time.perf_counter() - started) * 1000
    write(end_user, embedder, "embed", Usage(tokens, 0, taken))
    return vectors


def is_refused(asked: Asked) -> bool:
    """Whether the model's server refuses whatever is asked."""
    return Outage.objects.filter(provider=asked.name, model=asked.model).exists()


def write(
    end_user: EndUser,
    asked: Asked,
    purpose: str,
    usage: Usage,
    *,
    messages: int = 0,
    outcome: ModelCall.Outcome = ModelCall.Outcome.OK,
    answer: str = "",
) -> None:
    """Writes down a call, how many new ``messages`` it read and an ``answer`` that was of no use."""
    with suppress(IntegrityError), atomic():  # the user may be forgotten by now
        ModelCall.objects.create(
            end_user=end_user,
            provider=asked.name,
            model=asked.model,
            purpose=purpose,
            tokens_in=usage.tokens_in,
            tokens_out=usage.tokens_out,
            messages=messages,
            latency_ms=usage.latency_ms,
            outcome=outcome,
            answer=answer,
        )


def write_failure(end_user: EndUser, asked: Asked, purpose: str, error: ProviderError) -> None:
    """Writes down a call that failed, and the outage where the server refuses everything. Nothing is
    kept of an unusable answer that holds a secret or a telephone number."""
    outcome, answer = ModelCall.Outcome.TRANSIENT, ""
    if isinstance(error, RefusedError):
        _, error.opens = Outage.objects.get_or_create(
            provider=asked.name, model=asked.model, defaults={"error": stored(error.reason)}
        )
    if isinstance(error, PermanentError):
        outcome = ModelCall.Outcome.PERMANENT
    elif isinstance(error, OutputError):
        outcome = ModelCall.Outcome.OUTPUT
        answer = encodable(error.answer.replace("\0", ""))[:MOST_KEPT]
        answer = "" if is_private(answer) else answer
    write(end_user, asked, purpose, NO_USAGE, outcome=outcome, answer=answer)
