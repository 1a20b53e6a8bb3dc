"""What people are called: statements of names and aliases, and whose they are."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from contacts.lexicon import words
from contacts.lexicon.rules import Row, patterns, rows
from contacts.resolution.namesakes import says_another
from contacts.segmentation import tagged
from contacts.text import HAN, normalise
from memories.providers.offline.extraction.draft import Draft, Piece
from memories.providers.offline.extraction.name_spans import (
    LATIN_NAME,
    chinese_name_at,
    is_ordinary,
    is_stop_word,
    unlisted_name,
)
from memories.providers.offline.extraction.person_mentions import antecedent, introduces
from memories.providers.offline.extraction.reading_state import Reading
from memories.providers.offline.extraction.referents import (
    Book,
    Someone,
    Spot,
    relative_of,
    role_holder_before,
)
from memories.providers.offline.extraction.relation_words import pronoun_gender
from memories.providers.offline.extraction.stated_values import Value
from memories.providers.offline.lexicons import given_names, relations
from memories.types import Subtype, Turn

RE = patterns(__file__)
_NAMINGS = rows(__file__, "namings")
_NOT_A_NAME = words("names_zh", "not_a_name")


@dataclass(frozen=True, slots=True)
class Naming:
    """``name`` of somebody; ``formal``: their own full name rather than what people call
    them; ``start`` where the naming words begin, ``pronoun`` whose name it is, if said."""

    name: str
    formal: bool
    start: int
    name_start: int
    pronoun: str = ""
    sort: str = ""

    @property
    def plain(self) -> bool:
        """Only "called X", without saying by whom or what sort of name it is."""
        return self.sort == "" and not self.pronoun


def _namings(text: str) -> list[Naming]:
    """The naming statements of a clause."""
    found: list[Naming] = []
    for row in _NAMINGS:
        for match in row["pattern"].finditer(text):
            _keep(found, text, match, row)
    return found


def _equation(text: str, start: int) -> Naming | None:
    """X 就是 NAME, right after X's place in the clause."""
    match = RE.is_zh.match(text, start)
    if match is None:
        return None
    span = _name_span(text, match.start("n"))
    return Naming(text[span[0] : span[1]], True, start, span[0]) if span else None


def _bare_name(text: str) -> str | None:
    """The name that a whole clause consists of, as an answer to "what's their name?"."""
    stripped = text.strip(" “”\"'。.！!")
    first = stripped.split(" ")[0]
    if RE.plain.match(stripped):
        return stripped if normalise(first) in given_names() and not is_stop_word(first) else None
    end = chinese_name_at(stripped, 0, strong=False) if stripped else None
    if end is None or end != len(stripped) or is_ordinary(stripped):
        return None
    flags = [flag for _, flag in tagged(stripped)]
    return (
        stripped
        if (len(flags) == 1 and flags[0].startswith("nr"))
        or flags[0][0] not in "dvaprcn"
        or flags[0] == "nr"
        else None
    )


def _keep(found: list[Naming], text: str, match: re.Match[str], row: Row) -> None:
    groups = match.groupdict()
    start = match.start("n")
    name = match.group("n")
    if re.match(r"[\u3400-\u9fff]", name):
        quoted = text[start - 1 : start] in '“"「‘' if start else False
        span = (
            (start, match.end("n"))
            if quoted
            else _name_span(text, start) or (start, match.end("n"))
        )
        name = text[span[0] : span[1]]
        if (
            name in _NOT_A_NAME
            or name in relations()
            or name[0] in "我你他她"
            or name[0] in "什啥谁哪怎"
            or (len(name) < 2 and not quoted)
        ):
            return
    elif name.lower() in {"the", "a", "his", "her", "my", "me"} or (
        name.islower() and not row.get("lower_case")
    ):
        return
    if all(naming.name_start != start for naming in found):
        sort = groups.get("sort") or groups.get("all") or groups.get("who") or ""
        formal = row["formal"] and not any(groups[name] for name in row.get("unless", ()))
        found.append(Naming(name, formal, match.start(), start, groups.get("p") or "", sort))


def _name_span(text: str, start: int) -> tuple[int, int] | None:
    end = chinese_name_at(text, start, strong=True)
    latin = LATIN_NAME.match(text, start)
    if latin:
        return start, latin.end()
    return (start, end) if end is not None else None


