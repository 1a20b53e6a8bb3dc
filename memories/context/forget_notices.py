"""What a prompt and an app are told of requests to forget."""

from collections.abc import Sequence
from datetime import timedelta

from django.utils import timezone

from memories.context.render import NO_NOTICE, ForgetNotice
from memories.context.result import Forgetting
from memories.models import Erasure

JUST_NOW = timedelta(minutes=30)  # so long the model is told that something was forgotten


def forgetting(erasure: Erasure) -> Forgetting:
    """An erasure as apps see it."""
    pending = erasure.state == Erasure.State.PENDING
    return Forgetting(
        id=erasure.id,
        state="hidden" if pending else erasure.state,
        memories=len(erasure.memory_ids),
        contacts=len(erasure.contact_ids),
        undecided=len(erasure.unsure_message_ids) + len(erasure.unsure_contact_ids),
        missing=erasure.missing,
        requested_at=erasure.requested_at,
        erased_after=erasure.due_at if pending else erasure.finished_at or erasure.due_at,
        change_id=erasure.change_id,
    )


def just_asked(asked: Sequence[Erasure], session_id: str) -> ForgetNotice:
    """What became of the latest request of this session, if it was made a moment ago."""
    since = timezone.now() - JUST_NOW
    for one in asked:
        if one.session_id == session_id and one.requested_at > since:
            if one.state == Erasure.State.UNCLEAR:
                return ForgetNotice(unclear=True)
            nothing = one.state == Erasure.State.NOT_FOUND
            return ForgetNotice(not nothing, tuple(one.missing) if nothing or one.missing else None)
    return NO_NOTICE
