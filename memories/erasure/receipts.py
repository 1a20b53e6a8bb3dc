"""Receipts of erasures: who asked, who did it, when, and how many rows were erased, but no
words."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID, uuid4

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.crypto import salted_hmac

from accounts.models import EndUser
from accounts.scope import all_users
from memories.models import Receipt

SALT = "mio.erased-user"


@dataclass(frozen=True, slots=True)
class By:
    """Who erases, who asked for it (default: the same) and when, and the id of the erasure."""

    done_by: str = ""
    asked_by: str = ""
    requested_at: datetime | None = None
    id: UUID | None = None


NOBODY = By()  # for work that does not state who asked


@dataclass(frozen=True, slots=True)
class Forgotten:
    """How many rows of each kind were erased. For a person, ``report`` is the id of the Erasure
    that lists what is ``unsure``. ``receipt`` is the id of the receipt."""

    contacts: int = 0
    memories: int = 0
    messages: int = 0
    report: UUID | None = None
    unsure: int = 0
    receipt: UUID | None = None


def write(end_user: EndUser, what: Receipt.What, by: By, gone: Forgotten) -> Forgotten:
    """Writes the receipt of an erasure, in its transaction. Returns ``gone`` with its id."""
    now = timezone.now()
    receipt = Receipt(
        id=by.id or uuid4(),
        end_user=None if what == Receipt.What.USER else end_user,
        app_id=end_user.app_id,
        user_digest=_user_digest(end_user.app_id, end_user.external_id, settings.SECRET_KEY),
        what=what,
        asked_by=by.asked_by or by.done_by,
        done_by=by.done_by,
        requested_at=by.requested_at or now,
        erased_at=now,
        contacts=gone.contacts,
        memories=gone.memories,
        messages=gone.messages,
        undecided=gone.unsure,
    )
    with all_users():  # the receipt of an erased end user belongs to no user
        if what == Receipt.What.USER:
            Receipt.objects.of(end_user).update(end_user=None)
        receipt.save(force_insert=True)
    return replace(gone, receipt=receipt.id)


def of_user(
    receipts: QuerySet[Receipt], external_id: str, apps: Iterable[int]
) -> QuerySet[Receipt]:
    """Returns the receipts of who had this id in one of the apps, also of erased users."""
    keys = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    digests = [_user_digest(app, external_id, key) for app in apps for key in keys]
    return receipts.filter(user_digest__in=digests)


def _user_digest(app: int, external_id: str, key: str) -> str:
    return salted_hmac(f"{SALT}.{app}", external_id, secret=key, algorithm="sha256").hexdigest()
