"""Mentions of people in a clause: names, roles, pronouns, and whom each one means."""

import re
from collections.abc import Iterable

from contacts.lexicon import words
from contacts.lexicon.rules import patterns
from contacts.matching.mentions import candidate_keys, entries_of, find_mentions
from contacts.resolution import namesakes
from contacts.text import HAN, normalise, normalise_with_offsets, original_span
from contacts.types import Entry, Person
from memories.providers.offline.extraction.name_contexts import (
    alias_pattern,
    closes_name,
    in_inscription,
    in_title,
    inside_word,
    is_ordinary_phrase,
    person_place,
)
from memories.providers.offline.extraction.name_spans import (
    LATIN_NAME,
    announced_person,
    chinese_name_at,
    latin_names,
    name_beside_role,
    surname_end,
)
from memories.providers.offline.extraction.reading_state import Reading
from memories.providers.offline.extraction.referents import (
    Book,
    Someone,
    Spot,
    add_spot,
    is_free,
    mark,
    mark_name,
    person_named,
    relate_to_user,
)
from memories.providers.offline.extraction.relation_words import (
    is_vague,
    key_of,
    latin_gender,
    pronoun_gender,
    role_patterns,
    role_said,
)
from memories.providers.offline.extraction.role_spans import (
    bare_relations,
    is_role_of_another,
    join_appositions,
    own_relations,
    owned_relations,
)
from memories.providers.offline.lexicons import relations

RE = patterns(__file__)
# Characters before a name within which a word can say what its bearer is to the user.
_BESIDE = 80
MOST_NAMED = 24  # mentions in a clause; nobody names more people in one breath
SURE = 0.5  # a mention with less confidence is a guess
_FEMALE_NOUN = frozenset({"woman", "lady", "girl"})


def find_spots(reading: Reading, text: str) -> list[Spot]:
    """The spots of ``text`` in order, not overlapping. The topic owns bare 孩子, 女朋友 when it
    is a person and the words do not say otherwise."""
    book, topic = reading.book, reading.topic
    spots: list[Spot] = []
    own_relations(book, text, spots)
    _known_names(reading, text, spots)
    _guys(book, text, spots)
    _new_names(book, text, spots)
    _pronouns(book, text, spots, topic)
    owned_relations(book, text, spots)
    bare_relations(book, text, spots, topic)
    spots.sort(key=lambda spot: spot.start)
    join_appositions(book, text, spots)
    return spots


def index_contacts(known: Iterable[Person]) -> dict[str, list[Entry]]:
    """The ways to name each known contact, by key."""
    index: dict[str, list[Entry]] = {}
    for entry in entries_of(known):
        index.setdefault(entry.key.key, []).append(entry)
    return index


def look_up_contacts(reading: Reading, turn: str) -> None:
    """Look the known contacts of a turn up once; its clauses are scanned against them."""
    keys = candidate_keys(turn)
    reading.entries = [entry for key in keys for entry in reading.contacts.get(key, ())]
    reading.named_in_turn = {
        mention.person.id
        for mention in find_mentions(turn, reading.entries)
        if mention.confidence >= SURE
    }


def _known_names(reading: Reading, text: str, spots: list[Spot]) -> None:
    known = find_mentions(text, reading.entries) if reading.entries else []
    for mention in known[:MOST_NAMED]:
        someone = reading.book.by_id(mention.person.id)
        if mention.person.id not in reading.named_in_turn or someone is None:
            continue
        if mention.confidence >= SURE and mention.how != "kinship":
            words = text[mention.start : mention.end]
            new = False
            if normalise(words) in {normalise(someone.name), *map(normalise, someone.aliases)}:
                someone, new = _bearer(
                    reading.book, text, spots, mention.start, mention.end, someone
                )
            mark(spots, text, (mention.start, mention.end), someone, "name", new)
    norm, offsets = normalise_with_offsets(text)
    names = [
        (alias, person)
        for person in reading.book.people
        for alias in (person.name, *person.aliases)
        if len(alias) > 1
        and person.named
        and person.contact_id is None
        and key_of(alias) not in relations()
    ]
    names.sort(key=lambda pair: (-len(pair[0]), reading.book.rank(pair[1])))
    for alias, person in names:
        for match in alias_pattern(normalise(alias)).finditer(norm):
            start, end = original_span(offsets, *match.span())
            following = text[start : start + len(alias) + 1]
            if len(alias) == 2 and len(following) == 3 and is_ordinary_phrase(following):
                continue
            if in_title(text, start):
                continue
            if not is_free(spots, start, end):
                continue
            who, new = _bearer(reading.book, text, spots, start, end, person)
            mark(spots, text, (start, end), who, "name", new)


