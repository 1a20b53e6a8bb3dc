"""From overlapping hits to mentions: the longest wins, context tells namesakes apart."""

import re
from bisect import bisect_left
from collections.abc import Hashable

from accounts.reasons import Reason
from contacts.lexicon import words
from contacts.matching.annotation import Reading
from contacts.matching.spans import KINDS, Hit
from contacts.names import surname_of
from contacts.resolution import relationships
from contacts.roles import RoleWord, roles_of, terms
from contacts.segmentation import Word
from contacts.text import is_han
from contacts.types import Mention

# Among hits at the same place the surest kind of match silences the others.
_RANK = {kind: rank for rank, kind in enumerate(KINDS)}
_SURE = ("name", "alias")
# Characters behind a role word that say whether a name follows.
_NAME_REACH = 24


def mentions(reading: Reading, hits: list[Hit]) -> list[Mention]:
    """The mentions that ``hits`` amount to, by position, each person once a place."""
    chosen = _longest(_best_at_place(hits))
    chosen = _told_apart(reading, chosen)
    out = []
    places: dict[tuple[int, int], list[Hit]] = {}
    for hit in chosen:
        places.setdefault((hit.start, hit.end), []).append(hit)
    for (start, end), group in sorted(places.items()):
        first, last = reading.original(start, end)
        text = reading.text[first:last]
        for hit in group:
            share = hit.confidence / len(group) ** 0.5
            reason = hit.reason
            if len(group) > 1:
                reason = Reason("among_several", reason=reason, count=len(group))
            confidence = round(min(1.0, share), 3)
            out.append(Mention(hit.person, first, last, text, hit.how, confidence, reason))
    return out


def is_gainsaid(text: str, mention: Mention) -> bool:
    """Whether a role beside the name says that someone else of that name is meant: 我同事张伟
    is not the 张伟 who is the user's uncle."""
    known = mention.person.relationship
    if not known:
        return False
    reading = Reading(text)
    start, end = (bisect_left(reading.offsets, at) for at in (mention.start, mention.end))
    beside = [word for word in reading.roles if _is_beside(reading, word, start, end)]
    return any(not word.group for word in beside) and not any(
        relationships.may_be_one(reading.norm[word.start : word.end], known) for word in beside
    )


def _best_at_place(hits: list[Hit]) -> list[Hit]:
    """A person once a place; weaker kinds of match left out where a surer one is."""
    best: dict[tuple[int, int, Hashable], Hit] = {}
    for hit in hits:
        key = (hit.start, hit.end, hit.person.id)
        if key not in best or hit.confidence > best[key].confidence:
            best[key] = hit
    top: dict[tuple[int, int], int] = {}
    for hit in best.values():
        place = (hit.start, hit.end)
        top[place] = min(top.get(place, 99), _rank(hit))
    return [hit for hit in best.values() if _rank(hit) == top[hit.start, hit.end]]


def _rank(hit: Hit) -> int:
    return 0 if hit.kind in _SURE else _RANK[hit.kind]


def _longest(hits: list[Hit]) -> list[Hit]:
    """The hits that don't overlap a longer one; the earlier wins a tie."""
    taken: set[tuple[int, int]] = set()
    covered: set[int] = set()
    for start, end in sorted({(h.start, h.end) for h in hits}, key=lambda p: (p[0] - p[1], p[0])):
        if covered.isdisjoint(range(start, end)):
            taken.add((start, end))
            covered.update(range(start, end))
    return [hit for hit in hits if (hit.start, hit.end) in taken]


def _told_apart(reading: Reading, hits: list[Hit]) -> list[Hit]:
    """Uses role words beside names: 我同事张伟 is the colleague, and the role word itself then
    means no one else; a role followed by an unknown name is someone unknown."""
    named = [hit for hit in hits if hit.kind != "kinship"]
    kin = [hit for hit in hits if hit.kind == "kinship"]
    for word in reading.roles:
        beside = [hit for hit in named if _is_beside(reading, word, hit.start, hit.end)]
        if not beside:
            continue
        fitting = [hit for hit in beside if _fits(word, hit)]
        if fitting:
            named = [hit for hit in named if hit not in beside or hit in fitting]
            ids = {hit.person.id for hit in fitting}
            kin = [h for h in kin if h.end != word.end or h.person.id in ids]
    strangers = {word.end for word in reading.roles if _names_stranger(reading, word)}
    known = {hit.start for hit in named}
    kin = [hit for hit in kin if hit.end not in strangers or _next_place(reading, hit) in known]
    return named + _most_specific(reading, kin)


def _next_place(reading: Reading, hit: Hit) -> int:
    gap = reading.norm.startswith(" ", hit.end)
    return hit.end + gap


def _names_stranger(reading: Reading, word: RoleWord) -> bool:
    """Whether a name follows the role word: 我同事罗昊, my coworker Delia. When it is nobody's
    that the user has named before, the role is not of a known person either."""
    if is_han(word.text[0]):
        end = max(word.end, reading.stretch(word.start, word.end)[1])
        end = min(end, word.end + _NAME_REACH)
        after = reading.cut(word.end, end, {})
        return bool(after) and _is_chinese_name(after)
    index = reading.starts.get(word.end + 1)
    if index is None or not reading.norm.startswith(" ", word.end) or not reading.cased:
        return False
    token = reading.tokens[index]
    return token.capital and token.key not in words("english_words") and token.key not in terms()


def _is_chinese_name(after: list[Word]) -> bool:
    first = after[0]
    if first.tag == "nr" and surname_of(first.text):
        return first.text not in words("chinese_words")
    plain = first.text in words("surnames", "single") - words("surnames", "weak") and len(after) > 1
    return plain and after[1].text in words("context_zh", "given_tail")


def _is_beside(reading: Reading, word: RoleWord, start: int, end: int) -> bool:
    if word.whose == "other":
        return False
    before, after = reading.norm[word.end : start], reading.norm[end : word.outer]
    if word.end <= start:
        return bool(re.fullmatch(r"|[ ,，]{1,2}|,? (?:named |called )", before))
    return end <= word.outer and bool(re.fullmatch(r"[,，（(] ?", after))


def _fits(word: RoleWord, hit: Hit) -> bool:
    return any(role.fits(mine) for role in word.roles for mine in roles_of(hit.person.relationship))


def _most_specific(reading: Reading, kin: list[Hit]) -> list[Hit]:
    """Of several who fit a role word, those whose relationship says it exactly."""
    out: list[Hit] = []
    for word in reading.roles:
        group = [hit for hit in kin if hit.end == word.end]
        if word.group:
            out.extend(group)
            continue
        tags = {tag for role in word.roles for tag in role.tags}
        kinds = {role.kind for role in word.roles}

        def score(hit: Hit, tags: set[str] = tags, kinds: set[str] = kinds) -> int:
            return max(
                (2 * (role.kind in kinds) + len(role.tags & tags) for role in roles_of(hit.text)),
                default=0,
            )

        best = max(map(score, group), default=0)
        out.extend(hit for hit in group if score(hit) == best)
    return out
