"""The cadence of the pipeline: when an end user's messages are extracted and consolidated."""

from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Q

from accounts.models import EndUser

# A backlog is read in larger pieces than the live cadence, so that corrections and answers
# that follow close by are seen together.
BACKLOG_FACTOR = 4
IDLE = timedelta(minutes=5)


def extraction_due(end_user: EndUser) -> bool:
    """Whether enough messages wait for a batch, or one that can't wait."""
    full = end_user.message_seq - end_user.extracted_seq >= settings.MIO_EXTRACT_EVERY
    return full or end_user.due_seq > end_user.extracted_seq


def longest_batch() -> int:
    """How many messages one batch takes at most."""
    return BACKLOG_FACTOR * settings.MIO_EXTRACT_EVERY


def is_idle(end_user: EndUser, now: datetime) -> bool:
    """Whether the end user has not written for a while."""
    return end_user.last_message_at is not None and end_user.last_message_at <= now - IDLE


def idle_users(now: datetime) -> Q:
    """The end users who have not written for a while."""
    return Q(last_message_at__lte=now - IDLE)


def consolidation_due(end_user: EndUser) -> bool:
    """Whether enough was extracted since the last consolidation."""
    return end_user.extracted_seq - end_user.consolidated_seq >= settings.MIO_CONSOLIDATE_EVERY
