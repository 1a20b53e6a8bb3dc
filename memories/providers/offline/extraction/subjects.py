"""Whom a clause is about, said or unsaid."""

import re

from contacts.resolution.namesakes import says_another
from contacts.segmentation import tagged
from contacts.text import HAN, normalise
from memories.providers.offline.extraction.person_mentions import find_spots
from memories.providers.offline.extraction.reading_state import Reading
from memories.providers.offline.extraction.referents import Book, Someone, Spot
from memories.text.sentences import Sentence, clauses
from memories.types import Turn

_SUBJECT_LEAD = re.compile(
    r"^[\s“\"]*(?:(?:今天|昨天|昨晚|明天|刚才?|刚刚|最近|现在|上周|下周|周末|后来|以前|之前|当时|其实|而且|不过|但是?|所以|因为|然后|结果|还有|另外|原来|反正|毕竟|听说|好像|可能|也许|看来|居然|竟然|终于|已经|今年|去年|明年|五一|国庆|春节|过年|以后|平时|一直|虽然|就是|"
    r"today|yesterday|tonight|tomorrow|now|also|and|but|so|because|then|well|oh|yes|yeah|no|actually|turns out|apparently|luckily|finally|plus|anyway|still|once|honestly|last \w+|this \w+|next \w+|on \w+day|breaking news|update|btw)[，,:：]?\s?)*$",
    re.I,
)
_WITH = re.compile(
    r"(?:^|[今昨明天晚早午刚又也想要还才约六日])(?:跟|和|与|陪|给|约|帮|替|找|见|送|请|带|去看|去接|收到|对|问|叫|为)了?\s?(?:我家|我的)?(?:[A-Z]\w+ ?的 ?)?$"
)
_INTRODUCES = re.compile(
    r"(?:来了|有|认识了?|交了|找了|遇到了?|碰到了?|招了|请了|there's|there is|met|hired|have|got)[一两三]?个?(?:新)?$",
    re.I,
)
_TELLS_OF = re.compile(
    r"^[^，,]*(?:有|认识|遇到|碰到|来)[^，,]*$|^(?:another|a different|there)\b|\bI(?:['’]ve| also| just)* (?:have|know|met|got)\b",
    re.I,
)
_SAYS = re.compile(
    r"(?:今天|昨天|刚才?|还|也|又|[跟和对]我|告诉我)*(?:说|提到|抱怨|告诉(?:我们?)?|听说|觉得|认为|透露)(?:过|了)?[，,：:]?\s?"
    r"|\s(?:just\s)?(?:says?|said|mentioned|told (?:me|us)|tells (?:me|us)|thinks?|thought|heard|meant|mean|knows|believes|claims|claimed|found out|announced)\s(?:that\s)?(?:(?:her|his|their|my)\s\w+\s)?"
    r"|介绍我们?认识了?(?:[他她]的?[\u4e00-\u9fff]{2,3})?|\sintroduced (?:me|us) to (?:(?:her|his|their)\s\S+\s)?",
    re.I,
)
_OBJECT_OF = re.compile(r"[比跟和对给把被让帮陪向找问为替]$")

# What the user has, uses, visits or attends, and what may be said of such a thing.
_THING = re.compile(
    r"(?:参加|参观了?|路过了?|用的\S{0,6}是|穿的\S{0,6}是|住的\S{0,6}[是叫]|(?:路过|参观|去|逛|住|用)的\S{0,8}?，?(?:是|叫)|买了(?:一?[个台部辆双])?)(?:那个|的|叫)?(?P<t>[\u4e00-\u9fffA-Za-z0-9·-]{3,18}?)(?=手机|系列|的|，|,|。|$|来着)"
)
_PROPERTY = re.compile(
    r"^[\u4e00-\u9fffA-Za-z0-9·-]{3,24}的(?:地点|时间|规模|主题|内容|主要内容|持续时间|主办方|票价|地址|价格)(?:是|在|为)"
)

# Small talk about the world at large: it has a subject of its own, and nothing to keep.
_IMPERSONAL = re.compile(
    r"^(?:今天|明天|昨天|昨晚|今晚|最近|这两天|这几天|现在|外面|这边|那边|早上|晚上|下午|中午|周末|今年|哇|唉|哎|诶|啊|还是|真的?|又|也|都|好像|终于|，|\s)*"
    r"(?:天气|气温|温度|空气|太阳|阳光|月亮|月色|外面|天(?=又|好|真|太|都|快|要|黑|亮|冷|热|晴|阴|凉|气)|雨(?=好|真|太|下|停|越)|雪(?=好|真|太|下|停|越)|雾霾|台风|交通|路况|地铁|公交|高铁(?=好|真|太|又)|高速(?=好|真|太|又)|堵车|停电|停水|网(?:络|速)"
    r"|(?:又|在|还|一直|突然|开始)?(?:下|刮)(?:着|了|起)?(?:大|小|暴)?(?:雨|雪|雾|冰雹|风)|(?:好|真|太|有点)(?:冷|热|闷|潮)(?:啊|了|呀|哦|$)|时间过得|日子过得)"
    r"|^(?:(?:wow|ugh|man|oh|well|so|today|and|but),?\s)*(?:it['’]?s (?:so |really |pretty |very |super |too )?(?:raining|snowing|hot|cold|sunny|cloudy|windy|humid|freezing|late|early|raining|nice out|monday|friday)|it (?:rained|snowed)|the (?:weather|traffic|sun|sky|rain|subway|train|wifi|internet|bus)\b|(?:nice|lovely|beautiful|terrible|awful|great) (?:day|weather|morning|evening)|traffic\b|weather\b)",
    re.I,
)

