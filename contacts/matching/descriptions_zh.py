"""Descriptions of people in Chinese: 那个45岁的家伙, 住在成都的那个同学, 谁在腾讯上班."""

import re
from collections.abc import Iterator, Mapping
from functools import cache

from contacts.lexicon import alternation, mapping
from contacts.matching.description_slots import (
    ANY,
    DOING,
    JOB,
    LIKING,
    ORIGIN,
    PET,
    PLACE,
    SCHOOL,
    WORK,
    heads,
)
from contacts.roles import terms
from contacts.text import is_han
from contacts.types import Constraint, Description

_NUMBER = r"[\d一二三四五六七八九十]+"
_DATE = rf"(?:\d{{4}}\s*年\s*)?{_NUMBER}\s*月\s*(?:初)?{_NUMBER}\s*[日号]?|\d{{1,2}}[-/.]\d{{1,2}}|\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}"
_WORKS = "上班|工作|任职|就职|当差|干活|打工|做事|供职|实习"
_STUDIES = "上学|读书|念书|上大学|读大学|留学|读研|读博|就读|念大学"
_HEADS = heads("zh")
_LABELLED = mapping("labels", "attributes", "zh")
_LABELS = alternation(_LABELLED)
_JOB_VERB = "当|做|是|担任|干"
_LIKES = "喜欢|爱好|喜爱|热爱|迷上|爱|擅长|会|精通"
_DOES = "玩|教|学|卖|开|写|修|练|拍|画|跑|打|弹|唱|跳|研究|从事|搞|收集|集"

# How a modifier is read: the first row that matches it whole says what is asked. A group
# named after its row's targets holds the value.
_Targets = Mapping[str, tuple[str, ...]]
_Rows = tuple[tuple[re.Pattern[str], _Targets], ...]
_READINGS: tuple[tuple[str, _Targets], ...] = (
    (rf"(?:今年|刚|快|才|已经)?(?:满)?(?P<v>{_NUMBER})(?:多)?岁(?:了)?", {"v": ("age",)}),
    (rf"(?:过)?(?:生日|出生日期)(?:是|在|为|:)?(?P<v>{_DATE})", {"v": ("birthday",)}),
    (rf"(?P<v>{_DATE})(?:过)?(?:的?生日|出生|生)", {"v": ("birthday",)}),
    (rf"(?:他的?|她的?)?(?P<label>{_LABELS})(?:地)?(?:是|为|叫|在|:|:)?(?P<v>.+)", {}),
    (rf"(?:现在|目前|一直)?在(?P<v>.+?)(?:{_JOB_VERB})(?P<w>.{{2,}})", {"v": WORK, "w": JOB}),
    (rf"(?:现在|目前|一直)?(?:在|于)(?P<v>.+?)(?:{_WORKS})", {"v": WORK}),
    (r"(?:就职|任职|供职|受雇)于(?P<v>.+)", {"v": WORK}),
    (rf"(?:现在|目前|一直)?在(?P<v>.+?)(?:{_STUDIES})", {"v": SCHOOL}),
    (r"毕业于(?P<v>.+)|(?:从)?(?P<w>.+?)毕业", {"v": SCHOOL, "w": (*SCHOOL, "major")}),
    (r"(?:现在|目前|一直)?(?:住|居住|定居|搬)(?:在|到|去|去了|到了)(?P<v>.+)", {"v": PLACE}),
    (r"(?:现在|目前|一直)?(?:人在|在)(?P<v>.+?)(?:居住|生活|定居|住|待着|安家)", {"v": PLACE}),
    (r"(?:来自|老家在|老家是|家乡在|家乡是|家在|出生在|生于|从)(?P<v>.+?)(?:来)?", {"v": ORIGIN}),
    (r"(?:家里)?(?:养|养了|养着|有)(?:一?[只条个]|两[只条个]|几[只条])?(?P<v>[^\s]{1,8})", {"v": PET}),
    (rf"(?:很|最|特别|超|超级|非常)?(?:{_LIKES})(?P<v>.+)", {"v": LIKING}),
    (rf"(?:{_JOB_VERB}|当了)(?P<v>.{{2,}})", {"v": JOB}),
    (r"对(?P<v>.+?)过敏", {"v": ("allergy", "diet", "health")}),
    (r"说(?P<v>.{1,4}[语话])", {"v": ("language", "skill")}),
    (r"在(?P<v>.+)", {"v": WORK}),
    (rf"(?:{_DOES})(?P<v>.+)", {"v": DOING}),
)  # fmt: skip
_ROWS: _Rows = tuple((re.compile(pattern), targets) for pattern, targets in _READINGS)
# Ways to say the same inside a modifier that add nothing to it.
_TRIM = re.compile(r"^(?:也|都|还|就|正|一直|以前|我|咱们?)+|(?:的|了|啊|呢)+$")
_INNER = r"[^，。！？,!?；;\n「」“”]"
_CLAUSE = re.compile(rf"{_INNER}+$")
_REACH = 30
_PLURAL = re.compile(r"们|都|群")
_ASKING = re.compile(
    r"(?:都)?(?:是谁|叫什么|叫啥|是哪位|是哪个|叫做什么|姓什么|有谁|有哪些|都有谁|的?名字|谁)"
)
_ASKED_OF = re.compile(
    r"叫什么|叫啥|是谁|是哪位|是哪个|叫做什么|名字|姓什么|谁来着|的(?:邮箱|电话|手机|联系|生日|年龄|年纪|身高|家乡|老家|名字|姓名|爱好|兴趣|性格|学历|教育|职业|单位|公司|工作|住)"
)