def _guys(book: Book, text: str, spots: list[Spot]) -> None:
    for match in RE.guy.finditer(text):
        words = f"the {match.group(1).lower()} {match.group(2).lower()} {match.group(3).strip()}"
        if not re.search(r"\b(?:my|our|me|us)\b|\w+s\b", match.group(3)):
            continue
        name = re.sub(r"\b(?:me|us)\b", "me", words)
        who = book.by_name(name)
        new = who is None
        if who is None:
            who = book.meet(name, named=True)
            who.relationship = name
            who.gender = "female" if match.group(1).lower() in _FEMALE_NOUN else "male"
        mark(spots, text, match.span(), who, "name", new)

    for match in RE.guy_of_mine.finditer(text):
        noun = match.group("n").split()[-1].lower()
        known = [
            p for p in book.people if p.name.startswith("the ") and re.search(rf"\b{noun}", p.name)
        ]
        words = match.group()[match.group().index(" ") + 1 :].lower()
        who = known[0] if known else book.by_name(words)
        new = who is None
        if who is None:
            who = book.meet(words, named=True)
            who.relationship = words
        elif known:
            who.add_alias(words)
        mark(spots, text, match.span(), who, "name", new)


def _new_names(book: Book, text: str, spots: list[Spot]) -> None:
    """Names not known yet, where something announces a person."""
    _titled_names(book, text, spots)
    _chinese_names(book, text, spots)
    _latin_names(book, text, spots)


def _titled_names(book: Book, text: str, spots: list[Spot]) -> None:
    """同事沈姐, 邻居 Anna: a name right behind a relation word."""
    for match in role_patterns().bare_zh.finditer(text):
        word = match.group("word")
        end = name_beside_role(text, match.end())
        latin = re.match(r"\s?(?=[A-Z][a-z])", text[match.end() :])
        span = (match.end(), end) if end is not None else None
        if latin:
            start = match.end() + latin.end()
            capital = LATIN_NAME.match(text, start)
            span = (
                (start, capital.end())
                if capital and normalise(capital.group()) not in {"i"}
                else span
            )
        if span is None or not is_free(spots, match.start(), span[1]) or len(word) < 2:
            continue
        if not closes_name(text, span[1]) or book.is_banned(text[span[0] : span[1]]):
            continue
        sort = relations()[key_of(word)].subtype
        if not re.search(r"我们$", text[: match.start()]) and (
            text[: match.start()].endswith("家")
            or is_role_of_another(text, spots, match.start(), sort)
        ):
            continue
        mark_name(book, text, spots, (match.start(), span[1]), span[0], word)


def _chinese_names(book: Book, text: str, spots: list[Spot]) -> None:
    for match in HAN.finditer(text):
        start = match.start()
        if not is_free(spots, start, start + 1):
            continue
        if (
            start
            and inside_word(text, start)
            and not (text[start] in "小阿老" and announced_person(text[:start]))
        ):
            continue
        end = chinese_name_at(text, start, strong=False) or _is_mine(text, start)
        if (
            end is None
            or in_title(text, start)
            or in_inscription(text, start)
            or not is_free(spots, start, end)
            or book.is_banned(text[start:end])
            or text[start:end] in words("chinese_brands")
        ):
            continue
        if not person_place(text, start, end):
            continue
        mark_name(book, text, spots, (start, end), start)


def _is_mine(text: str, start: int) -> int | None:
    """小雪是我妹妹: where a word ends that is a name because its bearer is said to be mine."""
    end = name_beside_role(text, start)
    return end if end is not None and role_said(text, end) else None


def learn_friends(text: str, spots: list[Spot]) -> None:
    """小张是我朋友: of roles with many holders, which are no spot alone, the bearer is named.
    For statements only: a question or the assistant's words say nothing of the user's."""
    for spot in spots:
        word = role_said(text, spot.end) if spot.how == "name" else ""
        if spot.who is not None and word and is_vague(word):
            relate_to_user(spot.who, word)


def _latin_names(book: Book, text: str, spots: list[Spot]) -> None:
    for start, end, sure in latin_names(text):
        if (
            not sure
            or in_title(text, start)
            or in_inscription(text, start)
            or not is_free(spots, start, end)
            or book.is_banned(text[start:end])
        ):
            continue
        end = surname_end(text, end)
        who, new = mark_name(book, text, spots, (start, end), start)
        if new:
            who.gender = latin_gender(text[start:end])