MAX_NAMES = 5


def own_names(text: str) -> Iterator[str]:
    """The names by which the user introduces themself in ``text``: 我叫…, I'm …, call me …"""
    for match in RE.said_zh.finditer(text):
        if _is_name(text, match, sure=match.group("is") not in {"是", "就是", "叫"}):
            yield match.group("n")
    for match in RE.call_me_zh.finditer(text):
        if _is_name(text, match, sure=False) or _doubled(match.group("n")):
            yield match.group("n")
    for match in RE.said_en.finditer(text):
        if (
            not is_stop_word(match.group("n").split()[0])
            and normalise(match.group("n")) not in relations()
        ):
            yield match.group("n")
    for match in RE.i_am.finditer(text):
        first = match.group("n").split()[0]
        if normalise(first) in given_names() and not is_stop_word(first):
            yield match.group("n")


def _is_name(text: str, match: re.Match[str], *, sure: bool) -> bool:
    name = match.group("n")
    if name in relations() or normalise(name) in relations() or name[0] in "我你他她它谁啥什":
        return False
    if name.isascii():
        return normalise(name.split()[0]) in given_names() and not is_stop_word(name.split()[0])
    return chinese_name_at(text, match.start("n"), strong=sure) == match.end("n")


def _doubled(name: str) -> bool:
    return len(name) == 2 and name[0] == name[1]


# Those who call somebody something are not the one who is called it.
_CALLERS = words("grammar_zh", "callers")


def learn_names(
    reading: Reading, text: str, spots: list[Spot], subject: Someone | None, turn: Turn, first: bool
) -> bool:
    """Names and aliases stated in the clause go to the person they belong to. True when
    the clause does nothing but name somebody."""
    only = False
    for found in _namings(text):
        if reading.book.is_banned(found.name) or re.search(
            r"[猫狗]|(?:店|公司|书|歌|项目|剧|队)(?:名|的名字)?$", text[: found.start]
        ):
            continue
        who = _named_one(reading, text, spots, subject, found)
        if who is None:
            continue
        zero = not found.pronoun and not any(s.who is who for s in spots)
        if zero and who.named and found.plain and found.name != who.name:
            continue
        end = found.name_start + len(found.name)
        another = reading.book.renewing and says_another(text, found.name_start, end)
        reading.book.call(who, found.name, found.formal, another=another)
        only = only or len(text) - found.name_start - len(found.name) < 4
    only = _equations(reading.book, text, spots) or only
    if _full_name(reading, text):
        return True
    introduced = (s for s in spots if s.new and s.how == "role" and s.who is not None)
    reading.introduced = next((s.who for s in introduced if introduces(text[: s.start])), None)
    only = _lone_name(reading, text, spots, turn, first) or only
    reading.awaiting = next(
        (s.who for s in spots if s.who is not None and not s.who.named), reading.awaiting
    )
    return only


def _equations(book: Book, text: str, spots: list[Spot]) -> bool:
    """Nina 就是沈佳; Nina Holt, of a known Nina."""
    only = False
    for spot in list(spots):
        if spot.who is None or spot.how not in {"name", "role", "owned"}:
            continue
        equal = _equation(text, spot.end)
        known_word = equal is not None and equal.name in relations()
        if equal is not None and not known_word and not book.is_banned(equal.name):
            book.call(spot.who, equal.name, equal.formal)
            only = only or len(text) - equal.name_start - len(equal.name) < 4
        surname = RE.surname.match(text, spot.end) if spot.how == "name" else None
        if surname and not spot.start and " " not in spot.text and spot.text[:1].isupper():
            book.call(spot.who, text[: surname.end()], True)
            only = only or surname.end() == len(text)
    return only


def _full_name(reading: Reading, text: str) -> bool:
    """沈子佳, right after 子佳: the full name of whom the talk is about."""
    topic = reading.topic
    if topic is None or not topic.named or len(text) != 3 or text == topic.name:
        return False
    if not text.endswith(topic.name):
        return False
    if not unlisted_name(text) and _bare_name(text) is None:
        return False
    reading.book.call(topic, text, True)
    return True


