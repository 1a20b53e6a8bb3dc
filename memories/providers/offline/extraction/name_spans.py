"""Where personal names stand in a text: Chinese ones by surname and form, Latin ones by capital."""

import re

from contacts.lexicon import alternation, titles_used, words
from contacts.lexicon.rules import patterns
from contacts.segmentation import frequency, tag, tagged, tagged_by_start
from contacts.text import HAN, normalise
from memories.providers.offline.lexicons import english_places, given_names, surnames

RE = patterns(__file__)
_TITLE = alternation(word for word in titles_used("reader") if not word.isascii())
# Characters that a given name rarely holds and that often follow one.
_NOT_GIVEN = words("names_zh", "not_given")
_NOT_DOUBLED = _NOT_GIVEN | words("names_zh", "not_doubled")
# Ordinary words that begin like a name or like 小X, 老X, 阿X (Modern Chinese Dictionary).
_ORDINARY = words("names_zh", "ordinary")
_FUNCTION_SURNAMES = words("names_zh", "function_surnames")
_PERSON_BEFORE = re.compile(rf"(?:{alternation(words('names_zh', 'person_before'))})$")
# Words that people are called as well: believed where a role word stands beside them.
_NAMES_TOO = words("names_zh", "also_names")
# Parts of speech (jieba's) that may follow the subject of a clause.
_PREDICATE = frozenset("vdpctrumayfxe")
_PLACES = frozenset({"ns", "nsf"})
# Characters that decide which word comes next.
_NEAR = 50
RARE_CHARACTER = 3000  # occurrences in the segmenter's dictionary


def is_ordinary(word: str) -> bool:
    """Whether ``word`` is a common word of Chinese that only looks like a name."""
    return word in _ORDINARY or word[:2] in _ORDINARY


def chinese_name_at(text: str, start: int, *, strong: bool) -> int | None:
    """Where a Chinese personal name that begins at ``start`` ends, or None. ``strong``: the
    words before it announce a name, so that an unusual one is believed."""
    rest = text[start : start + 6]
    if not rest or not HAN.match(rest):
        return None
    form = _by_form(rest, strong=strong)
    if form is not None:
        return start + form
    if not strong and (is_ordinary(rest) or any(tag(rest[:size]) in _PLACES for size in (2, 3))):
        return None
    for size in (2, 1):
        if not strong and rest[0] in _FUNCTION_SURNAMES and not _surely_name(text, start):
            continue
        if rest[:size] in surnames() and (size == 1 or strong or len(rest) > 2):
            length = _given_length(text, start, size, strong=strong)
            if length:
                return start + size + length
    if strong:
        return _unusual(text, start)
    return None


def _by_form(rest: str, *, strong: bool) -> int | None:
    """小X, 阿X, 老X, X总, X姐, 沈医生, 团团."""
    title = re.match(rf"([\u4e00-\u9fff]{{1,2}}?)(?:{_TITLE})(?![\u4e00-\u9fff]*们)", rest)
    if title and title.group() not in _ORDINARY:
        stem = title.group(1)
        word = title.group()
        if (
            (
                stem in surnames()
                or (
                    word[-1] in "姐哥"
                    and len(stem) == 1
                    and stem not in _NOT_GIVEN | words("names_zh", "ranks")
                )
            )
            and not (word[-1] in "工导局" and not strong)
            and not _is_word(word)
        ):
            return len(word)
    if (
        rest[0] in "小阿老"
        and len(rest) >= 2
        and rest[:2] not in _ORDINARY
        and rest[:3] not in _ORDINARY
    ):
        stem = rest[1]
        if (
            HAN.match(stem)
            and stem not in _NOT_GIVEN
            and (not _is_word(rest[:2]) or _is_called(rest))
            and not _is_word(rest[:3])
        ) and (rest[0] != "老" or stem in surnames()):
            return 2
    if (
        len(rest) >= 2
        and rest[0] == rest[1]
        and (strong or not _dictionary(rest[:2]))
        and rest[2:3] != rest[3:4]
        and rest[0] not in _NOT_DOUBLED
    ):
        return 2
    return None


def _is_called(rest: str) -> bool:
    """老 or 小 with a surname (小张, 老周): an address that the dictionary lists as a word,
    unless its second character begins another one (小马路)."""
    if rest[0] not in "老小" or rest[1] not in surnames() - _FUNCTION_SURNAMES:
        return False
    cut = [word for word, _ in tagged(rest)]
    return cut[0] == rest[:2] or (len(cut[0]) == 1 and len(cut[1]) == 1)


def name_beside_role(text: str, start: int) -> int | None:
    """Where the name that begins at ``start`` ends, beside words for what its bearer is to
    somebody (我朋友小雨, 小雪是我妹妹), or None. There a word that is a name too is believed,
    as the subject of what follows."""
    end = chinese_name_at(text, start, strong=False) or _full_name_beside(text, start)
    if end is not None or text[start : start + 2] not in _NAMES_TOO:
        return end
    cut = tagged(text[start : start + 10])
    size = 1 if cut[0][0] == text[start : start + 2] else 2
    whole = "".join(word for word, _ in cut[:size]) == text[start : start + 2]
    follows = all(flag[0] in _PREDICATE for _, flag in cut[size : size + 1])
    return start + 2 if whole and follows else None


