"""Edits of the end user's own card, which is derived from facts of memories."""

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
    """Sets the values of these keys on the user's own card: facts that state other values end, and
    a value that no memory states becomes a memory. Returns None if nothing changes. Raises
    InvalidCorrection."""
    if not attributes.keys() <= set(ON_OWN_CARD):
        raise edit_memories.InvalidCorrection(Reason("not_on_own_card"))
    return state_own(end_user, attributes, actor=actor, why=why)


@atomic()
def state_own(
    end_user: EndUser, attributes: Mapping[str, Sequence[str]], *, actor: str, why: str = ""
) -> Change | None:
    """Sets the values of any keys as facts about the user, in the same way."""
    user = edit_memories.locked(end_user)
    wanted_facts = [
        StoredFact(key, text)
        for key, values in attributes.items()
        for text in {normalise(v): clean(v, MAX_VALUE) for v in reversed(values)}.values()
        if text
    ]
    current = _current_facts(user, attributes, timezone.now())
    wanted_keys = {_fact_key(fact) for fact in wanted_facts}
    ended = {
        memory: ended_facts
        for memory, facts in current.items()
        if (ended_facts := [fact for fact in facts if _fact_key(fact) not in wanted_keys])
    }
    current_keys = {_fact_key(fact) for facts in current.values() for fact in facts}
    new_facts = [fact for fact in wanted_facts if _fact_key(fact) not in current_keys]
    if not ended and not new_facts:
        return None
    with recording(user, "edit_card", actor, why) as (recorder, change):
        recorder.watch(ended)
        for memory, facts in ended.items():
            edit_memories.end_facts(memory, facts)
            memory.save(update_fields=["facts", "updated_at"])
        stated_ids = [_state_fact(user, fact, actor, recorder) for fact in new_facts]
        change.subjects = [str(pk) for pk in (*(memory.pk for memory in ended), *stated_ids)]
    queue.enqueue("embed", user.pk)
    return change


def _fact_key(fact: StoredFact) -> tuple[str, str]:
    return fact.key, normalise(fact.value)


def _current_facts(
    end_user: EndUser, keys: Iterable[str], now: datetime
) -> dict[Memory, list[StoredFact]]:
    """Returns the user's own facts of these keys that are true now, by memory."""
    facts_by_memory: dict[Memory, list[StoredFact]] = {}
    for key in keys:
        memories = Memory.objects.of(end_user).active().facts().defer("tokens")
        for memory in memories.filter(facts__contains=[{"key": key, "person": None}]):
            facts_by_memory.setdefault(memory, []).extend(
                fact
                for fact in memory.as_stored().current
                if fact.key == key
                and fact.person is None
                and not fact.over(now)
                and not (fact.valid_from and fact.valid_from > now)
            )
    return facts_by_memory


def _state_fact(end_user: EndUser, fact: StoredFact, actor: str, recorder: Recorder) -> UUID:
    """Stores a memory that states the fact, or updates the one that does. Returns its id."""
    language = end_user.writing_language
    kind = label(fact.key, language)
    kind = kind[0].lower() + kind[1:]
    text = wording(language)["user_fact"].format(kind=kind, value=fact.value)
    edit_memories.check_content(text)
    twin = Memory.objects.of(end_user).active().filter(content_hash=content_hash(text)).first()
    columns: dict[str, Any] = {
        "facts": [fact_row(fact)],
        "type": _TYPE_OF.get(fact.key, MemoryType.PERSONAL),
        "subtype": Subtype.SELF,
        "speaker": actor[:100],
    }
    if twin is None:
        memory = edit_memories.stated(end_user, text, **columns)
        memory.save(force_insert=True)
        recorder.watch([memory], created=True)
        queue.enqueue("read_facts", end_user.pk)
        return memory.pk
    recorder.watch([twin])
    rows = [row for row in twin.facts if (row["key"], row["value"]) != (fact.key, fact.value)]
    twin.facts = [*rows, *columns["facts"]]
    twin.set_said_at(timezone.localtime(timezone=end_user.zone))
    twin.save(update_fields=["facts", "said_at", "said_offset", "updated_at"])
    return twin.pk
