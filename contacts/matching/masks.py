"""The stretches of a text where names are not people: addresses, code, titles of works,
hashtags, exercises, lyrics."""

import re
from collections.abc import Iterator

_QUOTED = r"(?:「[^」]*」|『[^』]*』|“[^”]*”|\"[^\"\n]*\"|‘[^’]*’)"

_ALWAYS = re.compile(
    "|".join(
        (
            r"```.*?(?:```|$)",
            r"`[^`\n]+`",
            r"(?:(?<![a-z0-9+.-])[a-z][a-z0-9+.-]*+://|www\.)[^\s，。！？；、「」“”（）]+",
            r"(?<![a-z0-9._%+-])[a-z0-9][a-z0-9._%+-]*+@[a-z0-9-]+(?:\.[a-z0-9-]+)+",
            r"(?<![a-z0-9.-])(?:[a-z0-9-]{1,63}\.){1,6}(?:com|net|org|io|cn|co|uk|dev|app|ai|me|info|edu|gov|tv|xyz)"
            r"(?:\.[a-z]{2})?(?:/[^\s，。！？；、]*)?(?![a-z0-9])",
            # Paths of files.
            r"[a-z]:\\[^\s，。！？；、\"]+",
            r"(?<![a-z0-9\u4e00-\u9fff])~?(?:/[\w.\-]+){2,}/?",
            r"(?<![a-z0-9_-])[a-z0-9_-]++\.(?:docx?|xlsx?|pptx?|pdf|txt|csv|zip|py|js|ts|java|jpe?g|png|gif|mp[34]|mov|md|json|ya?ml|html?|css|sql|log|exe|apk)(?![a-z0-9])",
            # Topics of Weibo.
            r"#[^#\s，。！？,.!?]{1,40}#",
            # Handles that are more than a name.
            r"@[a-z0-9]*[._0-9][a-z0-9._]*",
            # Titles of books, songs, films.
            r"《[^》]*》|〈[^〉]*〉",
        )
    ),
    re.DOTALL,
)

_CODE = re.compile(
    "|".join(
        (
            r"(?:insert\s+into|select\s.{1,200}?\sfrom|update\s+\w+\s+set|delete\s+from|create\s+table)\s[^;；。？]*",
            r"(?<![a-z])(?:def|fn|func|function) [a-z_][a-z0-9_]*\([^\n]*",
            r"(?<![a-z])class [a-z_][a-z0-9_]*(?:\([^()\n]*\))?(?::|\s*\{)[^\n]*",
            r"(?<![a-z])(?:const|let|var) [a-z_][a-z0-9_]*\s*=[^\n]*",
            r"(?<![a-z])from [a-z_.]+ import [^\n]*|(?<![a-z])lambda [a-z_, ]*:[^\n]*",
            r"(?<![a-z0-9_])(?=[a-z0-9_]{1,60}:)[a-z0-9_]*(?:error|exception):\s*[^，。\n]*",
            r"traceback \(most recent.*",
            # A command line with an option.
            r"(?<![a-z])(?:git|npm|npx|pip|docker|kubectl|sudo|curl|ssh|scp|chmod|brew|apt|python3?) "
            r"[^\n\u4e00-\u9fff]{0,80}? --?[a-z][^\n\u4e00-\u9fff]*",
            r"(?<![a-z0-9_.])[a-z_][a-z0-9_]*+(?:\.[a-z0-9_]++)*+"
            r"\((?:\s*|\d[^()\n]*|[^()\n]*[\"'=\[\]{}][^()\n]*)\)",
            r"(?<![a-z0-9_])[a-z_][a-z0-9_]*+\s*+(?:==?|!=|\+=|:=|->|=>)\s*(?:\"[^\"\n]*\"|'[^'\n]*'|\[[^\]\n]*\]|\{[^}\n]*\}|[\w.]+)",
            r"\{\s*['\"]\w+['\"]\s*:.*?\}",
            r"\[\s*['\"][^\]\n]*['\"]\s*\]",
            r"</?[a-z][^>\n]*>",
            r"\$[a-z_]\w*|\$\{[^}]*\}",
            r"(?:^|\n)\s*(?:\$|>>>|%) [^\n]*",
            r"(?<![a-z0-9_])[a-z0-9]++(?:_[a-z0-9]++)++(?![a-z0-9])",
        )
    ),
    re.DOTALL,
)

# What follows is an exercise, a sentence to translate, a line of a song.
_EXERCISE = re.compile(
    r"(?:这道?|下面这?道?|一道|那道?)(?:题|应用题|数学题|小题|奥数)[^:：]{0,12}[:：]|应用题[^:：]{0,8}[:：]|题目[^:：]{0,8}[:：]"
    r"|(?:造句|例句|病句|改错|完形填空|阅读理解|听力|默写|课文)[^:：]{0,8}[:：]"
    r"|(?:math|word|maths|algebra|physics) (?:problem|question|puzzle)[^:]{0,24}:"
    r"|(?:example|sample) sentences?[^:]{0,16}:|solve(?: this)?:|riddle[^:]{0,16}:"
)
_TRANSLATE = re.compile(
    r"翻译|译成|译为|translat|怎么读|造句|conjugate|proofread|grammar|语法|in (?:french|chinese|spanish|german|japanese)"
    r"|中译英|英译中|(?:correct|rewrite|rephrase|paraphrase|diagram|parse) (?:this|the) sentence|fix the (?:grammar|punctuation)"
)
_SUNG = re.compile(
    r"唱|歌词|这句词|lyric|sing(?:s|ing)?\b|sang|chorus|念了?一?句诗|背了?一?句诗|台词|"
    r"quote from|小说|课文|绘本|童话|电影里|剧里|the (?:novel|movie|film|song|poem|book)"
)
_MATHS = re.compile(
    r"(?:相向而行|每小时行|平均分给|一共有?多少|还剩(?:下)?(?:多少|几)|速度比|"
    r"how many .{0,40}(?:left|in total|altogether)|train leaves|per hour.{0,60}(?:when|how))"
)
_MATHS_NUMBERS = re.compile(
    r"\d|[一二三四五六七八九十百两][个只本元米支颗倍岁]|three|four|five|two|apples"
)


def masked(norm: str) -> bytearray:
    """For each code point of the normalised text, 1 where no one is named."""
    mask = bytearray(len(norm))

    def hide(start: int, end: int) -> None:
        mask[start:end] = b"\x01" * (end - start)

    for pattern in (_ALWAYS, _CODE):
        for match in pattern.finditer(norm):
            hide(*match.span())
    for match in _EXERCISE.finditer(norm):
        hide(match.end(), len(norm))
    for start, end in _quoted_stretches(norm):
        hide(start, end)
    if _MATHS.search(norm) and len(_MATHS_NUMBERS.findall(norm)) >= 2:
        hide(0, len(norm))
    return mask


def _quoted_stretches(norm: str) -> Iterator[tuple[int, int]]:
    """What is to be translated, and what is sung or read out."""
    quotes = [match.span() for match in re.finditer(_QUOTED, norm)]
    asked = _TRANSLATE.search(norm)
    if asked:
        yield from quotes
        colon = re.search(r"[:：]", norm[asked.end() :])
        if colon and not quotes:
            yield asked.end() + colon.end(), len(norm)
    for start, end in quotes:
        if _SUNG.search(norm[max(0, start - 14) : start]):
            yield start, end
