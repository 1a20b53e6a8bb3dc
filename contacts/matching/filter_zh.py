"""Is a Chinese name meant here, or do its characters only happen to stand side by side?"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from operator import attrgetter

from contacts import segmentation
from contacts.lexicon import alternation, table, word_sets, words
from contacts.matching.annotation import Reading
from contacts.names import surname_of
from contacts.segmentation import Word
from contacts.text import is_cjk, is_han

_WORDS = word_sets("context_zh")
WEIGHTS: Mapping[str, float] = table("name_evidence")["zh"]
THRESHOLD = 0.4
# Occurrences in jieba's corpus below which a word is rare.
_RARE = 200
# Words that qualify a verb: 方便帮我看一下, 马上给我发.
_ADVERBIAL = ("a", "d", "b")
_WORD_FREQUENCY = 20
_HELD = ("n", "a", "m", "q")
_COMMON_TAGS = ("a", "d", "v", "b", "z", "i", "l", "t", "c", "r", "f", "p", "m", "q")

_CELEBRITIES = words("celebrities", "zh")
_FAME = re.compile(alternation(words("fame", "zh")))
# An amount of a thing: what follows it is bought and drunk.
_MEASURED = re.compile(
    r"[一二两三四五六七八九十几半俩0-9](?:罐|瓶|杯|斤|公斤|包|盒|箱|碗|本|件|辆|台|块|袋|片|颗|朵|盘|套|支|根|双|吨|克|串)$"
)
_ERAS = ("年代", "时代", "时期", "期间", "世纪")
# What ends the name of a business.
_BUSINESSES = ("店", "超市", "餐厅", "诊所", "药房", "酒楼", "工作室")
# What may stand before: words, parts of speech, and which weight that has; the first counts.
_BEFORE: tuple[tuple[frozenset[str], tuple[str, ...], str], ...] = (
    (_WORDS["person_before"], (), "whom something is done to or with"),
    (_WORDS["degrees"], (), "degree before"),
    (_WORDS["pronouns"], (), "subject before"),
    (_WORDS["times"], ("t",), "after a time"),
    (_WORDS["counts"], ("m", "q"), "count before"),
    (frozenset("的地得"), (), "modifier before"),
    (_WORDS["place_before"], (), "place before"),
    (frozenset(), ("c", "p"), "conjunction before"),
    (_WORDS["clause_verbs"], (), "clause start"),
)


def is_ordinary(surface: str) -> bool:
    """Whether a Chinese name is also a word that texts use for other things."""
    if surface in words("chinese_words"):
        return True
    tag = segmentation.tag(surface)
    if not tag or segmentation.frequency(surface) < _WORD_FREQUENCY:
        return False
    doubled = len(surface) == 2 and surface[0] == surface[1]
    return not tag.startswith("nr") and not (doubled and tag.startswith("n"))


class Guard:
    """Judges places of Chinese names in one text, given all names that may stand in it."""

    def __init__(self, reading: Reading, surfaces: Mapping[str, float]) -> None:
        self._reading = reading
        self._surfaces = surfaces
        self._names = {
            name: weight
            for name, weight in surfaces.items()
            if is_cjk(name[0]) and not is_ordinary(name)
        }
        self._cuts: dict[tuple[int, int, str], list[Word]] = {}
        self._plain_cuts: dict[tuple[int, int, str], list[Word]] = {}

    def words(self, start: int, end: int, extra: str = "") -> list[Word]:
        """The words of the stretch of Han around [start, end); ``extra`` is one word more
        that the cut should know."""
        low, high = self._reading.stretch(start, end)
        place = (low, high, extra)
        if place not in self._cuts:
            names = {**self._names, extra: segmentation.NAME_FREQUENCY} if extra else self._names
            self._cuts[place] = self._reading.cut(low, high, names)
        return self._cuts[place]

    def _plain(self, start: int, end: int) -> list[Word]:
        """The words around [start, end) as anyone would cut them, no names known."""
        place = (*self._reading.stretch(start, end), "")
        if place not in self._plain_cuts:
            self._plain_cuts[place] = self._reading.cut(place[0], place[1], {})
        return self._plain_cuts[place]

    def is_word(self, start: int, end: int, *, named: bool = False) -> bool:
        """Whether the likeliest cut has a boundary on both sides of [start, end);
        ``named`` lets the cut know it as a word."""
        extra = self._reading.norm[start:end] if named else ""
        edges = {edge for word in self.words(start, end, extra) for edge in (word.start, word.end)}
        return start in edges and end in edges

    def judge(self, start: int, end: int, *, exact: bool) -> float:
        """A factor for the confidence; 0 when it isn't the name."""
        norm = self._reading.norm
        surface = norm[start:end].replace("·", "")
        if not all(map(is_han, surface)):
            return 1.0
        if len(surface) == 1:
            return self._judge_single(start, end)
        ordinary = is_ordinary(surface)
        if not self.is_word(start, end, named=ordinary and self._is_subject(start, end)):
            return 0.0
        if self._straddles(start, end) or self._chants(start, end):
            return 0.0
        if _MEASURED.search(norm[max(0, start - 4) : start]):
            return 0.0
        if self._goes_on(start, end, surface) or self._is_celebrity(surface):
            return 0.0
        if ordinary or (not exact and segmentation.frequency(surface)):
            score = self._score(start, end, surface)
            if self._is_word_elsewhere(start, surface):
                score += WEIGHTS["a word elsewhere"]
            return min(1.0, 0.6 + 0.15 * score) if score > THRESHOLD else 0.0
        if not exact and self._other_surname(start, end):
            return 0.0
        return 1.0

    def _judge_single(self, start: int, end: int) -> float:
        """A name of one character counts only where it stands alone."""
        norm = self._reading.norm
        alone = (start == 0 or not is_han(norm[start - 1])) and (
            end == len(norm) or not is_han(norm[end]) or norm[end] in "说的让"
        )
        return 0.8 if alone else 0.0

    def _is_subject(self, start: int, end: int) -> bool:
        return start == self._reading.stretch(start, end)[0]

    def _straddles(self, start: int, end: int) -> bool:
        """Whether, names forgotten, words reach over both ends: 行李|雷同 for 李雷."""
        plain = self._plain(start, end)
        # The words that reach into the name or up to it, in order.
        first = bisect_right(plain, start - 1, key=attrgetter("start")) - 1
        near = plain[max(0, first) : bisect_left(plain, end, key=attrgetter("start"))]
        across = {edge for word in near for edge in (start, end) if word.start < edge < word.end}
        if len(across) == 2:
            return True
        # 国王 in 国王晨起: what would be left of the longer word is no word to stand there.
        for word in near:
            if word.start == start - 1 and word.end > start:
                alone = segmentation.tag(word.text[0])[:1]
                return alone in _HELD and segmentation.frequency(word.text) >= _WORD_FREQUENCY * 25
        return False

    def _neighbours(self, start: int, end: int) -> tuple[Word | None, Word | None, list[Word]]:
        """The word before, the word after and all words after, within the stretch of Han."""
        ordinary = self._reading.norm[start:end]
        cut = self.words(start, end, ordinary if is_ordinary(ordinary) else "")
        before = [word for word in cut if word.end <= start]
        after = [word for word in cut if word.start >= end]
        return (before[-1] if before else None), (after[0] if after else None), after

    def _goes_on(self, start: int, end: int, surface: str) -> bool:
        """Whether the name is the beginning of a longer one, or of a street or a school."""
        norm = self._reading.norm
        _, after, following = self._neighbours(start, end)
        if after is None:
            return False
        if (
            after.text in _WORDS["place_tail"]
            or after.text == "子"
            or (len(after.text) > 1 and after.text.endswith(_BUSINESSES))
            or re.match(r"(?:大学|中学|小学|大道|牌)", norm[end : end + 2])
        ):
            return True
        if not surname_of(surface) or len(surface) != 2 or len(after.text) != 1:
            return False
        if after.text not in _WORDS["given_tail"]:
            return False
        # 王明高兴 is cut as a name and a word; a lone 阳 between a name and a verb is a name's.
        return len(following) < 2 or following[1].tag[:1] not in ("y", "q") or after.tag == "nr"

    def _is_celebrity(self, surface: str) -> bool:
        return surface in _CELEBRITIES and bool(_FAME.search(self._reading.norm))

    def _other_surname(self, start: int, end: int) -> bool:
        """Whether a given name follows a surname that isn't its bearer's: 李建国 for 建国."""
        before = self._neighbours(start, end)[0]
        return (
            before is not None
            and len(before.text) == 1
            and before.text in words("surnames", "single")
        )

    def _chants(self, start: int, end: int) -> bool:
        """Whether a doubled name is part of a longer run of its character: 牛牛牛."""
        norm = self._reading.norm
        return (
            norm[start] == norm[end - 1]
            and norm[start] in norm[start - 1 : start] + norm[end : end + 1]
        )

    def _is_word_elsewhere(self, start: int, surface: str) -> bool:
        """Whether the same characters are a mere word nearby in the text."""
        return any(self._score(*place, surface) <= 0 for place in self._others(start, surface))

    def _others(self, start: int, surface: str) -> list[tuple[int, int]]:
        """The places next to this one of the same characters."""
        norm, size = self._reading.norm, len(surface)
        places = (norm.rfind(surface, 0, start), norm.find(surface, start + size))
        return [(place, place + size) for place in places if place >= 0]

    def _score(self, start: int, end: int, surface: str) -> float:
        before, after, following = self._neighbours(start, end)
        tag = segmentation.tag(surface)
        nominal = tag.startswith("n") and surface not in words("chinese_words")
        common = tag.startswith(_COMMON_TAGS) and not nominal
        score = WEIGHTS["common word" if common else "word"]
        count = segmentation.frequency(surface)
        if count < _RARE:
            score += WEIGHTS["rare word"] * (1.0 if common else 0.5)
        score += self._left(start, before, after)
        score += self._right(end, after, following, adverbial=tag.startswith(_ADVERBIAL))
        return score

    def _left(self, start: int, before: Word | None, after: Word | None) -> float:
        norm = self._reading.norm
        if before is None:
            gap = norm[max(0, start - 3) : start].rstrip()
            if gap.endswith("@"):
                return WEIGHTS["whom something is done to or with"] + 1
            latin = re.search(r"[a-z0-9] ?$", norm[max(0, start - 2) : start])
            return 0.0 if latin else WEIGHTS["clause start"]
        if before.text in _WORDS["light"] and self._done_to(before):
            return WEIGHTS["whom something is done to or with"]
        if before.text == "是":
            done = after is not None and (after.tag.startswith("v") or after.text == "的")
            return WEIGHTS["is who did it"] if done else 0.0
        for words_before, tags, reason in _BEFORE:
            if before.text in words_before or before.tag in tags:
                return WEIGHTS[reason]
        return WEIGHTS["verb before" if before.tag.startswith("v") else "other before"]

    def _done_to(self, light: Word) -> bool:
        """Whether a verb that takes a person comes before a light word: 问一下."""
        earlier = [word for word in self.words(light.start, light.end) if word.end == light.start]
        return bool(earlier) and earlier[0].text in _WORDS["person_before"]

    def _right(
        self, end: int, after: Word | None, following: list[Word], *, adverbial: bool
    ) -> float:
        norm = self._reading.norm
        if after is None:
            return self._at_end(end)
        text, tag = after.text, after.tag
        second = following[1].text if len(following) > 1 else ""
        if text == "的":
            return WEIGHTS["possession"] if second in _WORDS["possessions"] else 0.0
        if text in "地得":
            return WEIGHTS["particle of manner"]
        if text in _WORDS["strong_verbs"] or norm.startswith(("说", "让我"), end):
            return WEIGHTS["strong verb"]
        to_user = text.endswith("我") or second in ("我", "我们")
        if to_user and tag.startswith(("v", "p")) and not adverbial:
            return WEIGHTS["done to the user"]
        if text in _WORDS["thing_after"] or text.endswith(_ERAS):
            return WEIGHTS["thing after"]
        return self._clause_score(following)

    def _clause_score(self, following: list[Word]) -> float:
        """What the words after the name say as its predicate."""
        text, tag = following[0].text, following[0].tag
        later = any(word.text in _WORDS["strong_verbs"] for word in following)
        bonus = WEIGHTS["strong verb later"] if later else 0.0
        if text in ("都", "全", "全都"):
            return WEIGHTS["noun after"]
        if text in _WORDS["times"] or tag == "t":
            return WEIGHTS["time after"] + bonus
        if text in _WORDS["person_verbs"] or tag.startswith("v"):
            return WEIGHTS["weak verb"] + bonus
        if tag in ("d", "p", "c", "r"):
            return WEIGHTS["predicate begins"] + bonus
        return WEIGHTS["noun after"]

    def _at_end(self, end: int) -> float:
        norm = self._reading.norm
        rest = norm[end : end + 4].lstrip()
        if rest and not rest[0].isalnum() and rest[0] not in "。.)）」”、&/":
            return WEIGHTS["called out"]
        if rest[:1] in ("、", "&", "/"):
            return WEIGHTS["listed beside"]
        return 0.0
