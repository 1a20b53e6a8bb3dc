"""Whom pronouns, dropped subjects and role words mean."""

from contacts.coreference.possessives import Relation, stated_relations
from contacts.coreference.resolve import refers_back, resolve

__all__ = ["Relation", "refers_back", "resolve", "stated_relations"]
