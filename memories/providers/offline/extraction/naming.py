"""What people are called: statements of names and aliases, and whose they are."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from contacts.lexicon import words
from contacts.resolution.namesakes import says_another
from contacts.segmentation import tagged
from contacts.text import HAN, normalise
from memories.providers.offline.extraction.draft import Draft, Piece
from memories.providers.offline.extraction.facts_zh import Value
from memories.providers.offline.extraction.name_spans import (
    LATIN_NAME,
    chinese_name_at,
    is_ordinary,
    is_stop_word,
    unlisted_name,
)
from memories.providers.offline.extraction.person_mentions import antecedent
from memories.providers.offline.extraction.reading_state import Reading
from memories.providers.offline.extraction.referents import (
    Book,
    Someone,
    Spot,
    relative_of,
    role_holder_before,
)
from memories.providers.offline.extraction.relation_words import pronoun_gender
from memories.providers.offline.lexicons import given_names, relations
from memories.types import Subtype, Turn

_Q = r"[“\"「'‘]?"
_END = r"(?=[”\"」’，,。.！!；;、\s（(]|$|的|就行|就好|吧|啦|哈|呢|来着|了)"
_LATIN = r"[A-ZÀ-Þ][\w'’À-ÿ-]*(?:\s[A-ZÀ-Þ][\w'’À-ÿ-]*){0,2}"
_HAN = r"[\u3400-\u9fff]{1,4}?"
_NAME = rf"(?P<n>{_HAN}|{_LATIN}|[a-z]{{3,12}})"
_BY_NAME_ZH = re.compile(
    rf"(?P<sort>大名|本名|真名|全名|姓名|名字|中文名字?|英文名字?|网名|小名|乳名|外号|绰号|昵称)(?:是|叫做?|就?叫|为|就是|：|:|\s)*\s?{_Q}{_NAME}{_END}"
)
_CALLED_ZH = re.compile(
    rf"(?P<all>大家|我们|同学们|同事们|全家|家里人|朋友们?|别人|我|都|一般|平时|以后)?(?:都|也|就|一直|习惯|爱|喜欢|直接|私下)*(?:叫做?|称呼?|喊)\s?(?P<p>他|她|TA|ta)?(?:叫)?\s?{_Q}{_NAME}{_END}"
)
_IS_ZH = re.compile(rf"(?:就是|也是|就叫|写着)\s?{_Q}{_NAME}{_END}")
_ALIAS_IS_ZH = re.compile(
    rf"(?:我说|说|提到|喊|叫)[“\"「]{_NAME}[”\"」]?\s?(?:也|就|都)?(?:是|指)(?:的(?:也|就)?是)?(?P<p>他|她)"
)
_WRITTEN_ZH = re.compile(
    rf"(?:牌子|名片|工牌|胸牌|门牌|署名|落款)\S{{0,3}}?(?:写着|写的是|是|印着)\s?{_Q}{_NAME}{_END}"
)
_NAME_EN = re.compile(
    rf"\b(?:(?P<owner>my|our|his|her)\s(?P<role>[\w -]{{2,24}}?)['’]s\s|(?P<pron>his|her|their)\s)?(?P<full>full\s|real\s|actual\s|first\s|last\s)?name(?:['’]s|\sis|\swas)\s(?:actually\s)?(?P<n>{_LATIN})"
)
_CALLED_EN = re.compile(
    rf"\b(?P<who>everyone|everybody|we all|we|people|friends|I|they|you can|just|his friends|her friends|all of us)\s(?:just\s|all\s|always\s|usually\s|also\s)*call(?:s|ed)?\s(?P<p>him|her|them|[A-Z]\w+)\s[“\"']?(?P<n>{_LATIN})"
)
_GOES_BY = re.compile(
    rf"\b(?:goes by|known as|nicknamed|is called|is named|named|called)\s[“\"']?(?P<n>{_LATIN})"
)
_PLAIN = re.compile(rf"^(?:and\s|yes,?\s)?(?P<n>{_LATIN})[.!]?$")
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
    for match in _BY_NAME_ZH.finditer(text):
        formal = match.group("sort") in {
            "大名",
            "本名",
            "真名",
            "全名",
            "姓名",
            "名字",
            "中文名",
            "中文名字",
        }
        _keep(found, text, match, formal)
    for match in _ALIAS_IS_ZH.finditer(text):
        _keep(found, text, match, False, match.group("p"))
    for match in _CALLED_ZH.finditer(text):
        pronoun = match.group("p") or ""
        everyone = bool(match.group("all")) or bool(pronoun)
        _keep(found, text, match, not everyone, pronoun)
    for match in _WRITTEN_ZH.finditer(text):
        _keep(found, text, match, True)
    for match in _NAME_EN.finditer(text):
        _keep(found, text, match, True, match.group("pron") or "")
    for match in _CALLED_EN.finditer(text):
        _keep(found, text, match, False, match.group("p"))
    for match in _GOES_BY.finditer(text):
        _keep(found, text, match, False)
    return found


def _equation(text: str, start: int) -> Naming | None:
    """X 就是 NAME, right after X's place in the clause."""
    match = re.compile(r"\s?" + _IS_ZH.pattern).match(text, start)
    if match is None:
        return None
    span = _name_span(text, match.start("n"))
    return Naming(text[span[0] : span[1]], True, start, span[0]) if span else None


