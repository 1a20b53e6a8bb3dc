"""Finds the role words of a text (mother, boss, best friend) and their owners."""

import re
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from itertools import pairwise

from understanding import segmentation
from understanding.lexicon import word_sets, words
from understanding.lexicon.rules import patterns
from understanding.roles import Role, RoleWord, Whose, groups, tagged, terms
from understanding.text import is_han

lex = patterns("role_phrases")
_WORDS = word_sets("ownership")
# Tags of words before a kinship word without an owner: subjects and objects follow them.
_TAGS_BEFORE_BARE = frozenset("t c p d v u y e o".split())
_TOKEN = re.compile(r"[a-z0-9]+(?:['-][a-z0-9]+)*'?")
# A clause begins after these, or after a space.
_CLAUSE_START = frozenset(",，。!！?？;；:：、…~～(（「『“\"'>*-—@/&+")
_LONGEST_ZH = 6
_LONGEST_EN = 5
# Makes a RoleWord at a place, given its ``whose`` and its owner.
_Maker = Callable[..., RoleWord]


@cache
def _terms(*, chinese: bool) -> frozenset[str]:
    """Returns the role words of a language, for one person and for several."""
    return frozenset(word for word in (*terms(), *groups()) if is_han(word[0]) is chinese)


@cache
def _first_words() -> frozenset[str]:
    """The first words of the English terms of several words."""
    return frozenset(
        first for first, space, _ in (w.partition(" ") for w in _terms(chinese=False)) if space
    )


def _roles(word: str) -> tuple[tuple[Role, ...], bool]:
    group_roles = groups().get(word)
    if group_roles:
        return group_roles, True
    single_roles = terms().get(word)
    return (single_roles, False) if single_roles else (terms()[_singular(word)], True)


@lru_cache(maxsize=4096)
def _singular(word: str) -> str:
    """Returns the role whose plural an English word is: brothers, sisters-in-law; else ""."""
    if not word.endswith("s") and "s-" not in word:
        return ""
    first, *rest = word.split("-")
    forms = ("-".join((first.removesuffix("s"), *rest)), word.removesuffix("s"))
    return next((form for form in forms if form != word and form in terms()), "")


def role_words(norm: str, raw: str) -> list[RoleWord]:
    """Returns the role words of a normalised text in order, with spans in its code points; the
    longest term wins. ``raw`` is as long and keeps the case. ``whose`` is own (我妈, my boss), other
    (her mother, 阿竹的妈妈, with ``owner``), bare (妈, Mum) or generic (当妈的, a good boss)."""
    matches = [*_find_chinese(norm), *_find_english(norm, raw)]
    return sorted(matches, key=lambda word: word.start)


def _find_chinese(norm: str) -> Iterator[RoleWord]:
    known_terms, start, size = _terms(chinese=True), 0, len(norm)
    while start < size:
        if not is_han(norm[start]):
            start += 1
            continue
        for length in range(min(_LONGEST_ZH, size - start), 0, -1):
            piece = norm[start : start + length]
            if piece in known_terms:
                word = _chinese_role(norm, start, start + length)
                if word:
                    yield word
                    start += length - 1
                break
        start += 1


def _chinese_role(norm: str, start: int, end: int) -> RoleWord | None:
    """Returns the word as a role, or None if it is part of something else."""
    text = norm[start:end]
    roles, is_group = _roles(text)
    left, right = norm[max(0, start - 12) : start], norm[end : end + 12]
    roles, narrowing = _with_tag(roles, left)
    start, left = start - len(narrowing), left.removesuffix(narrowing)
    is_group = is_group or bool(lex.zh_count.search(left))

    def word(whose: Whose, outer: int = start, owner: str = "") -> RoleWord:
        return RoleWord(start, end, outer, text, roles, whose, owner, is_group)

    own = lex.zh_own.search(left)
    if lex.zh_compound_after.match(right) and not (own and right[0] in "呀耶"):
        return word("generic") if right.startswith(("们", "的都")) else None
    if own:
        return word("own", start - len(own[0]), own[0])
    other = lex.zh_other.search(left)
    if other:
        return word("other", start - len(other[0]), other[1])
    is_called = lex.zh_called.search(left) and lex.zh_called_after.match(right)
    if is_called or lex.zh_generic_before.search(left):
        return word("generic")
    if left.endswith("的") and not lex.zh_praise.search(left):
        return word("other", start - 1, _owner_before(norm, start - 1))
    if latin := re.search(r"[a-z0-9]+$", left):
        return word("other", start, latin[0])
    return _bare_chinese_role(norm, word)


def _with_tag(roles: tuple[Role, ...], left: str) -> tuple[tuple[Role, ...], str]:
    """Returns the roles, tagged by a word like former or future before them, and that word."""
    for tag, pattern in (("ex", lex.zh_former), ("future", lex.zh_future)):
        if match := pattern.search(left):
            return tagged(roles, tag), match[0]
    return roles, ""


def _bare_chinese_role(norm: str, word: _Maker) -> RoleWord | None:
    bare = word("bare")
    start, end = bare.start, bare.end
    left = norm[:start]
    at_start = not left or left[-1].isspace() or left[-1] in _CLAUSE_START
    is_single = end - start == 1
    if at_start and (not is_single or _is_word(norm, start, end)):
        return bare
    if is_single and not _is_word(norm, start, end):
        return None
    previous = _word_before(norm, start)
    if previous in _WORDS["zh_bare"] or segmentation.tag(previous)[:1] in _TAGS_BEFORE_BARE:
        return bare
    return word("other", start - len(previous), previous)


