"""Extraction, conflict resolution and consolidation without a model."""

from memories.providers.offline.provider import OfflineProvider

__all__ = ["OfflineProvider"]
