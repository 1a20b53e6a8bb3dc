"""A person meant by what is known of them: 那个在腾讯上班的人, my friend who has a cat.

:func:`describe` reads the descriptions in a text; :func:`keys_of` says under which attribute
keys those who fit are found; :func:`match` decides who fits. Nothing here knows of a database.

Only the shape of a description counts as one (那个…的人, 谁…, the guy who …, which of my
friends …); a plain statement (在腾讯上班很累) describes nobody.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from accounts.reasons import Reason
from understanding import attribute_index
from understanding.attribute_index import PREFIX, agree, attribute_of
from understanding.people import descriptions_en, descriptions_zh
from understanding.roles import roles_of
from understanding.text import original_span
from understanding.text_document import Document, read
from understanding.types import Constraint, Description, Mention, Person

__all__ = ["Constraint", "Description", "describe", "keys_of", "match"]

# Of a longer text only the beginning and the end are read for descriptions.
_READ = 1200
MAX_DESCRIPTIONS, MAX_FITTING = 8, 10
# A name is surer than any description; several who fit are each less sure, and so is
# someone of whom it isn't known whether they are the friend or colleague that was asked for.
SURE, SEVERAL, ROLE_UNKNOWN = 0.8, 0.5, 0.75


def describe(text: str | Document) -> list[Description]:
    """The descriptions of people in ``text``, by position, none inside another."""
    document = read(text)
    text, norm, offsets = document.text, document.norm, document.offsets
    found: list[Description] = []
    parts = [(0, norm)] if len(norm) <= 2 * _READ else [(0, norm[:_READ])]
    if len(norm) > 2 * _READ:
        parts.append((len(norm) - _READ, norm[-_READ:]))
    for shift, part in parts:
        raw = "".join(text[offsets[shift + i]] for i in range(len(part)))
        both = (*descriptions_zh.describe(part), *descriptions_en.describe(part, raw))
        found += [replace(one, start=one.start + shift, end=one.end + shift) for one in both]
    if not found:
        return []
    mask = document.mask
    kept: list[Description] = []
    for one in sorted(found, key=lambda d: (d.start - d.end, d.start)):
        free = all(one.end <= other.start or one.start >= other.end for other in kept)
        if free and not mask[one.start]:
            kept.append(one)
    kept.sort(key=lambda d: d.start)
    out = []
    for one in kept[:MAX_DESCRIPTIONS]:
        start, end = original_span(offsets, one.start, one.end)
        out.append(replace(one, start=start, end=end, text=text[start:end]))
    return out


def keys_of(descriptions: Iterable[Description]) -> frozenset[str]:
    """Every key under which someone who fits may be indexed."""
    return frozenset(
        key
        for description in descriptions
        for constraint in (*description.constraints, Constraint(("job_title",), description.role))
        for attribute in constraint.attributes
        for key in attribute_index.keys_for(attribute, constraint.value)
    )


def is_attribute(key: str) -> bool:
    """Whether a lookup key was made from an attribute, not from a name."""
    return key.startswith(PREFIX)


def match(
    descriptions: Iterable[Description], hits: Iterable[tuple[str, str, Person]]
) -> list[Mention]:
    """Who of ``hits`` (key, the values behind it, person) each description fits: all of them
    when several do, nobody when none does."""
    people: dict[UUID, Person] = {}
    known: dict[UUID, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for key, values, person in hits:
        people[person.id] = person
        known[person.id][attribute_of(key)].update(values.split("\n"))
    out: list[Mention] = []
    for description in descriptions:
        out += _fitting(description, people, known)
    return out


def _fitting(
    description: Description,
    people: Mapping[UUID, Person],
    known: Mapping[UUID, Mapping[str, set[str]]],
) -> list[Mention]:
    found: list[tuple[float, Person, list[Reason]]] = []
    for key, person in people.items():
        role = _role_fit(description, person, known[key].get("job_title", ()))
        fits = [_fit(constraint, known[key]) for constraint in description.constraints]
        if role and all(score for score, _ in fits):
            score = role * min(score for score, _ in fits)
            found.append((score, person, [held for _, held in fits if held]))
    best = max((score for score, _, _ in found), default=0.0)
    # Those who fit clearly worse than another aren't meant.
    found = [item for item in found if item[0] > best * 0.75]
    found.sort(key=lambda item: (-item[0], str(item[1].id)))
    share = SURE if len(found) == 1 else SEVERAL
    return [
        Mention(
            person, description.start, description.end, description.text, "semantic",
            round(score * share, 2), Reason("by_description", values=values),
        )
        for score, person, values in found[:MAX_FITTING]
    ]  # fmt: skip


def _fit(constraint: Constraint, known: Mapping[str, set[str]]) -> tuple[float, Reason | None]:
    scored: Sequence[tuple[float, Reason | None]] = [
        (score, Reason("held_value", attribute=attribute, value=value))
        for attribute in constraint.attributes
        for value in sorted(known.get(attribute, ()))
        if (score := agree(attribute, constraint.value, value))
    ]
    return max(scored, key=lambda item: item[0], default=(0.0, None))


def _role_fit(description: Description, person: Person, jobs: Iterable[str]) -> float:
    """1 for someone in the role that is asked for, less where their role isn't known, 0 for
    someone else or of another gender."""
    if description.gender and person.gender not in ("", description.gender):
        return 0.0
    if not description.role or any(agree("job_title", description.role, job) for job in jobs):
        return 1.0
    asked = roles_of(description.role)
    held = [
        r for term in (person.relationship, person.name, *person.aliases) for r in roles_of(term)
    ]
    if not held:
        return ROLE_UNKNOWN
    if any(one.fits(mine) for one in asked for mine in held):
        return 1.0
    # Any classmate or flatmate may be called a friend.
    friends = any(one.kind == "friend" for one in asked) and any(
        m.subtype == "friend" for m in held
    )
    return 1.0 if friends else 0.0
