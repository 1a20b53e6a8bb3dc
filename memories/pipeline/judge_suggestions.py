"""Has a model judge the pairs that may be one person and that the fast score leaves open.

Many pairs in a call, few calls a day for each end user, and each pair once. "Different" is applied
like a person's answer, as a change that can be undone; "same" waits for a person, with its reason.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import timedelta
from functools import partial

from django.db.models import QuerySet
from django.utils import timezone

from accounts.cells import atomic
from accounts.models import EndUser
from contacts.merge import InvalidMerge, not_the_same
from contacts.models import Suggestion
from contacts.suggestions import records_of
from memories import model_calls
from memories.budget import Budget
from memories.corrections.auto_merge import newest_facts
from memories.models import ModelCall
from memories.providers import factory
from memories.providers.interface import LanguageProvider
from memories.types import Sameness

ACTOR = "judge"
PAIRS_PER_CALL = 12
# For one end user: some seventy pairs, more than blocking ever finds for most users.
CALLS_A_DAY = 6


def users_due() -> list[int]:
    """Returns the ids of end users with pairs that are not judged; none if no model is set."""
    if factory.reviewing_provider() is None:
        return []
    return list(_unjudged().order_by("end_user").values_list("end_user", flat=True).distinct())


def judge_user(end_user_id: int, budget: Budget) -> dict[str, int]:
    """Has a user's pairs judged until none is left, or the budget or the user's calls of the day
    are spent; returns how many were ``judged`` and how many of them ``different``.

    Raises ProviderError if the model gives no usable answer: the pairs wait for the next run.
    """
    done = {"judged": 0, "different": 0}
    end_user = EndUser.objects.select_related("app").filter(pk=end_user_id).first()
    provider = factory.reviewing_provider()
    if end_user is None or provider is None:
        return done
    today = ModelCall.objects.filter(created_at__gt=timezone.now() - timedelta(days=1))
    calls = CALLS_A_DAY - today.filter(end_user=end_user, purpose="judge").order_by().count()
    while budget.left and calls > 0:
        rows = list(_unjudged().filter(end_user=end_user).order_by("-confidence")[:PAIRS_PER_CALL])
        if not rows:
            break
        calls -= 1
        budget.spend(calls=1, rows=len(rows))
        ids = {pk for row in rows for pk in (row.first_id, row.second_id)}
        records = records_of(end_user, ids, newest_facts)
        pairs = {
            row.pk: (records[row.first_id], records[row.second_id])
            for row in rows
            if row.first_id in records and row.second_id in records
        }
        judged = model_calls.ask(end_user, provider, "judge", partial(provider.judge, pairs))
        done["judged"] += len(rows)
        done["different"] += _write(end_user, provider, rows, judged)
    return done


def _unjudged() -> QuerySet[Suggestion]:
    open_pairs = Suggestion.objects.listed().filter(state=Suggestion.State.OPEN, judged_at=None)
    return open_pairs.exclude(verdict=Suggestion.Verdict.CERTAIN)


def _write(
    end_user: EndUser,
    provider: LanguageProvider,
    rows: Iterable[Suggestion],
    judged: Mapping[int, tuple[Sameness, str]],
) -> int:
    """Stores the verdicts; returns how many pairs are two people. A pair that the model left out
    counts as unsure, so that it is not asked about again."""
    different = 0
    for row in rows:
        sameness, reason = judged.get(row.pk, (Sameness.UNSURE, ""))
        with atomic():
            if EndUser.objects.lock(end_user.pk) is None:
                return different
            # A person may have decided meanwhile.
            opened = Suggestion.objects.of(end_user).filter(pk=row.pk, state=Suggestion.State.OPEN)
            is_written = opened.update(
                judgement=sameness,
                judged_reason=reason,
                judged_by=provider.model[:100],
                judged_at=timezone.now(),
            )
            if is_written and sameness == Sameness.DIFFERENT:
                with suppress(InvalidMerge):  # merged into others meanwhile
                    not_the_same(end_user, row.first_id, row.second_id, actor=ACTOR, why=reason)
                    different += 1
    return different
