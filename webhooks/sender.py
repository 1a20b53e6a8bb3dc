"""Sends due deliveries, retries failed ones for days, and disables endpoints that are gone.

A delivery is claimed by one UPDATE that moves its next try beyond what an attempt takes, and finished
by another that requires the same attempt: a worker that dies in between loses nothing, and what was
erased or sent again meanwhile stays so. Events arrive at least once, in order if nothing fails."""

import json
import logging
import random
import time
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone
from django_q.models import OrmQ

from accounts import cells
from accounts.cells import atomic
from accounts.encryption import Undecryptable, decrypt
from accounts.fair_queue import put
from accounts.scope import all_users
from webhooks import safe_post, signing
from webhooks.models import Delivery, Endpoint

log = logging.getLogger(__name__)

# Seconds before each try, from the failure of the one before: three days in all.
TRIES = (0, 5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400)
JITTER = 0.2
# An endpoint that accepted nothing for this long is disabled.
PATIENCE = timedelta(days=5)
# The endpoint is overloaded or unavailable: its other events have to wait too.
BUSY = {429, 502, 503, 504}
QUIET, LONGEST_QUIET = 60.0, 3600.0
GONE = 410
# Longer than one attempt.
CLAIM = timedelta(minutes=2)
# Seconds after which the rest of an endpoint's deliveries is queued as another task.
TURN = 30.0
KEPT = timedelta(days=30)
CHUNK = 1000


def enqueue(endpoint_id: UUID) -> None:
    """Queues the sending of the due deliveries of an endpoint."""
    put("webhooks.sender.send_due", str(endpoint_id), name=_task_name(endpoint_id))


def _task_name(endpoint_id: UUID) -> str:
    return f"webhooks {endpoint_id}"


def sweep() -> dict[str, int]:
    """Queues each endpoint with due deliveries and no waiting task; returns how many, and how many
    old deliveries were deleted."""
    if cells.several():  # an endpoint may have been disabled in another one
        waiting = Delivery.objects.filter(state=Delivery.State.PENDING)
        waiting = waiting.exclude(endpoint__disabled_at=None)
        waiting.update(state=Delivery.State.FAILED, error="disabled")
    queued = {task.name() for task in OrmQ.objects.filter(lock__lte=timezone.now())}
    due = set(Delivery.objects.due().values_list("endpoint", flat=True))
    due = {pk for pk in due if _task_name(pk) not in queued}
    for endpoint_id in sorted(due):
        enqueue(endpoint_id)
    return {"webhooks": len(due), "deleted": _delete_old()}


def _delete_old() -> int:
    old = Delivery.objects.exclude(state=Delivery.State.PENDING)
    old = old.filter(created_at__lt=timezone.now() - KEPT).order_by()
    return old.filter(pk__in=list(old.values_list("pk", flat=True)[:CHUNK])).delete()[0]


@all_users()
def send_due(endpoint_id: str) -> None:
    """Sends the due deliveries of an endpoint for up to TURN seconds, and queues the rest."""
    until = time.monotonic() + TURN
    while (delivery := _claim(UUID(endpoint_id))) is not None:
        _send(delivery)
        if time.monotonic() > until:
            enqueue(UUID(endpoint_id))
            return


@atomic()
def _claim(endpoint_id: UUID) -> Delivery | None:
    """Claims the oldest due delivery for this worker, with one more attempt; None if none is due."""
    rows = Delivery.objects.due().filter(endpoint=endpoint_id).order_by("next_at", "created_at")
    delivery = rows.select_for_update(skip_locked=True, no_key=True, of=("self",)).first()
    if delivery is None:
        return None
    now = timezone.now()
    delivery.attempts += 1
    delivery.last_at, delivery.next_at = now, now + CLAIM
    delivery.save(update_fields=["attempts", "last_at", "next_at"])
    return delivery


