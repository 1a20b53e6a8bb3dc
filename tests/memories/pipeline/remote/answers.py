"""End users with something due, and what a model server answers about them."""

import re
from datetime import timedelta

from django.utils import timezone

from accounts.models import EndUser
from memories.models import Batch
from memories.pipeline.buffer import Incoming, receive

KEY = "sk-test-never-shown"


def told(app, name, text="My colleague Oliver lives in Madrid."):
    """An end user who said something and has been idle since."""
    end_user = receive(app, name, [Incoming("user", text)]).end_user
    be_idle(end_user)
    return end_user


def be_idle(end_user):
    EndUser.objects.filter(pk=end_user.pk).update(
        last_message_at=timezone.now() - timedelta(minutes=6)
    )


def extracted(body):
    """What a model finds in any message that says where somebody lives."""
    said = body["messages"][1]["content"]
    found = re.search(r'"n":(\d+),[^{]*?colleague (\w+) lives in (\w+)', said)
    turn, name, place = found.groups()
    return {
        "people": [{"id": "n1", "name": name, "relationship": "colleague"}],
        "memories": [
            {
                "content": f"{name} lives in {place}",
                "type": "personal",
                "subtype": "colleague",
                "people": ["n1"],
                "turns": [int(turn)],
                "facts": [{"person": "n1", "key": "location", "value": place}],
            }
        ],
    }


def at_once(request):
    """The same model, asked without a batch; profiles it leaves as they are."""
    if "turns" not in request.data:
        return {"people": []}
    return extracted(request.json)


def the_batch(server):
    (batch_id,) = server.remote.batches
    return batch_id


def state_of(end_user):
    return Batch.objects.of(end_user).get().state
