"""Binary features of the span tagger: classes of words, for and against a token being part of a
person's name or role."""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib import import_module
from itertools import pairwise, takewhile
from pkgutil import iter_modules
from typing import NamedTuple

import faker.providers.person

from understanding import segmentation
from understanding.lexicon import rows as lexicon_rows
from understanding.lexicon import titles, words
from understanding.people.chain import OUTSIDE
from understanding.roles import groups, terms
from understanding.text import HAN, is_han, normalise, quotations
from understanding.text_document import read as read_document

# A Han character; an 's, a word of its own; letters with their marks; digits; else one sign.
_TOKEN = re.compile(
    rf"{HAN.pattern}|['’`]s(?![a-zA-Z])|(?:(?!{HAN.pattern})[^\W\d_]|[\u0300-\u036f])+|\d+|\S"
)


class Token(NamedTuple):
    """[start, end) of a text; ``norm`` is its normal form, ``han`` whether it is Chinese."""

    start: int
    end: int
    norm: str
    han: bool


def tokens(text: str, stems: Collection[str] = ()) -> list[Token]:
    """Returns the tokens of ``text``. An s typed without its apostrophe is split off if the rest is
    in ``stems`` (dads been living in bendigo)."""
    out: list[Token] = []
    for match in _TOKEN.finditer(text):
        start, end = match.span()
        norm = normalise(match[0])
        if norm[-1:] == "s" and norm[:-1] in stems:
            out.append(Token(start, end - 1, norm[:-1], False))
            out.append(Token(end - 1, end, "s", False))
        else:
            out.append(Token(start, end, norm, is_han(match[0][0])))
    return out


Row = list[str]

# Lexicon entries of more tokens are no roles or names.
_LONGEST_ENTRY = 6
_JOINTS = frozenset("-·・.'")
# Signs that no name contains.
_NOT_IN_NAMES = frozenset('，。！？、；：,!?;:…“”"()（）「」《》【】[]~～—@#')
_SENTENCE_END = frozenset(".!?。！？…:：")
_GLUE = re.compile(r"[\s\-·・.']+")
# Endings that are typed on words of the dictionary (sayin, theres, dont).
_ENDINGS = ("s", "in", "n", "ed", "nt", "re", "ll", "ve", "d", "m", "y", "er", "ish", "ies", "es")
# Classes of lexicon entries that are words for people.
_PEOPLE = ("role", "kin", "folk", "job", "title")
_CLASSES_BEFORE = ("own", "others", "some", "the", "beside")


def before(word: str) -> str:
    """Returns the class of a word before a person: own (my), others (her), some (a), the, beside
    (with), or "word"."""
    return next((kind for kind in _CLASSES_BEFORE if word in words("people_words", kind)), "word")


@cache
def stems() -> Collection[str]:
    """Returns the words from which an s is split off: roles, and given names whose form with an s
    is neither a word nor a name."""
    roles = {word for word in (*terms(), *words("people_words", "kin")) if word.isascii()}
    ordinary = words("english_words") | _forenames().keys() | _last_names()
    names = {name for name in _forenames() if f"{name}s" not in ordinary}
    return names | {role for role in roles if len(role) > 2}


