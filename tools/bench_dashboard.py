"""python -m tools bench_dashboard: how long the pages of a very large end user take."""

import json
from argparse import ArgumentParser
from collections.abc import Mapping
from functools import partial
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext, override_settings
from django.urls import reverse

from accounts.models import EndUser
from accounts.scope import all_users
from contacts.models import Contact
from memories.models import Memory
from tools import large_end_user
from tools.bench.measure import percentiles, timed
from tools.bench.scratch import scratch_database

ROUNDS = 20


class Command(BaseCommand):
    help = (
        "Measure how long the server takes for each page of an end user with so many people and "
        "memories, in a database of its own. The last line is JSON: milliseconds, SQL statements."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--contacts", type=int, default=50_000)
        parser.add_argument("--memories", type=int, default=500_000)

    @all_users()
    def handle(self, *, contacts: int, memories: int, **_options: Any) -> None:
        if contacts < 100 or memories < 1000:
            raise CommandError("Measuring begins at 100 contacts and 1,000 memories.")
        with scratch_database():
            end_user = large_end_user.make(contacts, memories, progress=True)
            figures = measure(end_user)
        self.stdout.write(json.dumps({"contacts": contacts, "memories": memories, **figures}))


@override_settings(DEBUG=False)
def measure(end_user: EndUser, rounds: int = ROUNDS) -> dict[str, Any]:
    """Each page's percentiles and SQL statements, by what the page shows."""
    client = _signed_in()
    return {"pages": {what: _page(client, url, rounds) for what, url in pages(end_user).items()}}


@override_settings(DEBUG=False)
def statements(end_user: EndUser) -> dict[str, int]:
    """How many SQL statements each page takes."""
    client = _signed_in()
    return {what: _statements(client, url) for what, url in pages(end_user).items()}


def _signed_in() -> Client:
    client = Client(headers={"host": "localhost"})
    admin, _ = get_user_model().objects.get_or_create(username="bench", is_superuser=True)
    client.force_login(admin)
    return client


def pages(end_user: EndUser) -> Mapping[str, str]:
    """What is measured, with the address."""
    people = Contact.objects.of(end_user).light().order_by("-last_mentioned_at")
    known, other = people[:2]
    memory = Memory.objects.of(end_user).order_by("-said_at")[0]
    user = [end_user.pk]
    contacts, contact = reverse("dashboard:contacts", args=user), [end_user.pk, known.pk]
    person, memories = reverse("dashboard:contact", args=contact), reverse("dashboard:memories", args=user)  # fmt: skip
    words = " ".join(memory.tokens[:3])
    return {
        "home": reverse("dashboard:home"),
        "people": contacts,
        "people by most mentioned": f"{contacts}?sort=most",
        "people by name": f"{contacts}?sort=name",
        "people found by name": f"{contacts}?q={known.name[:2]}",
        "people found by one character": f"{contacts}?q={known.name[0]}",
        "people found by pinyin": f"{contacts}?q=zhaowei",
        "people found by initials": f"{contacts}?q=zw",
        "people found by company": f"{contacts}?q=Acme",
        "people of a group": f"{contacts}?group=friend",
        "people of no group": f"{contacts}?group=none",
        "people suggested": f"{contacts}?only=suggested",
        "people in conflict": f"{contacts}?only=conflict",
        "map of people": reverse("dashboard:contacts_map", args=user),
        "person": person,
        "person, memories": f"{person}?tab=memories",
        "person, timeline": f"{person}?tab=timeline",
        "person, relations": f"{person}?tab=relations",
        "person, changes": f"{person}?tab=changes",
        "memories": memories,
        "memories of a type": f"{memories}?type=personal",
        "memories of a rare type": f"{memories}?type=health",
        "memories outdated": f"{memories}?status=outdated",
        "memories archived": f"{memories}?status=archived",
        "memories found": f"{memories}?q={words}",
        "memory": reverse("dashboard:memory", args=[end_user.pk, memory.pk]),
        "review": reverse("dashboard:review"),
        "review, links": reverse("dashboard:links"),
        "review, contradictions": reverse("dashboard:conflicts"),
        "compare": reverse("dashboard:compare", args=[end_user.pk, known.pk, other.pk]),
        "changes": reverse("dashboard:changes", args=user),
        "pipeline": reverse("dashboard:pipeline"),
        "pipeline, quarantined": f"{reverse('dashboard:pipeline')}?state=quarantined",
        "pipeline, consolidations": reverse("dashboard:consolidations"),
        "pipeline, calls": reverse("dashboard:calls"),
        "pipeline, failed calls": f"{reverse('dashboard:calls')}?outcome=failed",
        "pipeline, jobs": reverse("dashboard:jobs"),
        "users": reverse("dashboard:users"),
        "users found": f"{reverse('dashboard:users')}?q=other+7",
        "user": reverse("dashboard:user", args=user),
        "user, before forgetting": reverse("dashboard:before-forgetting", args=user),
        "apps": reverse("dashboard:apps"),
    }


def _statements(client: Client, url: str) -> int:
    with CaptureQueriesContext(connection) as queries:
        answer = client.get(url)
        sql = len(queries)
    if answer.status_code != 200:
        raise CommandError(f"{url} answered {answer.status_code}.")
    return sql


def _page(client: Client, url: str, rounds: int) -> dict[str, float]:
    sql = _statements(client, url)
    times = timed([partial(client.get, url)] * rounds)
    return percentiles(times) | {"sql": sql}
