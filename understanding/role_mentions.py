"""Where a text says mother, boss, best friend, and whose they are."""

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
# Before a bare word of kin: the classes that subjects and objects follow.
_BARE_TAGS = frozenset("t c p d v u y e o".split())
_TOKEN = re.compile(r"[a-z0-9]+(?:['-][a-z0-9]+)*'?")
# A clause begins behind these, or behind a space.
_CLAUSE_START = frozenset(",，。!！?？;；:：、…~～(（「『“\"'>*-—@/&+")
_LONGEST_ZH = 6
_LONGEST_EN = 5
# Makes the role word at hand with what was found out about it.
_Maker = Callable[..., RoleWord]


@cache
def _chinese() -> frozenset[str]:
    return frozenset(word for word in (*terms(), *groups()) if is_han(word[0]))


@cache
def _english() -> frozenset[str]:
    return frozenset(word for word in (*terms(), *groups()) if not is_han(word[0]))


@cache
def _first_words() -> frozenset[str]:
    """What the English terms of several words begin with."""
    return frozenset(first for first, space, _ in (w.partition(" ") for w in _english()) if space)


def _roles(word: str) -> tuple[tuple[Role, ...], bool]:
    many = groups().get(word)
    if many:
        return many, True
    single = terms().get(word)
    return (single, False) if single else (terms()[_singular(word)], True)


@lru_cache(maxsize=4096)
def _singular(word: str) -> str:
    """The role of which an English word is the plural: brothers, sisters-in-law; else ""."""
    if not word.endswith("s") and "s-" not in word:
        return ""
    first, *rest = word.split("-")
    forms = ("-".join((first.removesuffix("s"), *rest)), word.removesuffix("s"))
    return next((form for form in forms if form != word and form in terms()), "")


def role_words(norm: str, raw: str) -> list[RoleWord]:
    """The role words of a normalised text in order, with spans in its code points; the longest
    term wins. ``raw`` is as long and keeps the case. ``whose`` is own (我妈, my boss), other (her
    mother, 阿竹的妈妈, with ``owner``), bare (妈, Mum) or generic (当妈的, a good boss)."""
    found = [*_find_chinese(norm), *_find_english(norm, raw)]
    return sorted(found, key=lambda word: word.start)


def _find_chinese(norm: str) -> Iterator[RoleWord]:
    known, start, size = _chinese(), 0, len(norm)
    while start < size:
        if not is_han(norm[start]):
            start += 1
            continue
        for length in range(min(_LONGEST_ZH, size - start), 0, -1):
            piece = norm[start : start + length]
            if piece in known:
                word = _judge_chinese(norm, start, start + length)
                if word:
                    yield word
                    start += length - 1
                break
        start += 1


def _judge_chinese(norm: str, start: int, end: int) -> RoleWord | None:
    """The word as a role, or None when it is part of something else."""
    text = norm[start:end]
    roles, many = _roles(text)
    left, right = norm[max(0, start - 12) : start], norm[end : end + 12]
    roles, narrowing = _narrowed(roles, left)
    start, left = start - len(narrowing), left.removesuffix(narrowing)
    many = many or bool(lex.zh_count.search(left))

    def word(whose: Whose, outer: int = start, owner: str = "") -> RoleWord:
        return RoleWord(start, end, outer, text, roles, whose, owner, many)

    mine = lex.zh_own.search(left)
    if lex.zh_compound_after.match(right) and not (mine and right[0] in "呀耶"):
        return word("generic") if right.startswith(("们", "的都")) else None
    if mine:
        return word("own", start - len(mine[0]), mine[0])
    other = lex.zh_other.search(left)
    if other:
        return word("other", start - len(other[0]), other[1])
    called = lex.zh_called.search(left) and lex.zh_called_after.match(right)
    if called or lex.zh_generic_before.search(left):
        return word("generic")
    if left.endswith("的") and not lex.zh_praise.search(left):
        return word("other", start - 1, _owner_before(norm, start - 1))
    if latin := re.search(r"[a-z0-9]+$", left):
        return word("other", start, latin[0])
    return _judge_bare(norm, word)


def _narrowed(roles: tuple[Role, ...], left: str) -> tuple[tuple[Role, ...], str]:
    """The roles by what stands right before the word, former or future, and that."""
    for tag, said in (("ex", lex.zh_former), ("future", lex.zh_future)):
        if found := said.search(left):
            return tagged(roles, tag), found[0]
    return roles, ""


def _judge_bare(norm: str, word: _Maker) -> RoleWord | None:
    made = word("bare")
    start, end = made.start, made.end
    left = norm[:start]
    at_start = not left or left[-1].isspace() or left[-1] in _CLAUSE_START
    single = end - start == 1
    if at_start and (not single or _is_word(norm, start, end)):
        return made
    if single and not _is_word(norm, start, end):
        return None
    previous = _word_before(norm, start)
    if previous in _WORDS["zh_bare"] or segmentation.tag(previous)[:1] in _BARE_TAGS:
        return made
    return word("other", start - len(previous), previous)


def _is_word(norm: str, start: int, end: int) -> bool:
    """Whether the likeliest cut has a word of its own at [start, end)."""
    low, high = _han_before(norm, start), end
    while high < len(norm) and is_han(norm[high]) and high - end < 8:
        high += 1
    cut = segmentation.cut(norm[low:high])
    return any((word.start, word.end) == (start - low, end - low) for word in cut)