def _pronouns(book: Book, text: str, spots: list[Spot], topic: Someone | None) -> None:
    for pattern in (RE.user_zh, RE.user_en, RE.group_user):
        for match in pattern.finditer(text):
            mark(spots, text, match.span(), None, "user")
    spots.sort(key=lambda spot: spot.start)
    for pattern in (RE.pronoun_zh, RE.pronoun_en):
        for match in pattern.finditer(text):
            if not is_free(spots, match.start(), match.end()):
                continue
            gender = pronoun_gender(match.group())
            object_of = RE.after_cause.fullmatch(text[: match.start()]) and not re.match(
                r"自己|们?家|的", text[match.end() :]
            )
            who = antecedent(
                book,
                gender,
                [s for s in spots if s.end <= match.start()],
                topic if object_of else None,
            )
            if (
                who is not None
                and who.owner is not None
                and re.match(r"自己", text[match.end() :])
                and who.owner.gender in {"", gender}
            ):
                who = who.owner
            if who is not None:
                has = bool(
                    re.match(
                        r"\s(?:just |already |finally |never |also )*(?:been|got|found|gone|had|\w+ed|become|made|taken|given|seen|lost|left|moved)\b",
                        text[match.end() :],
                    )
                )
                add_spot(
                    spots,
                    Spot(match.start(), match.end(), who, "pronoun", match.group(), after_has=has),
                )


def introduces(before: str) -> bool:
    """Whether the words before a person bring them in: 来了个, 认识了, there's, met."""
    return bool(RE.introduces.search(before))


def antecedent(
    book: Book, gender: str, before: list[Spot], shut: Someone | None = None
) -> Someone | None:
    """Whom a pronoun means: somebody earlier in the clause, else the one spoken of last.
    ``shut`` is the clause's own unspoken subject, which its object cannot be."""
    if shut is not None and not before:
        other = book.latest(gender, exclude=[shut])
        if other is not None and other in book.recent[:4]:
            return other
    for spot in before:
        person = spot.who
        if person is None or spot.how not in {"name", "role", "pronoun"}:
            continue
        if not gender or person.gender in {"", gender}:
            return person
    return book.latest(gender)


def _bearer(
    book: Book, text: str, spots: list[Spot], start: int, end: int, known: Someone
) -> tuple[Someone, bool]:
    """Whom the name at ``start``..``end`` means, and whether they are met here: ``known``,
    unless the words say that it's another or what stands beside it gainsays it."""
    name, role = text[start:end], _role_beside(text, spots, start, end)
    # What an earlier batch took in makes nobody new.
    maybe = book.renewing or book.is_shared(name)
    if maybe and namesakes.says_another(text, start, end):
        role = role or role_said(text, end) or namesakes.role_by_place(text)
        return person_named(book, name, role, another=True)
    if namesakes.is_someone_else(role, known.relationship):
        return person_named(book, name, role)
    return book.spoken_last(known, name), False


def _role_beside(text: str, spots: list[Spot], start: int, end: int) -> str:
    """What a name's bearer is to the user by a word right beside it (同事张伟, an intern
    named Sam; Sam, my landlord), or ""."""
    roles = role_patterns()
    near = max(0, start - _BESIDE)
    for match in (m for p in (roles.bare_zh, roles.bare_en) for m in p.finditer(text, near, start)):
        sort = relations()[key_of(match.group("word"))].subtype
        if RE.to_name.fullmatch(text, match.end(), start) and not (
            RE.of_others.search(text[: match.start()])
            or is_role_of_another(text, spots, match.start(), sort)
        ):
            return match.group("word")
    place = RE.from_place.match(text, end)
    if place:
        return namesakes.role_by_place(place.group())
    aside = roles.mine_en.match(text, end + 2) if text.startswith(", ", end) else None
    return aside.group("word") if aside and text[aside.end() :][:1] in ",." else ""


def known_spots(reading: Reading, text: str) -> list[Spot]:
    """Known people in the assistant's words; nobody is met there."""
    mirrored = re.sub(r"你(?!们好)", "我", text)
    return people_in(reading, re.sub(r"\byour\b", "my", mirrored, flags=re.I))


def people_in(reading: Reading, text: str) -> list[Spot]:
    """Known people in the user's words, where nobody is to be met."""
    before = list(reading.book.people)
    spots = find_spots(reading, text)
    for person in [p for p in reading.book.people if p not in before]:
        reading.book.people.remove(person)
    known = set(map(id, before))
    return [spot for spot in spots if spot.who is not None and id(spot.who) in known]
