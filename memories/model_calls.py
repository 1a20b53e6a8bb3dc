"""Makes model calls and records each in a row: its model, purpose, cost and outcome."""

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
from understanding.statements.secrets import is_private, without_secrets
from understanding.text import encodable, estimate_tokens

T = TypeVar("T")
Asked = LanguageProvider | Embedder
MOST_KEPT = 4000  # code points that are stored of an unusable answer


def ask(
    end_user: EndUser,
    provider: LanguageProvider,
    purpose: str,
    call: Callable[[], Reply[T]],
    *,
    messages: int = 0,
) -> T:
    """Makes the call, records it and returns the reply's value without secrets. Re-raises
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
    return without_secrets(reply.value)


def traced(asked: Asked, purpose: str) -> AbstractContextManager[Span]:
    """Returns the tracing span of a model call."""
    attributes = {"gen_ai.provider.name": asked.name, "gen_ai.request.model": asked.model}
    return tracing.span(f"{purpose} {asked.model}", {**attributes, "mio.purpose": purpose})


def embed(end_user: EndUser, embedder: Embedder, texts: Sequence[str]) -> list[list[float]]:
    """Returns the vectors of ``texts`` and records the call. Re-raises ProviderError."""
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
    elapsed_ms = (time.perf_counter() - started) * 1000
    write(end_user, embedder, "embed", Usage(tokens, 0, elapsed_ms))
    return vectors


def is_refused(asked: Asked) -> bool:
    """Whether the model's server refuses every request."""
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
    """Records a call, how many new ``messages`` it read and its ``answer`` if that was unusable."""
    with suppress(IntegrityError), atomic():  # the user may have been erased
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
    """Records a failed call, and an outage if the server refuses every request. An unusable answer
    is not stored if it contains a secret or a telephone number."""
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