def evidence(text: str, known: Collection[str] = ()) -> tuple[list[Token], list[Row]]:
    """Returns the tokens of ``text`` and the features of each; ``known`` are names of contacts."""
    toks = tokens(text, stems())
    shapes = [_shape(text[t.start : t.end]) for t in toks]
    cased = _cased(toks, shapes)
    quoted = quotations(text)
    document = read_document(text)
    masked = {document.offsets[at] for at, is_masked in enumerate(document.mask) if is_masked}
    chinese = _chinese_words(toks)
    marks = [
        [*classes, *forms]
        for classes, forms in zip(
            _entry_marks(toks, chinese, known), _name_windows(toks, chinese), strict=True
        )
    ]
    own = [
        _token_features(token, shape, chinese[at], marks[at], cased[at])
        for at, (token, shape) in enumerate(zip(toks, shapes, strict=True))
    ]
    framed = any(_is_of(mark, "frame") for row in marks for mark in row)
    rows = [_neighbour_features(toks, own, at) for at in range(len(toks))]
    for at, (token, row) in enumerate(zip(toks, rows, strict=True)):
        row += own[at]
        is_sign = shapes[at][0] in _NOT_IN_NAMES
        if is_sign or token.start in masked or _is_before_digit(text, token):
            row.append(OUTSIDE)
        if framed:
            row.append(f"framed&{own[at][0]}")
        if any(a < token.start < b for a, b in quoted):
            row += ["quoted", f"quoted&{own[at][0]}"]
        row += _window_edges(toks, own, marks[at], at)
        row += _word_edges(toks, at)
        near = marks[max(0, at - 3) : at] + marks[at + 1 : at + 4]
        if any(_is_of(mark, "pet") for others in near for mark in others):
            row.append(f"pet&{own[at][0]}")
        person_mark = next((m for m in marks[at] if _is_of(m, *_PEOPLE)), "")
        if person_mark:
            row += _owner_features(toks, marks, at, person_mark)
            row += [f"{person_mark}&{step}:{_first_feature(own, at + step)}" for step in (-1, 1)]
            row += [f"framed&{person_mark}"] * framed
    return toks, rows


def _is_before_digit(text: str, token: Token) -> bool:
    """Whether letters are directly before a digit, as in names of products (Corolla8). Given names
    do not count, since the number may be an age (Tom3岁)."""
    is_letters = not token.han and token.norm.isalpha()
    return is_letters and text[token.end : token.end + 1].isdigit() and not is_given(token.norm)


def is_word_for_person(row: Row) -> bool:
    """Whether the features of a token say that it ends a word for a person, and none that it is
    part of a word for a work or its characters."""
    return not any(_is_of(mark, "frame") for mark in row) and any(
        _is_of(mark, *_PEOPLE) and mark[-2:] in ("=E", "=S") for mark in row
    )


def _is_of(mark: str, *classes: str) -> bool:
    return mark.startswith(classes)


def _first_feature(rows: Sequence[Row], at: int) -> str:
    return rows[at][0] if 0 <= at < len(rows) else "none"


def _token_features(
    token: Token, shape: str, chinese: tuple[str, str, str], marks: Sequence[str], cased: str
) -> Row:
    """Returns the features of one token, first those that are combined with others."""
    if token.han:
        tag, place, word = chinese
        frequency = _frequency_class(word)
        given = _bucket(_given_characters().get(token.norm, 0.0), -1.5, -0.5, 0.3, 1.0, 1.7)
        surname = "+" if token.norm in words("surnames") else ""
        census = _bucket(_census_odds(token.norm), -3.0, -1.0, 0.5, 1.5, 2.5)
        marks = [*marks, f"gn={census}", f"gn&{surname}{given}={census}"]
        first = [f"t={tag}{place}", f"fq={frequency}{place}", f"gc={given}", f"sn={surname}{given}"]
    elif shape[0] in "xX":
        kind = latin_class(token.norm)
        first = [f"la={kind}", f"sh={shape}{cased}", f"las={kind}{shape}{cased}"]
    else:
        first = [f"sh={shape}"]
    return [*first, *marks]


def _neighbour_features(toks: Sequence[Token], own: Sequence[Row], at: int) -> Row:
    """Returns the features of the words around a token, and of the word itself."""
    norm, first = toks[at].norm, own[at][0]
    row = [f"w={norm}"]
    for step in (-2, -1, 1, 2):
        place = at + step
        if not 0 <= place < len(toks):
            row.append(f"{step}:none")
            continue
        row += [f"{step}w={toks[place].norm}", f"{step}:{own[place][0]}"]
        row += [f"{step}:{mark}" for mark in own[place] if mark[-2] == "=" and mark[-1] in "BIES"]
        if abs(step) == 1:
            glued = toks[min(at, place)].end == toks[max(at, place)].start
            row.append(f"{step}glued={glued}")
            row.append(f"{first}&{step}w={toks[place].norm}")
            if toks[place].norm == norm:
                row.append(f"{step}same{own[at][-1]}")
            if toks[at].han and toks[place].han:
                row.append(f"{own[at][3]}&{step}{own[place][2]}")
                row.append(f"w={norm}&{step}{own[place][2]}")
    return row


