"""Long memories that are read often are split into pieces, or said in fewer words.

The original of a split stays beside its pieces. What a provider proposes is checked against
the original before anything is written: nothing may be lost from a shorter wording, nothing
may be added by a piece.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from uuid import UUID

from django.db.models import QuerySet
from django.db.models.functions import Length
from django.utils import timezone

from accounts.cells import atomic
from accounts.models import EndUser
from accounts.reasons import Reason
from memories import model_calls
from memories.budget import Budget
from memories.corrections import lineage, rewrite
from memories.corrections.edit_memories import InvalidCorrection
from memories.faithfulness import adds, loses
from memories.models import Memory
from memories.providers.factory import memory_model
from memories.providers.openai.provider import OpenAIProvider
from memories.search.tokens import tokenise
from memories.types import Refinement
from understanding.text import estimate_tokens

# MIRA: longer than a threshold, at least 7 days old, accessed at least 5 times. It
# names no length: 50 tokens are about 50 Chinese characters or 35 English words, twice an
# ordinary memory.
LONG = 50
OLD = timedelta(days=7)
READ = 5
# Memories shown to the provider in one call.
AT_ONCE = 10
# Words of its own that a piece or a shorter wording may have, to make a sentence of it.
OWN_WORDS = 0.3


def users_due() -> list[int]:
    """The end users with memories to look at; none without a model."""
    if memory_model() is None:
        return []
    rows = _candidates(Memory.objects.all()).order_by().values_list("end_user", flat=True)
    return sorted(rows.distinct())


def refine_user(end_user_id: int, budget: Budget) -> dict[str, int]:
    """Refines what is due of an end user, within the budget; returns the counts of memories
    looked at, split, trimmed, and of proposals discarded since they lost or added something.

    A memory is looked at once, whatever comes of it. Re-raises ProviderError; what was done
    before it stays done.
    """
    done: Counter[str] = Counter(looked_at=0, split=0, trimmed=0, discarded=0, calls=0)
    end_user = EndUser.objects.filter(pk=end_user_id).first()
    provider = memory_model()
    while end_user and provider and budget.left:
        rows = list(_candidates(Memory.objects.of(end_user)).order_by("pk")[:AT_ONCE])
        if not rows:
            break
        long = [memory for memory in rows if estimate_tokens(memory.content) >= LONG]
        if long:
            done.update(_refine(end_user, provider, long))
            done["calls"] += 1
        looked_at = Memory.objects.of(end_user).filter(pk__in=[memory.pk for memory in rows])
        with atomic():
            EndUser.objects.lock(end_user.pk)
            looked_at.update(refined_at=timezone.now())
        done["looked_at"] += len(rows)
        budget.spend(calls=bool(long), rows=len(rows))
    return dict(done)


def _candidates(memories: QuerySet[Memory]) -> QuerySet[Memory]:
    """A text has at most as many tokens as characters; the exact length is for Python."""
    return memories.annotate(characters=Length("content")).filter(
        kind=Memory.Kind.FACT,
        status=Memory.Status.ACTIVE,
        refined_at=None,
        access_count__gte=READ,
        created_at__lte=timezone.now() - OLD,
        characters__gte=LONG,
    )


def _refine(
    end_user: EndUser, provider: OpenAIProvider, memories: Sequence[Memory]
) -> Counter[str]:
    shown = [memory.as_stored() for memory in memories]
    found: Mapping[UUID, Refinement] = model_calls.ask(
        end_user, provider, "refine", lambda: provider.refine(shown, end_user.reads)
    )
    done: Counter[str] = Counter()
    for memory in memories:
        refinement = found.get(memory.pk, Refinement())
        if refinement.pieces:
            done[_split(end_user, memory, refinement)] += 1
        elif refinement.trimmed:
            done[_trim(end_user, memory, refinement)] += 1
    return done


def _split(end_user: EndUser, memory: Memory, found: Refinement) -> str:
    """The original stays, so that a split loses nothing; but it must not add."""
    if any(_adds(piece, memory.content) for piece in found.pieces):
        return "discarded"
    return _kept("split", rewrite.split, end_user, memory, found.pieces, found.reason)


def _trim(end_user: EndUser, memory: Memory, found: Refinement) -> str:
    """The shorter wording takes the place of the old one: it must neither add nor lose."""
    values = [str(fact["value"]) for fact in memory.facts]
    told = [value for value in values if value in memory.content]
    lost = any(value not in found.trimmed for value in told)
    if lost or loses(found.trimmed, memory.content) or _adds(found.trimmed, memory.content):
        return "discarded"
    return _kept("trimmed", rewrite.trim, end_user, memory, found.trimmed, found.reason)


def _adds(text: str, source: str) -> bool:
    """Whether ``text`` has a number, date, name or negation, or too many words, of its own."""
    words = set(tokenise(text))
    new = len(words - set(tokenise(source)))
    return bool(adds(text, [source])) or new > OWN_WORDS * len(words)


def _kept(
    done: str,
    verb: Callable[..., object],
    end_user: EndUser,
    memory: Memory,
    wording: object,
    reason: Reason | str,
) -> str:
    """``done``, or that the memory has changed meanwhile so that it can't be."""
    try:
        verb(
            end_user,
            memory.pk,
            wording,
            actor=lineage.MACHINE,
            why=Reason("verbose", reason=reason).stored,
        )
    except InvalidCorrection:
        return "discarded"
    return done
