"""English verbs that told of "I" and "you", told of the user: "the user have" is "the user has"."""

import re

from contacts.lexicon import words

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