def _owner_features(toks: Sequence[Token], marks: Sequence[Row], at: int, mark: str) -> Row:
    """Returns the features of the words around the word for people that includes a token."""
    start, end = at, at + 1
    if mark[-1] in "IE":
        while start and not any(_is_of(m, *_PEOPLE) and m[-1] == "B" for m in marks[start]):
            start -= 1
    if mark[-1] in "BI":
        while end < len(toks) and any(_is_of(m, *_PEOPLE) and m[-1] in "IE" for m in marks[end]):
            end += 1
    left = before(toks[start - 1].norm) if start else "none"
    next_word = toks[end].norm if end < len(toks) else "none"
    # One more word may be between the possessive and the role (my older sister).
    left_of_word = before(toks[start - 2].norm) if start > 1 and left == "word" else ""
    return [f"{mark}<{left}", f"{mark}<<{left_of_word}", f"{mark}>w={next_word}"]


# --- Shapes


def _shape(piece: str) -> str:
    """Returns x, X, Xx, XX or xX for a word (o without case), 9 for digits, else the sign."""
    if piece.isdigit():
        return "9"
    if not piece[0].isalpha():
        return piece.replace("’", "'")[:2]
    if not piece[0].isupper() and not piece[0].islower():
        return "o"
    if piece.islower():
        return "x"
    if piece.isupper():
        return "X" if len(piece) == 1 else "XX"
    return "Xx" if piece[0].isupper() else "xX"


def _cased(toks: Sequence[Token], shapes: Sequence[str]) -> list[str]:
    """Returns for each token what a capital may mean: 1 if the text has capitals where they belong,
    0 if it has none, 2 if nearly everywhere; with an s if the token begins a sentence."""
    starts = [not at or toks[at - 1].norm in _SENTENCE_END for at in range(len(toks))]
    letters = [shape for shape in shapes if shape[0] in "xX"]
    capitals = sum(shape[0] == "X" for shape in letters)
    begun = [s for s, start in zip(shapes, starts, strict=True) if start and s[0] in "xX"]
    kind = "2" if len(letters) > 3 and capitals > 0.6 * len(letters) else "0"
    if kind == "0" and (any(s[0] == "X" for s in begun) or (capitals and not begun)):
        kind = "1"
    return [kind + ("s" if start else "") for start in starts]


def _bucket(value: float, *edges: float) -> int:
    return sum(value > edge for edge in edges)


# --- Names


@lru_cache(maxsize=16384)
def latin_class(word: str) -> str:
    """Returns which lists of names and words contain a Latin word; for a word in none, how much its
    letters resemble a name."""
    kind = "g" * min(2, _forenames().get(word, 0)) + ("l" if word in _last_names() else "")
    if word in words("stopwords"):
        return "stop"
    if word in words("english_words"):
        kind += "e"
    elif not kind:
        near = (word[: -len(end)] for end in _ENDINGS if word.endswith(end))
        if any(
            stem in words("english_words") or f"{stem}e" in words("english_words") for stem in near
        ):
            kind = "~"
        kind += str(_bucket(_name_likeness(word), -1.0, -0.4, 0.1, 0.6))
    return kind


def is_given(name: str) -> bool:
    """Whether a Latin word is a given name in the lists of several countries."""
    return _forenames().get(name, 0) > 1


def is_surname(name: str) -> bool:
    """Whether a Latin word is a surname in the lists of any country."""
    return name in _last_names()


def is_word(name: str) -> bool:
    """Whether what may be a name, in its normal form, is a word of the dictionaries."""
    if all(map(is_han, name)):
        return segmentation.tag(name)[:2] not in ("", "nr")
    return name in words("english_words") or name in words("places_en")


