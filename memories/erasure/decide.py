"""What an erasure left to be decided: messages and contacts that may mean the same person."""

from collections.abc import Collection
from uuid import UUID

from accounts.cells import atomic
from accounts.models import EndUser
from accounts.reasons import Reason
from memories.erasure.erase import NothingToForget, forget_contact, forget_these
from memories.erasure.receipts import NOBODY, By
from memories.models import Erasure, Memory, Receipt


@atomic()
def decide(
    end_user: EndUser,
    erasure_id: UUID,
    *,
    redact: Collection[int] = (),
    keep: Collection[int] = (),
    forget: Collection[UUID] = (),
    keep_people: Collection[UUID] = (),
    by: By = NOBODY,
) -> Erasure:
    """Erases those of the undecided messages that mean the person after all, with what rests on
    nothing else, and those of the contacts that are the same person; the others stay, and
    nobody is asked again. While the person is only hidden, the messages go when they do.

    Raises NothingToForget where something is not among what is undecided.
    """
    held = EndUser.objects.lock(end_user.pk)
    erasure = Erasure.objects.of(end_user).filter(pk=erasure_id).first()
    if held is None or erasure is None:
        raise NothingToForget(Reason("no_such_forgetting"))
    messages, contacts = {*redact, *keep}, {*forget, *keep_people}
    if not messages <= {*erasure.unsure_message_ids} or not contacts <= {
        *erasure.unsure_contact_ids
    }:
        raise NothingToForget(Reason("not_undecided"))
    resting = Memory.objects.of(held).facts().filter(source_message_ids__overlap=list(redact))
    alone = resting.filter(source_message_ids__contained_by=list(redact))
    memories = list(alone.values_list("pk", flat=True)) if redact else []
    if erasure.state == Erasure.State.PENDING:
        erasure.message_ids = sorted({*erasure.message_ids, *redact})
        erasure.memory_ids = sorted({*erasure.memory_ids, *memories})
    elif redact:
        forget_these(held, memories, (), list(redact), (), what=Receipt.What.MESSAGES, by=by)
    for contact in forget:
        forget_contact(held, contact, by)
    erasure.unsure_message_ids = [pk for pk in erasure.unsure_message_ids if pk not in messages]
    erasure.unsure_contact_ids = [pk for pk in erasure.unsure_contact_ids if pk not in contacts]
    erasure.save(
        update_fields=["message_ids", "memory_ids", "unsure_message_ids", "unsure_contact_ids"]
    )
    return erasure
