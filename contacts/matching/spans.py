"""Where the keys of a text stand in it, and which of them the guards let pass."""

import re
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass

from accounts.reasons import Reason
from contacts.lexicon import titles, words
from contacts.lexicon.rules import patterns
from contacts.matching import filter_en, filter_zh
from contacts.matching.annotation import Reading, Token
from contacts.matching.titles import bears, chinese_titles
from contacts.names import HAN_KEY_LENGTH, KIN, SOUND, TITLE, TYPO, name_key, one_edit, syllable
from contacts.roles import RoleWord, roles_of, terms
from contacts.segmentation import NAME_FREQUENCY, frequency
from contacts.text import is_cjk, is_han
from contacts.types import Entry, How, Person

lex = patterns("role_phrases")
# Each way of being named: how sure it is, before context has its say, and its reason.
KINDS = {
    "name": (0.98, "by_name"),
    "alias": (0.95, "by_alias"),
    "pinyin": (0.85, "by_pinyin"),
    "first name": (0.85, "by_first_name"),
    "given name": (0.8, "by_given_name"),
    "kinship": (0.92, "by_own_relation"),
    "title": (0.8, "by_title"),
    "diminutive": (0.7, "by_diminutive"),
    "sound": (0.6, "by_sound"),
    "fuzzy": (0.35, "by_slip"),
}
_PAST_EXACT = frozenset({"pinyin", "first name", "given name", "title", "diminutive", "sound"})


@dataclass(frozen=True, slots=True)
class Hit:
    """A person at a place of the normalised text; ``kind`` is a key of KINDS."""

    person: Person
    start: int
    end: int
    kind: str
    text: str
    confidence: float

    @property
    def how(self) -> How:
        if self.kind in _PAST_EXACT:
            return "alias"
        return self.kind  # type: ignore[return-value]

    @property
    def reason(self) -> Reason:
        return Reason(KINDS[self.kind][1], text=self.text)


def joins(gap: str) -> bool:
    """Whether two words with ``gap`` between them can be one name: Mary Jane, Jean-Paul,
    Dr. Lee."""
    return gap in (" ", "-", ". ", ".", "·", "  ", " - ") or gap in ("‐", "‑", "–")


def find_hits(reading: Reading, entries: list[Entry]) -> list[Hit]:
    """Every acceptable place of every entry; guesses only when nothing else was found."""
    surfaces = _surfaces(entries)
    chinese = filter_zh.Guard(reading, surfaces)
    latin = {part for key in surfaces if not is_cjk(key[0]) for part in key.split(" ")}
    sure: list[Hit] = []
    for entry in entries:
        key = entry.key.key
        if key.startswith(KIN):
            sure.extend(_role_hits(reading, entry))
        elif key.startswith(TITLE):
            sure.extend(_title_hits(reading, entry, chinese))
        elif key.startswith(TYPO):
            continue
        elif any(map(is_cjk, key)):
            sure.extend(_chinese_hits(reading, entry, chinese))
        else:
            sure.extend(_english_hits(reading, entry, latin))
    mask = reading.mask
    sure = [hit for hit in sure if not any(mask[hit.start : hit.end])]
    if sure:
        return sure
    return [
        hit for hit in _guesses(reading, entries, chinese) if not any(mask[hit.start : hit.end])
    ]


def surface_of(entry: Entry) -> str:
    """What the key of ``entry`` looks like in full in a text."""
    key, full = entry.key.key, name_key(entry.key.text)
    long = len(key) == HAN_KEY_LENGTH and all(map(is_cjk, key))
    return full if long and full.startswith(key) else key


def _surfaces(entries: Iterable[Entry]) -> dict[str, float]:
    """The user's names that may stand in the text, with how common each counts as a word."""
    out: dict[str, float] = {}
    for entry in entries:
        key = entry.key.key
        if key.startswith((KIN, TITLE, TYPO)):
            continue
        surface = surface_of(entry)
        weight = float(NAME_FREQUENCY)
        if surface[0] in "小老阿" and len(surface) == 2:
            weight *= 10  # 小李想 is 小李 wanting, rather than a small 李想
        if surface != name_key(entry.key.text):
            weight /= 30.0
        out[surface] = max(weight, out.get(surface, 0.0))
    return out


def _kind(entry: Entry, surface: str) -> str:
    full = name_key(entry.key.text)
    if surface == full or surface.replace(" ", "") == full.replace(" ", ""):
        return entry.key.how
    if any(map(is_cjk, full)):
        return "given name" if any(map(is_cjk, surface)) else "pinyin"
    if surface == full.split(" ")[0]:
        return "first name"
    return entry.key.how if full.startswith(surface) else "diminutive"


def _hit(entry: Entry, start: int, end: int, kind: str, weight: float = 1.0) -> Hit:
    return Hit(entry.person, start, end, kind, entry.key.text, KINDS[kind][0] * weight)


def _chinese_hits(reading: Reading, entry: Entry, guard: filter_zh.Guard) -> Iterator[Hit]:
    surface = surface_of(entry)
    roles = terms().get(surface)
    if roles and any(role.level != "common" for role in roles):
        return
    kind = _kind(entry, surface)
    squeezed, places = reading.squeezed
    at = squeezed.find(surface)
    while at >= 0:
        start, end = places[at], places[at + len(surface) - 1] + 1
        weight = guard.judge(start, end, exact=kind in ("name", "alias"))
        if weight:
            yield _hit(entry, start, end, kind, weight)
        at = squeezed.find(surface, at + 1)


