"""What a person or an app says is on the end user's own card, which follows from facts of
memories."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils import timezone

from accounts.cells import atomic
from accounts.changes import Recorder, recording
from accounts.models import Change, EndUser
from accounts.reasons import Reason
from memories import queue
from memories.corrections import edit_memories
from memories.models import Memory
from memories.models.memory import content_hash, fact_row
from memories.models.own_facts import MAX_VALUE
from memories.types import MemoryType, StoredFact, Subtype
from understanding.attributes import ON_OWN_CARD, label
from understanding.languages import wording
from understanding.text import clean, normalise

_TYPES = {
    MemoryType.PREFERENCE: ("answer_wish", "diet"),
    MemoryType.HEALTH: ("allergy", "health", "medication"),
    MemoryType.PROFESSIONAL: ("job_title", "company", "school"),
}
_TYPE_OF = {key: kind for kind, keys in _TYPES.items() for key in keys}


def edit_own_card(
    end_user: EndUser, attributes: Mapping[str, Sequence[str]], *, actor: str, why: str = ""
) -> Change | None:
    """Sets the values of these keys on the user's own card: facts of memories that state another
    end, and a value that none states becomes a memory. None when nothing changes. Raises
    InvalidCorrection."""
    if not attributes.keys() <= set(ON_OWN_CARD):
        raise edit_memories.InvalidCorrection(Reason("not_on_own_card"))
    return state_own(end_user, attributes, actor=actor, why=why)


@atomic()
def state_own(
    end_user: EndUser, attributes: Mapping[str, Sequence[str]], *, actor: str, why: str = ""
) -> Change | None:
    """The same for facts of the user with any keys."""
    held = edit_memories.locked(end_user)
    wanted = [
        StoredFact(key, text)
        for key, values in attributes.items()
        for text in {normalise(v): clean(v, MAX_VALUE) for v in reversed(values)}.values()
        if text
    ]
    current = _current(held, attributes, timezone.now())
    same = {_same(fact) for fact in wanted}
    ended = {
        memory: over
        for memory, facts in current.items()
        if (over := [fact for fact in facts if _same(fact) not in same])
    }
    known = {_same(fact) for facts in current.values() for fact in facts}
    new = [fact for fact in wanted if _same(fact) not in known]
    if not ended and not new:
        return None
    with recording(held, "edit_card", actor, why) as (recorder, change):
        recorder.watch(ended)
        for memory, facts in ended.items():
            edit_memories.end_facts(memory, facts)
            memory.save(update_fields=["facts", "updated_at"])
        stated = [_state(held, fact, actor, recorder) for fact in new]
        change.subjects = [str(pk) for pk in (*(memory.pk for memory in ended), *stated)]
    queue.enqueue("embed", held.pk)
    return change


def _same(fact: StoredFact) -> tuple[str, str]:
    return fact.key, normalise(fact.value)


def _current(
    end_user: EndUser, keys: Iterable[str], now: datetime
) -> dict[Memory, list[StoredFact]]:
    """The user's own facts of these keys that hold now, by the memory that states them."""
    found: dict[Memory, list[StoredFact]] = {}
    for key in keys:
        told = Memory.objects.of(end_user).active().facts().defer("tokens")
        for memory in told.filter(facts__contains=[{"key": key, "person": None}]):
            found.setdefault(memory, []).extend(
                fact
                for fact in memory.as_stored().current
                if fact.key == key
                and fact.person is None
                and not fact.over(now)
                and not (fact.valid_from and fact.valid_from > now)
            )
    return found


def _state(end_user: EndUser, fact: StoredFact, actor: str, recorder: Recorder) -> UUID:
    """Stores a memory that states the fact, or has the one that says the same state it again."""
    language = end_user.reads
    kind = label(fact.key, language)
    kind = kind[0].lower() + kind[1:]
    said = wording(language)["user_fact"].format(kind=kind, value=fact.value)
    edit_memories.check_content(said)
    told = Memory.objects.of(end_user).active().filter(content_hash=content_hash(said)).first()
    columns: dict[str, Any] = {
        "facts": [fact_row(fact)],
        "type": _TYPE_OF.get(fact.key, MemoryType.PERSONAL),
        "subtype": Subtype.SELF,
        "speaker": actor[:100],
    }
    if told is None:
        made = edit_memories.stated(end_user, said, **columns)
        made.save(force_insert=True)
        recorder.watch([made], created=True)
        queue.enqueue("read_facts", end_user.pk)
        return made.pk
    recorder.watch([told])
    others = [row for row in told.facts if (row["key"], row["value"]) != (fact.key, fact.value)]
    told.facts = [*others, *columns["facts"]]
    told.say(timezone.localtime(timezone=end_user.zone))
    told.save(update_fields=["facts", "said_at", "said_offset", "updated_at"])
    return told.pk