def _full_name_beside(text: str, start: int) -> int | None:
    """我同学高远在…: surname and given name that are a quality or a manner in the dictionary,
    where neither can stand."""
    word, flag = tagged_by_start(text).get(start) or ("", "")
    fits = len(word) == 2 and word[0] in surnames() and word[0] != word[1]
    if not fits or flag[0] not in "adzb" or is_ordinary(word):
        return None
    return start + 2 if re.match(r"[在是住说姓叫]|搬到", text[start + 2 :]) else None


def _dictionary(word: str) -> bool:
    """A word of the dictionary that is not a name there."""
    return bool(tag(word)) and not tag(word).startswith("nr")


def _is_word(word: str) -> bool:
    """A dictionary word that is not tagged as a name."""
    return _dictionary(word) and (
        len(word) > 2 or tag(word)[0] in "vadcrpmtq" or frequency(word) > 300
    )


def _given_length(text: str, start: int, size: int, *, strong: bool) -> int:
    """How many characters of given name follow the surname at ``start`` (0: no name)."""
    run = re.match(r"[\u3400-\u9fff]*", text[start:])
    room = len(run.group()) - size if run else 0
    if room < 1:
        return 0
    token = tagged_by_start(text).get(start)
    if size == 1 and _rare_given(text, start, token):
        return 2
    if (
        token is not None
        and token[1].startswith("nr")
        and 2 <= len(token[0]) <= size + 2
        and len(token[0]) > size
    ):
        return _tagged_given(text, start, size, token[0], last=room == 2, strong=strong)
    given = text[start + size : start + size + 2]
    if given[0] in _NOT_GIVEN and not (strong and given[0] in "想真太更和与将"):
        return 0
    if not strong and not _weak_given(text, start, size):
        return 0
    if given[0] == "家" and (len(given) < 2 or given[1] in _NOT_GIVEN):
        return 0
    if room == 1 or len(given) < 2 or given[1] in _NOT_GIVEN:
        return 1
    following = tagged(text[start + size + 1 : start + size + 1 + _NEAR])
    single = following and len(following[0][0]) == 1
    if single and following[0][1][0] in "vdpcurym" and room > 2:
        return 1
    if (
        following
        and len(following[0][0]) > 1
        and following[0][1][0] in "vdtnmrl"
        and room > 1
        and tagged(given)[0][0] != given
    ):
        return 1
    return 2


def _tagged_given(text: str, start: int, size: int, word: str, *, last: bool, strong: bool) -> int:
    """How much of a name the segmenter saw, with the character before a stop that it cut off."""
    if last and len(word) == size + 1 and _ends_name(text, start + size + 1, strong):
        return 2
    return len(word) - size if strong or not _is_word(word) else 0


def _ends_name(text: str, at: int, strong: bool) -> bool:
    """Whether the last character before a stop belongs to the name before it (李梓轩。)."""
    last = text[at]
    return last not in _NOT_GIVEN and (strong or frequency(last) <= RARE_CHARACTER)


def _rare_given(text: str, start: int, token: tuple[str, str] | None) -> bool:
    """李柰今天…: a word (李子) seems to begin here, but the character after it is one of
    names, not of grammar, and a new phrase begins behind that."""
    if len(text) < start + 4 or text[start + 2] in _NOT_GIVEN or not HAN.match(text[start + 2]):
        return False
    if token is None or len(token[0]) != 2 or frequency(text[start + 2]) > RARE_CHARACTER:
        return False
    return bool(
        re.match(r"[今昨明也都又还就在是说要最刚已来去和跟把被吃做给，,、\s]", text[start + 3 :])
    )


def _surely_name(text: str, start: int) -> bool:
    """A surname that is an everyday word begins a name only where the segmenter sees one."""
    token = tagged_by_start(text).get(start)
    return token is not None and token[1].startswith("nr") and len(token[0]) >= 2


def _weak_given(text: str, start: int, size: int) -> bool:
    """Without announcement a surname begins a name only if no common word starts there."""
    token = tagged_by_start(text).get(start)
    if token is None:
        return False
    word, flag = token
    return flag.startswith("nr") or (
        len(word) == size and not (frequency(text[start : start + size + 1]) > 0)
    )


def _unusual(text: str, start: int) -> int | None:
    """An announced name without a surname (核桃, 果果): the next word or two characters."""
    position = start
    for word, flag in tagged(text[start:]):
        if not HAN.match(word) or flag[0] in "vdpcurymtq" or len(word) > 4:
            break
        position += len(word)
        if position - start >= 2:
            break
    return position if 2 <= position - start <= 4 else None