NEAR_HEAD = 8  # characters before the user that leave them the subject


def subject_of(reading: Reading, text: str, spots: list[Spot]) -> tuple[Someone | None, bool]:
    """Whom the clause is about, and whether it says so itself."""
    first = next((s for s in spots if s.how != "group"), None)
    met = next((s for s in spots if s.who is not None), None)
    opens_with_user = first is not None and first.who is None
    another = next((s for s in spots if says_another(text, s.start, s.end)), None)
    if another is not None and another.who is not None and _TELLS_OF.search(text[: another.start]):
        return another.who, True
    if opens_with_user and met is not None and _INTRODUCES.search(text[: met.start]):
        return met.who, True
    if met is None and re.match(r"(?:my|our)\s", text, re.I):
        return None, True
    if first is None:
        return reading.topic, False
    before = text[: first.start]
    if first.how == "owned" and first.who is not None and before.endswith("是"):
        return first.who.owner, True
    told_of = next(
        (
            s.who
            for s in spots
            if s.start >= first.end
            and s.who not in {None, first.who}
            and s.how != "pronoun"
            and _SAYS.fullmatch(text[first.end : s.start])
        ),
        None,
    )
    if told_of is not None:
        return told_of, True
    if _SUBJECT_LEAD.match(before):
        return first.who, True
    if first.who is None:
        return _beside_user(reading, before)
    return _after_words(reading, text, first, before)


def _beside_user(reading: Reading, before: str) -> tuple[Someone | None, bool]:
    """The clause names the user first, after other words: as its subject or its object."""
    topic = reading.topic
    if topic is not None and _OBJECT_OF.search(before):
        return topic, False
    if topic is not None and topic in reading.book.people and _has_verb(before):
        return topic, False
    return None, len(before) < NEAR_HEAD


def _after_words(
    reading: Reading, text: str, first: Spot, before: str
) -> tuple[Someone | None, bool]:
    """The clause names a person first, after other words."""
    if _WITH.search(before):
        return None, True
    if _INTRODUCES.search(before):
        return first.who, True
    after = text[first.end :]
    if not HAN.search(text) and re.match(r"(?:is|was)\s", after.lstrip()):
        return first.who, True
    nominal = re.match(r"[\u4e00-\u9fff]{0,6}的?$", before)
    if nominal and not re.match(r"是|：", after) and before.endswith(("的", "是")):
        return first.who, True
    return reading.topic, False


def surviving(book: Book, someone: Someone | None) -> Someone | None:
    """The person that ``someone`` became when two turned out to be one."""
    if someone is None or someone in book.people:
        return someone
    return book.by_name(someone.name)


def note_things(reading: Reading, text: str, spots: list[Spot]) -> None:
    """Remember the things that the user says they use, attend or pass by."""
    if any(spot.who is None for spot in spots):
        reading.things += [match.group("t") for match in _THING.finditer(text)]


def is_thing(reading: Reading, text: str) -> bool:
    """Whether a clause is about a thing of the user's world, by name."""
    return bool(_PROPERTY.match(text)) or any(text.startswith(thing) for thing in reading.things)


def is_impersonal(text: str, spots: list[Spot]) -> bool:
    """Whether a clause speaks of the weather, the traffic, the hour, and of nobody."""
    return not spots and bool(_IMPERSONAL.search(text))


def opens_with_banned(book: Book, text: str) -> bool:
    """A clause that opens with a pet, a star or somebody in a story."""
    head = normalise(text)
    return any(head.startswith(name) for name in book.banned if len(name) > 1)


def touch_people(reading: Reading, turn: Turn, text: str) -> None:
    """People in a question or an order are spoken of, though nothing is stated."""
    for clause in clauses(Sentence(text, 0)):
        spots = find_spots(reading, clause.text)
        note_people(reading.book, spots, turn)
        subject = next((spot for spot in spots if spot.who is not None), None)
        if subject is not None:
            reading.topic = subject.who


def note_people(book: Book, spots: list[Spot], turn: Turn) -> None:
    """Everybody in a clause has been spoken of in this turn, the first of them last."""
    for spot in reversed(spots):
        if spot.who is not None:
            book.touch(spot.who, turn.id)
            owner = spot.who.owner
            if owner is not None and spot.how == "owned" and turn.id not in owner.turn_ids:
                owner.turn_ids.append(turn.id)


def _has_verb(before: str) -> bool:
    """Whether the words before a spot hold a verb, which makes the spot its object."""
    if not HAN.search(before):
        return False
    if re.search(r"[周月天年号日晚早上午点]$", before.strip()):
        return False
    return (
        any(
            flag[0] == "v" and word not in {"是", "有", "要", "想", "会", "能"}
            for word, flag in tagged(before)
        )
        and len(before.strip()) > 1
    )
