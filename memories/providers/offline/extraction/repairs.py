"""Corrections and retractions as they are worded, and values put right in a draft."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from contacts.lexicon import words
from contacts.lexicon.rules import patterns, rows
from contacts.segmentation import tagged
from memories.providers.offline.extraction.draft import Draft, Piece
from memories.providers.offline.extraction.facts import read_values
from memories.providers.offline.extraction.facts_zh import FIRMS
from memories.providers.offline.extraction.stated_values import Value
from memories.types import ExtractedMemory, Fact

RE = patterns(__file__)
_CONTRASTS = rows(__file__, "contrasts")
_SHAPES = rows(__file__, "shapes")
# What was true until something else came to pass, of one subject.
_OUTGROWN = rows(__file__, "outgrown")


@dataclass(frozen=True, slots=True)
class Replacement:
    """``new`` for ``old`` (empty: whatever has the same shape). ``whole``: the sentence does
    nothing but correct; ``start`` where in it the correction begins."""

    old: str
    new: str
    start: int
    whole: bool
    moved: bool = False


def replacement(text: str) -> Replacement | None:
    """The correction that ``text`` makes, if any."""
    for row in _CONTRASTS:
        match = row["pattern"].search(text)
        if match and match.group("old").strip() != match.group("new").strip():
            if (
                any(word in match.group("old") for word in words("grammar_zh", "no_value"))
                or len(match.group("old")) > 24
            ):
                continue
            old = match.group("old").strip()
            new = RE.before_new.sub("", match.group("new").strip("了 ")) or match.group("new")
            if old[-1] == new[-1] and old[-1] in "的人" and len(old) > 2:
                old, new = old[:-1], new[:-1]
            return Replacement(old, new, match.start(), True)
    for row in _SHAPES:
        match = row["pattern"].search(text)
        moved = row.get("moved", False)
        if match and (row.get("undated") or RE.date.search(match.group("new"))):
            return Replacement(
                "", match.group("new").strip(), match.start(), not moved or match.start() < 3, moved
            )
    return None


def without_false_start(text: str) -> str:
    """``text`` without what was begun and broken off: Ella is no wait, Ella is 31."""
    match = RE.false_start.match(text)
    if match is None:
        return text
    head, rest = match.group("head"), match.group("rest")
    word = re.match(r"[A-Z]\w+", rest)
    sizes = [word.end()] if word else [4, 3, 2]
    for size in sizes:
        at = head.rfind(rest[:size])
        if at >= 0 and len(rest) > size:
            return head[:at] + rest
    return text


def joked_about(text: str) -> str:
    """What is said to have been a joke, in "刚才说…是开玩笑的"."""
    match = RE.joked_about.search(text)
    return (match.group("x") or match.group("e") or "") if match else ""


def cancels(text: str) -> bool:
    """The speaker calls a plan off."""
    return bool(RE.cancels.search(text.strip(" …。.")))


def is_mistake(text: str) -> bool:
    """The speaker says that something said was wrong."""
    return bool(RE.mistake.search(text))


def only_mistake(text: str) -> bool:
    """... and says nothing else."""
    return bool(RE.only_mistake.match(text.strip(" ，,。.!！"))) or bool(
        re.match(r"(?:and |oh |哦)?scratch", text, re.I)
    )


def about(text: str) -> str:
    """What a retraction is about, in its own words."""
    match = RE.about.search(text)
    return match.group("x") if match else ""


def keywords(text: str) -> list[str]:
    """The words of a retraction that tell which statement it means."""
    plain = RE.stop.sub(" ", text)
    return [
        word
        for word, flag in tagged(plain)
        if len(word) > 1 and flag[0] in "nvaije" and not flag.startswith("nr")
    ]


def restated(sentence: str, change: Replacement) -> str:
    """The right value with the verb that links it to its subject: 在 for where somebody is or
    works (a place, a firm, or the correction says so), 是 otherwise."""
    new = change.new
    if new.startswith("在"):
        return new
    if f"{new}人" in sentence:
        return f"是{new}人"
    return ("在" if names_employer(sentence, change) else "是") + new


def names_employer(sentence: str, change: Replacement) -> bool:
    """Whether a correction speaks of a place or of work: 不是丰田，是本田."""
    if RE.date.search(change.new):
        return False
    firm = change.old in FIRMS or tagged(change.old)[0][1] in {"ns", "nz", "nt"}
    return firm or bool(RE.works.search(sentence) or re.search(r"(?:不|没)在|[，,、 ]在", sentence))


def same_event(old: str, new: str, distance: int) -> bool:
    """Whether a moved date belongs to what ``old`` tells: a word in common, or just said."""
    words = {w for w, flag in tagged(new) if len(w) > 1 and flag[0] in "nv"}
    return any(word in old for word in words) or distance <= 2


def apply(draft: Draft, change: Replacement) -> bool:
    """Put ``change`` into ``draft``; False when it has no place there."""
    for piece in draft.pieces:
        if change.old and _belongs(piece, change):
            swap(piece, change.old, change.new)
            return True
    if change.old:
        return False
    shape = RE.date if RE.date.search(change.new) else None
    if shape is None:
        return False
    for piece in draft.pieces:
        match = shape.search(piece.text)
        if match:
            end = match.end()
            while True:
                more = shape.match(piece.text, end)
                if more is None:
                    break
                end = more.end()
            old = piece.text[match.start() : end]
            new = change.new
            if re.search(r"周|星期|day\b", new) and not re.search(r"点|:|[ap]m", new):
                old = match.group()
            swap(piece, old, new)
            return True
    return False


def _belongs(piece: Piece, change: Replacement) -> bool:
    """Whether the wrong words stand in ``piece`` as a value or a date, whole and nobody's name."""
    edge = r"(?<![A-Za-z0-9]){}(?![A-Za-z0-9])"
    match = re.search(edge.format(re.escape(change.old)), piece.text)
    if match is None or any(
        spot.start < match.end() and match.start() < spot.end for spot in piece.spots
    ):
        return False
    if RE.date.search(change.old) and RE.date.search(change.new):
        return True
    return any(
        (value.start <= match.start() and match.end() <= value.end)
        or (match.start() <= value.start and value.end <= match.end())
        or (value.start == value.end and change.old in value.value)
        for value in piece.values
    )


