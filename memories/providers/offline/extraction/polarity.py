"""Whether what a predicate says of its value holds now: not denied, wished, nearly so or past."""

import re
from enum import Enum, auto

from contacts.lexicon import alternation, words
from memories.text.negation import NOT_EN, NOT_ZH


class Standing(Enum):
    """How a matched predicate stands: it holds, it held once, or it is not so (not yet)."""

    HOLDS = auto()
    PAST = auto()
    NOT = auto()


# Under which key a value that held once is kept; of other keys it is dropped.
FORMER = {"company": "former_company", "location": "former_location"}

# Keys whose own patterns hold a negation (doesn't like, 不吃, never): only what stands before
# the whole predicate can deny them.
_NEGATIVE = frozenset({"dislikes", "habit"})
# What somebody did once stays true of them.
_LASTING = frozenset(
    "school education major hometown birthday zodiac nationality former_company former_location "
    "plan email height gender".split()
)
# What somebody means to do is no state of theirs yet.
_SETTLED = frozenset(
    "company job_title location school major education marital_status vehicle possession pet "
    "diet habit".split()
)
_UNMOVED = frozenset({"plan"})  # a plan is wished for by nature
_ROUGH = frozenset({"age", "habit"})  # "almost 40" is an age, "almost always" a habit

# The tables below are compiled by hand from the grammars of the two languages.
_EN_BREAK = re.compile(
    r"[,;:.!?]|\b(?:but|because|since|who|which|while|though|although|then|so)\b"
    r"|\band\s(?=(?:\w+(?:s|ed|ing)|i|he|she|they|we|it|now|is|has|had|got|went|left|made)\b)",
    re.I,
)
_EN_NOT = re.compile(
    rf"(?:{NOT_EN}|\b(?:{alternation(words('negation', 'hedged'))})\b)"
    r"(?!\s(?:only|just|merely|simply|believe|help|until)\b)|\bno\s(?:\w+\s)?$",
    re.I,
)
_EN_ONCE = re.compile(
    r"\b(?:used to|no longer|no more|formerly|previously|once(?!\s(?:an?|in|again|every|more)\b)|stopped \w+ing|gave up|given up|resigned from|retired from|fired from|laid off (?:from|by)"
    r"|(?:quit|left|leaving|quitting|lost|resigned from) (?:(?:her|his|my|their|the|a|an|that|old)\s){0,2}(?:\w+\s)?(?:job|post|position|role|gig|internship)|(?:quit|quitting)\s\w+ing)\b",
    re.I,
)
_EN_ANYMORE = re.compile(r"^\s?(?:\w+\s){0,2}?(?:any ?more|any longer)\b", re.I)
_EN_DID = re.compile(r"(?:worked|lived|resided)\b", re.I)
_EN_PERFECT = re.compile(r"(?:\b(?:has|have|had)|['’](?:s|ve|d))\s(?:\w+\s)?$", re.I)
_EN_WISH = re.compile(
    r"\b(?:want(?:s|ed|ing)?|wanna|wish(?:es|ed|ing)?|hop(?:e|es|ed|ing)|hopefully|dream(?:s|t|ed|ing)?|would|thinking (?:of|about)|thought (?:of|about)|consider(?:s|ed|ing)?"
    r"|look(?:s|ed|ing)? (?:for|to|into)|tr(?:y|ies|ied|ying) to|appl(?:y|ies|ied|ying) (?:for|to)|interview(?:s|ed|ing)?|turn(?:s|ed|ing)? down|reject(?:s|ed)?|declin(?:es|ed)"
    r"|refus(?:es|ed)|fail(?:s|ed)?|pretend(?:s|ed|ing)?|long(?:s|ed|ing) to|dying to|if|whether|supposed to)\b|['’]d\s(?:like|love|rather|prefer)\b",
    re.I,
)
_EN_NEARLY = re.compile(r"\b(?:almost|nearly)\s(?:\w+\s)?$", re.I)
_EN_UNREAL = re.compile(r"(?:former|ex|aspiring|future|would-be|wannabe|fake)\b", re.I)
_EN_INTENDS = re.compile(
    r"\b(?:plan(?:s|ned|ning)?|intend(?:s|ed|ing)?|going to|gonna|(?-i:will)|about to|aims? to|expects? to|set to)\b|['’]ll\b",
    re.I,
)