def _word_before(norm: str, start: int) -> str:
    cut = segmentation.cut(norm[_han_before(norm, start) : start])
    return cut[-1].text if cut else ""


def _han_before(norm: str, start: int) -> int:
    """Where the Han that end at ``start`` begin, eight of them at most."""
    low = start
    while low > 0 and is_han(norm[low - 1]) and start - low < 8:
        low -= 1
    return low


def _owner_before(norm: str, end: int) -> str:
    match = re.search(r"[^\s,，。!！?？;；:：、]{1,8}$", norm[max(0, end - 8) : end])
    return match[0] if match else ""


def _find_english(norm: str, raw: str) -> Iterator[RoleWord]:
    known = _english()
    tokens = [(m.start(), m.end(), m[0]) for m in _TOKEN.finditer(norm)]
    index = 0
    while index < len(tokens):
        step = 1
        longest = _LONGEST_EN if tokens[index][2] in _first_words() else 1
        for count in range(min(longest, len(tokens) - index), 0, -1):
            parts = tokens[index : index + count]
            pieces = [part[2] for part in parts]
            if "'" in pieces[-1]:
                pieces[-1] = re.sub(r"'s?$", "", pieces[-1])
            if " ".join(pieces) not in known and not _singular(" ".join(pieces)):
                continue
            if any(norm[a[1] : b[0]] != " " for a, b in pairwise(parts)):
                continue
            found = _judge_english(norm, raw, tokens, index, count, " ".join(pieces))
            if found:
                yield found
            step = count
            break
        index += step


def _judge_english(
    norm: str, raw: str, tokens: list[tuple[int, int, str]], index: int, count: int, text: str
) -> RoleWord | None:
    start = tokens[index][0]
    last = tokens[index + count - 1]
    end = last[0] + len(re.sub(r"'s?$", "", last[2]))
    roles, many = _roles(text)

    def word(whose: Whose, outer: int = start, owner: str = "") -> RoleWord:
        return RoleWord(start, end, outer, text, roles, whose, owner, many)

    following = tokens[index + count][2] if index + count < len(tokens) else ""
    gap = norm[end : tokens[index + count][0]] if following else ""
    narrows = text in _WORDS["en_ex"] and following in _english()  # my ex brother-in-law
    if gap == " " and (narrows or following in _WORDS["en_compound_after"]):
        return None
    if norm[start - 1 : start] in ("-", "_", "@", "#", "/") or norm[end : end + 1] in ("-", "_"):
        return None
    if owned := _owned_by(tokens, index + count):
        return word("other", owner=owned)
    at, tag = index - 1, ""
    while at >= 0 and norm[tokens[at][1] : tokens[at + 1][0]] == " ":
        previous = tokens[at][2]
        if previous in _WORDS["en_own"]:
            roles = tagged(roles, tag) if tag else roles
            return word("own", tokens[at][0], previous)
        if previous in _WORDS["en_other"] or _owns(previous):
            return word("other", tokens[at][0], previous)
        if previous in _WORDS["en_generic"] or previous in _WORDS["en_definite"]:
            definite = previous in _WORDS["en_definite"] and at == index - 1
            leading = tokens[at - 1][2] if at else ""
            predicate = leading in _WORDS["en_being"] or following == "of"
            unique = definite and not predicate and any(role.level == "unique" for role in roles)
            return word("bare" if unique else "generic", tokens[at][0], previous)
        said = next((name for name in ("ex", "future") if previous in _WORDS[f"en_{name}"]), "")
        tag = tag or said
        if previous not in _WORDS["en_between"] and not said:
            break
        at -= 1
    return _judge_english_bare(norm, raw, tokens, index, word)


def _owns(word: str) -> bool:
    """Whether a word before a role is its owner: Tanner's, and tanners or dads typed so."""
    if word.endswith(("'s", "s'")):
        return True
    bare = word.removesuffix("s")
    return len(bare) > 2 and bare != word and (bare in terms() or not _is_common(word))


def _is_common(word: str) -> bool:
    common = words("english_words")
    return word in common or word.removesuffix("s") in common


def _owned_by(tokens: list[tuple[int, int, str]], of: int) -> str:
    """Who follows an "of" at that token: the mother of Matheus, the boss of my wife; "" where it is a thing."""
    head, *after = [token[2] for token in tokens[of : of + 3]] or [""]
    if head != "of":
        return ""
    if after and after[0] in _WORDS["en_own"]:
        after = after[1:]
    found = bool(after) and (after[0] in terms() or not _is_common(after[0]))
    return after[0] if found else ""


def _judge_english_bare(
    norm: str, raw: str, tokens: list[tuple[int, int, str]], index: int, word: _Maker
) -> RoleWord | None:
    made = word("bare")
    capital = raw[made.start].isupper()
    before = ""
    if index and norm[tokens[index - 1][1] : made.start] == " ":
        before = tokens[index - 1][2]
    if before in _WORDS["en_kinds"]:
        return word("generic")
    if made.text not in _WORDS["en_bare"]:
        at_start = not before
        unique = any(role.level == "unique" for role in made.roles)
        return made if at_start and unique and capital else word("generic")
    if made.text in _WORDS["en_bare_capital"] and not capital:
        return word("generic")
    return made
