"""Age and gender of a person, as far as the records give them away."""

import re
from dataclasses import dataclass
from functools import lru_cache

from contacts.lexicon import titles
from contacts.names import name_key
from contacts.numerals import CARDINALS
from contacts.resolution.name_types import title_of
from contacts.resolution.records import Record
from contacts.resolution.text_overlap import plain, read
from contacts.roles import roles_of, terms
from contacts.text import is_han

# A round age covers its decade (六十多岁, in her sixties), an exact one the years that records
# of different age may differ by.
_DECADE, _SLACK = 10, 4
# What a person of that age is said to do: (pattern, youngest, oldest). Ages of the Chinese
# and the American school systems, legal retirement ages.
_STAGES: tuple[tuple[re.Pattern[str], int, int], ...] = tuple(
    (re.compile(pattern), low, high)
    for pattern, low, high in (
        (r"幼儿园|托班|preschool|kindergarten|toddler", 2, 7),
        (r"婴儿|刚出生|满月|newborn|\bbaby\b|months old|not sleeping yet|个月大", 0, 2),
        (
            r"小学(?!同|老|校友|时|毕业|教|的?数|的?语)|[1-6]年级|elementary school|grade school|\b[1-5] grade",
            6,
            13,
        ),
        (
            r"初中(?!同|老|校友|时|毕业|教)|初[1-3一二三]|middle school|junior high|\b[678] grade",
            11,
            16,
        ),
        (
            r"高中(?!同|老|校友|时|毕业|教|班主任)|高[1-3一二三]|艺考|high school(?! friend| classmate)|freshman|sophomore",
            14,
            20,
        ),
        (r"中学生|teenage", 11, 19),
        (r"大[1-4一二三四](?![一-鿿]{0,1}岁)|大学生|读大学|本科在读|in college|undergrad", 17, 25),
        (r"实习|校招|刚毕业|应届|first job|\bintern|fresh out|just graduated|new grad", 18, 29),
        (r"退休|养老|retire[ds]?\b|retiring|retirement|pensioner|grandchildren|抱孙", 48, 110),
        (
            r"开车|上班|离婚|结婚|已婚|怀孕|married|divorced|pregnant|landlord|mortgage|房贷",
            18,
            100,
        ),
    )
)
# Whoever teaches children isn't one, and whose child goes to school is a parent.
_TEACHES = re.compile(r"教|老师|班主任|校长|带班|teach|tutor|coach")
_CHILD = re.compile(
    r"^(?:他|她|有|的|个|两|一|家里)*(?:孩子|儿子|女儿|娃|小孩)|^(?:her|his|their|has|two|\W|a)*(?:kids?|son|daughter|child)"
)
_PARENT = (22, 75)
_OTHERS = re.compile(
    r"^(?:我|他的?|她的?|my |his |her )?(?:爸|妈|父|母|爷|奶|外婆|外公|哥|姐|弟|妹|老公|老婆|丈夫|妻子|mother|father|mom|dad|sister|brother|wife|husband)"
)
_FRAGMENT = re.compile(r"[,，;；。.、!！|()（）]| and (?=\D)")
_YEARS = re.compile(
    r"(?P<n>\d{1,3})(?P<more>多|来|几)?(?:岁|歲)|\b(?P<old>\d{1,3})(?:[ -]years?[ -]old|\s*yo\b)"
    r"|(?:in (?:his|her|their) )?(?:(?P<early>early|mid|late)[ -])?\b(?P<tens>[1-9]0)'?s\b"
    r"|^(?P<bare>\d{1,2})$|^(?:turned|aged?|is|turns|almost|nearly) (?P<aged>\d{1,2})\b"
)
_TENS = {
    word: str(number)
    for word, number in zip(
        "twenties thirties forties fifties sixties seventies eighties nineties".split(),
        range(20, 100, 10),
        strict=True,
    )
}
_FEMALE = re.compile(
    r"^女(?![儿友朋婿票])|[的个位是]女[生孩的]|女老师|女士|姑娘|怀孕|孕妇|产假|^她(?!们|的?[爸妈哥姐弟妹男老])"
    r"|^she\b|\bfemale\b|\ba (?:woman|girl)\b|^woman\b|^girl\b|maternity|pregnant"
)
_MALE = re.compile(
    r"^男(?![友朋票])|[的个位是]男[生孩的]|男老师|大叔|小伙|^他(?!们|的?[爸妈哥姐弟妹女老])"
    r"|^he\b|\bmale\b|\ba (?:man|guy|boy)\b|^man\b|^boy\b|widower"
)


@dataclass(frozen=True, slots=True)
class Age:
    """``low`` to ``high`` years; ``text`` is where it is from."""

    low: float
    high: float
    text: str

    def apart(self, other: "Age") -> bool:
        """Whether no one can be of both ages."""
        return self.low > other.high + 1 or other.low > self.high + 1


def ages(record: Record) -> tuple[Age, ...]:
    """Every age that the record gives away."""
    texts = [*record.told, *record.attributes.get("age", ())]
    return tuple(age for text in texts for age in _ages(text))


