"""Names in English text: capital letters, what they end in, what stands before them, and a
gazetteer of places."""

from collections.abc import Iterator
from functools import cache

import regex

from understanding.entities.named import Kind, Named
from understanding.lexicon import alternation, words
from understanding.lexicon.rules import parts_of
from understanding.text import normalise

_PARTS = parts_of(__file__)
_WORD = r"\p{Lu}[\p{L}\p{M}\d]*(?:[-&'’](?!s\b)[\p{L}\d]+)*"
_OWNER = rf"(?:St\.|{_WORD}(?:['’]s)?)"
_SMALL = r"(?:of the|of|and the|and|for|the|in the|in|to the|to|on the|a|de|la|&)"
_RUN = rf"{_WORD}(?: {_WORD}){{0,3}}"
_TITLE_RUN = rf"{_WORD}(?:,? (?:{_SMALL} )?(?:{_WORD}|\d+))*"
_RUNS = regex.compile(rf"\b{_RUN}")
_ORGANISATIONS = words("organisations", "en")
_NOT_OWN = words("entities_en", "not_own")
_NEVER_NAMES = words("entities_en", "never_names")
_NATIONS = words("entities_en", "nations")
_ENDING = {
    Kind.ORGANISATION: regex.compile(
        rf"\b((?:{_OWNER} (?:(?:of|and|&) )?){{1,5}}?)(?:{alternation(words('entities_en', 'organisation_ends'))})(?!\p{{L}})(?: of {_RUN})?"
    ),
    Kind.PLACE: regex.compile(
        rf"\b((?:{_OWNER} ){{1,4}}?)(?:{alternation(words('entities_en', 'place_ends'))})(?!\p{{L}})(?! University)"
    ),
}
_OF = regex.compile(
    rf"\b(?:{alternation(words('entities_en', 'organisation_of'))}) of (?:the )?{_RUN}"
)
_BEFORE = regex.compile(rf"\b(?:{alternation(words('entities_en', 'place_before'))}) {_WORD}")
_EMPLOYER = regex.compile(rf"(?i:\b(?:{_PARTS['EMPLOYER_CUES']})) (?:the )?({_RUN})")
_PLACE_CUE = regex.compile(rf"(?i:\b{_PARTS['PLACE_CUES']}) (?:the )?$")
_QUOTES = r"(?:“([^”\n]{1,60})”|\"([^\"\n]{1,60})\"|‘([^’\n]{1,60})’(?!\p{L})|(?<=\s)'([^'\n]{1,60})'(?!\p{L}))"
_QUOTED = regex.compile(
    rf"(?i:\b(?:{_PARTS['WORK_NOUNS']}|{_PARTS['WORK_VERBS']}|read|reads|reading|watch|watched|watching|saw|seen|"
    rf"listen(?:s|ed|ing)? to|plays|played|playing|sing|sang|sings))(?i:,? (?:is|was|called|titled|named|entitled))? {_QUOTES}"
)
_WORK = regex.compile(
    rf"(?i:\b{_PARTS['WORK_NOUNS']})(?i: (?:called|titled|named|entitled|is|was))? ({_TITLE_RUN})"
    rf"|(?i:\b{_PARTS['WORK_VERBS']}) ({_TITLE_RUN})"
)
_PERSON = regex.compile(rf"(?i:\b{_PARTS['PEOPLE_CUES']}) ({_WORD}(?: {_WORD}){{1,2}})")
_FULL_NAME = regex.compile(rf"\b({_WORD}) ({_WORD})(?! ?\p{{Lu}})")


@cache
def _places() -> frozenset[str]:
    """English names of places, normalised."""
    return frozenset(map(normalise, words("places_en", "gazetteer")))


