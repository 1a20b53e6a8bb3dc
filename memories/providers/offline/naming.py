"""Statements about what somebody is called: 我妈叫沈桂兰, everyone calls him Gus, Nina 就是沈佳."""

import re
from dataclasses import dataclass

from contacts.lexicon import words
from contacts.segmentation import tagged
from contacts.text import normalise
from memories.providers.offline.lexicons import given_names, relations
from memories.providers.offline.names import chinese_name_at, is_ordinary
from memories.providers.offline.names_latin import LATIN_NAME, is_stop_word

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


def namings(text: str) -> list[Naming]:
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


def equation(text: str, start: int) -> Naming | None:
    """X 就是 NAME, right after X's place in the clause."""
    match = re.compile(r"\s?" + _IS_ZH.pattern).match(text, start)
    if match is None:
        return None
    span = _name_span(text, match.start("n"))
    return Naming(text[span[0] : span[1]], True, start, span[0]) if span else None


def bare_name(text: str) -> str | None:
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
