"""Names of erased people, and their removal from what is known about others. Callers that write
hold the end user's lock."""

import re
from collections.abc import Collection, Iterable
from typing import Any
from uuid import UUID, uuid4

from django.db.models import Q, QuerySet

from accounts.changes import UNRECORDED, UUIDS, Recorder
from accounts.models import EndUser
from contacts import store
from contacts.models import Contact
from memories.corrections import derived
from understanding.names import name_key
from understanding.people.mentions import entries_of, find_mentions
from understanding.roles import kinship
from understanding.same_person.name_types import is_role
from understanding.segmentation import NAME_FREQUENCY, cut
from understanding.text import HAN, normalise_with_offsets, original_span
from understanding.types import Person

GONE, GONE_ZH = "[forgotten]", "[已忘记]"
SHORTEST = 2  # a single character is part of too many words to be taken for a name
_LATIN = "[a-z\u00c0-\u024f]"
_HAN_RUN = re.compile(f"{HAN.pattern}+")
# JSON columns whose keys are words of a user or an app, down to so many levels; others are Mio's.
KEYED = {"attributes": 1, "metadata": float("inf")}
_NO_TEXT = re.compile(rf"{UUIDS.pattern}|\d{{4}}-\d\d(?:-\d\d(?:T[\d:.+Z-]+)?)?")
_OWNED = re.compile(r"(?P<owner>\[forgotten\])['’]s? (?P<what>[^.;]+)")

Span = tuple[int, int]


class Names:
    """Finds ``names`` in texts, but not inside a longer name of ``others`` or inside a word (小红
    in 小红书, an app). A role alone (妈妈, mum) is not searched as a name."""

    def __init__(self, names: Iterable[str], others: Iterable[str] = ()) -> None:
        self.all = {*names}
        self.keys = {
            key
            for name in self.all
            if len(key := _normalised(name)) >= SHORTEST
            # Not a role alone: 王阿姨 is a name, 阿姨 is not.
            and ("的" in name or "'" in name or kinship(name) is None or not is_role(name))
        }
        roles = sorted(name for name in self.all if _normalised(name) not in self.keys)
        self._entries = entries_of([Person(uuid4(), roles[0], (*roles[1:],))]) if roles else []
        longer = {_normalised(other) for other in others} - self.keys
        self._longer = {one for one in longer if any(is_fuller(one, key) for key in self.keys)}
        self._words = dict.fromkeys({*self.keys, *self._longer}, float(NAME_FREQUENCY))

    def spans(self, text: str) -> list[Span]:
        """Returns the spans of the names in a text, in order, without overlaps."""
        if not self.keys:
            return []
        norm, offsets = normalise_with_offsets(text)
        if not any(key in norm for key in self.keys):
            return []
        longer_spans = [span for key in self._longer for span in _occurrences(norm, key)]
        word_spans = {
            (run.start() + word.start, run.start() + word.end - cut_off)
            for run in _HAN_RUN.finditer(norm)
            for word in cut(run.group(), self._words)
            for cut_off in ((0, 1) if word.text.endswith("的") else (0,))  # 红红的
        }
        spans: list[Span] = []
        for key in sorted(self.keys, key=len, reverse=True):
            for start, end in _occurrences(norm, key):
                is_word = _HAN_RUN.fullmatch(key) is None or (start, end) in word_spans
                if is_word and not any(a < end and start < b for a, b in [*longer_spans, *spans]):
                    spans.append((start, end))
        return sorted(original_span(offsets, start, end) for start, end in spans)

    def may_be_in(self, *columns: str) -> Q:
        """Returns the condition that one of these columns may contain one of the names."""
        condition = Q(pk__in=())
        for column in columns:
            for name in self.all:
                condition |= Q(**{f"{column}__icontains": name})
        return condition

    def named_in(self, rows: QuerySet[Any]) -> list[Any]:
        """Returns the ids of rows whose content has one of the names, or such a role (我妈妈)."""
        candidates = rows.filter(self.may_be_in("content")).values_list("pk", "content").iterator()
        roles = self._entries
        return [
            pk
            for pk, content in candidates
            if self.spans(content) or (roles and find_mentions(content, roles))
        ]

    def without(self, text: str) -> str:
        """Returns ``text`` with marks for names: ``sister of [forgotten]``, ``[已忘记]的姐姐``."""
        possessive = _OWNED.fullmatch(marked := self.marked(text))
        return f"{possessive['what']} of {possessive['owner']}" if possessive else marked

    def marked(self, text: str) -> str:
        """Returns ``text`` with a mark in the place of each name: ``[forgotten]'s sister``."""
        mark = GONE_ZH if HAN.search(text) else GONE
        for start, end in reversed(self.spans(text)):
            text = text[:start] + mark + text[end:]
        return text

    def cleaned(self, value: Any, keyed: float = 0) -> Any:
        """Returns JSON with marks for names in its texts, and in the keys of ``keyed`` levels."""
        if isinstance(value, str):
            return value if _NO_TEXT.fullmatch(value) else self.without(value)
        if isinstance(value, list):
            return [self.cleaned(item, keyed) for item in value]
        if isinstance(value, dict):
            return {
                self.without(key) if keyed > 0 else key: self.cleaned(item, keyed - 1)
                for key, item in value.items()
            }
        return value

    def cleaned_in(self, column: str, value: Any) -> Any:
        """Returns the value of a model's column with a mark for each name."""
        return self.cleaned(value, KEYED.get(column, 0))