def swap(piece: Piece, old: str, new: str) -> None:
    """Write ``new`` where ``old`` stands first, and read the values of the clause again."""
    at = piece.text.index(old)
    shift = len(new) - len(old)
    piece.text = piece.text.replace(old, new, 1)
    for spot in piece.spots:
        if spot.start >= at + len(old):
            spot.start += shift
            spot.end += shift
    before = {value.key: value for value in piece.values}
    piece.values[:] = read_values(piece.text, piece.spots)
    for key, value in before.items():
        if all(found.key != key for found in piece.values):
            written = value.value.replace(old, new)
            if written != value.value:
                piece.values.append(Value(key, written, value.start, value.end))


# Values that are plain wrong once replaced; a proposal stays worth telling after the wedding.
_REPLACED = frozenset({"company", "location", "birthday", "age", "school", "height", "diet"})


def current_only(memories: list[ExtractedMemory]) -> list[ExtractedMemory]:
    """The memories without those that hold an earlier value of a single attribute: of two in
    a batch the later is current."""
    latest = {
        (fact.person, fact.key): memory
        for memory in memories
        for fact in memory.facts
        if fact.key in _REPLACED
    }
    return [
        memory
        for memory in memories
        if not any(
            _overtakes(latest[fact.person, fact.key], memory, fact)
            for fact in memory.facts
            if fact.key in _REPLACED
        )
    ]


def _overtakes(newer: ExtractedMemory, older: ExtractedMemory, fact: Fact) -> bool:
    """Whether ``newer`` was told later and holds another value than the ``fact`` of ``older``."""
    if max(newer.turn_ids) <= max(older.turn_ids):
        return False
    values = [other.value for other in newer.facts if other.key == fact.key]
    return not any(fact.value in value or value in fact.value for value in values)


def without_outgrown(memories: list[ExtractedMemory]) -> Iterator[ExtractedMemory]:
    """The memories without those that a later one of the same people has overtaken."""
    for number, memory in enumerate(memories):
        later = [
            m
            for m in memories[number + 1 :]
            if m.people == memory.people and m.turn_ids != memory.turn_ids
        ]
        if not any(
            row["pattern"].search(memory.content)
            and any(re.search(row["until"], m.content) for m in later)
            for row in _OUTGROWN
        ):
            yield memory
