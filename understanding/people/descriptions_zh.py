"""Descriptions of people in Chinese: 那个45岁的家伙, 住在成都的那个同学, 谁在腾讯上班."""

import re
from collections.abc import Iterator

from understanding.lexicon import alternation, mapping
from understanding.lexicon.rules import patterns, rows
from understanding.people.description_slots import attributes, heads, readings_of
from understanding.roles import terms
from understanding.text import is_han
from understanding.types import Constraint, Description

_HEADS = heads("zh")
_LABELLED = mapping("labels", "attributes", "zh")
_REACH = 30


def _heads() -> str:
    """Nouns for a person, the longest first: 家伙, 姑娘 and every role word."""
    roles = {word for word in terms() if len(word) > 1 and all(map(is_han, word))}
    return alternation({word for word in _HEADS if not word.startswith("那")} | roles)


_LABELS = alternation(_LABELLED)
lex = patterns(__file__, HEADS=_heads, LABELS=_LABELS)
_READINGS = readings_of(rows(__file__, "readings", LABELS=_LABELS))


def describe(norm: str) -> Iterator[Description]:
    """The descriptions in a normalised text; they may overlap."""
    if not lex.could.search(norm) or norm.isascii():
        return
    for pattern in (lex.opened, lex.opened_mine):
        for match in pattern.finditer(norm):
            if not lex.plural.match(norm, match.end()):
                yield from _read(match, match["mod"], match.start("mod"), match.start())
    for match in lex.closed.finditer(norm):
        yield from _read_back(norm, match)
    for match in lex.asked_who.finditer(norm):
        yield from _read(match, match["mod"], match.start("mod"), match.start())
    for pattern in (lex.job, lex.owned) if lex.asked_of.search(norm) else (lex.job,):
        for match in pattern.finditer(norm):
            yield from _whole(match)


def _read_back(norm: str, match: re.Match[str]) -> Iterator[Description]:
    """What stands before the end of a description, in the same clause."""
    if lex.plural.match(norm, match.end()):
        return
    before = lex.clause.search(norm[max(0, match.start() - _REACH) : match.start()])
    if before and len(before[0]) > 1 and (match["near"] or lex.asking.match(norm, match.end())):
        start = match.start() - len(before[0])
        yield from _read(match, before[0], start, start, bare=bool(match["near"]))


def _read(
    match: re.Match[str], mod: str, at: int, start: int, *, bare: bool = False
) -> Iterator[Description]:
    """The longest reading of the modifier ``mod``, which is at ``at``: what it begins with may
    belong to another clause. ``bare``: a value alone will do (腾讯的那个人)."""
    head = match["head"] or ""
    role = head if head in terms() else ""
    gender = _HEADS.get(head, "")
    for cut in range(max(len(mod) - 1, 1)):
        constraints = _constraints(mod[cut:], last=bare and cut == 0)
        if constraints:
            yield Description(at + cut if cut else start, match.end(), constraints, role, gender)
            return


def _constraints(mod: str, *, last: bool) -> tuple[Constraint, ...]:
    mod = lex.trim.sub("", mod.strip())
    for pattern, targets in _READINGS:
        match = pattern.fullmatch(mod)
        if match is None:
            continue
        groups = match.groupdict()
        label = groups.pop("label", None)
        if label:
            return (Constraint(tuple(_LABELLED[label].split()), groups["v"].strip("\"'：: ")),)
        found = tuple(
            Constraint(targets[name], value.strip())
            for name, value in groups.items()
            if value and name in targets
        )
        if found:
            return found
    # 腾讯的那个人: the value alone.
    return (Constraint(attributes("any"), mod),) if last and len(mod) >= 2 else ()


def _whole(match: re.Match[str]) -> Iterator[Description]:
    """A job, or another value, that stands for the person: 那个护士, 美术老师的邮箱."""
    start, end = match.start("mod"), match.end("mod")
    if match["mod"] not in _HEADS:
        yield Description(start, end, (Constraint(("job_title",), match["mod"]),))
