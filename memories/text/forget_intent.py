"""Whether a message asks to forget something, and which of its clauses do."""

import re

from contacts.lexicon.rules import Row, patterns, rows
from memories.text import forget_people
from memories.text.own_words import excerpt
from memories.text.sentences import sentences

RE = patterns(__file__)
_REQUESTS = rows(__file__, "requests")


def may_ask(content: str) -> bool:
    """Whether a whole message may ask to forget something: cheap, for every message. Of a long
    one only what is read of it counts."""
    said = [sentence.text for sentence in sentences(excerpt(content))]
    return any(
        (RE.triggers.search(text) and asks(text)) or forget_people.may_ask(text) for text in said
    )


def can_ask(text: str) -> bool:
    """Whether ``text`` has a word without which nobody asks to forget; whether it does ask is
    for a model to say."""
    return RE.can_ask.search(text) is not None or forget_people.may_ask(text)


def asks(text: str) -> bool:
    """Whether one of the clauses asks to forget something that was said."""
    return bool(
        RE.never_said.search(text) or any(_asking(_clauses(text)))
    ) and not RE.other_things.search(text)


def _clauses(text: str) -> list[str]:
    return re.split(r"[，,；;。]\s?", text.strip().rstrip("。.!！~～?？"))


def _asking(clauses: list[str]) -> list[bool]:
    """Which clauses ask: by themselves, or as they stand beside what is meant."""
    told = [bool(RE.told.search(clause)) for clause in clauses]
    found = []
    for number, clause in enumerate(clauses):
        tail = RE.tails.search(clause) and (clause[:1] in "你您" or any(told[:number]))
        found.append(bool(tail) or bool(_fitting(clause)))
    return found


def _fitting(clause: str) -> list[Row]:
    return [row for row in _REQUESTS if row["pattern"].search(clause)]


def needs_somebody(text: str) -> bool:
    """Whether the request counts only where it names a known person or an attribute."""
    if RE.never_said.search(text):
        return False
    clauses = _clauses(text)
    asking = [clause for clause, asks in zip(clauses, _asking(clauses), strict=True) if asks]
    return all(_fitting(clause) for clause in asking) and all(
        row.get("of_somebody") for clause in asking for row in _fitting(clause)
    )


def request(text: str) -> str:
    """The clauses of ``text`` that ask or say what is meant, without those beside them."""
    clauses = _clauses(text)
    asking = _asking(clauses)
    kept = [
        clause
        for number, clause in enumerate(clauses)
        if asking[number] or _is_topic(clauses, asking, number)
    ]
    return "，".join(kept) or text


def _is_topic(clauses: list[str], asking: list[bool], number: int) -> bool:
    """Whether the next clause asks to forget what this one names."""
    after = number + 1
    following = after < len(clauses) and asking[after] and RE.tails.search(clauses[after])
    return bool(following and RE.told.search(clauses[number]))


def stands_alone(text: str) -> bool:
    """Whether nothing is stated beside the request, so that it means what was said before:
    in 她的卡号是…，你别记 it means the words right before it."""
    clauses = _clauses(text)
    asking = _asking(clauses)
    first = asking.index(True) if True in asking else 0
    return all(
        RE.aside.match(clause) or _is_topic(clauses, asking, number)
        for number, clause in enumerate(clauses[:first])
    )