@cache
def _forenames() -> Mapping[str, int]:
    """Given names in Latin letters, with the number of countries whose lists contain them."""
    counted = Counter(name for names in _faker_names("first_names") for name in names)
    return Counter(dict.fromkeys(words("given_names"), 2)) + counted


@cache
def _last_names() -> frozenset[str]:
    return frozenset().union(*_faker_names("last_names"))


def _faker_names(column: str) -> Iterator[frozenset[str]]:
    """Yields for each locale of Faker the normalised names in its lists called like ``column``."""
    for module in iter_modules(faker.providers.person.__path__):
        provider = import_module(f"faker.providers.person.{module.name}").Provider
        names: set[str] = set()
        for name, value in vars(provider).items():
            if name.startswith(column) and isinstance(value, Iterable):
                names |= {n if isinstance(n, str) else n[0] for n in value}
        yield frozenset(normalise(name) for name in names if name.isascii() or len(name) > 1)


@cache
def _trigram_counts() -> tuple[Mapping[str, int], Mapping[str, int], float]:
    """Returns the trigrams of letters in names and in words, and the log ratio of their totals."""
    names = Counter(t for name in (*_forenames(), *_last_names()) for t in _trigrams(name))
    ordinary = Counter(t for word in words("english_words") for t in _trigrams(word))
    return names, ordinary, math.log(names.total() / ordinary.total())


def _name_likeness(word: str) -> float:
    """Returns the mean log odds that the letter trigrams of a word are of a name."""
    names, ordinary, ratio = _trigram_counts()
    grams = _trigrams(word)
    odds = (math.log((names[t] + 3) / (ordinary[t] + 3 * math.exp(-ratio))) - ratio for t in grams)
    return sum(odds) / len(grams)


def _trigrams(word: str) -> list[str]:
    padded = f"^{word}$"
    return [padded[at : at + 3] for at in range(len(padded) - 2)] or [padded]


def _census_odds(character: str) -> float:
    """Returns the log of how much likelier a character is in the given name of somebody born from
    1930 to 2008 than in a text; ``_IN_NO_NAME`` for one that only words have. It complements
    ``_given_characters``, which knows historical people: with the census alone names in Chinese are
    found less well (.773 against .783, held out)."""
    unknown = _IN_NO_NAME if character in _given_characters() else 0.0
    return _census().get(character, unknown)


_IN_NO_NAME = -8.0


def is_rare_in_names(character: str) -> bool:
    """Whether a character is so much likelier in a text that it is hardly ever part of a given
    name. The bound was chosen by hand."""
    return _census_odds(character) < -2


@cache
def _census() -> Mapping[str, float]:
    return {
        row["character"]: math.log((float(row["names"]) + 1) / (float(row["texts"]) + 1))
        for row in lexicon_rows("given_characters")
    }


@cache
def _given_characters() -> Mapping[str, float]:
    """Returns the log of how much likelier a character is in a Chinese given name than elsewhere in
    jieba's dictionary."""
    inside: Counter[str] = Counter()
    every: Counter[str] = Counter()
    for word, tag in segmentation.entries():
        is_name = tag.startswith("nr") and len(word) in (2, 3)
        every.update(word[1:] if is_name else word)
        inside.update(word[1:] if is_name else "")
    share = inside.total() / every.total()
    return {c: math.log((inside[c] + share) / (n + 1.0) / share) for c, n in every.items()}


# --- Words of the lexicons