def names_of(contacts: Iterable[Contact]) -> set[str]:
    """Returns the names and aliases of these contacts."""
    return {name for contact in contacts for name in (contact.name, *contact.aliases)}


def unshared_names(end_user: EndUser, names: Collection[str], gone: Collection[UUID]) -> Names:
    """Returns those of ``names`` that no contact except ``gone`` has."""
    remaining = Contact.objects.of(end_user).exclude(pk__in=list(gone))
    rows = remaining.values_list("name", "aliases")
    borne = {each for name, aliases in rows for each in (name, *aliases)}
    keys = {name_key(name) for name in borne}
    return Names((name for name in names if name_key(name) not in keys), borne)


def take_out(end_user: EndUser, names: Names, recorder: Recorder = UNRECORDED) -> None:
    """Replaces the names by a mark in all contacts and their profiles, and deletes aliases and
    phrases that contain one."""
    if not names.keys:
        return
    for contact in Contact.objects.of(end_user).light():
        denied = contact.references_denied
        cleaned = {
            "name": names.marked(contact.name),
            "aliases": [alias for alias in contact.aliases if not names.spans(alias)],
            "relationship": names.without(contact.relationship),
            "personality": names.without(contact.personality),
            "note": names.without(contact.note),
            "attributes": names.cleaned_in("attributes", contact.attributes),
            "timeline": names.cleaned_in("timeline", contact.timeline),
            "references": [e for e in contact.references if not names.spans(e["text"])],
            "references_denied": [text for text in denied if not names.spans(text)],
        }
        edits = {name: value for name, value in cleaned.items() if value != getattr(contact, name)}
        if not edits:
            continue
        recorder.watch([contact])
        for field, value in edits.items():
            setattr(contact, field, value)
        if "name" in edits:
            contact.name_key = name_key(contact.name)
            contact.namesake = store.next_namesake(end_user, contact.name_key)
        store.save(contact, [*edits, "namesake"])
        derived.write_profile_memory(contact, recorder)


def is_fuller(full: str, name: str) -> bool:
    """Whether ``full`` is ``name`` plus a surname or a given name; both are name keys."""
    if HAN.search(full):
        return full.endswith(name) and 0 < len(full) - len(name) <= 2 <= len(name)
    return bool(name) and set(name.split()) < set(full.split())


def _normalised(text: str) -> str:
    return normalise_with_offsets(" ".join(text.split()))[0]


def _occurrences(norm: str, key: str) -> list[Span]:
    """Returns the spans of ``key`` in ``norm``; Latin letters match whole words only."""
    before = f"(?<!{_LATIN})" if re.match(_LATIN, key) else ""
    after = f"(?!{_LATIN})" if re.match(_LATIN, key[-1]) else ""
    return [match.span() for match in re.finditer(before + re.escape(key) + after, norm)]