def _lone_name(reading: Reading, text: str, spots: list[Spot], turn: Turn, first: bool) -> bool:
    """A clause that is nothing but a name answers who somebody is."""
    if any(s.who is not None and s.how != "name" for s in spots):
        return False
    name = _bare_name(text)
    if name is None or reading.book.is_banned(name):
        return False
    who = _unnamed_one(reading, first)
    known = reading.book.by_name(name)
    if who is not None and (known is None or not known.relationship):
        reading.book.call(who, name, True)
        return True
    if who is None and known is not None:
        _answers_role(reading, known, turn)
    return False


def name_introduced(reading: Reading, text: str) -> bool:
    """Somebody new is named right after being introduced: 来了个实习生，子佳，…"""
    met = reading.introduced
    if met is None or not (unlisted_name(text) or text in {met.name, *met.aliases}):
        return False
    if met.named and text not in {met.name, *met.aliases} and not text.endswith(met.name):
        return False
    if not reading.book.is_banned(text):
        reading.book.call(met, text, True)
        reading.topic = met
    return True


def _answers_role(reading: Reading, person: Someone, turn: Turn) -> None:
    """ "Who is the product manager?" answered with a name gives that person the job."""
    match = RE.role_of_name.search(reading.asked)
    if match is None:
        return
    role = (match.group("r") or match.group("e")).strip()
    chinese = HAN.search(role) is not None
    person.social = person.social or (
        Subtype.COLLEAGUE
        if re.search(r"经理|组长|主管|负责人|manager|lead|boss", role, re.I)
        else None
    )
    text = f"{person.name}是{role}" if chinese else f"{person.name} is the {role}"
    spot = Spot(0, len(person.name), person, "name", person.name)
    piece = Piece(text, [spot], [Value("job_title", role, 0, 0)], True)
    reading.drafts.append(Draft(turn, person, [piece], quote=person.name))


def _unnamed_one(reading: Reading, first: bool) -> Someone | None:
    """Who a name standing alone belongs to: the one whose name was asked for, or somebody
    just spoken of without one."""
    topic = reading.topic
    if reading.identified is not None:
        return reading.identified
    if reading.asked_name:
        for who in (topic, reading.awaiting):
            if who is not None and not who.named:
                return who
    if reading.asked and first:
        return None
    who = reading.awaiting
    return who if who is not None and not who.named and who in reading.book.recent[:3] else None


def _named_one(
    reading: Reading, text: str, spots: list[Spot], subject: Someone | None, found: Naming
) -> Someone | None:
    role = role_holder_before(reading.book, text, found.start)
    if role is not None and not any(s.end == found.start for s in spots):
        return role
    baby = _newborn(reading, found, subject)
    if baby is not None:
        return baby
    spoken = re.search(r"(他|她)$", text[: found.start])
    if spoken and not spots and reading.book.latest(pronoun_gender(spoken.group(1))) is None:
        return reading.book.meet(found.name, named=True)
    if (
        found.pronoun
        and not any(s.who is not None for s in spots)
        and reading.book.latest(pronoun_gender(found.pronoun)) is None
    ):
        return reading.book.meet(found.name, named=True)
    before = [
        s for s in spots if s.end <= found.name_start and s.how != "user" and s.who is not None
    ]
    if found.pronoun and HAN.search(found.pronoun):
        return (
            antecedent(reading.book, pronoun_gender(found.pronoun), [])
            if not before
            else before[-1].who
        )
    if before:
        return before[-1].who
    if (
        any(s.how == "user" and s.end <= found.start + 1 and s.start < 3 for s in spots)
        and found.formal
    ):
        return None
    if subject is not None and found.name in {subject.name, *subject.aliases}:
        return reading.topic
    if subject is None and found.sort in _CALLERS:
        return reading.topic
    return subject


def _newborn(reading: Reading, found: Naming, subject: Someone | None) -> Someone | None:
    """After a birth a pet name is the baby's."""
    if (
        subject is None
        or found.sort not in {"小名", "乳名", "叫", ""}
        or (not subject.named and subject.relation is None)
    ):
        return None
    told = " ".join(d.text() for d in reading.drafts[-4:] if d.subject is subject)
    if not re.search(r"生了|生下|出生|\bgave birth\b|had (?:a|the|her|their) baby", told):
        return None
    word = (
        "女儿"
        if re.search(r"女孩|女儿|闺女|千金|girl", told)
        else "儿子"
        if re.search(r"男孩|儿子|boy", told)
        else "孩子"
    )
    return relative_of(reading.book, subject, word)