def find(text: str) -> Iterator[Named]:
    """Names in ``text``, overlapping where two rules see something."""
    for quoted in _QUOTED.finditer(text):
        at = next(i for i in range(1, 5) if quoted[i])
        yield Named(Kind.WORK, quoted[at].strip(" ,."), *quoted.span(at))
    for match in _WORK.finditer(text):
        at = 1 if match[1] else 2
        if not _is_other(match[at], text, match.start(at)):
            yield Named(Kind.WORK, match[at], *match.span(at))
    for match in _PERSON.finditer(text):
        if normalise(match[1]) not in _places():
            yield Named(Kind.PERSON, match[1], *match.span(1))
    for match in _FULL_NAME.finditer(text):
        if _given(match[1]) and not _plain(match[2]) and normalise(match[0]) not in _places():
            yield Named(Kind.PERSON, match[0], *match.span())
    yield from _endings(text)
    for match in _EMPLOYER.finditer(text):
        name = match[1]
        if not _is_other(name, text, match.start(1)) or name in _ORGANISATIONS:
            yield Named(Kind.ORGANISATION, name, *match.span(1))
    yield from _listed(text)


def _endings(text: str) -> Iterator[Named]:
    for kind, pattern in _ENDING.items():
        for match in pattern.finditer(text):
            start = _own_from(match[1], match.start())
            if start is not None:
                yield Named(kind, text[start : match.end()], start, match.end())
    for match in _OF.finditer(text):
        yield Named(Kind.ORGANISATION, match[0], *match.span())
    for match in _BEFORE.finditer(text):
        yield Named(Kind.PLACE, match[0], *match.span())


def _own_from(before: str, start: int) -> int | None:
    """Where the name begins whose words before the last are these; None when none of them
    tells it from others of its sort."""
    parts = list(regex.finditer(r"\S+", before))
    leading = 0
    while leading < len(parts) and _leads(parts[leading][0], leading):
        leading += 1
    own = [part for part in parts[leading:] if not _plain(part[0]) or part[0].lower() in _NATIONS]
    return start + parts[leading].start() if own else None


def _leads(word: str, at: int) -> bool:
    """Whether a capital is only that of a sentence's start or of an article."""
    bare = word.lower()
    return bare in _ARTICLES or (at == 0 and bare in _FUNCTION)


_ARTICLES = words("entities_en", "articles")
_FUNCTION = _NOT_OWN - words("entities_en", "telling")


def _plain(word: str) -> bool:
    """Whether a capitalised word may stand for any of its sort, or is no name at all."""
    bare = normalise(word).removesuffix("'s")
    return bare in _NOT_OWN or bare in _NEVER_NAMES


def _listed(text: str) -> Iterator[Named]:
    """What a list has: the longest run of capitalised words."""
    for run in _RUNS.finditer(text):
        parts = list(regex.finditer(r"\S+", run[0]))
        i = 0
        while i < len(parts):
            for j in range(len(parts), i, -1):
                start, end = run.start() + parts[i].start(), run.start() + parts[j - 1].end()
                kind = _kind_of(text, start, end)
                if kind:
                    yield Named(kind, text[start:end], start, end)
                    i = j - 1
                    break
            i += 1


def _kind_of(text: str, start: int, end: int) -> Kind | None:
    name = text[start:end]
    if regex.search(r"\b[Aa]n? $", text[max(0, start - 3) : start]):
        return None  # a Honda is no company
    if name in _ORGANISATIONS or (text[end : end + 2] == "'s" and f"{name}'s" in _ORGANISATIONS):
        return Kind.ORGANISATION
    bare = normalise(name)
    if bare not in _places() or bare in _NEVER_NAMES:
        return None
    if _ambiguous(bare) and not _PLACE_CUE.search(text, max(0, start - 30), start):
        return None
    # A name after it makes it part of another: Austin Powell, the New York Times.
    after = regex.match(rf" ({_WORD})", text[end:])
    if after and not _plain(after[1]) and normalise(after[1]) not in _places():
        return None
    return Kind.PLACE


@cache
def _ambiguous(name: str) -> bool:
    """Whether a place's name is a given name or an ordinary word too."""
    parts = name.split()
    return len(parts) == 1 and (name in words("given_names") or name in words("english_words"))


def _given(word: str) -> bool:
    return normalise(word) in words("given_names")


def _is_other(name: str, text: str, start: int) -> bool:
    """Whether capitalised words are a person, a place, a day or a language."""
    first = regex.split(r"[ ,]", name)[0]
    if _plain(first) or normalise(name) in _places():
        return len(name.split()) == 1 or normalise(name) in _places()
    return (
        _given(first)
        and (len(name.split()) <= 2)
        and _kind_of(text, start, start + len(name)) is None
    )
