"""Verbose memories, split at their sentences or relieved of words that say nothing.

A sentence becomes a piece only where it is sure to stand alone: who it is about is said in
it, or can be put in without a guess. All others stay with the sentence before them.
"""

import re
from collections.abc import Sequence
from uuid import UUID

from accounts.reasons import Reason
from contacts import segmentation
from contacts.lexicon.rules import patterns
from contacts.text import HAN, folded, is_chinese, normalise
from memories import entities, faithfulness
from memories.text.sentences import sentences
from memories.types import Refinement, StoredMemory

RE = patterns(__file__)
# Shorter sentences are asides, not matters of their own (characters; Han count double).
SHORTEST = 14
# A trim must pay: at most this share of the length is left.
TRIMMED = 0.9


def refine(memories: Sequence[StoredMemory]) -> dict[UUID, Refinement]:
    """How these memories are split or trimmed; those that are well as they are have none."""
    found: dict[UUID, Refinement] = {}
    for memory in memories:
        pieces = _pieces(memory.content)
        if len(pieces) > 1:
            found[memory.id] = Refinement(pieces=pieces, reason=Reason("several_matters"))
        elif (trimmed := _trimmed(memory.content)) != memory.content:
            found[memory.id] = Refinement(trimmed=trimmed, reason=Reason("empty_words"))
    return found


def _pieces(content: str) -> tuple[str, ...]:
    """The sentences that stand alone, each with those that lean on it, word for word."""
    chinese = is_chinese(content)
    heads = _heads(content)
    subject = _subject(heads[0][2], chinese) if heads else ""
    pieces: list[str] = []
    open_end = False  # whether the last piece still waits for its end mark
    for joint, sentence_end, text in heads:
        alone = _alone(text, subject, " ".join(pieces), chinese) if pieces else text
        stands = alone and _size(alone) >= SHORTEST and (not pieces or _size(pieces[0]) >= SHORTEST)
        if stands and open_end:
            pieces[-1] += "。" if chinese else "."
        if stands:
            pieces.append(alone + sentence_end)
        elif pieces:
            pieces[-1] += joint + text + sentence_end
        else:
            pieces.append(text + sentence_end)
        open_end = not sentence_end
    return tuple(pieces)


def _heads(content: str) -> list[tuple[str, str, str]]:
    """The sentences and the heads of long ones: what joins each to the one before, the mark
    that ends it, and its words."""
    found: list[tuple[str, str, str]] = []
    joint = ""
    for sentence in sentences(content):
        start = 0
        for match in RE.joint.finditer(sentence.text):
            found.append((joint, "", sentence.text[start : match.start()].strip()))
            joint, start = match.group(), match.end()
        found.append((joint, sentence.end_mark, sentence.text[start:].strip()))
        joint = "" if is_chinese(content) else " "
    return [head for head in found if head[2]]


def _size(text: str) -> int:
    return len(text) + len(HAN.findall(text))


def _subject(text: str, chinese: bool) -> str:
    """Whom or what the first sentence is about, if that is said in its first words."""
    if not chinese:
        match = RE.subject_en.match(text)
        return match.group() if match else ""
    stretch = re.match(r"[\u3400-\u9fff]+", text)
    taken = ""
    for word in segmentation.cut(stretch.group()) if stretch else ():
        if word.tag[:1] in ("v", "p", "d") or word.text in ("是", "有", "在"):
            return taken if 2 <= len(taken) <= 8 else ""
        taken += word.text
    return ""


def _alone(text: str, subject: str, before: str, chinese: bool) -> str:
    """``text`` as a sentence of its own; empty when it needs the one before."""
    text = RE.also.sub("", text)
    if not text or RE.leans.match(text):
        return ""
    pronoun = RE.pronoun.match(text)
    if pronoun:
        if not subject or _others(before, subject):
            return ""
        rest = text[pronoun.end() :]
        own = pronoun.group(2) or pronoun.group(4)
        return (
            f"{subject}{'的' if own else ''}{rest}"
            if chinese
            else f"{subject}{chr(39) + 's' if own else ''} {rest}"
        )
    if not chinese:
        return text if RE.subject_en.match(text) else ""
    if _subject(text, chinese):
        return text
    first = (
        segmentation.cut(match.group())[0]
        if (match := re.match(r"[\u3400-\u9fff]+", text))
        else None
    )
    if first and first.tag[:1] in ("v", "p", "d") and subject and not _others(before, subject):
        return subject + text
    return ""


def _others(text: str, subject: str) -> bool:
    """Whether ``text`` names, or may name, someone else whom a pronoun could mean."""
    rest = text.replace(subject, " ")
    placed = {normalise(one.name) for one in entities.tag(rest)}
    people = {name for name in faithfulness.names(rest) if not any(name in one for one in placed)}
    return bool(people) or bool(RE.kin.search(rest))


def _trimmed(content: str) -> str:
    """``content`` without fillers and what it says twice, where that pays."""
    text = RE.around.sub("", RE.filler.sub("", content)).strip()
    kept: list[str] = []
    for sentence in sentences(text):
        whole = sentence.text + sentence.end_mark
        if folded(whole) not in map(folded, kept):
            kept.append(whole)
    text = ("" if is_chinese(text) else " ").join(kept)
    text = text[:1].upper() + text[1:]
    return text if text and len(text) <= TRIMMED * len(content) else content
