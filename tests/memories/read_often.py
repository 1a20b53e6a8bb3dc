"""A long memory, and how it comes to be read often."""

from datetime import timedelta

from django.utils import timezone

from memories.models import Memory
from tests.factories import make_memory

LONG = (
    "Nora works at Brightwater as a nurse on the night shift and teaches on Mondays. She lives "
    "in Ghent with two cats and a very old piano. The user met Nora at a concert in the "
    "botanical garden and goes hiking with her."
)


def read_often(end_user, content, *about, days=8, accesses=5, **fields):
    memory = make_memory(end_user, content, *about, access_count=accesses, **fields)
    Memory.objects.filter(pk=memory.pk).update(created_at=timezone.now() - timedelta(days=days))
    return memory
