"""Names that a turn states of somebody, and who is said to be who."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from memories.providers.offline.reading.circle import Circle, PersonDraft
from memories.providers.offline.reading.entity_linking import Spot
from understanding.lexicon.rules import patterns
from understanding.text import simplified

RE = patterns(__file__)
_NEAR = 24


def own_names(text: str, spots: Sequence[Spot]) -> Iterator[str]:
    """The names by which the user introduces themself."""
    for spot, name, between in _beside(text, spots):
        whose = text[name.end : name.end + 2] in ("'s", "’s")
        if spot.how == "user" and not whose and _states(RE.own_name, spot, text, between):
            yield name.text


def learn_names(circle: Circle, text: str, spots: Sequence[Spot]) -> bool:
    """Whoever ``text`` says is called something is the one who bears that name; True where that
    made one person of two."""
    merged = False
    for spot, name, between in _beside(text, spots):
        one, other = spot.who, name.who
        if one is None or other is None or one is other:
            continue
        if one not in circle.people or other not in circle.people:
            continue
        equal = spot.how == "name" and RE.equals.fullmatch(between)
        if equal or (_states(RE.called, spot, text, between) and not _both_told(one, other)):
            circle.merge(one, other)
            merged = True
    return merged


def learn_nicknames(circle: Circle, text: str, spots: Sequence[Spot]) -> bool:
    """Gives whoever ``text`` says is called by a quoted name that name (大家都叫她“月饼”); makes no
    two people one. English names begin with a capital."""
    plain, who, end = simplified(text), None, -1
    for quote in RE.quoted.finditer(text):
        before = [s for s in spots if quote.start() - _NEAR <= s.end <= quote.start()]
        if end < 0 or not RE.and_.fullmatch(plain[end : quote.start()]):
            spot = before[-1] if before else None
            between = plain[spot.end : quote.start(1)] if spot else ""
            who = spot.who if spot and _states(RE.nickname, spot, text, between) else None
        end = quote.end()
        if who in circle.people and not quote[1][:1].islower():
            who.add_name(quote[1])
            circle.changed()
    return False


def learn_ties(circle: Circle, text: str, spots: Sequence[Spot]) -> bool:
    """Whoever ``text`` says is somebody's relative is that relative (Anna is Brenda's sister);
    True where that made one person of two."""
    merged = False
    plain = simplified(text)
    for number, spot in enumerate(spots):
        role = spot.who
        if role is None or spot.how != "role" or role.named or role.by_pronoun or not number:
            continue
        start, before = spot.start, spots[number - 1]
        if RE.whose.fullmatch(plain[before.end : start]) and number > 1:
            start, before = before.start, spots[number - 2]
        one = circle.now(before.who)
        if one is None or before.how != "name" or one is role.owner or role not in circle.people:
            continue
        if RE.is_one.fullmatch(plain[before.end : start]):
            circle.merge(one, role)
            merged = True
    return merged


def without_namings(text: str, spots: Sequence[Spot]) -> tuple[str, list[Spot]]:
    """``text`` with the names blanked out that it gives to whom a pronoun means (she's called X),
    and the other spots: who that is, is to be found without the name."""
    kept = []
    for spot in spots:
        start = _named_pronoun(text, spot.start) if spot.how == "name" else None
        if start is None:
            kept.append(spot)
        else:
            text = text[:start] + " " * (spot.end - start) + text[spot.end :]
    return text, kept


def _named_pronoun(text: str, start: int) -> int | None:
    """Where the pronoun ends of which the name at ``start`` is said to be; None where none is."""
    begin = max(0, start - _NEAR)
    before = simplified(text[begin:start])
    pronouns = list(_PRONOUN.finditer(before))
    if not pronouns:
        return None
    last = pronouns[-1]
    said = RE.called.search(f"{before[: last.start()]}@{before[last.end() :]}")
    return begin + last.end() if said else None


_PRONOUN = re.compile(r"[他她佢]|\b(?:ta|he|she|they|him|her|his|them|their)(?=['’ ])", re.I)


def answer_name(
    circle: Circle, asked: str, asked_of: Sequence[Spot], answer: str, spots: Sequence[Spot]
) -> bool:
    """A name that begins the answer to the question for somebody's name is theirs; True where that
    made one person of two."""
    first = next((spot for spot in spots if spot.how != "user"), None)
    about = [spot.who for spot in asked_of if spot.who is not None]
    if first is None or first.how != "name" or not about or not RE.asks_name.search(asked):
        return False
    one, other = about[-1], first.who
    if other is None or one is other or one.named or RE.word.search(answer[: first.start]):
        return False
    if one not in circle.people or other not in circle.people:
        return False
    circle.merge(one, other)
    return True


def _both_told(one: PersonDraft, other: PersonDraft) -> bool:
    """Whether both were known by names and ties of their own before."""
    return one.contact_id is not None and other.contact_id is not None


def _beside(text: str, spots: Sequence[Spot]) -> Iterator[tuple[Spot, Spot, str]]:
    """A name, who stands before it, and the words between."""
    plain = simplified(text)
    for spot, name in pairwise(spots):
        gap = plain[spot.end : name.start]
        if name.how == "name" and len(gap) <= _NEAR:
            yield spot, name, gap


def _states(pattern: re.Pattern[str], spot: Spot, text: str, between: str) -> bool:
    before = simplified(text[max(0, spot.start - 10) : spot.start])
    suffix = spot.text[1:] if spot.how == "user" and len(spot.text) > 1 else ""
    suffix = suffix if suffix[:1] in "'’m" else ""
    return bool(pattern.search(f"{before}@{suffix}{between}"))
