"""Text of any script: its normal form with the way back, whether it is Chinese, its size, and
foreign text made safe and short enough for a prompt, a card or a page.

The normal form is one spelling for what people take for the same text: NFKC, traditional to
simplified Chinese (OpenCC's character table), case folding, accents dropped from Latin letters.
"""

import re
import threading
import unicodedata
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache

import regex
from opencc import OpenCC

# The blocks of Han: the main one, its extensions A to G and compatibility forms.
_HAN = ((0x3400, 0x4DC0), (0x4E00, 0xA000), (0xF900, 0xFB00), (0x20000, 0x31350))
_HAN_CLASS = "".join(f"{chr(start)}-{chr(end - 1)}" for start, end in _HAN)
# A Chinese character.
HAN = re.compile(f"[{_HAN_CLASS}]")
# A character of a script written without spaces or glued to its particles: Han, kana, Hangul.
CJK = re.compile(f"[{_HAN_CLASS}\u3040-\u30ff\uac00-\ud7a3]")
_local = threading.local()
_LATIN_WORD = re.compile(r"[A-Za-z]+")
# Folded in addition to OpenCC's table: variants in which names are written in all regions.
_HAN_VARIANTS = {"锺": "钟", "妳": "你", "祢": "你", "牠": "它"}
# Letters that Unicode doesn't decompose, by what people type instead.
_LATIN = dict(zip("øđłħıðŧſ’‘ʼ`", "odlhidts''''", strict=True)) | {
    "æ": "ae",
    "œ": "oe",
    "þ": "th",
    "ŋ": "n",
}
_DOTS = dict.fromkeys("•‧∙⋅・･᛫⸱", "·")


@cache
def _simplified_forms() -> dict[str, str]:
    """Returns every Han character that has another simplified form, with that form."""
    # One character a line keeps OpenCC's phrase rules out, so the map is a function of
    # the character alone and offsets stay exact.
    chars = [chr(code) for start, end in _HAN for code in range(start, end)]
    forms = OpenCC("t2s").convert("\n".join(chars)).split("\n")
    table = {char: form for char, form in zip(chars, forms, strict=True) if char != form}
    table.update(_HAN_VARIANTS)
    for char, form in list(table.items()):
        while form in table and table[form] != form:
            form = table[form]
        table[char] = form
    return table


def is_han(char: str) -> bool:
    """Whether ``char`` is a Chinese character."""
    code = ord(char)
    if 0x4E00 <= code < 0xA000:
        return True
    return code >= 0x3400 and any(start <= code < end for start, end in _HAN)


def is_cjk(char: str) -> bool:
    """Whether ``char`` is Han, kana or Hangul."""
    return CJK.match(char) is not None


def is_chinese(text: str) -> bool:
    """Whether ``text`` reads as Chinese (mixed text with Chinese grammar included)."""
    han = len(HAN.findall(text))
    return han > 0 and han * 3 >= len(_LATIN_WORD.findall(text))


def _joins_left(char: str) -> bool:
    """Whether ``char`` can fuse with the one before it under NFKC: marks and jamo."""
    first = unicodedata.normalize("NFKC", char)[:1]
    return bool(unicodedata.combining(first)) or "\u1160" <= first <= "\u11ff"


@lru_cache(maxsize=16384)
def _fold(cluster: str) -> str:
    """Returns the normal form of a character with its marks; folding it again changes nothing."""
    table = _simplified_forms()
    while True:
        composed = unicodedata.normalize("NFKC", cluster).casefold()
        out = []
        for char in unicodedata.normalize("NFKC", composed):
            bare = unicodedata.normalize("NFD", char)
            if bare[0].isascii() or bare[0] in _LATIN:
                char = "".join(c for c in bare if not unicodedata.combining(c))
            char = "".join(_LATIN.get(c, _DOTS.get(c, table.get(c, c))) for c in char)
            out.append(char)
        folded = "".join(out)
        # A mark left over from a Latin letter ("é" typed as two code points) goes too.
        if folded[:1].isascii():
            folded = "".join(c for c in folded if not unicodedata.combining(c))
        if folded == cluster:
            return folded
        cluster = folded


# A character and its marks: UAX #15 (stream-safe text) allows 30. More are left out, as ordering
# them takes quadratic time.
_LONGEST_CLUSTER = 31


def _folded_once(text: str) -> tuple[list[str], list[int]]:
    chars: list[str] = []
    offsets: list[int] = []
    start, size = 0, len(text)
    while start < size:
        end = start + 1
        while end < size and text[end] > "\u02ff" and _joins_left(text[end]):
            end += 1
        folded = _fold(text[start : min(end, start + _LONGEST_CLUSTER)])
        chars.append(folded)
        offsets.extend([start] * len(folded))
        start = end
    return chars, offsets