@cache
def _heads() -> str:
    """Nouns for a person, the longest first: 家伙, 姑娘 and every role word."""
    roles = (word for word in terms() if len(word) > 1 and all(map(is_han, word)))
    nouns = {word for word in _HEADS if not word.startswith("那")} | set(roles)
    return alternation(nouns)


@cache
def _opened() -> tuple[re.Pattern[str], ...]:
    """Descriptions that say where they begin: 那个在腾讯上班的人, 我在深圳的同事."""
    head = rf"(?P<head>{_heads()})"
    near = r"(?:那个|那位|那名|那|这个|这位|有个|有位|某个)"
    begins = "在|住|养|当|做|来自|教|学|喜欢|爱|会|老家"
    return (
        re.compile(rf"(?:我的?)?{near}(?P<mod>{_INNER}{{2,40}}?)的(?:那个|那位)?{head}"),
        re.compile(
            rf"我(?:的|那个|那位|有个|有位)?(?P<mod>(?:{begins}){_INNER}{{1,24}}?)的(?:那个|那位)?{head}"
        ),
    )


@cache
def _closed() -> re.Pattern[str]:
    """Where descriptions end that don't: 住在成都的 那个同学, 生日是5月12日 的人 是谁."""
    return re.compile(rf"(?:的?(?P<near>那个|那位|那名)|的)(?P<head>{_heads()})")


@cache
def _who() -> re.Pattern[str]:
    return re.compile(
        rf"有?(?:谁|哪位|(?:我的?)?(?:哪个|哪位|有哪些|哪些|哪几个)(?P<head>{_heads()}))"
        rf"(?:是|也|还|会)?(?P<mod>(?:在|住|养|当|做|是|来自|教|学|喜欢|爱|会|老家|生日|\d|今年){_INNER}{{1,20}}?)"
        r"(?:的|呢|来着|啊|呀|了)*(?=[？?，。,\s]|$)"
    )


_JOB = re.compile(
    rf"(?:那个|那位|那名|这个|这位)(?!在|当|做|住|养)(?P<mod>(?:(?!的)[\u4e00-\u9fffa-z]){{2,10}}?)(?=叫什么|叫啥|是谁|是哪位|姓什么|最近|现在|的(?:名字|姓名|{_LABELS})|怎么样|还好|[？?]|$)"
)
_OWNED = re.compile(
    rf"(?:^|[，。！？,!?:：；;\s是])(?P<mod>[\u4e00-\u9fff]{{3,14}}?)的(?:姓名|名字|{_LABELS})(?:地址|号码|号)?(?:是|叫|有|能|到底|的)?(?:是)?(?:多少|什么|啥|哪|几|谁)"
)
_COULD = re.compile(r"谁|哪|那|的|有个|有位")


def describe(norm: str) -> Iterator[Description]:
    """The descriptions in a normalised text; they may overlap."""
    if not _COULD.search(norm) or norm.isascii():
        return
    for pattern in _opened():
        for match in pattern.finditer(norm):
            if not _PLURAL.match(norm, match.end()):
                yield from _read(match, match["mod"], match.start("mod"), match.start())
    for match in _closed().finditer(norm):
        yield from _read_back(norm, match)
    for match in _who().finditer(norm):
        yield from _read(match, match["mod"], match.start("mod"), match.start())
    for pattern in (_JOB, _OWNED) if _ASKED_OF.search(norm) else (_JOB,):
        for match in pattern.finditer(norm):
            yield from _whole(match)


def _read_back(norm: str, match: re.Match[str]) -> Iterator[Description]:
    """What stands before the end of a description, in the same clause."""
    if _PLURAL.match(norm, match.end()):
        return
    before = _CLAUSE.search(norm[max(0, match.start() - _REACH) : match.start()])
    if before and len(before[0]) > 1 and (match["near"] or _ASKING.match(norm, match.end())):
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
    mod = _TRIM.sub("", mod.strip())
    for pattern, targets in _ROWS:
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
    return (Constraint(ANY, mod),) if last and len(mod) >= 2 else ()


def _whole(match: re.Match[str]) -> Iterator[Description]:
    """A job, or another value, that stands for the person: 那个护士, 语文老师的邮箱."""
    start, end = match.start("mod"), match.end("mod")
    if match["mod"] not in _HEADS:
        yield Description(start, end, (Constraint(JOB, match["mod"]),))