def _is_word(norm: str, start: int, end: int) -> bool:
    """Whether the likeliest cut into words has one at [start, end)."""
    low, high = _han_before(norm, start), end
    while high < len(norm) and is_han(norm[high]) and high - end < 8:
        high += 1
    cut = segmentation.cut(norm[low:high])
    return any((word.start, word.end) == (start - low, end - low) for word in cut)


def _word_before(norm: str, start: int) -> str:
    cut = segmentation.cut(norm[_han_before(norm, start) : start])
    return cut[-1].text if cut else ""


def _han_before(norm: str, start: int) -> int:
    """Returns the start of the Han characters that end at ``start``, at most eight."""
    low = start
    while low > 0 and is_han(norm[low - 1]) and start - low < 8:
        low -= 1
    return low


def _owner_before(norm: str, end: int) -> str:
    match = re.search(r"[^\s,，。!！?？;；:：、]{1,8}$", norm[max(0, end - 8) : end])
    return match[0] if match else ""


def _find_english(norm: str, raw: str) -> Iterator[RoleWord]:
    known_terms = _terms(chinese=False)
    tokens = [(m.start(), m.end(), m[0]) for m in _TOKEN.finditer(norm)]
    index = 0
    while index < len(tokens):
        step = 1
        longest = _LONGEST_EN if tokens[index][2] in _first_words() else 1
        for count in range(min(longest, len(tokens) - index), 0, -1):
            parts = tokens[index : index + count]
            pieces = [part[2] for part in parts]
            if "'" in pieces[-1]:
                pieces[-1] = pieces[-1].removesuffix("'s").removesuffix("'")
            if " ".join(pieces) not in known_terms and not _singular(" ".join(pieces)):
                continue
            if any(norm[a[1] : b[0]] != " " for a, b in pairwise(parts)):
                continue
            word = _english_role(norm, raw, tokens, index, count, " ".join(pieces))
            if word:
                yield word
            step = count
            break
        index += step


def _english_role(
    norm: str, raw: str, tokens: list[tuple[int, int, str]], index: int, count: int, text: str
) -> RoleWord | None:
    start = tokens[index][0]
    last = tokens[index + count - 1]
    end = last[0] + len(last[2].removesuffix("'s").removesuffix("'"))
    roles, is_group = _roles(text)

    def word(whose: Whose, outer: int = start, owner: str = "") -> RoleWord:
        return RoleWord(start, end, outer, text, roles, whose, owner, is_group)

    following = tokens[index + count][2] if index + count < len(tokens) else ""
    gap = norm[end : tokens[index + count][0]] if following else ""
    narrows = text in _WORDS["en_ex"] and following in _terms(chinese=False)  # my ex brother-in-law
    if gap == " " and (narrows or following in _WORDS["en_compound_after"]):
        return None
    if norm[start - 1 : start] in ("-", "_", "@", "#", "/") or norm[end : end + 1] in ("-", "_"):
        return None
    if owned := _owner_after_of(tokens, index + count):
        return word("other", owner=owned)
    at, tag = index - 1, ""
    while at >= 0 and norm[tokens[at][1] : tokens[at + 1][0]] == " ":
        previous = tokens[at][2]
        if previous in _WORDS["en_own"]:
            roles = tagged(roles, tag) if tag else roles
            return word("own", tokens[at][0], previous)
        if previous in _WORDS["en_other"] or _is_owner(previous):
            return word("other", tokens[at][0], previous)
        if previous in _WORDS["en_generic"] or previous in _WORDS["en_definite"]:
            definite = previous in _WORDS["en_definite"] and at == index - 1
            leading = tokens[at - 1][2] if at else ""
            predicate = leading in _WORDS["en_being"] or following == "of"
            unique = definite and not predicate and any(role.level == "unique" for role in roles)
            return word("bare" if unique else "generic", tokens[at][0], previous)
        tag_here = next((name for name in ("ex", "future") if previous in _WORDS[f"en_{name}"]), "")
        tag = tag or tag_here
        if previous not in _WORDS["en_between"] and not tag_here:
            break
        at -= 1
    return _bare_english_role(norm, raw, tokens, index, word)


def _is_owner(word: str) -> bool:
    """Whether the word before a role is its owner: Tanner's, also typed tanners or dads."""
    if word.endswith(("'s", "s'")):
        return True
    bare = word.removesuffix("s")
    return len(bare) > 2 and bare != word and (bare in terms() or not _is_common(word))


def _is_common(word: str) -> bool:
    common = words("english_words")
    return word in common or word.removesuffix("s") in common


def _owner_after_of(tokens: list[tuple[int, int, str]], at: int) -> str:
    """Returns the owner after "of", or "": the mother of Matheus, the boss of my wife."""
    head, *after = [token[2] for token in tokens[at : at + 3]] or [""]
    if head != "of":
        return ""
    if after and after[0] in _WORDS["en_own"]:
        after = after[1:]
    is_person = bool(after) and (after[0] in terms() or not _is_common(after[0]))
    return after[0] if is_person else ""


def _bare_english_role(
    norm: str, raw: str, tokens: list[tuple[int, int, str]], index: int, word: _Maker
) -> RoleWord | None:
    bare = word("bare")
    capital = raw[bare.start].isupper()
    before = ""
    if index and norm[tokens[index - 1][1] : bare.start] == " ":
        before = tokens[index - 1][2]
    if before in _WORDS["en_kinds"]:
        return word("generic")
    if bare.text not in _WORDS["en_bare"]:
        at_start = not before
        unique = any(role.level == "unique" for role in bare.roles)
        return bare if at_start and unique and capital else word("generic")
    if bare.text in _WORDS["en_bare_capital"] and not capital:
        return word("generic")
    return bare
