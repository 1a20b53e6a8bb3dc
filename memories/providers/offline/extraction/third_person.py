"""Statements in the third person: 我 → 用户, I → the user, pronouns → names."""

import re

from contacts.lexicon import words
from contacts.lexicon.rules import patterns
from contacts.segmentation import tagged
from contacts.text import HAN, normalise
from memories.providers.offline.extraction.referents import Someone, Spot
from memories.providers.offline.lexicons import demonyms, english_places, given_names

RE = patterns(__file__)


_CONTRACTED = {"s": "is", "m": "is", "ve": "has", "ll": "will", "d": "would"}


def display(who: Someone, chinese: bool) -> str:
    """A person's name, or 用户的妈妈 / the user's mother when only the relation is known."""
    if who.owner is not None and not who.named:
        owner = display(who.owner, chinese)
        return (
            f"{owner}的{who.owned_as}" if HAN.search(who.owned_as) else f"{owner}'s {who.owned_as}"
        )
    if who.named:
        return who.name
    if who.contact_id is not None and who.relation is None:
        return who.name
    return f"用户的{who.name}" if chinese else f"the user's {who.name}"


def clean(text: str) -> str:
    """``text`` without leading fillers and trailing particles."""
    text = RE.filler_zh.sub("", text.strip())
    return RE.tail.sub("", text).strip(" ，,、；;。.")


def replace_spots(text: str, spots: list[Spot], *, chinese: bool, named: set[str]) -> str:
    """``text`` with every spot written in the third person. ``named`` collects the people
    already called by name, so that an English pronoun need not repeat one."""
    pieces: list[str] = []
    at = 0
    for spot in sorted(spots, key=lambda s: s.start):
        if spot.start < at:
            continue
        pieces.append(text[at : spot.start])
        pieces.append(_spoken(spot, text, chinese, named))
        at = spot.end
    pieces.append(text[at:])
    out = "".join(pieces)
    if not chinese or re.search(r"\bI\b|\b[Mm]y\b|\bthe user\b", out):
        out = told_of_user(out, chinese)
    return out


def _spoken(spot: Spot, text: str, chinese: bool, named: set[str]) -> str:
    who = spot.who
    if who is None:
        return _user(spot.text, text[spot.end :], chinese)
    han = HAN.search(spot.text) is not None
    if spot.how == "pronoun":
        return _pronoun(spot, who, chinese, named)
    before = set(named)
    named.add(who.ref)
    if spot.how == "owned":
        return (
            f"{display(who.owner, chinese)}的{who.owned_as}{who.name if who.named else ''}"
            if who.owner is not None and han and who.owned_as
            else _owned_en(who, chinese)
        )
    relation = who.word if who.owner is None else ""
    if spot.how == "role":
        return _role(spot, who, relation, chinese, again=who.ref in before)
    if who.owner is None and relation and spot.text.startswith(relation) and spot.text != who.name:
        return f"用户的{spot.text}"
    return _name(spot, who, relation, text[spot.end :])


def _role(spot: Spot, who: Someone, relation: str, chinese: bool, *, again: bool) -> str:
    """我老板 → 用户的老板沈总; only 用户的老板 once the name has been said."""
    han = HAN.search(spot.text) is not None
    if again and who.named and relation:
        return f"用户的{relation}" if han else f"the user's {relation}"
    if who.named and relation and not HAN.search(relation):
        relation = re.sub(r"^(?:my|our|我们?的?(?:真正的)?)\s?", "", spot.text, flags=re.I)
    if who.named and relation and not spot.text.lower().startswith(("the ", "mom", "dad")):
        return f"用户的{relation}{who.name}" if han else f"{who.name} (the user's {relation})"
    return display(who, chinese)


def _name(spot: Spot, who: Someone, relation: str, after: str) -> str:
    """我同事沈佳 → 用户的同事沈佳; my friend Anna → Anna, the user's friend,."""
    own = RE.own_zh.match(spot.text)
    if own:
        return f"用户的{spot.text[own.end() :]}"
    if not re.match(r"(?:my|our)\s", spot.text, re.I):
        return spot.text
    if re.match(r"\s?['’]s\b", after):
        return who.name
    if after.strip():
        return f"{who.name}, the user's {who.relationship or relation},"
    return f"the user's {spot.text[3:]}"


def _owned_en(who: Someone, chinese: bool) -> str:
    if who.named and who.owner is not None:
        return (
            f"{display(who.owner, chinese)}'s {who.owned_as} {who.name}"
            if who.owned_as
            else who.name
        )
    return display(who, chinese)


def _pronoun(spot: Spot, who: Someone, chinese: bool, named: set[str]) -> str:
    word = spot.text.lower()
    name = display(who, chinese)
    if HAN.search(spot.text) or word == "ta":
        return name
    if who.ref in named and word not in {"he", "she"}:
        return spot.text
    suffix = re.search(r"['’](s|ll|d)$", spot.text)
    named.add(who.ref)
    if suffix:
        has = suffix.group(1) == "s" and spot.after_has
        return f"{name} {'has' if has else _CONTRACTED[suffix.group(1)]}"
    possessive = word in {"his", "hers"} or (word == "her" and spot.new)
    return f"{name}'s" if possessive else name


