"""Carrying out the erasures that users asked for in a chat, when their grace period is over."""

import logging
from collections import Counter
from uuid import UUID

from django.db import InterfaceError, OperationalError
from django.utils import timezone

from accounts.cells import atomic
from accounts.models import EndUser
from accounts.reasons import fault
from memories.corrections.erasure_requests import REPORTED_FOR
from memories.corrections.forgotten_names import left_of
from memories.erasure import name_hashes
from memories.erasure.erase import Forgotten, forget_these
from memories.erasure.receipts import By
from memories.erasure.same_statement import ACTOR
from memories.models import Erasure, Receipt

log = logging.getLogger(__name__)

# Erasures carried out in one run: a bound, the next run goes on.
MOST = 500
USER = "user"  # who asked in a chat


def erase_due() -> dict[str, int]:
    """Erases all that is due, each in a transaction of its own, so that a run that is killed
    loses nothing and the next one goes on; and, once it was told, for what nothing was found.
    Returns how many erasures were carried out or
    failed, and how many contacts, memories and messages went with them."""
    effect: Counter[str] = Counter(erasures=0, contacts=0, memories=0, messages=0)
    told = Erasure.objects.filter(requested_at__lt=timezone.now() - REPORTED_FOR)
    told.exclude(missing=[]).update(missing=[])
    due = Erasure.objects.filter(state=Erasure.State.PENDING, due_at__lte=timezone.now())
    for pk in due.order_by("due_at").values_list("pk", flat=True)[:MOST]:
        try:
            gone = erase(pk)
        except (InterfaceError, OperationalError):
            raise
        except Exception as error:  # noqa: BLE001 the next run tries again; the others go now
            log.warning("erasure %s failed: %s", pk, fault(error))
            effect["failed"] += 1
            continue
        if gone is not None:
            effect.update(
                erasures=1, contacts=gone.contacts, memories=gone.memories, messages=gone.messages
            )
    return dict(effect)


@atomic()
def erase(erasure_id: UUID, done_by: str = ACTOR) -> Forgotten | None:
    """Erases what was asked for now, whenever it is due. None when it was erased or called
    off before, or the user is gone."""
    found = Erasure.objects.filter(pk=erasure_id).first()
    end_user = EndUser.objects.lock(found.end_user_id) if found else None
    pending = Erasure.objects.filter(pk=erasure_id, state=Erasure.State.PENDING)
    erasure = pending.first()
    if end_user is None or erasure is None:
        return None
    names = left_of(end_user, erasure.names, erasure.contact_ids)
    gone = forget_these(
        end_user,
        erasure.memory_ids,
        erasure.contact_ids,
        erasure.message_ids,
        erasure.words,
        erasure.names,
        what=Receipt.What.REQUEST,
        by=By(done_by, USER, erasure.requested_at, erasure.pk),
    )
    now = timezone.now()
    pending.update(
        state=Erasure.State.ERASED,
        finished_at=now,
        words=[],
        missing=[],
        names=[],
        name_hashes=name_hashes.hashes_of(end_user, names.all),
        change=None,
    )
    log.info("erasure %s: %s memories, %s messages", erasure.pk, gone.memories, gone.messages)
    return gone
