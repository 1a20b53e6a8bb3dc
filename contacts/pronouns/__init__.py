"""Whom pronouns, dropped subjects and role words mean."""

from contacts.pronouns.relations import Relation, stated_relations
from contacts.pronouns.resolution import refers_back, resolve

__all__ = ["Relation", "refers_back", "resolve", "stated_relations"]