@cache
def _entry_classes() -> Mapping[str, tuple[str, ...]]:
    """Returns the classes of each lexicon entry, by the entry without spaces."""
    roles: dict[str, list[str]] = {"kin": [], "unique": [], "common": []}
    for word, meanings in {**terms(), **groups()}.items():
        roles[meanings[0].level].append(word)
    lists: Mapping[str, Iterable[str]] = {
        **{f"role{level}": entries for level, entries in roles.items()},
        "kin": words("people_words", "kin"),
        "folk": words("people_words", "folk"),
        "title": words("people_words", "address"),
        "job": words("occupations") | words("strangers", "people_zh", "people_en"),
        "pet": words("people_words", "pet") | words("strangers", "pets_zh", "pets_en"),
        "famous": words("celebrities"),
        "place": words("places_en") | words("places_zh"),
        "group": words("strangers", "groups_zh", "groups_en") | words("organisations"),
        "frame": words("people_words", "frame"),
    }
    table: dict[str, tuple[str, ...]] = {}
    for name, entries in lists.items():
        for key in {_GLUE.sub("", normalise(entry)) for entry in entries}:
            table[key] = (*table.get(key, ()), name)
    return table


def _entry_marks(
    toks: Sequence[Token], chinese: Sequence[tuple[str, str, str]], contact_names: Collection[str]
) -> list[Row]:
    """Returns for each token the classes of the lexicon entries that cover it, with its position in
    the entry (B, I, E, S); of each class the longest entry counts."""
    table = _entry_classes()
    names = {_joined(tokens(name)) for name in contact_names} - {""}
    out: list[Row] = [[] for _ in toks]
    ends: dict[str, int] = {}
    for start in range(len(toks)):
        for end, key in reversed(_entry_keys(toks, start)):
            classes = table.get(key, ())
            for name in (*classes, "known") if key in names else classes:
                if name == "frame" and not _are_whole_words(chinese, start, end):
                    continue
                if ends.get(name, 0) <= start:
                    ends[name] = end
                    for at in range(start, end):
                        out[at].append(f"{name}={_bies(at, start, end)}")
    return out


def _name_windows(toks: Sequence[Token], chinese: Sequence[tuple[str, str, str]]) -> list[Row]:
    """Returns for each Chinese character the forms of name that it may be part of, with its
    position: a surname with one or two characters (fn) or a title (tt), a nickname of two (nk), a
    doubled character (rd). Each states whether the dictionary has it, how much its characters
    resemble a given name, and whether words begin and end with it."""
    out: list[Row] = [[] for _ in toks]
    for start in range(len(toks)):
        for size in (2, 3, 4):
            window = toks[start : start + size]
            if len(window) < size or not all(t.han for t in window):
                break
            if any(a.end != b.start for a, b in pairwise(window)):
                break
            end = start + size
            if form := _name_form([t.norm for t in window]):
                begins, ends = chinese[start][1] in ("B", "S"), chinese[end - 1][1] in ("E", "S")
                edges = f"{begins:d}{ends:d}"
                mean_odds = sum(_census_odds(t.norm) for t in window[1:]) / (size - 1)
                likeness = _bucket(mean_odds, -2.0, 0.0, 1.0, 2.0, 3.0)
                for at in range(start, end):
                    position = _bies(at, start, end)
                    out[at] += [f"{form}{edges}={position}", f"b{form[:3]}{likeness}={position}"]
    return out


def introduced(text: str, toks: Sequence[Token]) -> Iterator[tuple[int, int, int]]:
    """Yields names that a word for a person introduces, as the end of that word and the start and
    end of the name: after 叫 at the end of a clause (我表姐叫费霁月，), or a capitalised English one after
    called, named, name is (a toddler called Wilf) or the word (my sister Hope). The corpus has too
    few for the chain to learn."""
    for at, token in enumerate(toks):
        previous = toks[at - 1].norm if at else ""
        if token.norm == "叫":
            if after_jiao := _name_after_jiao(toks, at):
                yield at, *after_jiao
            continue
        calls = token.norm in ("him", "her") and previous in words("people_words", "calls")
        named = token.norm in ("called", "named") or (token.norm in _COPULAS and previous == "name")
        if calls or named:
            noun_end = at + calls - (previous in ("name", *_COPULAS))
            after = toks[at + 1 : at + 4]
            name = [
                *takewhile(lambda t: _is_capitalised(text, t) or _is_written_name(text, t), after)
            ]
            if name and name[0].norm not in titles("en").keys() | _WEEKDAYS | terms().keys():
                yield noun_end, at + 1, at + 1 + len(name)
        elif _is_owned_noun(text, toks, at) and _is_written_name(text, toks[at + 1]):
            surname = [*takewhile(lambda one: _is_capitalised(text, one), toks[at + 2 : at + 3])]
            yield at + 1, at + 1, at + 2 + len(surname)


