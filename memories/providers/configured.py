"""The providers that the settings ask for, one instance a process."""

from functools import cache

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from memories.providers.base import LanguageProvider
from memories.providers.embeddings import Embedder, LocalEmbedder, OpenAIEmbedder
from memories.providers.offline import OfflineProvider
from memories.providers.openai import OpenAIProvider


def language_provider() -> LanguageProvider:
    """The provider named by MIO_LLM. Raises ImproperlyConfigured for an unknown one."""
    return _language_provider(
        settings.MIO_LLM, settings.OPENAI_API_KEY, settings.OPENAI_BASE_URL, settings.MIO_LLM_MODEL
    )


@cache
def _language_provider(kind: str, api_key: str, base_url: str, model: str) -> LanguageProvider:
    if kind == "offline":
        return OfflineProvider()
    if kind == "openai":
        return OpenAIProvider(api_key=api_key, base_url=base_url, model=model)
    raise ImproperlyConfigured(f"MIO_LLM is {kind!r}; use offline or openai.")


def embedder() -> Embedder:
    """The embedder named by MIO_EMBEDDINGS. Raises ImproperlyConfigured for an unknown one."""
    return _embedder(
        settings.MIO_EMBEDDINGS,
        settings.OPENAI_API_KEY,
        settings.OPENAI_BASE_URL,
        settings.MIO_EMBEDDING_MODEL,
        settings.MIO_EMBEDDING_DIMENSIONS,
    )


@cache
def _embedder(kind: str, api_key: str, base_url: str, model: str, dimensions: int) -> Embedder:
    if kind == "local":
        return LocalEmbedder()
    if kind == "openai":
        return OpenAIEmbedder(
            api_key=api_key, base_url=base_url, model=model, dimensions=dimensions
        )
    raise ImproperlyConfigured(f"MIO_EMBEDDINGS is {kind!r}; use local or openai.")
