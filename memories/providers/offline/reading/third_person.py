"""Statements in the third person: 我 → 用户, I → the user, pronouns → names."""

import re

from contacts.lexicon import words
from contacts.lexicon.rules import patterns
from contacts.roles import kinship
from contacts.segmentation import tagged
from contacts.text import HAN
from memories.providers.offline.reading.circle import Someone, written
from memories.providers.offline.reading.entity_linking import Spot

RE = patterns(__file__)

_CONTRACTED = {"s": "is", "m": "is", "ve": "has", "ll": "will", "d": "would"}
_MY = re.compile(
    r"(?:我|咱|俺)(?:们|們)?(?:家)?的?\s?(?P<zh>)$"
    r"|\b(?:my|our|ma|me|mi)\s(?P<more>(?:[\w'’-]+\s){0,2})$",
    re.I,
)

# What stands before a role that is nobody's own: a, the, somebody's.
_DETERMINED = re.compile(
    r"(?:\b(?:an?|the|this|that|another|other|some|two|both|no|wee)|['’]s?)\s(?:[\w'’-]+\s)?$|[个個位名的]$",
    re.I,
)


def display(who: Someone, chinese: bool) -> str:
    """A person's name, or 用户的妈妈 / the user's mother when only the relation is known."""
    if who.named:
        return who.name
    if who.owner is not None:
        owner = display(who.owner, chinese)
        return f"{owner}的{who.role}" if HAN.search(who.role) else f"{owner}'s {who.role}"
    if not who.role and not kinship(who.name):
        return who.name if HAN.search(who.name) else f"the {who.name}"
    return f"用户的{who.name}" if chinese else f"the user's {who.name}"


def clean(text: str) -> str:
    """``text`` without leading fillers and trailing particles."""
    text = RE.filler_zh.sub("", text.strip())
    return RE.tail.sub("", text).strip(" ，,、；;。.")


def retold(text: str, spots: list[Spot], *, chinese: bool) -> str:
    """``text`` with every spot in the third person: names as they stand, the user's own roles with
    their owner, pronouns as names. An English name said once is not said for each pronoun."""
    pieces: list[str] = []
    named: set[str] = set()
    at = 0
    leads = {id(spot): _lead(text, spot) for spot in spots}
    taken = [lead.span() for lead in leads.values() if lead]
    for spot in spots:
        if spot.start < at or any(a <= spot.start and spot.end <= b for a, b in taken):
            continue
        lead = leads[id(spot)]
        pieces.append(text[at : max(at, lead.start() if lead else spot.start)])
        if spot.how == "pronoun" and _named_next(spot, spots) and (who := spot.who):
            pieces.append(_by_role(who, spot, chinese))
        else:
            pieces.append(_spoken(spot, lead, text, chinese, named))
        at = spot.end
        if spot.how == "pronoun" and (short := re.match(r"['’](ve|re)\b", text[at:])):
            pieces.append(" has" if short[1] == "ve" else " is")
            at += short.end()
    out = "".join([*pieces, text[at:]])
    return told_of_user(out, chinese) if re.search(r"\bthe user\b|用户 ?[a-z]", out) else out


def asked_of_user(question: str, spots: list[Spot], *, chinese: bool) -> str:
    """A question put to the user, in the third person."""
    own = [
        Spot(m.start(), m.end(), _OF_USER.get(m.group().lower(), "me"), None, "user")
        for m in _YOU.finditer(question)
    ]
    held = [s for s in spots if not any(o.start < s.end and s.start < o.end for o in own)]
    text = retold(question, sorted([*held, *own], key=lambda s: s.start), chinese=chinese)
    text = _OF_MANY.sub(lambda m: f"{_OF_ONE[m[1].lower()].title()} the user", text)
    return f"{text}？" if HAN.search(text) else f"{text}?"


_YOU = re.compile(r"你们?|您|妳|你們|\b(?:you|your|yours)\b", re.I)
_OF_ONE = {"do": "does", "are": "is", "have": "has", "were": "was", "don't": "doesn't"}
_OF_MANY = re.compile(r"^(do|are|have|were|don't) the user\b", re.I)
_OF_USER = {"your": "my", "yours": "mine", "你": "我", "您": "我", "妳": "我"}