def is_located(toks: Sequence[Token], start: int, end: int) -> bool:
    """Whether the Latin word at [start, end) is where something is or somebody comes from (in Oslo, is
    from Paris, not Oslo, 在Oslo). False before a genitive (in Ana's car) and after "believe in"."""
    if start == 0 or toks[start].han or not toks[start].norm.isalpha():
        return False
    last, before_last = toks[start - 1].norm, toks[start - 2].norm if start > 1 else ""
    if last in ("not", "and", "or"):
        at = start - 2 - (before_last == ",")
        return at > 0 and is_located(toks, at, at + 1)
    if last == "from":
        is_place = before_last in words("people_words", "comes")
    else:
        in_person = before_last in words("people_words", "in_somebody")
        is_place = last == "在" or (last == "in" and not in_person)
    next_word = toks[end].norm if end < len(toks) else ""
    is_owner = next_word in words("people_words", "whose")
    return is_place and not is_owner and toks[start].norm not in _MONTHS


def _is_owned_noun(text: str, toks: Sequence[Token], at: int) -> bool:
    """Whether a lower-case word follows a possessive and precedes a word: my uncle, her new
    boss."""
    is_noun = text[toks[at].start : toks[at].end].islower() and at + 1 < len(toks)
    tokens_before = toks[max(0, at - 2) : at]
    return is_noun and any(before(one.norm) in ("own", "others") for one in tokens_before)


def _is_written_name(text: str, token: Token) -> bool:
    """Whether a word is capitalised, in a list of names and no day of the week."""
    is_capitalised = _shape(text[token.start : token.end]) == "Xx"
    is_name = token.norm in _forenames() or is_surname(token.norm)
    return is_capitalised and is_name and token.norm not in _WEEKDAYS


_WEEKDAYS = frozenset(row["name"] for row in lexicon_rows("weekdays"))
_MONTHS = frozenset(row["name"] for row in lexicon_rows("months"))
_COPULAS = frozenset(("'s", "’s", "is", "was"))


def _name_after_jiao(toks: Sequence[Token], at: int) -> tuple[int, int] | None:
    """Returns the start and end of the name between 叫 and the end of the clause, or None: a surname
    with one or two characters common in names (not 关灯), two such characters alone, or one twice,
    that begins with no other word (高兴); any after a noun for a name (小名叫可乐)."""
    start = at + 1 + (at + 1 < len(toks) and toks[at + 1].norm in "做作")
    end = start
    while end < len(toks) and toks[end].han and toks[end].start == toks[end - 1].end:
        end += 1
    clause = "".join(t.norm for t in toks[start:end])
    if is_name_noun(toks, at):
        return (start, end) if 1 < len(clause) < 4 and clause not in _QUESTION_WORDS else None
    surname_size = next((n for n in (2, 1) if clause[:n] in words("surnames")), 0)
    given = clause[surname_size:]
    is_twice = len(given) == 2 and given[0] == given[1] and given not in terms()
    is_given = len(given) in (1, 2) and sum(map(_census_odds, given)) > -len(given) / 2
    if surname_size and is_given:
        is_name = surname_size == 2 or _frequency_class(clause[:2]) < 2
    else:
        is_name = is_twice or (is_given and not is_word(given))
    return (start, end) if is_name and len(clause) > 1 else None


def is_name_noun(toks: Sequence[Token], end: int) -> bool:
    """Whether a Chinese noun for a name (小名, 外号) ends at the token ``end``."""
    return "".join(t.norm for t in toks[max(0, end - 2) : end]) in words("people_words", "names_zh")