def _send(delivery: Delivery) -> None:
    endpoint = delivery.endpoint
    try:
        reply = safe_post.post(endpoint.url, *_message(delivery))
    except (safe_post.Unsent, Undecryptable) as error:
        code = error.code if isinstance(error, safe_post.Unsent) else "secret"
        _on_failure(delivery, None, code, timedelta(seconds=QUIET))
        return
    if 200 <= reply.status < 300:
        _claimed(delivery).update(state=Delivery.State.DELIVERED, status=reply.status, error="")
        failing = Endpoint.objects.filter(pk=endpoint.pk).exclude(failing_since=None)
        failing.update(failing_since=None)
        return
    quiet = wanted_pause(reply.retry_after) if reply.status in BUSY else None
    _on_failure(delivery, reply.status, "status", quiet)


def _message(delivery: Delivery) -> tuple[dict[str, str], bytes]:
    """Returns the signed headers and the body of a delivery."""
    timestamp = delivery.created_at.astimezone(UTC).isoformat(timespec="milliseconds")
    timestamp = timestamp.replace("+00:00", "Z")
    body = {"type": delivery.type, "timestamp": timestamp, "data": delivery.data}
    packed = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
    headers = {"Content-Type": "application/json", "User-Agent": "Mio-Webhooks/1"}
    endpoint, now = delivery.endpoint, timezone.now()
    keys = [decrypt(endpoint.secret)]
    if endpoint.old_secret_until and endpoint.old_secret_until > now:
        keys.append(decrypt(endpoint.old_secret))
    return headers | signing.headers(keys, str(delivery.pk), now, packed), packed


def wanted_pause(retry_after: str) -> timedelta:
    """Returns the pause that a Retry-After header asks for (seconds or a date); at most an hour."""
    seconds = QUIET
    if retry_after.isascii() and retry_after.isdecimal():
        seconds = float(retry_after[:6])
    elif retry_after:
        try:
            at: datetime = parsedate_to_datetime(retry_after)
            seconds = at.timestamp() - timezone.now().timestamp()
        except (ValueError, OverflowError):
            pass
    return timedelta(seconds=min(max(seconds, 1.0), LONGEST_QUIET))


def _claimed(delivery: Delivery) -> QuerySet[Delivery]:
    """The delivery's row, or none if anything happened to it since it was claimed."""
    return Delivery.objects.filter(
        pk=delivery.pk, state=Delivery.State.PENDING, attempts=delivery.attempts
    )


@atomic()
def _on_failure(delivery: Delivery, status: int | None, code: str, quiet: timedelta | None) -> None:
    """Plans the next try, if one is left; disables an endpoint that is gone or failed for too long."""
    now, endpoint = timezone.now(), delivery.endpoint
    log.info("webhook %s: %s of delivery %s", endpoint.pk, status or code, delivery.pk)
    is_last = delivery.attempts >= len(TRIES)
    pause = 0.0 if is_last else TRIES[delivery.attempts] * random.uniform(1, 1 + JITTER)  # noqa: S311
    state = Delivery.State.FAILED if is_last else Delivery.State.PENDING
    at = now + max(timedelta(seconds=pause), quiet or timedelta())
    _claimed(delivery).update(state=state, status=status, error=code, next_at=at)
    row = Endpoint.objects.select_for_update().filter(pk=endpoint.pk).first()
    if row is None or row.disabled_at is not None:
        return
    row.failing_since = row.failing_since or now
    row.quiet_until = now + quiet if quiet else row.quiet_until
    row.save(update_fields=["failing_since", "quiet_until"])
    if status == GONE:
        disable(row, Endpoint.Disabled.GONE)
    elif now - row.failing_since > PATIENCE:
        disable(row, Endpoint.Disabled.FAILING)


@atomic()
def disable(endpoint: Endpoint, because: Endpoint.Disabled) -> None:
    """Disables an endpoint: its waiting deliveries fail, and no more are stored for it."""
    if endpoint.disabled_at is None:
        endpoint.disabled_at, endpoint.disabled_because = timezone.now(), because
        endpoint.save(update_fields=["disabled_at", "disabled_because"])
    waiting = Delivery.objects.filter(endpoint=endpoint, state=Delivery.State.PENDING)
    waiting.update(state=Delivery.State.FAILED, error="disabled")