def _user(words: str, after: str, chinese: bool) -> str:
    if HAN.search(words):
        if words in {"我们", "咱们", "咱"}:
            return (
                "用户"
                if re.match(r"公司|组|家|部门|学校|小区|班|团队|单位|俩|两", after)
                else "用户他们"
            )
        return "用户"
    lower = words.lower().replace("’", "'")
    base = "用户" if chinese else "the user"
    if lower in {"my", "our"}:
        return f"{base}'s" if not chinese else "用户的"
    if lower in {"mine", "ours"}:
        return f"{base}'s own"
    verb = re.fullmatch(r"i'?(m|ve|ll|d)", lower)
    return f"{base} {_CONTRACTED[verb[1]]}" if verb else base


def with_subject(text: str, subject: str, chinese: bool) -> str:
    """``text``, which lacks a subject, with one: 大三 → 沈佳是大三, a nurse → Anna is a nurse."""
    if HAN.search(text[:2]) or (chinese and HAN.search(text)):
        link = "是" if _nominal_zh(text) else "，" if RE.agent.match(text) else ""
        space = " " if re.match(r"[A-Za-z0-9]", text) or re.search(r"[A-Za-z0-9]$", subject) else ""
        return f"{subject}{space}{link}{text}"
    word = text.split(" ", 1)[0]
    lower = word.lower()
    rest = text[0].lower() + text[1:] if not _stays_capital(word) else text
    if (
        lower in words("grammar_en", "finite")
        or lower.endswith("ed")
        or is_past(lower)
        or (
            lower.endswith("s")
            and not lower.endswith("ss")
            and third(lower[:-1]) == lower
            and len(lower) > 3
            and lower not in {"always", "sometimes", "structures"}
        )
    ):
        return f"{subject} {rest}"
    if re.match(
        r"(?:it|that|there|this|they|these|those|the|his|her|their|what|not)(?:['’]s|['’]re)?\b",
        lower,
    ):
        return f"{subject}: {text}"
    if "用户" in subject or HAN.search(subject):
        return f"{subject}：{text}" if chinese else f"{subject}: {text}"
    return f"{subject} is {rest}"


def _stays_capital(word: str) -> bool:
    return (
        bool(re.match(r"[A-Z]{2}|I\b", word))
        or normalise(word) in given_names()
        or word in english_places()
        or word in demonyms()
        or "-" in word
    )


def _nominal_zh(text: str) -> bool:
    """Whether a Chinese fragment is a noun phrase that needs 是 (护士, 重庆人, 大学同学)."""
    body = text.split("，")[0]
    if len(body) > 12 or (
        re.search(r"\d|[月号周天晚早点年]|最近|现在", body) and not body.endswith("人")
    ):
        return False
    flags = [flag for word, flag in tagged(body) if HAN.search(word) or word.isalnum()]
    if not flags or body.startswith(
        ("是", "在", "有", "叫", "姓", "对", "从", "跟", "和", "就是", "属")
    ):
        return False
    if body.endswith(("人", "的")):
        return not (flags[0][0] == "v" and body.endswith("人")) and not body.startswith(
            ("不", "没")
        )
    return (
        not any(flag[0] in "vadzp" for flag in flags)
        and flags[-1] in {"n", "nr", "nz", "nt", "nrt", "l", "m", "q"}
        and len(body) <= 8
    )


_THIRD = {
    "am": "is",
    "have": "has",
    "do": "does",
    "don't": "doesn't",
    "don’t": "doesn't",
    "haven't": "hasn't",
    "was": "was",
    "go": "goes",
    "were": "was",
    "aren't": "isn't",
}

_FIXED = words("grammar_en", "past_forms")

_ADVERBS = words("grammar_en", "adverbs")

# "the user" after these is no subject: "let the user go".
_BEFORE_INFINITIVE = words("grammar_en", "before_infinitive")
_NO_VERBS = words("grammar_en", "no_verbs")


def told_of_user(text: str, chinese: bool) -> str:
    """``text`` with the verbs after 用户 or "the user" in the third person."""
    subject = "用户" if chinese else "the user"
    pattern = re.compile(
        rf"({subject})(['’]re)?\s((?:(?:{'|'.join(sorted(_ADVERBS))})\s)*)([A-Za-z'’]+)"
    )

    def conjugate(match: re.Match[str]) -> str:
        verb = match.group(4)
        if match.group(2):
            return f"{match.group(1)} is {match.group(3)}{verb}"
        start = text[: match.start()].rstrip().split(" ")[-1].lower()
        if (start.endswith("ed") or start in _BEFORE_INFINITIVE) and verb not in _THIRD:
            return match.group()
        return f"{match.group(1)} {match.group(3)}{third(verb)}"

    out = pattern.sub(conjugate, text)
    return re.sub(r"\bthe user(?:'s)? are\b", "the user is", out)


def third(verb: str) -> str:
    """The third person singular of an English verb in the present; other words unchanged."""
    lower = verb.lower()
    if lower in _THIRD:
        return _THIRD[lower]
    if (
        lower in _FIXED
        or (
            lower.endswith("ed")
            and lower not in {"need", "feed", "bleed", "speed", "succeed", "proceed"}
        )
        or lower.endswith(("ing", "ly", "'s", "n't"))
        or not lower.isalpha()
        or not lower.islower()
    ):
        return verb
    if lower.endswith("s") and not lower.endswith("ss"):
        return verb
    if lower in _NO_VERBS:
        return verb
    if re.search(r"(?:s|sh|ch|x|z|o)$", lower):
        return verb + "es"
    if re.search(r"[^aeiou]y$", lower):
        return verb[:-1] + "ies"
    return verb + "s"


def is_past(word: str) -> bool:
    """Whether it is a past form or an auxiliary, which has no form of its own here."""
    return word in _FIXED and word not in _ADVERBS