def _named_next(spot: Spot, spots: list[Spot]) -> bool:
    """Whether the clause names behind a pronoun whom it means: she's called Anna."""
    return any(
        other.who is spot.who and other.how == "name" and other.start > spot.start
        for other in spots
    )


def _by_role(who: Someone, spot: Spot, chinese: bool) -> str:
    """Somebody by what they are to the user, or as they are pointed to."""
    if not who.role or who.owner is not None:
        return spot.text
    return f"用户的{who.role}" if chinese else f"the user's {who.role}"


def _lead(text: str, spot: Spot) -> re.Match[str] | None:
    """The words before a role of the user's own that say that it is theirs."""
    one = spot.who
    if one is None or spot.how != "role" or one.owner is not None or one.by_pronoun:
        return None
    return _MY.search(text[: spot.start])


def _spoken(
    spot: Spot, lead: re.Match[str] | None, text: str, chinese: bool, named: set[str]
) -> str:
    who = spot.who
    if who is None:
        return _user(spot.text, text[spot.end :], chinese)
    if spot.how == "pronoun":
        return _pronoun(spot, text, who, chinese, named)
    named.add(who.ref)
    if _lacks_owner(spot, text, who) and who.owner is not None:
        return f"{display(who.owner, chinese)}的{spot.text}"
    own = spot.how == "role" and who.owner is None and who.role and not who.by_pronoun
    if lead is None and (not own or _DETERMINED.search(text[: spot.start])):
        return written(spot.text) if spot.how == "name" else spot.text
    if HAN.search(spot.text):
        return f"用户的{who.name if len(spot.text) == 1 and not who.named else spot.text}"
    return f"the user's {(lead['more'] or '') if lead else ''}{spot.text}"


def _lacks_owner(spot: Spot, text: str, who: Someone) -> bool:
    """Whether a clause begins with a relative of somebody whom only the one before it names."""
    opens = spot.how == "role" and not text[: spot.start].strip()
    return opens and who.owner is not None and bool(HAN.match(spot.text))


def _pronoun(spot: Spot, text: str, who: Someone, chinese: bool, named: set[str]) -> str:
    word = spot.text.lower()
    name = display(who, chinese)
    if HAN.search(spot.text) or word == "ta":
        return name
    if who.ref in named and word not in {"he", "she"}:
        return spot.text
    suffix = re.search(r"['’](s|ll|d)$", spot.text)
    named.add(who.ref)
    if suffix:
        return f"{name} {_CONTRACTED[suffix.group(1)]}"
    after = text[spot.end :]
    possessive = word in {"his", "hers", "their"} or (
        word == "her" and re.match(r"\s(?!and\b|to\b|in\b|on\b|at\b|for\b|with\b)[a-z]", after)
    )
    return f"{name}'s" if possessive else name


def _user(words: str, after: str, chinese: bool) -> str:
    if HAN.search(words):
        if words in {"我们", "我們", "咱们", "咱們", "咱"}:
            return "用户" if _OURS.match(after) else "用户他们"
        return "用户"
    lower = words.lower().replace("’", "'")
    base = "用户" if chinese else "the user"
    if lower in {"my", "our"}:
        return f"{base}'s" if not chinese else "用户的"
    if lower in {"mine", "ours"}:
        return f"{base}'s own"
    verb = re.fullmatch(r"i'?(m|ve|ll|d)", lower)
    return f"{base} {_CONTRACTED[verb[1]]}" if verb else base


_OURS = re.compile("公司|组|組|家|部门|部門|学校|學校|小区|班|团队|单位|俩|倆|两")


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
    if re.match(r"(?:an?|in|at|on|from|not)\b", lower) or lower.endswith("ing"):
        return f"{subject} is {rest}"
    return f"{subject}: {text}"


def _stays_capital(word: str) -> bool:
    return bool(re.match(r"[A-Z]{2}|I\b", word)) or "-" in word


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
