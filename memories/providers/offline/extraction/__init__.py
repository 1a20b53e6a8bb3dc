"""Extraction of memories, people and relations from turns, by rules."""