def _bare_name(text: str) -> str | None:
    """The name that a whole clause consists of, as an answer to "what's their name?"."""
    stripped = text.strip(" “”\"'。.！!")
    first = stripped.split(" ")[0]
    if _PLAIN.match(stripped):
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


def _keep(
    found: list[Naming], text: str, match: re.Match[str], formal: bool, pronoun: str = ""
) -> None:
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
        name.islower() and match.re is not _CALLED_ZH
    ):
        return
    if all(naming.name_start != start for naming in found):
        groups = match.groupdict()
        sort = groups.get("sort") or groups.get("all") or groups.get("who") or ""
        found.append(Naming(name, formal, match.start(), start, pronoun, sort))


def _name_span(text: str, start: int) -> tuple[int, int] | None:
    end = chinese_name_at(text, start, strong=True)
    latin = LATIN_NAME.match(text, start)
    if latin:
        return start, latin.end()
    return (start, end) if end is not None else None


MAX_NAMES = 5
_CLOSES = r"(?=[\s，,。.！!；;、~～”\"」]|$|吧|就行|就好|就可以|哦|啦|呀|啊|，)"
_OWN_LATIN = r"[A-ZÀ-Þ][a-zà-ÿ'’-]+(?:\s[A-ZÀ-Þ][a-zà-ÿ'’-]+){0,2}"
_SAID_ZH = re.compile(
    rf"(?:^|[，,。！!；;\s])(?:我(?:的)?(?:全名|大名|本名|真名|中文名|英文名|名字|姓名)?(?P<is>名叫|就叫|叫做|叫|是|就是))\s?[“\"「]?(?P<n>[\u3400-\u9fff]{{2,4}}?|{_OWN_LATIN}){_CLOSES}"
)
_CALL_ME_ZH = re.compile(
    rf"(?:大家|朋友们?|同事们?|你|以后|可以|别人|都|就|也)*(?:叫|喊|称呼)我\s?[“\"「]?(?P<n>[\u3400-\u9fff]{{2,3}}?|{_OWN_LATIN}){_CLOSES}"
)
_SAID_EN = re.compile(
    rf"\b(?:[Mm]y (?:(?:full|first|real) )?name(?:['’]s| is)|(?:[Yy]ou can |[Pp]lease |[Jj]ust |[Ff]riends |[Ee]veryone |[Pp]eople )?[Cc]alls? me|I go by)\s(?P<n>{_OWN_LATIN})"
)
_I_AM = re.compile(
    rf"(?:^|[,.!]\s)(?:(?:[Hh]i|[Hh]ello|[Hh]ey)(?: there| Mio)?[,!.]?\s)?I(?:['’]m| am)\s(?P<n>{_OWN_LATIN})(?=[,.!]|$|\sand\sI\b|\sfrom\b)"
)


def own_names(text: str) -> Iterator[str]:
    """The names by which the user introduces themself in ``text``: 我叫…, I'm …, call me …"""
    for match in _SAID_ZH.finditer(text):
        if _is_name(text, match, sure=match.group("is") not in {"是", "就是", "叫"}):
            yield match.group("n")
    for match in _CALL_ME_ZH.finditer(text):
        if _is_name(text, match, sure=False) or _doubled(match.group("n")):
            yield match.group("n")
    for match in _SAID_EN.finditer(text):
        if (
            not is_stop_word(match.group("n").split()[0])
            and normalise(match.group("n")) not in relations()
        ):
            yield match.group("n")
    for match in _I_AM.finditer(text):
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


_SURNAME = re.compile(r"\s[A-Z][a-z]+(?=,|\.|$)")
# Those who call somebody something are not the one who is called it.
_CALLERS = words("grammar_zh", "callers")
_INTRODUCES = re.compile(
    r"(?:来了|有|认识了?|交了|找了|遇到了?|碰到了?|招了|请了|there's|there is|met|hired|have|got)[一两三]?个?(?:新)?$",
    re.I,
)
_ROLE_OF_NAME = re.compile(
    r"(?P<r>[\u4e00-\u9fffA-Za-z]{2,8}?)(?:是|叫)(?:谁|哪位)|\bwho(?:'s| is) (?:the|your) (?P<e>[\w ]{3,24})"
)


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
    reading.introduced = next(
        (s.who for s in introduced if _INTRODUCES.search(text[: s.start])), None
    )
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
        surname = _SURNAME.match(text, spot.end) if spot.how == "name" else None
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
    match = _ROLE_OF_NAME.search(reading.asked)
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
