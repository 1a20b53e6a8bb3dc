"""Names in English text: by capitals, their endings, the words before them, and lists of places."""

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
_ENDINGS = {
    kind: regex.compile(
        rf"\b((?:{_OWNER} {joined}){{1,{most}}}?)(?:{alternation(words('entities_en', ends))})(?!\p{{L}}){rest}"
        rf"|\b(?:{alternation(words('entities_en', begins))}){own}"
    )
    for kind, joined, most, ends, rest, begins, own in (
        (Kind.ORGANISATION, "(?:(?:of|and|&) )?", 5, "organisation_ends", f"(?: of {_RUN})?",
         "organisation_of", f" of (?:the )?{_RUN}"),
        (Kind.PLACE, "", 4, "place_ends", "(?! University)", "place_before", f" {_WORD}"),
    )
}  # fmt: skip
_PLACE_CUE = regex.compile(rf"(?i:\b{_PARTS['PLACE_CUES']}) (?:the )?$")
_QUOTES = r"“[^”\n]{1,60}”|\"[^\"\n]{1,60}\"|‘[^’\n]{1,60}’(?!\p{L})|(?<=\s)'[^'\n]{1,60}'(?!\p{L})"
# Names after a cue, each in the group of its kind; in quotation marks a title may contain anything.
_CUED = regex.compile(
    rf"(?i:\b(?:{_PARTS['WORK_NOUNS']}|{_PARTS['WORK_VERBS']}|read|reads|reading|watch|watched|watching|saw|seen|"
    rf"listen(?:s|ed|ing)? to|plays|played|playing|sing|sang|sings)(?:,? (?:is|was|called|titled|named|entitled))?) (?P<quoted>{_QUOTES})"
    rf"|(?i:\b{_PARTS['WORK_NOUNS']}(?: (?:called|titled|named|entitled|is|was))?|\b{_PARTS['WORK_VERBS']}) (?P<work>{_TITLE_RUN})"
    rf"|(?i:\b{_PARTS['PEOPLE_CUES']}) (?P<person>{_WORD}(?: {_WORD}){{1,2}})"
    rf"|(?i:\b(?:{_PARTS['EMPLOYER_CUES']})) (?:the )?(?P<organisation>{_RUN})"
)
_FULL_NAME = regex.compile(rf"\b({_WORD}) ({_WORD})(?! ?\p{{Lu}})")


@cache
def _places() -> frozenset[str]:
    """English names of places, normalised."""
    return frozenset(map(normalise, words("places_en", "gazetteer")))


def find(text: str) -> Iterator[Named]:
    """Yields names in ``text``, which may overlap if two rules match."""
    yield from _cued(text)
    for match in _FULL_NAME.finditer(text):
        if _is_given(match[1]) and not _generic(match[2]) and normalise(match[0]) not in _places():
            yield Named(Kind.PERSON, match[0], *match.span())
    for kind, pattern in _ENDINGS.items():
        for match in pattern.finditer(text):
            start = _name_start(match[1], match.start()) if match[1] else match.start()
            if start is not None:
                yield Named(kind, text[start : match.end()], start, match.end())
    yield from _listed(text)


def _cued(text: str) -> Iterator[Named]:
    """Yields names after a word that states their kind."""
    for match in _CUED.finditer(text):
        group = str(match.lastgroup)
        name, (start, end) = match[group], match.span(group)
        if group == "quoted":
            yield Named(Kind.WORK, name[1:-1].strip(" ,."), start + 1, end - 1)
        elif group == "person":
            if normalise(name) not in _places():
                yield Named(Kind.PERSON, name, start, end)
        elif not _is_other(name, text, start) or (
            group == Kind.ORGANISATION and name in _ORGANISATIONS
        ):
            yield Named(Kind(group), name, start, end)


def _name_start(before: str, start: int) -> int | None:
    """Where a name begins: ``before`` are the words before its ending (University), at ``start``.
    None if none of them distinguishes it from others of its kind."""
    parts = list(regex.finditer(r"\S+", before))
    leading = 0
    while leading < len(parts) and _is_leading(parts[leading][0], leading):
        leading += 1
    own = [part for part in parts[leading:] if not _generic(part[0]) or part[0].lower() in _NATIONS]
    return start + parts[leading].start() if own else None


def _is_leading(word: str, at: int) -> bool:
    """Whether a word is capitalised only as the first of a sentence, or is an article."""
    bare = word.lower()
    return bare in _ARTICLES or (at == 0 and bare in _FUNCTION)


_ARTICLES = words("entities_en", "articles")
_FUNCTION = _NOT_OWN - words("entities_en", "telling")


def _generic(word: str) -> bool:
    """Whether a capitalised word may describe any entity of its kind, or is never a name."""
    bare = normalise(word).removesuffix("'s")
    return bare in _NOT_OWN or bare in _NEVER_NAMES


def _listed(text: str) -> Iterator[Named]:
    """Yields names that are in the lists: the longest run of capitalised words."""
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
    """The kind of a listed place or organisation; None if unlisted or something else here."""
    name = text[start:end]
    if text[max(0, start - 4) : start].lower().split()[-1:] in (["a"], ["an"]):
        return None  # a Honda is no company
    if name in _ORGANISATIONS or (text[end : end + 2] == "'s" and f"{name}'s" in _ORGANISATIONS):
        return Kind.ORGANISATION
    bare = normalise(name)
    if bare not in _places() or bare in _NEVER_NAMES:
        return None
    if _is_ambiguous(bare) and not _PLACE_CUE.search(text, max(0, start - 30), start):
        return None
    # A name after it makes it part of another: Austin Powell, the New York Times.
    after = _RUNS.match(text, end + 1) if text[end : end + 1] == " " else None
    word = after and after[0].split()[0]
    if word and not _generic(word) and normalise(word) not in _places():
        return None
    return Kind.PLACE


@cache
def _is_ambiguous(name: str) -> bool:
    """Whether the name of a place is also a given name or an ordinary word."""
    parts = name.split()
    return len(parts) == 1 and (name in words("given_names") or name in words("english_words"))


def _is_given(word: str) -> bool:
    return normalise(word) in words("given_names")


def _is_other(name: str, text: str, start: int) -> bool:
    """Whether capitalised words after a cue are a person, a place, a day or a language instead."""
    first = name.replace(",", " ").split()[0]
    if _generic(first) or normalise(name) in _places():
        return len(name.split()) == 1 or normalise(name) in _places()
    return (
        _is_given(first)
        and (len(name.split()) <= 2)
        and _kind_of(text, start, start + len(name)) is None
    )