def unlisted_name(text: str) -> bool:
    """Two or three characters that are no word at all, as a given name alone often is."""
    return (
        bool(re.fullmatch(r"[\u4e00-\u9fff]{2,3}", text))
        and not _dictionary(text)
        and not is_ordinary(text)
        and not set(text) & _NOT_GIVEN
    )


def behind_name(text: str, end: int) -> bool:
    """Whether a Chinese name ends right before ``end`` (小美|男朋友)."""
    return any(
        chinese_name_at(text, end - size, strong=False) == end
        and (end == size or not text[: end - size].endswith(("我", "咱", "俺")))
        for size in (2, 3, 4)
        if end >= size
    )


def doubled_name_at(text: str, start: int) -> int | None:
    """圆圆, 团团 after a relation word: where the pet name ends, or None."""
    pair = text[start : start + 2]
    if len(pair) < 2 or pair[0] != pair[1] or not HAN.match(pair) or pair[0] in _NOT_DOUBLED:
        return None
    following = text[start + 2 : start + 4]
    if len(following) == 2 and following[0] == following[1]:
        return None
    return start + 2


def announced_person(before: str) -> bool:
    """Whether the words before a place call for a person there (跟, 和, 约, with, and, told)."""
    return bool(_PERSON_BEFORE.search(before))


_TITLES = alternation(word.title() for word in titles_used("reader") if word.isascii())


# English words that are given names too: a name only where something else says so.
_WORD_NAMES = words("names_en", "also_names")

_NEVER_NAMES = words("names_en", "never_names")

LATIN_NAME = re.compile(
    rf"(?<![A-Za-z0-9_À-ÿ@./'’-])(?:(?:{_TITLES}|Sir)\.?\s)?[A-ZÀ-Þ][a-zà-ÿ]+(?:[A-Z][a-z]+)?(?:-[A-Z][a-z]+)?(?![A-Za-z0-9_À-ÿ@])"
)

_TITLED = re.compile(rf"(?:{_TITLES})\.?\s")


def _acts(before: str, after: str) -> bool:
    """Whether a capitalised everyday word is used as a name: in the middle of a sentence
    beside words for people, or at its head doing what people do."""
    if re.search(r"[a-z,]\s$", before):
        return (
            bool(RE.latin_before.search(before))
            or bool(RE.person_verb.match(after))
            or bool(re.match(r"\s(?:is|was|has|will)\s\w+", after))
        )
    return bool(RE.person_verb.match(after)) or (HAN.search(after[:2]) is not None)


def _is_surname(before: str) -> bool:
    """Whether a given name stands right before: (Morgan) Stanley, (Jack) Daniel's."""
    first = RE.capital_before.search(before)
    return bool(
        first
        and normalise(first["w"]) in given_names()
        and normalise(first["w"]) not in _NEVER_NAMES
    )


def surname_end(text: str, end: int) -> int:
    """Where a full name ends whose given name ends at ``end``; ``end`` without a surname."""
    full = re.match(r"\s(?P<w>[A-Z][a-z]{2,})(?![\w'’-]|\s[A-Z])", text[end:])
    if full is None or is_stop_word(full["w"]) or full["w"] in english_places():
        return end
    return end + full.end()


def latin_names(text: str) -> list[tuple[int, int, bool]]:
    """Capitalised words that may be given names: (start, end, known given name)."""
    found: list[tuple[int, int, bool]] = []
    for match in LATIN_NAME.finditer(text):
        titled = _TITLED.match(match.group())
        word = match.group()[titled.end() :] if titled else match.group()
        folded = normalise(word)
        if folded in _NEVER_NAMES or (titled and len(word) < 2):
            continue
        known = folded in given_names() and folded not in _WORD_NAMES
        place = word in english_places()
        if folded in {"april", "may", "june", "august"} and (
            re.match(r"\s?\d", text[match.end() :])
            or re.search(
                r"\b(?:in|by|since|until|from|of|is|on|this|next|last)\s$", text[: match.start()]
            )
        ):
            continue
        before, after = text[: match.start()], text[match.end() :]
        if _is_surname(before):
            continue
        if not (folded in given_names() and RE.mine_before.search(before)) and RE.thing_after.match(
            after
        ):
            continue
        if RE.workplace.search(before) and re.match(r"\s[A-Z][a-z]", after):
            continue
        clear = bool(RE.latin_after.match(after)) or bool(RE.latin_before.search(before))
        if (
            titled
            or (known and not place and clear)
            or (folded in given_names() and not place and len(word) > 2 and _acts(before, after))
            or (known and RE.is_mine.match(text, surname_end(text, match.end())))
        ):
            found.append((match.start(), match.end(), True))
        else:
            found.append((match.start(), match.end(), False))
    return found


def is_stop_word(word: str) -> bool:
    """A capitalised word that is never a person here (days, months, machines, Yes, Sorry)."""
    return normalise(word) in _NEVER_NAMES
