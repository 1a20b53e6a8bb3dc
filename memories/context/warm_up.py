"""Loads what contexts read, before a process answers requests."""

from dataclasses import replace
from uuid import uuid4

from accounts.models import App, EndUser
from accounts.scope import user_scope
from memories.context import clock
from memories.context.build import trace
from memories.context.request import ALL, ContextRequest
from memories.providers.factory import embedder, resolving_provider
from understanding.lexicon.rules import content
from understanding.people.mentions import entries_of, find_mentions
from understanding.requests import forget_reading
from understanding.types import Person


def warm_up() -> None:
    """Builds a context in each language for an end user that no database has, which loads what
    contexts read; takes a second or two. No model server is asked."""
    nobody = EndUser(pk=0, app=App())
    parts = [part for part in ALL if part != "search" or embedder().in_process]
    request = ContextRequest("", include=parts, resolve="fast")
    with user_scope(nobody):
        for texts in content(__file__).values():
            forget_reading.read(texts["request"])
            find_mentions(texts["turn"], entries_of([Person(uuid4(), texts["name"])]))
            history = [("user", texts["turn"])]
            trace(nobody, replace(request, message=texts["message"], history=history))
    resolving_provider()  # which loads the client of model servers, if one is set
    clock.is_warm = True