_QUESTION_WORDS = words("stopwords", "questions")


def _is_capitalised(text: str, token: Token) -> bool:
    """Whether a word is capitalised as a name is, and is none of the commonest words."""
    is_capitalised = _shape(text[token.start : token.end]) == "Xx"
    return is_capitalised and token.norm not in words("stopwords")


def titled(text: str, toks: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """Yields the start of each English title and the end of the name after it, both with a capital
    (Mr Bloom, Dr. Jo Lake; mr bloom). None after an article (a Dr Pepper), a possessive (my mrs
    cooks) or the beginning of a letter (Dear Mr Lake), and no Miss that begins a sentence, which
    may be the verb."""
    for at, token in enumerate(toks):
        if token.norm not in _ENGLISH_TITLES:
            continue
        name_at = at + 1 + (toks[at + 1 : at + 2] != [] and toks[at + 1].norm == ".")
        left = toks[at - 1].norm if at else "."
        is_verb = token.norm == "miss" and left in _SENTENCE_END
        if name_at == len(toks) or is_verb or left == "dear" or before(left) in _NO_TITLE_AFTER:
            continue
        shapes = {_shape(text[one.start : one.end]) for one in (token, toks[name_at])}
        is_written = shapes == {"Xx"} or (shapes == {"x"} and token.norm in _ONLY_TITLES)
        if is_written and toks[name_at].norm not in words("stopwords"):
            surname = toks[name_at + 1 : name_at + 2] if is_given(toks[name_at].norm) else []
            is_full = any(_is_capitalised(text, one) for one in surname)
            yield at, name_at + 1 + is_full


# Titles that only address somebody, and that of doctors; then those that are no other word.
_ENGLISH_TITLES = {word for word, title in titles("en").items() if "*" in title.kinds} | {"dr"}
_ONLY_TITLES = frozenset(("mr", "mrs"))
_NO_TITLE_AFTER = frozenset(("some", "the", "own", "others"))


def _name_form(characters: Sequence[str]) -> str:
    """Returns the form of name that characters have, with classes of their dictionary entry and of
    their likeness to a given name; "" if none."""
    first, *rest = characters
    if len(rest) > 1 and first + rest[0] in words("surnames"):  # 欧阳
        first, *rest = first + rest[0], *rest[1:]
    if first in words("surnames") and "".join(rest) in titles("zh"):
        return f"tt{len(rest)}{_bucket(_surname_odds()[first], 0.0, 1.5, 3.0)}"
    if len(rest) > 2:
        return ""
    likeness = sum(_given_characters().get(c, 0.0) for c in rest) / len(rest)
    odds = _bucket(likeness, -1.0, -0.3, 0.2, 0.8, 1.5)
    tag = segmentation.tag("".join(characters))
    listed = "0" if not tag else "n" if tag.startswith("nr") else "w"
    if len(rest) == 1 and first == rest[0]:
        return f"rd2{listed}{odds}"
    if len(rest) == 1 and first in _NICKNAME_BEGINS:
        return f"nk{first}{listed}{odds}"
    if first in words("surnames"):
        return f"fn{len(rest)}{listed}{odds}{_bucket(_surname_odds()[first], 0.0, 1.5, 3.0)}"
    return ""


_NICKNAME_BEGINS = "小阿老大"


@cache
def _surname_odds() -> Mapping[str, float]:
    """Returns the log odds of jieba's words that begin with a surname to be names, by surname."""
    in_names: Counter[str] = Counter()
    in_others: Counter[str] = Counter()
    for word, tag in segmentation.entries():
        is_name = tag.startswith("nr") and len(word) in (2, 3, 4)
        (in_names if is_name else in_others).update((word[0], word[:2]))
    return {c: math.log((in_names[c] + 1) / (in_others[c] + 1)) for c in words("surnames")}


def _window_edges(
    toks: Sequence[Token], own: Sequence[Row], marks: Sequence[str], at: int
) -> Iterator[str]:
    """Yields the features of the words around a form of a name, at its first and last character."""
    forms = {(mark[:4], mark[-1]) for mark in marks if _is_of(mark, *_NAME_FORMS)}
    for form, position in sorted(forms):
        if position == "B":
            yield f"{form}<{_first_feature(own, at - 1)}"
            yield f"{form}<w={toks[at - 1].norm if at else 'none'}"
        elif position == "E":
            yield f"{form}>{_first_feature(own, at + 1)}"
            yield f"{form}>w={toks[at + 1].norm if at + 1 < len(toks) else 'none'}"


_NAME_FORMS = ("fn", "nk", "rd", "tt")


def _word_edges(toks: Sequence[Token], at: int) -> Iterator[str]:
    """Yields how common the words are that a Chinese character forms alone, with the next and with
    the previous one: a word may begin where a name ends (高澜|住在)."""
    token = toks[at]
    if token.han:
        yield f"s1={_frequency_class(token.norm)}"
        for side, pair in (("nx", toks[at : at + 2]), ("pv", toks[max(0, at - 1) : at + 1])):
            if len(pair) == 2 and pair[0].han and pair[1].han and pair[0].end == pair[1].start:
                yield f"{side}={_frequency_class(pair[0].norm + pair[1].norm)}"


def begins_word(toks: Sequence[Token], at: int) -> bool:
    """Whether a Chinese character begins a common word: with the next one, or alone if it is rarely
    part of a given name."""
    if not toks[at].han:
        return False
    character = toks[at].norm
    if _frequency_class(character) > 2 and _given_characters().get(character, 0.0) < -1:
        return True
    return begins_longer_word(toks, at)


def begins_longer_word(toks: Sequence[Token], at: int) -> bool:
    """Whether a Chinese character begins a common word with the next one."""
    character, pair = toks[at].norm, toks[at : at + 2]
    is_adjacent = len(pair) == 2 and pair[1].han and pair[0].end == pair[1].start
    return is_adjacent and _frequency_class(character + pair[1].norm) > 1


def _frequency_class(word: str) -> int:
    return _bucket(segmentation.frequency(word), 0, 30, 300, 3000, 30000)


def _are_whole_words(chinese: Sequence[tuple[str, str, str]], start: int, end: int) -> bool:
    """Whether tokens are whole words: the 歌 of 歌手 is not."""
    first, last = chinese[start][1], chinese[end - 1][1]
    return first in ("", "B", "S") and last in ("", "E", "S")


def _entry_keys(toks: Sequence[Token], start: int) -> list[tuple[int, str]]:
    """Returns the end and the key of each possible lexicon entry that begins at a token."""
    if toks[start].norm in _JOINTS:
        return []
    key, keys = "", []
    for end in range(start, min(len(toks), start + _LONGEST_ENTRY)):
        if toks[end].norm not in _JOINTS:
            key += toks[end].norm
            keys.append((end + 1, key))
    return keys


def _joined(toks: Iterable[Token]) -> str:
    return "".join(t.norm for t in toks if t.norm not in _JOINTS)


def _bies(at: int, start: int, end: int) -> str:
    if end - start == 1:
        return "S"
    return "B" if at == start else "E" if at == end - 1 else "I"


def _chinese_words(toks: Sequence[Token]) -> list[tuple[str, str, str]]:
    """Returns for each Chinese character the word around it as jieba's tagger has it: part of
    speech, position of the character in the word, the word."""
    out = [("", "", "")] * len(toks)
    edges = [0] + [
        at for at, (a, b) in enumerate(pairwise(toks), 1) if a.han != b.han or a.end < b.start
    ]
    for start, stop in pairwise([*edges, len(toks)]):
        if start == stop or not toks[start].han:
            continue
        at = start
        for word, tag in segmentation.tagged("".join(t.norm[:1] for t in toks[start:stop])):
            for index in range(at, at + len(word)):
                out[index] = (tag, _bies(index, at, at + len(word)), word)
            at += len(word)
    return out