_ZH_BREAK = re.compile(r"[，,。；;！!？?]|但是?|可是|不过|而是|所以|因为|后来|现在|如今|目前|结果")
# Words that may stand between 不/没 and the predicate that it denies.
_ZH_GLUE = r"(?:再|太|怎么|是很|是|有|想|要|会|能|可能|应该|肯|愿意?|打算|准备|计划|敢|必|需要|同意|觉得|认为|算|真的?|完全|都|也|常|经常|一直|一定|现在|去|来|在|对|到|过|跟|和|叫|住|\s|[他她我])*"
_ZH_NOT = re.compile(
    # Nor in what compares (不同, 不如), wonders or is a complement (不到, 不了).
    rf"(?<![得差要可了忍受])(?!不(?:同|知|得不|如|到|了))(?:{NOT_ZH})" + _ZH_GLUE + "$"
)
_ZH_NOT_IN_VALUE = re.compile(r"(?:不|没有?|不会|不再|并不)$")
_ZH_UNREAL = re.compile(
    r"(?:想|希望(?!小学|学校|工程)|梦想|打算|准备|不|没|以前|曾|前(?=[\u4e00-\u9fff]{2})(?!端|台|沿|锋|卫|程|进|海|期))"
)
_ZH_ANYMORE = re.compile(r"^[\u4e00-\u9fff]{0,3}?了")
_ZH_NO_LONGER = re.compile(r"不再|再也不|(?:已经|早就?|早已)不")
_ZH_ONCE = re.compile(
    r"(?<![年月天周久])(?:以前|之前)|曾(?:经|在|是|任|就|供)|从前|当年|小时候|年轻时候?|年轻的时候|那时候?|早年|早些年"
)
# A change that came about earlier still holds: 之前搬到…
_ZH_CHANGE = re.compile(r"搬|调|派|回|入职|跳槽|加入|落户|买|移居|去了|进了|考上|升")
_ZH_WISH = re.compile(
    r"(?:(?<![就只老天])想(?!起|到|念|必|法)|希望|梦想|渴望|盼望?|考虑|幻想|争取|应聘|面试|投了?简历|申请(?!到|上)|拒绝?|差点|差一点|险些)[^了，,。]{0,5}$"
)
_ZH_INTENDS = re.compile(r"(?:打算|准备|计划|将来|有朝一日)[^了，,。]{0,6}$")


def english(key: str, text: str, match: re.Match[str]) -> Standing:
    """How the value ``v`` of ``match`` stands in its English clause, for attribute ``key``."""
    begin = _begin(_EN_BREAK, text, match.start())
    before, lead = text[begin : match.start()], text[begin : match.start("v")]
    said = before if key in _NEGATIVE else lead
    denied = _EN_NOT.search(said)
    anymore = _EN_ANYMORE.search(text[match.end("v") :]) or re.search(
        r"\s(?:any ?more|any longer)$", match.group("v"), re.I
    )
    did = (
        key in FORMER
        and not denied
        and _EN_DID.match(match.group())
        and not _EN_PERFECT.search(before)
    )
    if _EN_ONCE.search(said) or (denied and anymore) or did:
        return Standing.HOLDS if key in _LASTING and not denied else Standing.PAST
    if denied or (key in _SETTLED and _EN_UNREAL.match(match.group("v"))):
        return Standing.NOT
    if key not in _ROUGH and _EN_NEARLY.search(lead):
        return Standing.NOT
    if key not in _UNMOVED and _EN_WISH.search(said):
        return Standing.NOT
    if key in _SETTLED and _EN_INTENDS.search(said):
        return Standing.NOT
    return Standing.HOLDS


def chinese(key: str, text: str, match: re.Match[str]) -> Standing:
    """How the value ``v`` of ``match`` stands in its Chinese clause, for attribute ``key``."""
    begin = _begin(_ZH_BREAK, text, match.start())
    before, lead = text[begin : match.start()], text[begin : match.start("v")]
    denied = _ZH_NOT.search(before) or (key not in _NEGATIVE and _ZH_NOT.search(lead))
    ended = _ZH_NO_LONGER.search(lead) or _ZH_ANYMORE.match(text[match.end("v") :])
    if denied and ended and key not in _NEGATIVE:
        return Standing.PAST
    if denied or (key not in _NEGATIVE and _ZH_NOT_IN_VALUE.search(match.group("v"))):
        return Standing.NOT
    if key in _SETTLED and key not in _NEGATIVE and _ZH_UNREAL.match(match.group("v").strip()):
        return Standing.NOT
    if (
        key not in _LASTING
        and _ZH_ONCE.search(text, begin, match.start("v"))
        and not _ZH_CHANGE.search(match.group())
    ):
        return Standing.PAST
    if key not in _UNMOVED and _ZH_WISH.search(before):
        return Standing.NOT
    if key in _SETTLED and _ZH_INTENDS.search(before):
        return Standing.NOT
    return Standing.HOLDS


def _begin(breaks: re.Pattern[str], text: str, end: int) -> int:
    """Where the part of the clause that the words at ``end`` belong to begins."""
    return max((m.end() for m in breaks.finditer(text) if m.end() <= end), default=0)
