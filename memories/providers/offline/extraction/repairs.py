"""Corrections and retractions as they are worded, and values put right in a draft."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from contacts.lexicon import words
from contacts.segmentation import tagged
from memories.providers.offline.extraction.draft import Draft, Piece
from memories.providers.offline.extraction.facts import read_values
from memories.providers.offline.extraction.facts_zh import FIRMS, Value
from memories.types import ExtractedMemory

_V = r"[^，,。.！!；;？?\s]+(?:\s[^，,。.！!；;？?\s]+){0,3}?"
_NOT_BUT = [
    re.compile(rf"(?:不是|并非|不在|不叫|不去|没在)\s?(?P<old>{_V})\s?[，,、；;]?\s?(?:而是|是|应该是|改成|在|叫|去)\s?(?P<new>{_V})(?=[，,。.！!；;]|$)"),
    re.compile(rf"(?:是|在|叫|去)\s?(?P<new>{_V})\s?[，,]?\s?(?:不是|而不是|而非|不在|不叫)\s?(?P<old>{_V})(?=[，,。.！!；;]|$)"),
    re.compile(r"\b(?:it'?s |is |was |to |at )?not (?:at |in |on |to )?(?P<old>[\w'’& -]{2,30}?)[,;.]\s(?:but |it'?s |it is |he'?s |she'?s |at |in |on )*(?P<new>[\w'’& -]{2,30}?)(?=[,.;!]|$)", re.I),
    re.compile(r"\b(?P<new>[A-Z0-9][\w'’& -]{1,30}?), not (?:at |in |on )?(?P<old>[A-Z0-9][\w'’& -]{1,30}?)(?=[,.;!]|$)"),
]  # fmt: skip
# What may stand before the right value without being part of it.
_BEFORE_NEW = re.compile(
    r"^(?:(?:i meant|i mean|it['’]?s|it (?:is|was)|that['’]?s|actually|rather|sorry|no|我(?:想|是|要)?说的?是?|我的意思是|应该是|其实是?|而是|是)(?:[,，\s]+|(?=[\u4e00-\u9fff])))+",
    re.I,
)
_WORKS = re.compile(r"工作|上班|公司|单位|入职|跳槽|任职|就职")
_SHAPE = [
    re.compile(r"\b(?:actually|wait|sorry|no|oops)\b[,.\s]+(?:no,?\s)?(?:it['’]?s|it is|make it|that['’]?s)\s(?:due |on |at |in )*(?P<new>[\w'’&: -]{2,30}?)(?=[,.;!]|$)", re.I),
    re.compile(rf"(?:不对|错了|说错了|记错了|看错了|搞错了|搞混了|口误|更正(?:一下)?|纠正一下|改一下|sorry|抱歉|不好意思|等等|wait|oops|correction)[，,。.!！：:\s]*(?:no[,\s]+)?(?:应该是|是|其实是|改成|变成|it'?s |it is |make that |i meant )\s?(?P<new>{_V})(?=[，,。.！!；;]|$)", re.I),
    re.compile(r"\b(?:i meant|make that|scratch that,? (?:it'?s )?|correction:?|actually,? it'?s|actually,? make it|or rather)\s(?P<new>[\w'’&: -]{2,30}?)(?=[,.;!]|$)", re.I),
    re.compile(rf"(?:改到|改成|改为|改在|推迟到|延期到|延到|提前到|挪到|推到|换到|调到|改期到|改)(?:了|在)?\s?(?P<new>{_V})(?=[，,。.！!；;了]|$)"),
    re.compile(r"\b(?:moved|pushed|rescheduled|postponed|bumped|changed|switched|delayed)\s(?:it\s|back\s|up\s|forward\s)?(?:to|till|until)\s(?P<new>[\w'’: -]{2,30}?)(?=[,.;!]|$)", re.I),
]  # fmt: skip
_MISTAKE = re.compile(
    r"(?<!别)(?<!不要)(?<!会)(?<!老)(?<!没)(?:说|记|看|搞|弄|听|写|打)错|(?<!别)(?<!容易)(?<!会)(?:搞|弄)混|口误|更正|收回|\b(?:i misread|i misheard|i was wrong|my mistake|i mixed|i misspoke|i got (?:that|it) wrong|scratch (?:that|what)|ignore what i said|i take (?:that|it) back|correction)\b",
    re.I,
)
_ONLY_MISTAKE = re.compile(
    r"^[\s，,]*(?:哎|啊|哦|等等|sorry|wait|no|oh|我|刚才|刚刚|之前|上次|跟你|好像|是|,|，|\s)*(?:说|记|看|搞|弄|听)错了?[了啊哈]*$|^不对$|^(?:wait|no|oops|wait,? no|oh wait|sorry|my mistake|scratch that|correction)$",
    re.I,
)
_FALSE_START = re.compile(
    r"(?P<head>[^，,]{2,30}?)[\s，,]*(?:不对|说错了?|错了|\b(?:no,? wait|wait,? no|no,? sorry|sorry,? no))[，,]\s*(?P<rest>.{3,})$",
    re.I,
)
_ABOUT = re.compile(
    r"(?:关于|what i (?:just )?said about|about)\s?(?P<x>.{2,60}?)(?=[，,。]|$)", re.I
)
_STOP = re.compile(
    r"我(?:之前|刚才|刚刚)?(?:说|提)(?:的|过的)?|关于|那些?话|这件事|那件事|这事|那事|的事情?|一切|所有|忘掉|忘了|忘记|别记|不要|删掉|把|都|吧|还有件?事?|你|请|算了|了$|what i (?:just )?said|forget|about|everything|please|delete|scratch|that|the part|the thing|thing|\bi\b|said|told you|just|earlier|stuff|all|him|her|\bits?\b|was|is|getting",
    re.I,
)
_DATE = re.compile(
    r"\d{1,2}\s?月|\d{1,2}\s?[号日]|(?:这|本|下下|下|上)?个?(?:周|星期|礼拜)[一二三四五六日天末]|\d{1,2}\s?(?:点|:\d\d|[ap]m)|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\b(?:january|february|march|april|may|june|july|august|september|october|november|december)\b(?: \d+)?|\b\d{1,2}(?:st|nd|rd|th)\b|\d{4}-\d\d-\d\d|(?:今|明|后|昨)天|tomorrow|today|next week|下周|下个?月",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Replacement:
    """``new`` for ``old`` (empty: whatever has the same shape). ``whole``: the sentence does
    nothing but correct; ``start`` where in it the correction begins."""

    old: str
    new: str
    start: int
    whole: bool
    moved: bool = False


def replacement(text: str) -> Replacement | None:
    """The correction that ``text`` makes, if any."""
    for pattern in _NOT_BUT:
        match = pattern.search(text)
        if match and match.group("old").strip() != match.group("new").strip():
            if (
                any(word in match.group("old") for word in words("grammar_zh", "no_value"))
                or len(match.group("old")) > 24
            ):
                continue
            old = match.group("old").strip()
            new = _BEFORE_NEW.sub("", match.group("new").strip("了 ")) or match.group("new")
            if old[-1] == new[-1] and old[-1] in "的人" and len(old) > 2:
                old, new = old[:-1], new[:-1]
            return Replacement(old, new, match.start(), True)
    for number, pattern in enumerate(_SHAPE):
        match = pattern.search(text)
        if match and (number in (1, 2) or _DATE.search(match.group("new"))):
            return Replacement(
                "",
                match.group("new").strip(),
                match.start(),
                number < 3 or match.start() < 3,
                number >= 3,
            )
    return None


def without_false_start(text: str) -> str:
    """``text`` without what was begun and broken off: Ella is no wait, Ella is 31."""
    match = _FALSE_START.match(text)
    if match is None:
        return text
    head, rest = match.group("head"), match.group("rest")
    word = re.match(r"[A-Z]\w+", rest)
    sizes = [word.end()] if word else [4, 3, 2]
    for size in sizes:
        at = head.rfind(rest[:size])
        if at >= 0 and len(rest) > size:
            return head[:at] + rest
    return text


def joked_about(text: str) -> str:
    """What is said to have been a joke, in "刚才说…是开玩笑的"."""
    match = re.search(
        r"说(?P<x>.{2,20}?)(?:是|都是)?(?:在)?(?:开玩笑|骗你|逗你)|(?:about|said) (?P<e>.{3,40}?) (?:was|were|as) (?:a joke|joking|kidding)",
        text,
        re.I,
    )
    return (match.group("x") or match.group("e") or "") if match else ""


def cancels(text: str) -> bool:
    """The speaker calls a plan off."""
    return bool(
        re.search(
            r"^(?:那|还是)?(?:就)?(?:算了|取消吧?|不去了|不约了|作罢)|(?:先)?取消了|泡汤|\bcall(?:ed)? it off\b|\bit'?s (?:off|cancel+ed)\b",
            text.strip(" …。."),
            re.I,
        )
    )


def is_mistake(text: str) -> bool:
    """The speaker says that something said was wrong."""
    return bool(_MISTAKE.search(text))


def only_mistake(text: str) -> bool:
    """... and says nothing else."""
    return bool(_ONLY_MISTAKE.match(text.strip(" ，,。.!！"))) or bool(
        re.match(r"(?:and |oh |哦)?scratch", text, re.I)
    )


def about(text: str) -> str:
    """What a retraction is about, in its own words."""
    match = _ABOUT.search(text)
    return match.group("x") if match else ""


def keywords(text: str) -> list[str]:
    """The words of a retraction that tell which statement it means."""
    plain = _STOP.sub(" ", text)
    return [
        word
        for word, flag in tagged(plain)
        if len(word) > 1 and flag[0] in "nvaije" and not flag.startswith("nr")
    ]


def restated(sentence: str, change: Replacement) -> str:
    """The right value with the verb that links it to its subject: 在 for where somebody is or
    works (a place, a firm, or the correction says so), 是 otherwise."""
    new = change.new
    if new.startswith("在"):
        return new
    if f"{new}人" in sentence:
        return f"是{new}人"
    return ("在" if names_employer(sentence, change) else "是") + new


def names_employer(sentence: str, change: Replacement) -> bool:
    """Whether a correction speaks of a place or of work: 不是丰田，是本田."""
    if _DATE.search(change.new):
        return False
    firm = change.old in FIRMS or tagged(change.old)[0][1] in {"ns", "nz", "nt"}
    return firm or bool(_WORKS.search(sentence) or re.search(r"(?:不|没)在|[，,、 ]在", sentence))


def same_event(old: str, new: str, distance: int) -> bool:
    """Whether a moved date belongs to what ``old`` tells: a word in common, or just said."""
    words = {w for w, flag in tagged(new) if len(w) > 1 and flag[0] in "nv"}
    return any(word in old for word in words) or distance <= 2


def apply(draft: Draft, change: Replacement) -> bool:
    """Put ``change`` into ``draft``; False when it has no place there."""
    for piece in draft.pieces:
        if change.old and _belongs(piece, change):
            swap(piece, change.old, change.new)
            return True
    if change.old:
        return False
    shape = _DATE if _DATE.search(change.new) else None
    if shape is None:
        return False
    for piece in draft.pieces:
        match = shape.search(piece.text)
        if match:
            end = match.end()
            while True:
                more = shape.match(piece.text, end)
                if more is None:
                    break
                end = more.end()
            old = piece.text[match.start() : end]
            new = change.new
            if re.search(r"周|星期|day\b", new) and not re.search(r"点|:|[ap]m", new):
                old = match.group()
            swap(piece, old, new)
            return True
    return False


def _belongs(piece: Piece, change: Replacement) -> bool:
    """Whether the wrong words stand in ``piece`` as a value or a date, whole and nobody's name."""
    edge = r"(?<![A-Za-z0-9]){}(?![A-Za-z0-9])"
    match = re.search(edge.format(re.escape(change.old)), piece.text)
    if match is None or any(
        spot.start < match.end() and match.start() < spot.end for spot in piece.spots
    ):
        return False
    if _DATE.search(change.old) and _DATE.search(change.new):
        return True
    return any(
        (value.start <= match.start() and match.end() <= value.end)
        or (match.start() <= value.start and value.end <= match.end())
        or (value.start == value.end and change.old in value.value)
        for value in piece.values
    )


