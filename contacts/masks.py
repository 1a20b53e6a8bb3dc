"""The stretches of a text where names are not people: addresses, code, titles of works,
hashtags, exercises, lyrics."""

import re

_QUOTED = r"(?:「[^」]*」|『[^』]*』|“[^”]*”|\"[^\"\n]*\"|‘[^’]*’)"

_ALWAYS = re.compile(
    "|".join(
        (
            r"```.*?(?:```|$)",
            r"`[^`\n]+`",
            r"(?:[a-z][a-z0-9+.-]*://|www\.)[^\s，。！？；、「」“”（）]+",
            r"[a-z0-9][a-z0-9._%+-]*@[a-z0-9-]+(?:\.[a-z0-9-]+)+",
            r"(?<![a-z0-9])(?:[a-z0-9-]+\.)+(?:com|net|org|io|cn|co|uk|dev|app|ai|me|info|edu|gov|tv|xyz)"
            r"(?:\.[a-z]{2})?(?:/[^\s，。！？；、]*)?(?![a-z0-9])",
            # Paths of files.
            r"[a-z]:\\[^\s，。！？；、\"]+",
            r"(?<![a-z0-9\u4e00-\u9fff])~?(?:/[\w.\-]+){2,}/?",
            r"[\w\-\u4e00-\u9fff]+\.(?:docx?|xlsx?|pptx?|pdf|txt|csv|zip|py|js|ts|java|jpe?g|png|gif|mp[34]|mov|md|json|ya?ml|html?|css|sql|log|exe|apk)(?![a-z0-9])",
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
            r"(?<![a-z])(?:def|class|function|fn|func|import|const|let|var|return|print|console\.log|lambda)"
            r"[ \t(][^\n#]*[(){}=;\[\]:][^\n]*",
            r"(?<![a-z])[a-z]\w*(?:error|exception)\s*:\s*[^，。\n]*",
            r"traceback \(most recent.*",
            # A command line with an option.
            r"(?<![a-z])(?:git|npm|npx|pip|docker|kubectl|sudo|curl|ssh|scp|chmod|brew|apt|python3?) "
            r"[^\n\u4e00-\u9fff]{0,80}? --?[a-z][^\n\u4e00-\u9fff]*",
            r"(?<![a-z0-9_])\w+(?:\.\w+)*\([^()\n\u4e00-\u9fff]*\)",
            r"(?<![a-z0-9_])[a-z_]\w*\s*(?:==?|!=|\+=|:=|->|=>)\s*(?:\"[^\"\n]*\"|'[^'\n]*'|\[[^\]\n]*\]|\{[^}\n]*\}|[\w.]+)",
            r"\{\s*['\"]\w+['\"]\s*:.*?\}",
            r"\[\s*['\"][^\]\n]*['\"]\s*\]",
            r"</?[a-z][^>\n]*>",
            r"\$[a-z_]\w*|\$\{[^}]*\}",
            r"(?:^|\n)\s*(?:\$|>>>|%) [^\n]*",
            r"(?<![a-z0-9])(?:[a-z0-9]+_)+[a-z0-9]+(?![a-z0-9])",
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
# Names that are only ever in exercises: the people of textbooks.
_WORK_OF_PUPILS = re.compile(
    r"(?:作文|小作文|周记|征文)(?:的?题目|题|标题)?(?:是|叫|为)?\s*(?=[《「“\"])"
)
_MATHS = re.compile(
    r"(?:相向而行|相遇|平均分|一共有?多少|还剩(?:下)?(?:多少|几)|多少(?:个|只|本|元|千米|米)|几(?:个|只|本)[?？]|速度比|求.{0,6}[的是]|"
    r"how many .{0,40}(?:left|have|total|altogether)|how much .{0,40}(?:left|each)|train leaves|per hour.{0,60}(?:when|how))"
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
    quotes = list(re.finditer(_QUOTED, norm))
    asked = _TRANSLATE.search(norm)
    if asked:
        for quote in quotes:
            hide(*quote.span())
        colon = re.search(r"[:：]", norm[asked.end() :])
        if colon and not quotes:
            hide(asked.end() + colon.end(), len(norm))
    for quote in quotes:
        if _SUNG.search(norm[max(0, quote.start() - 14) : quote.start()]):
            hide(*quote.span())
    if _MATHS.search(norm) and len(_MATHS_NUMBERS.findall(norm)) >= 2:
        hide(0, len(norm))
    return mask
