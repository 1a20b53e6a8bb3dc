"""Memories of Nora and Ivan to be reshaped, and all that reshaping may touch."""

from memories.corrections import rewrite
from memories.models import Edge, Memory
from tests.memories.snapshots import knowledge

ANN, MACHINE = "operator:ann", "refiner"


def fact(key, value, person=None):
    return {"key": key, "value": value, "person": str(person.id) if person else None}


def edges(end_user):
    rows = Edge.objects.of(end_user).values_list("source", "kind", "target", "confidence", "reason")
    return sorted(rows, key=str)


def everything(end_user):
    return {**knowledge(end_user), "edges": edges(end_user)}


def split(end_user, memory, *pieces, actor=ANN):
    return rewrite.split(end_user, memory.id, list(pieces), actor=actor)


def merge(end_user, content, *memories, actor=ANN):
    return rewrite.merge_memories(end_user, [m.id for m in memories], content, actor=actor)


def piece(end_user, content):
    return Memory.objects.of(end_user).get(content=content)