def swap(piece: Piece, old: str, new: str) -> None:
    """Write ``new`` where ``old`` stands first, and read the values of the clause again."""
    at = piece.text.index(old)
    shift = len(new) - len(old)
    piece.text = piece.text.replace(old, new, 1)
    for spot in piece.spots:
        if spot.start >= at + len(old):
            spot.start += shift
            spot.end += shift
    before = {value.key: value for value in piece.values}
    piece.values[:] = read_values(piece.text, piece.spots)
    for key, value in before.items():
        if all(found.key != key for found in piece.values):
            written = value.value.replace(old, new)
            if written != value.value:
                piece.values.append(Value(key, written, value.start, value.end))


# Values that are plain wrong once replaced; a proposal stays worth telling after the wedding.
_REPLACED = frozenset({"company", "location", "birthday", "age", "school", "height", "diet"})


def current_only(memories: list[ExtractedMemory]) -> list[ExtractedMemory]:
    """Of two values of one single attribute in a batch the later is current: a memory that
    holds only the earlier one gets an end date, taken from the later."""
    latest: dict[tuple[str, str], int] = {}
    for number, memory in enumerate(memories):
        for fact in memory.facts:
            if fact.key in _REPLACED:
                latest[fact.person, fact.key] = number
    kept: list[ExtractedMemory] = []
    for number, memory in enumerate(memories):
        newer = [
            memories[latest[fact.person, fact.key]]
            for fact in memory.facts
            if fact.key in _REPLACED
            and latest[fact.person, fact.key] != number
            and not _same(
                fact.value,
                [
                    f.value
                    for f in memories[latest[fact.person, fact.key]].facts
                    if f.key == fact.key
                ],
            )
        ]
        later = [m for m in newer if max(m.turn_ids) > max(memory.turn_ids)]
        if later:
            continue
        kept.append(replace(memory))
    return kept