def normalise_with_offsets(text: str) -> tuple[str, list[int]]:
    """Returns the normal form, and for each of its code points the position in ``text`` that it
    came from, with ``len(text)`` at the end. :func:`original_span` converts spans back."""
    if text.isascii():
        return text.lower().replace("`", "'"), list(range(len(text) + 1))
    chars, offsets = _folded_once(text)
    norm = "".join(chars)
    while not norm.isascii():
        again, inner = _folded_once(norm)
        if "".join(again) == norm:
            break
        norm, offsets = "".join(again), [offsets[i] for i in inner]
    return norm, [*offsets, len(text)]


@lru_cache(maxsize=4096)  # a user's names are asked for at each of their mentions
def normalise(text: str) -> str:
    """Returns the normal form of ``text``; ``normalise(normalise(x)) == normalise(x)``."""
    return normalise_with_offsets(text)[0]


def folded(text: str) -> str:
    """Returns the normal form with white space as single spaces, for comparing texts."""
    return normalise(" ".join(text.split()))


def letters(text: str) -> str:
    """Returns the letters and digits of the normal form, for comparing values."""
    return "".join(filter(str.isalnum, normalise(text)))


def original_span(offsets: list[int], start: int, end: int) -> tuple[int, int]:
    """Returns the span of the original text for ``[start, end)`` of its normal form, widened to
    whole characters of the original."""
    last, stop = offsets[end - 1], end
    while stop < len(offsets) - 1 and offsets[stop] == last:
        stop += 1
    return offsets[start], offsets[stop]


def simplified(text: str) -> str:
    """Returns ``text`` with simplified characters for traditional ones, each in its place."""
    return text if text.isascii() else "".join(map(_simplified_character, text))


@lru_cache(maxsize=16384)
def _simplified_character(char: str) -> str:
    new = normalise(char) if is_han(char) else char
    return new if len(new) == 1 else char


_OPENING = re.compile(r"[“「『《【\"`]|(?<!\w)‘")
_CLOSING = {"“": "”", "「": "」", "『": "』", "‘": "’", "《": "》", "【": "】", '"': '"', "`": "`"}
# Characters that are invisible, or only a gap: controls and format characters (bidi overrides too),
# fillers, variation selectors and tag characters. Kept are a selector that makes an emoji of a
# sign, and the joiners of emoji (UTS #51) and within words (RFC 5892, appendix A.1 and A.2).
_INVISIBLE = regex.compile(
    r"""(?!(?<=[\p{ExtPict}--\p{EPres}])\ufe0f|(?<=[0-9\#*])\ufe0f(?=\u20e3)
    |(?<=\p{ExtPict}\ufe0f?|\p{EMod})\u200d(?=\p{ExtPict})|(?<=\p{ccc=9})[\u200c\u200d]
    |(?<=[\p{jt=L}\p{jt=D}][\p{jt=T}--\p{DI}]*)\u200c(?=[\p{jt=T}--\p{DI}]*[\p{jt=R}\p{jt=D}]))
    [\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{DI}\p{NChar}]""",
    regex.V1 | regex.X,
)
_SPACE = regex.compile(r"[\s\p{Z}\u2800]+")
_BLANKS = {ord("\t"): " ", 0x2800: " "}  # visible as a gap
# Tags, fences, tokens of chat templates and placeholders of others.
_BRACKETS = str.maketrans("<>＜＞`[]［］{}｛｝", "‹›‹›'()（）()（）")
# Signs that Markdown or a chat template reads as structure at the start of a line.
_LEADING = " #>*+=~|-"
# The roles of a conversation with a model, as transcripts and chat templates name them, in the
# normal form, and the signs between the name and the next word.
_ROLES = (
    r"(?<![^\W\d_])(?:system|assistant|user|human|ai|(?:chat)?bot|developer|tool|function|model"
    r"|instructions?|prompt|input|output|response|系统|助手|助理|用户|使用者|人类|开发者?|工具|函数"
    r"|模型|机器人|指令|提示词?)(?:[\W_]*(?:prompt|message|instructions?|提示词?|消息|指令))?"
)
_ROLE_HEAD = re.compile(rf"[\W\d_]*{_ROLES}(?![^\W_])(?P<between>[\W_]*)")
_ROLE_END = re.compile(rf"{_ROLES}[\W_]*\Z")
_COLON = re.compile("[:：﹕︓∶꞉ː]")
_ROLE_WIDTH = 32  # code points before a colon that are looked at for the name of a role


@lru_cache(maxsize=16384)
def stem(word: str) -> str:
    """Returns the stem of an English word (Porter 2)."""
    # A stemmer keeps its word in attributes, so each thread has one.
    if not hasattr(_local, "stemmer"):
        # Loaded at first use: it brings the rules of thirty languages.
        import snowballstemmer

        _local.stemmer = snowballstemmer.stemmer("english")
    return str(_local.stemmer.stemWord(word))


