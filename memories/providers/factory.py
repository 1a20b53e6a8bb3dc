"""The providers that the settings name, one instance per process. The client of model servers is
imported only where one is set: it takes a second, and about 40 MB of each process."""

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from memories.providers.embeddings import Embedder, LocalEmbedder
from memories.providers.interface import LanguageProvider
from memories.providers.offline.offline_provider import OfflineProvider
from memories.providers.thresholds import LOCAL_DIMENSIONS, LOCAL_MODEL

if TYPE_CHECKING:
    from memories.providers.openai.chat import ChatModel
    from memories.providers.openai.provider import OpenAIProvider
    from memories.providers.openai.transport import ModelServer

# The longest that a chat waits for a model to say who is meant.
LONGEST_BUDGET_S = 10.0


def language_provider() -> LanguageProvider:
    """Returns the provider named by MIO_LLM. Raises ImproperlyConfigured for an unknown one."""
    if settings.MIO_LLM == "openai":
        return openai_provider(settings.MIO_LLM_MODEL)
    if settings.MIO_LLM == "offline":
        return offline_provider()
    raise ImproperlyConfigured(f"MIO_LLM is {settings.MIO_LLM!r}; use offline or openai.")


def memory_model() -> "OpenAIProvider | None":
    """Returns the model that relates, splits and merges memories; None if no server is set."""
    return openai_provider(settings.MIO_LLM_MODEL) if settings.MIO_LLM == "openai" else None


def reviewing_provider() -> "OpenAIProvider | None":
    """Returns the model that reviews merges and compares records; None if no server is set."""
    return openai_provider(settings.MIO_LLM_REVIEW_MODEL) if settings.MIO_LLM == "openai" else None


def resolving_provider() -> "OpenAIProvider | None":
    """Returns the model that is asked whom a message means while a chat waits: it makes one attempt
    with a short timeout. None if no server is set."""
    if settings.MIO_LLM != "openai":
        return None
    limits = {"timeout_s": LONGEST_BUDGET_S, "max_attempts": 1, "deadline_s": LONGEST_BUDGET_S}
    return _openai_provider(_server(**limits), settings.MIO_RESOLVE_MODEL)


def openai_provider(model: str) -> "OpenAIProvider":
    """Returns the provider that asks ``model`` of the server that the settings name."""
    return _openai_provider(_server(), model)


def chat_model() -> "ChatModel | None":
    """Returns the model for conversations; None if no server is set."""
    if settings.MIO_LLM != "openai":
        return None
    from memories.providers.openai.chat import ChatModel

    return ChatModel(_server(), settings.MIO_LLM_MODEL)


def probes() -> dict[tuple[str, str], Callable[[], object]]:
    """Returns minimal calls, which may raise ProviderError, by provider and model of a server."""
    calls: dict[tuple[str, str], Callable[[], object]] = {}
    if settings.MIO_LLM == "openai":
        models = settings.MIO_LLM_MODEL, settings.MIO_LLM_REVIEW_MODEL, settings.MIO_RESOLVE_MODEL
        for model in models:
            calls["openai", model] = openai_provider(model).probe
    vectors = embedder()
    if vectors.name == "openai":
        calls[vectors.name, vectors.model] = lambda: vectors.embed_query("hello")
    return calls


def _server(**limits: Any) -> "ModelServer":
    return _model_server(settings.OPENAI_API_KEY, settings.OPENAI_BASE_URL, **limits)


@cache
def _model_server(api_key: str, base_url: str, **limits: Any) -> "ModelServer":
    from memories.providers.openai.transport import ModelServer

    return ModelServer(api_key, base_url, **limits)


# Cached, since the provider remembers which parameters its server does not support.
@cache
def _openai_provider(server: "ModelServer", model: str) -> "OpenAIProvider":
    from memories.providers.openai.provider import OpenAIProvider

    return OpenAIProvider(server, model)


@cache
def offline_provider() -> LanguageProvider:
    """Returns the provider that reads without a model, whatever the settings name."""
    return OfflineProvider()


def embedder() -> Embedder:
    """Returns the embedder named by MIO_EMBEDDINGS. Raises ImproperlyConfigured if unknown."""
    kind, model = settings.MIO_EMBEDDINGS, settings.MIO_EMBEDDING_MODEL
    if kind not in ("local", "openai"):
        raise ImproperlyConfigured(f"MIO_EMBEDDINGS is {kind!r}; use local or openai.")
    return (
        _local_embedder()
        if kind == "local"
        else _openai_embedder(_server(), model, settings.MIO_EMBEDDING_DIMENSIONS)
    )


def embedder_named(model: str, dimensions: int) -> Embedder:
    """Returns an embedder of any model, local or of the configured server. Raises
    ImproperlyConfigured if the dimensions do not fit or no server is set."""
    if model == LOCAL_MODEL and dimensions != LOCAL_DIMENSIONS:
        raise ImproperlyConfigured(f"{model} has {LOCAL_DIMENSIONS} dimensions.")
    if model != LOCAL_MODEL and not (settings.OPENAI_API_KEY or settings.OPENAI_BASE_URL):
        raise ImproperlyConfigured(f"{model} needs OPENAI_API_KEY or OPENAI_BASE_URL.")
    return (
        _local_embedder()
        if model == LOCAL_MODEL
        else _openai_embedder(_server(), model, dimensions)
    )


_local_embedder = cache(LocalEmbedder)


@cache
def _openai_embedder(server: "ModelServer", model: str, dimensions: int) -> Embedder:
    from memories.providers.openai.embedding_model import OpenAIEmbedder

    return OpenAIEmbedder(server, model, dimensions)