def conflict(first: Record, second: Record) -> tuple[Age, Age] | None:
    """Two ages that one person can't have, when no ages of the two agree."""
    pairs = [(a, b) for a in ages(first) for b in ages(second)]
    # A record that agrees with one of the other's ages (a child grew up) doesn't conflict.
    if any(not a.apart(b) for a, b in pairs):
        return None
    return pairs[0] if pairs else None


@lru_cache(maxsize=16384)
def _ages(text: str) -> tuple[Age, ...]:
    found: list[Age] = []
    for fragment in _FRAGMENT.split(plain(text)):
        fragment = fragment.strip()
        if not fragment or _OTHERS.match(fragment):
            continue
        if _CHILD.match(fragment) and re.search(r"上|读|school|grade|college|大学", fragment):
            found.append(Age(*_PARENT, text))
            continue
        if _CHILD.match(fragment):
            continue
        found += [Age(low, high, text) for low, high in _stated(fragment)]
        if not _TEACHES.search(fragment):
            found += [Age(low, high, text) for p, low, high in _STAGES if p.search(fragment)]
    return tuple(found)


def _stated(fragment: str) -> list[tuple[float, float]]:
    for word, number in _TENS.items():
        fragment = fragment.replace(word, f"{number}s")
    if fragment in CARDINALS:
        fragment = str(CARDINALS[fragment])
    found: list[tuple[float, float]] = []
    for match in _YEARS.finditer(fragment):
        given = match["n"] or match["old"] or match["bare"] or match["aged"]
        years = int(given or match["tens"])
        if years > 110 or "month" in fragment:
            continue
        if match["tens"] or match["more"]:
            found.append((years - 1, years + _DECADE))
        else:
            slack = _SLACK * min(1.0, years / 20)
            found.append((years - slack, years + slack))
    return found


def gender(record: Record) -> str:
    """female, male, or "" when the record says nothing or both."""
    if record.gender:
        return record.gender
    said = {g for text in record.told for g in _said(text)}
    if len(said) == 1:
        return said.pop()
    if said:
        return ""
    return _by_address(record)


@lru_cache(maxsize=16384)
def _said(text: str) -> tuple[str, ...]:
    found = set()
    for fragment in _FRAGMENT.split(plain(text)):
        if not _OTHERS.match(fragment.strip()):
            for word, pattern in (("female", _FEMALE), ("male", _MALE)):
                if pattern.search(fragment.strip()):
                    found.add(word)
    return tuple(sorted(found))


def _by_address(record: Record) -> str:
    found = {role.gender for text in (record.relationship,) for role in roles_of(text)}
    for name in record.names:
        key = name_key(name)
        _, title = title_of(key)
        table = titles("zh") if key and is_han(key[0]) else titles("en")
        if title in table:
            found.add(table[title].gender)
        if key in terms():
            found |= {role.gender for role in terms()[key]}
    found.discard("")
    return found.pop() if len(found) == 1 else ""


_DIED = re.compile(r"去世|过世|走了|离世|病逝|\bdied\b|passed away|\bdeath\b")
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")


def outlived(first: Record, second: Record) -> tuple[str, str] | None:
    """A fact that one died in a year, and one of the other from a later year."""
    for dead, living in ((first, second), (second, first)):
        for text in dead.told:
            year = _YEAR.search(text) if _DIED.search(text) else None
            if not year:
                continue
            for fact in living.told:
                if any(later > year[0] for later in _YEAR.findall(fact)):
                    return text, fact
    return None


_BORN = re.compile(r"生日|出生|[日号年]生|birthday|\bborn\b|生于")


def birthday(record: Record) -> str:
    """month/day of the birthday that the record states, or nothing."""
    texts = [text for text in record.told if _BORN.search(text)]
    for text in (*record.attributes.get("birthday", ()), *texts):
        for word in read([text]):
            if re.fullmatch(r"\d{1,2}/\d{1,2}", word):
                return word
    return ""


_SINGLE = re.compile(
    r"单身|未婚|没对象|\bsingle\b(?! (?:mother|mom|mum|dad|father|parent|malt))|never married"
)
_SETTLED = re.compile(
    r"已婚|结婚|[二三]胎|老公|老婆|丈夫|妻子|(?:他|她|的|有|个)(?:儿子|女儿|孩子)|产假|怀孕"
    r"|\bmarried\b|\b(?:her|his) (?:husband|wife|kids|son|daughter)\b|pregnant|maternity"
)
_NO_LONGER = re.compile(r"离婚|分手|下月|明年|准备|要结|divorc|engaged|will |going to")


def settled_apart(first: Record, second: Record) -> tuple[str, str] | None:
    """A fact that one is single, and one that the other has a spouse or children."""
    for one, other in ((first, second), (second, first)):
        single = next((text for text in one.told if _SINGLE.search(text)), "")
        married = next(
            (t for t in other.told if _SETTLED.search(t) and not _NO_LONGER.search(t)), ""
        )
        if single and married:
            return single, married
    return None