def quotations(text: str) -> list[tuple[int, int]]:
    """Returns the spans of ``text`` in quotation marks or code."""
    return enclosed(text, '“「『‘《"`', {"‘": 4})


def enclosed(
    text: str, opening: str, least: Mapping[str, int], to_the_end: str = ""
) -> list[tuple[int, int]]:
    """Returns the spans that the marks ``opening`` enclose, with the marks, from left to right,
    none within another, each longer than ``least`` has for its mark. A mark that is never closed
    encloses nothing, or the rest of the text if it is in ``to_the_end``. Linear, where a pattern
    would search for the end of each one anew."""
    spans: list[tuple[int, int]] = []
    closing: dict[str, int] = {}
    after = 0
    for match in _OPENING.finditer(text):
        start, close = match.start(), _CLOSING[match[0]]
        if start < after or match[0] not in opening:
            continue
        if closing.get(close, 0) <= start:
            closing[close] = text.find(close, start + 1) % (len(text) + 1)
        end = closing[close]
        if end < len(text) and end - start > least.get(match[0], 0):
            after = end + 1
        elif end == len(text) and match[0] in to_the_end:
            after = end
        else:
            continue
        spans.append((start, after))
    return spans


def joined_spans(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Returns spans in order and apart: those that touch as one, empty ones left out."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        elif start < end:
            joined.append((start, end))
    return joined


def outside(text: str, spans: Iterable[tuple[int, int]]) -> list[str]:
    """Returns the pieces of ``text`` before, between and after spans, which are in order."""
    edges = [0, *(edge for span in spans for edge in span), len(text)]
    return [text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True)]


def truncate(text: str, limit: int) -> str:
    """Returns ``text`` cut to at most ``limit`` grapheme clusters (UAX #29), the last one an
    ellipsis if something was cut. A code point or an emoji sequence is never split."""
    if len(text) <= limit:
        return text
    clusters = regex.findall(r"\X", text)
    if len(clusters) <= limit:
        return text
    return "".join(clusters[: limit - 1]).rstrip() + "…"


def middle_cut(text: str, limit: int) -> str:
    """Returns ``text`` shortened in its middle to at most ``limit`` code points or so: a long paste
    keeps its beginning and its end, where the user's own words are. No grapheme is split."""
    if len(text) <= limit:
        return text
    head = regex.findall(r"\X", text[: limit * 2 // 3])
    tail = regex.findall(r"\X", text[-(limit // 3) :])
    return "".join([*head[:-1], " … ", *tail[1:]])


def encodable(text: str) -> str:
    """Returns ``text`` with lone surrogates (no UTF-8) and NUL (the end of C strings) replaced."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\0", " ")


def clean(text: str, limit: int) -> str:
    """Returns ``text`` on one line, without invisible characters, at most ``limit`` graphemes."""
    visible_text = _INVISIBLE.sub("", _SPACE.sub(" ", text))
    return truncate(_SPACE.sub(" ", visible_text).strip(), limit)


def visible(text: str) -> str:
    """Returns ``text`` in its lines, without invisible characters such as bidi controls."""
    spaced = text.translate(_BLANKS)
    return "\n".join(_INVISIBLE.sub("", line) for line in spaced.split("\n"))


def initial(name: str) -> str:
    """Returns the first letter or digit of a name, else its first sign, with its marks: one
    grapheme cluster (UAX #29). Empty if nothing is visible."""
    clusters = regex.findall(r"\X", _SPACE.sub("", visible(name)))
    return next((c for c in clusters if c[0].isalnum()), clusters[0] if clusters else "")


def one_line(text: str, limit: int) -> str:
    """Returns ``text`` as harmless content of one line: also without tags, tokens of chat
    templates, code fences, leading markup or labels of roles, so that it can't pose as a heading, a
    role or a fence."""
    return truncate(defused(text).lstrip(_LEADING), limit)


def defused(line: str) -> str:
    """Returns ``line`` without tags and tokens, with a dash for the colon after a role's name."""
    line = clean(line, len(line)).translate(_BRACKETS)

    def dashed(colon: re.Match[str]) -> str:
        before = line[max(0, colon.start() - _ROLE_WIDTH) : colon.start()]
        return "–" if _ROLE_END.search(normalise(before)) else colon.group()

    return _COLON.sub(dashed, line)


def names_role(text: str, *, label: bool = False) -> bool:
    """Whether ``text`` begins with the name of a role in a conversation with a model; with
    ``label``, followed by a colon."""
    head = _ROLE_HEAD.match(normalise(text[: 2 * _ROLE_WIDTH]))
    return head is not None and (not label or ":" in head["between"])


def estimate_tokens(text: str) -> int:
    """Estimates how many model tokens ``text`` has: one per CJK character, one per four others.

    Close enough to keep a budget; the exact number depends on the model's tokeniser.
    """
    wide = len(CJK.findall(text))
    return wide + -(-(len(text) - wide) // 4)