# What was true until something else came to pass: (before, after) of one subject.
_OUTGROWN = [
    (
        re.compile(r"怀孕|预产期|怀了|pregnan|due (?:in|on)|expecting", re.I),
        re.compile(r"生了|生下|出生了|gave birth|had (?:a|the|her|their) baby|was born", re.I),
    ),
    (
        re.compile(
            r"在办|等签证|审批|waiting for (?:her|his|a|the) visa|visa\b.*\bpending",
            re.I,
        ),
        re.compile(r"approved|批了|下来了|通过了|拿到了", re.I),
    ),
    (
        re.compile(r"要跳槽|在面试|interviewing|looking for a (?:new )?job", re.I),
        re.compile(r"入职|拿到\S{0,4}offer|got the job|starts? at|joined", re.I),
    ),
    (
        re.compile(r"追|暧昧|相亲|a crush on", re.I),
        re.compile(r"在一起了|恋爱|结婚|got together|dating", re.I),
    ),
]


def without_outgrown(memories: list[ExtractedMemory]) -> Iterator[ExtractedMemory]:
    """The memories without those that a later one of the same people has overtaken."""
    for number, memory in enumerate(memories):
        later = [
            m
            for m in memories[number + 1 :]
            if m.people == memory.people and m.turn_ids != memory.turn_ids
        ]
        if not any(
            before.search(memory.content) and any(after.search(m.content) for m in later)
            for before, after in _OUTGROWN
        ):
            yield memory


def _same(value: str, others: list[str]) -> bool:
    return any(value in other or other in value for other in others)