def _english_hits(reading: Reading, entry: Entry, names: Set[str]) -> Iterator[Hit]:
    surface = entry.key.key
    if surface in terms() and any(role.level != "common" for role in terms()[surface]):
        return
    kind = _kind(entry, surface)
    parts = surface.split(" ")
    tokens = reading.tokens
    for index, token in enumerate(tokens):
        bare = token.key
        if bare != parts[0] and not (len(parts) == 1 and bare == f"{parts[0]}s"):
            continue
        last = index + len(parts) - 1
        if last >= len(tokens):
            continue
        if len(parts) > 1:
            if any(tokens[index + i].key != part for i, part in enumerate(parts)):
                continue
            if not all(
                joins(reading.norm[tokens[i].end : tokens[i + 1].start]) for i in range(index, last)
            ):
                continue
        weight = filter_en.judge(reading, names, index, last, entry.person, surface, kind)
        if weight:
            end = tokens[last].end - (1 if bare == f"{surface}s" else 0)
            yield _hit(entry, token.start, end, kind, weight)


def _role_hits(reading: Reading, entry: Entry) -> Iterator[Hit]:
    kind = entry.key.key.removeprefix(KIN)
    for word in reading.roles:
        if word.whose not in ("own", "bare"):
            continue
        for mine in roles_of(entry.key.text):
            if mine.kind != kind:
                continue
            if any(role.fits(mine) for role in word.roles) and _means_own(reading, word, entry):
                start = word.outer if word.whose == "own" else word.start
                yield _hit(entry, start, word.end, "kinship")
                break


def _means_own(reading: Reading, word: RoleWord, entry: Entry) -> bool:
    """Whether a bare role word is the user's own mother or boss rather than any."""
    if word.whose == "own" or word.group:
        return True
    if any(role.level == "kin" for role in word.roles):
        return True
    norm = reading.norm
    if not is_han(word.text[0]):
        return norm[word.outer : word.start].startswith("the ") or word.start == word.outer
    listed = word.text in {name_key(alias) for alias in (entry.person.name, *entry.person.aliases)}
    unique = any(role.level == "unique" for role in word.roles)
    called_out = bool(re.match(r"[,，!！]", norm[word.end : word.end + 1]))
    if listed and not called_out and any(role.level != "common" for role in word.roles):
        return True
    return unique and bool(lex.zh_definite_after.match(norm[word.end : word.end + 12]))


def _title_hits(reading: Reading, entry: Entry, guard: filter_zh.Guard) -> Iterator[Hit]:
    name = entry.key.key.removeprefix(TITLE)
    for found in chinese_titles(reading):
        fits = found.surname == name and guard.is_word(found.start, found.end)
        if fits and bears(entry.person, titles("zh")[found.title], found.title):
            yield _hit(entry, found.start, found.end, "title")
    tokens = reading.tokens
    for index, token in enumerate(tokens[1:], 1):
        before = tokens[index - 1]
        title = titles("en").get(before.key)
        if title is None or token.key != name:
            continue
        together = joins(reading.norm[before.end : token.start])
        if together and bears(entry.person, title, before.key):
            yield _hit(entry, before.start, token.end, "title")


def _guesses(reading: Reading, entries: list[Entry], guard: filter_zh.Guard) -> Iterator[Hit]:
    seen: set[tuple[object, int]] = set()
    for entry in entries:
        if entry.key.key.startswith(SOUND):
            found = _sound_guesses(reading, entry, guard)
        elif entry.key.key.startswith(TYPO):
            found = _typo_guesses(reading, entry)
        else:
            continue
        for hit in found:
            if (hit.person.id, hit.start) not in seen:
                seen.add((hit.person.id, hit.start))
                yield hit


def _sound_guesses(reading: Reading, entry: Entry, guard: filter_zh.Guard) -> Iterator[Hit]:
    sound = entry.key.key.removeprefix(SOUND)
    kind = "fuzzy" if entry.key.how == "fuzzy" else "sound"
    norm = reading.norm
    for start in range(len(norm) - 1):
        joined = ""
        for end in range(start, min(start + HAN_KEY_LENGTH, len(norm))):
            if not is_han(norm[end]):
                break
            joined += syllable(norm[end])
            if not sound.startswith(joined):
                break
            piece = norm[start : end + 1]
            heard = joined == sound and len(piece) > 1 and not frequency(piece)
            slip = heard and _one_off(piece, name_key(entry.key.text))
            if slip and guard.is_word(start, end + 1):
                yield _hit(entry, start, end + 1, kind)


def _one_off(piece: str, name: str) -> bool:
    """Whether a homophone differs from the name in one character, its surname the same."""
    if not is_han(name[0]):
        return True
    same = [a == b for a, b in zip(piece, name, strict=False)]
    return len(piece) == len(name) and same[0] and same.count(False) == 1


def _typo_guesses(reading: Reading, entry: Entry) -> Iterator[Hit]:
    name = name_key(entry.key.text).split(" ")[0]
    known = words("english_words") | words("given_names")
    for token in reading.tokens:
        if _is_slip(token, name, reading) and token.key not in known:
            yield _hit(entry, token.start, token.end, "fuzzy")


def _is_slip(token: Token, name: str, reading: Reading) -> bool:
    word = token.key
    if word[0] != name[0] or (reading.cased and not token.capital):
        return False
    return one_edit(word, name)
