"""Names in Chinese text: titles in quotation marks, places of the gazetteer, and words with the
endings of places and organisations."""

from collections.abc import Iterator, Sequence

import regex

from understanding import segmentation
from understanding.entities.named import Kind, Named
from understanding.lexicon import alternation, groups, words
from understanding.names import surname_of
from understanding.roles import terms
from understanding.segmentation import Word
from understanding.text import normalise

_GENERIC = words("entities_zh", "generic")
_NEVER_INSIDE = words("entities_zh", "never_inside")
# The endings of names, after something that is their own.
_ENDS = (
    (Kind.ORGANISATION, groups("entities_zh")["organisation_ends"]),
    (Kind.PLACE, groups("entities_zh")["place_ends"]),
)
# The parts of speech (jieba's) that may be inside such a name.
_INSIDE = frozenset("n ns nt nz nr nrt nrfg j b m vn a ng s f an l i".split())
_PROPER = frozenset("ns nt nz nrt nrfg".split())
_HAN = regex.compile(r"\p{Han}{2,}")
_TITLE = regex.compile(
    rf"《([^《》\n]{{1,40}})》|(?:{alternation(words('entities_zh', 'work_cues'))})(?:了|过|完|着)?(?:的)?(?:叫做|叫作|叫|名叫|名为|是)?[，：:]?\s?"
    rf"(?:“([^”\n]{{1,30}})”|「([^」\n]{{1,30}})」|『([^』\n]{{1,30}})』)"
)
_WORKPLACE = regex.compile(
    rf"在(\p{{Han}}{{2,6}}?|[a-z][\w.&-]*)(?:公司)?(?:{alternation(words('entities_zh', 'works'))})|(?:入职|就职于|任职于|供职于|跳槽到)了?(\p{{Han}}{{2,6}}|[a-z][\w.&-]*)(?=[，。；、,.;]|的|做|当|$)"
)
_PERSON = regex.compile(
    rf"(?:{alternation(words('entities_zh', 'people_cues'))})(\p{{Han}}{{2,3}})(?=[，。；、的是唱演写导！？]|$)"
)
_MOST_WORDS = 8  # words put together to one name
_LONGEST = 14  # characters of a name
_RARE = 400.0  # jieba's count: a commoner noun before 公司 describes it and is not its name


def find(text: str) -> Iterator[Named]:
    """Yields names in ``text``, which may overlap if two rules match."""
    norm = normalise(text)
    if len(norm) != len(text):
        norm = text
    for title in _TITLE.finditer(norm):
        yield from _entity(Kind.WORK, text, *title.span(title.lastindex or 0))
    for match in _PERSON.finditer(norm):
        if surname_of(match[1]):
            yield from _entity(Kind.PERSON, text, *match.span(1))
    for match in _WORKPLACE.finditer(norm):
        group = 1 if match[1] else 2
        if _is_workplace(text[slice(*match.span(group))]):
            yield from _entity(Kind.ORGANISATION, text, *match.span(group))
    for stretch in _HAN.finditer(norm):
        cut = segmentation.cut(stretch[0])
        for kind, start, end in (*_listed(cut), *_ending(cut)):
            yield from _entity(kind, text, stretch.start() + start, stretch.start() + end)


def _entity(kind: Kind, text: str, start: int, end: int) -> Iterator[Named]:
    """Yields the entity with this name, unless it is blank."""
    name = text[start:end].strip()
    if name:
        yield Named(kind, name, start, end)


def _listed(cut: Sequence[Word]) -> Iterator[tuple[Kind, int, int]]:
    """Yields names that are in the lists: the longest run of whole words."""
    i = 0
    while i < len(cut):
        for j in range(min(len(cut), i + _MOST_WORDS), i, -1):
            name = "".join(word.text for word in cut[i:j])
            kind = _kind_of(name)
            if (
                kind is Kind.PLACE
                and j < len(cut)
                and cut[j].text in words("entities_zh", "styles")
            ):
                kind = None
            if kind:
                yield kind, cut[i].start, cut[j - 1].end
                i = j - 1
                break
        i += 1


def _kind_of(name: str) -> Kind | None:
    if len(name) < 2:
        return None
    if name in words("places_zh"):
        return Kind.PLACE
    if name in words("organisations", "zh"):
        return Kind.ORGANISATION
    if len(name) >= 3 and name in words("celebrities", "zh"):
        return Kind.PERSON
    return None


def _ending(cut: Sequence[Word]) -> Iterator[tuple[Kind, int, int]]:
    """Yields names with an ending of their kind after something that is their own."""
    for at, word in enumerate(cut):
        kind, suffix = _suffix(word.text)
        if kind is None:
            continue
        first = at
        while first and at - first < _MOST_WORDS and _may_stand_inside(cut[first - 1]):
            first -= 1
        own_part = word.text[: len(word.text) - len(suffix)]
        # A word of the dictionary that ends so by itself (协和医院) is a name if tagged as one.
        parts = [*cut[first:at], *([Word(word.start, 0, own_part, word.tag)] if own_part else [])]
        # No name begins with 的 or a measure.
        while parts and (parts[0].tag in ("f", "q") or parts[0].text in _NEVER_INSIDE):
            parts, first = parts[1:], first + 1
        start = cut[first].start if first <= at else word.start
        has_own = any(_is_distinctive(part, kind) for part in parts) or (
            kind is Kind.ORGANISATION and _coined(parts)
        )
        if has_own and 3 <= word.end - start <= _LONGEST:
            yield kind, start, word.end


def _suffix(text: str) -> tuple[Kind | None, str]:
    """The kind and the ending of a word that ends like an organisation or a place."""
    for kind, ends in _ENDS:
        for end in ends:
            if text == end or (text.endswith(end) and len(end) > 1):
                return kind, end
    return None, ""


def _may_stand_inside(word: Word) -> bool:
    if word.text in _NEVER_INSIDE or word.text in terms():
        return False
    return (
        word.tag in _INSIDE
        or not word.tag
        or word.text in _GENERIC
        or word.text in words("places_zh")
    )


def _is_distinctive(word: Word, kind: Kind) -> bool:
    """Whether this word distinguishes an organisation or place from others of its kind."""
    if word.text in _GENERIC or word.text in terms() or not word.text:
        return False
    if word.text in words("places_zh") or word.text in words("organisations", "zh"):
        return True
    if len(word.text) == 1:
        return False
    if kind is Kind.PLACE:
        return word.tag == "ns"
    return word.tag in _PROPER or (word.tag == "n" and segmentation.frequency(word.text) < _RARE)


def _coined(parts: Sequence[Word]) -> bool:
    """Whether a name begins with two characters that are no word together: 星渡."""
    heads = [part.text for part in parts[:2]]
    return len(heads) == 2 and all(len(head) == 1 and head not in _GENERIC for head in heads)


def _is_workplace(name: str) -> bool:
    """Whether the X of 在X工作 is a name: in a list, capitalised, or tagged so and no common word."""
    if name[0].isascii():
        return name[0].isupper()
    if name in words("places_zh") or name in _GENERIC or name in terms():
        return False
    if name in words("organisations", "zh"):
        return True
    cut = segmentation.cut(name)
    if len(cut) == 1:
        return cut[0].tag in ("nt", "nz") and name not in words("chinese_words")
    return False
