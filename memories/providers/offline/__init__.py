"""Extraction, conflict resolution and consolidation without a model."""
