"""The other door to the server under test: a process at its database, a line of JSON a request.

    {"do": "household", "role": "admin"}  →  {"user": 7, "session": "…", …}

Run with the server's environment. It does what a person would otherwise do with commands.
"""

import json
import sys
import uuid
from datetime import timedelta
from typing import Any

import django

django.setup()  # before the imports of models

from django.conf import settings
from django.utils import timezone
from django_q.models import Success

from accounts.models import ApiKey, App, EndUser
from accounts.scope import all_users
from contacts import store
from contacts.models import Contact
from memories import demo, portability
from memories.models import Batch, Link, Work
from memories.pipeline.buffer import Incoming, receive
from tests.dashboard.addresses import addresses
from tests.dashboard.signin import signed_in
from tests.embedding import embed_once
from tests.factories import json_value
from tests.mio_site.waiting import eventually


def household(role: str) -> dict[str, Any]:
    """An app of its own with the people of the demo conversation, and an operator limited to
    it who is signed in."""
    made = stage(role)
    owner = App.objects.get(name=made["app"])
    end_user = portability.import_user(owner, _demo(), external_id="li")
    people = Contact.objects.of(end_user).standing().values_list("name", "pk")
    return made | {"user": end_user.pk, "people": {name: str(pk) for name, pk in people}}


def stage(role: str) -> dict[str, Any]:
    """An app without end users, its key, and an operator limited to it who is signed in."""
    app = App.objects.create(name=f"app {uuid.uuid4().hex[:8]}")
    _key, secret = ApiKey.issue(app)
    return {"app": app.name, "key": secret, "session": session(role, app.name)}


def session(role: str, app: str) -> str:
    """The cookie of another operator of the app."""
    limit = [App.objects.get(name=app)]
    client = signed_in(role, limit, name=f"{role} {uuid.uuid4().hex[:8]}")
    return client.cookies[settings.SESSION_COOKIE_NAME].value


def quarantine(user: int) -> dict[str, Any]:
    """A batch of two new messages that every try failed for."""
    end_user = EndUser.objects.select_related("app").get(pk=user)
    said = "我朋友阿珍在广州开了一家钟表铺。"
    now = timezone.now()
    turns = [
        Incoming("user", said, now),
        Incoming("assistant", "真好。", now + timedelta(seconds=1)),
    ]
    end_user = receive(end_user.app, end_user.external_id, turns).end_user
    batch = Batch.objects.create(
        end_user=end_user,
        first_seq=end_user.message_seq - 1,
        last_seq=end_user.message_seq,
        state=Work.State.QUARANTINED,
        attempts=5,
        error="the model server answered 500",
    )
    EndUser.objects.filter(pk=user).update(extracted_seq=end_user.message_seq)
    return {"batch": batch.pk}


def contradict(user: int, person: str) -> dict[str, Any]:
    """Two birthdays of a person, of whom nobody chose one."""
    contact = Contact.objects.of(user).get(pk=person)
    contact.attributes = {"birthday": [json_value("1990-05-03"), json_value("1991-05-03")]}
    store.save(contact, ["attributes"])
    return {}


def doubt(user: int) -> dict[str, Any]:
    """Two links of which nobody is sure."""
    links = Link.objects.of(user).standing().filter(memory__kind="fact", memory__status="active")
    chosen = {link.memory_id: link.pk for link in links.order_by("pk")}
    Link.objects.filter(pk__in=[*chosen.values()][:2]).update(confidence=0.4, made_by="extractor")
    return {}


def pages(user: int) -> dict[str, str]:
    return addresses(EndUser.objects.get(pk=user))


_documents: list[dict[str, Any]] = []


def _demo() -> dict[str, Any]:
    """The demo end user as a worker of the server made it after the first start."""
    if not _documents:
        assert eventually(Success.objects.filter(func="memories.tasks.load_demo").exists)
        one = EndUser.objects.get(**demo.WHO)
        _documents.append(json.loads(json.dumps(portability.export_user(one))))
    return json.loads(json.dumps(_documents[0]))


VERBS = {f.__name__: f for f in (household, stage, session, quarantine, contradict, doubt, pages)}

if __name__ == "__main__":
    embed_once()  # the demo's memories, for every household
    for line in sys.stdin:
        asked = json.loads(line)
        with all_users():
            answer = VERBS[asked.pop("do")](**asked)
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
