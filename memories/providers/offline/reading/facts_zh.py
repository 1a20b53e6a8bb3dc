"""What a Chinese clause states about its subject: attribute keys and values in its own words."""

import re
from functools import lru_cache, partial

from memories.providers.offline.reading.facts import Value, stated
from understanding.dates.date_words import chinese_number
from understanding.lexicon import alternation, words
from understanding.lexicon.rules import Row, patterns, rows, sets
from understanding.segmentation import tag, tagged

RE = patterns(__file__)
_FACTS = rows(__file__, "facts")
_STRONGER = sets(__file__, "stronger")
# Firms that the segmenter's dictionary takes for places, verbs or the like (by hand).
FIRMS = words("organisations", "firms")


def facts(text: str) -> list[Value]:
    """The attribute values that ``text`` (one clause, subject included or not) states."""
    places = _places(text)
    rules = _rules(places, _firms(text, places))
    return stated(text, rules, _STRONGER, "zh", partial(_written, places))


def _written(places: tuple[str, ...], key: str, match: re.Match[str]) -> str:
    """A value in its usual form; nothing where its words are none of this key."""
    value = match.group("v").strip(" ，,的了")
    if RE.not_value.search(value) and key != "age":
        return ""
    if key == "company" and value in places:
        return ""
    employs = _employs(key, value, match.string[match.end("v") :])
    return _tidy(key, value) if value and employs else ""


def _employs(key: str, value: str, after: str) -> bool:
    """Whether a value can be an organisation, if ``key`` asks for one."""
    if key != "company":
        return True
    if value in {"银行", "医院"} and re.match(r"上班|工作|任职|就职", after):
        return True
    return not RE.not_org.search(value)


def _tidy(key: str, value: str) -> str:
    """A value in its usual form: digits for ages, 日 for days, no verbs before a job."""
    if key == "age" and not value.isdigit() and not value.endswith("后"):
        return str(chinese_number(value))
    if key == "birthday":
        return re.sub(r"号$", "日", value.replace(" ", ""))
    if key in {"job_title", "company", "pet"}:
        value = RE.leading.sub("", value)
    if key == "pet":
        return _pet(value)
    if key in {"diet", "allergy"}:
        value = re.sub(r"(?<=[\u4e00-\u9fff])[和跟](?=[\u4e00-\u9fff])", "、", value)
    if key == "likes" and len(value) > 2:
        return re.sub(r"^(?:喝|吃|看|听)(?=[\u4e00-\u9fff]{2})", "", value)
    return value


def _pet(value: str) -> str:
    """A pet and its name, if said: 一只叫毛球的兔子 → 兔子（毛球）."""
    value = re.sub(r"^一?[只条个匹]", "", value)
    match = re.fullmatch(r"(?:名?叫)(?P<n>.+?)的(?P<a>.++)|(?P<b>.+?)(?:名?叫)(?P<m>.++)", value)
    if match is None:
        return value
    return f"{match.group('a') or match.group('b')}（{match.group('n') or match.group('m')}）"


def _firms(text: str, places: tuple[str, ...]) -> tuple[str, ...]:
    """The X of 在X上班 that may name an employer, and of 在X当 where it is a known one: a noun that
    is no place and no time."""
    found = []
    for match in re.finditer(
        r"在\s?(?P<v>[\u4e00-\u9fff]{2,8}?)(?:那边|那儿)?(?P<does>上班|工作|任职|就职|当|做)", text
    ):
        value = match.group("v")
        known = value in FIRMS or value in words("organisations", "zh")
        noun = match["does"] not in ("当", "做") and tagged(value)[0][1][:1] in {"n", "j"}
        if known or (
            noun and not RE.not_firm.search(value) and not any(place in value for place in places)
        ):
            found.append(value)
    return tuple(found)


def _places(text: str) -> tuple[str, ...]:
    """Words of ``text`` that are places, by the segmenter's dictionary."""
    found = [
        word
        for word, flag in tagged(text)
        if flag in {"ns", "nsf"} and len(word) > 1 and word not in FIRMS and not word.endswith("人")
    ]
    for size in (4, 3, 2):
        for start in range(len(text) - size + 1):
            piece = text[start : start + size]
            if tag(piece) == "ns" and piece not in found and piece not in FIRMS:
                found.append(piece)
    found += [
        place
        for place in words("places_en", "known")
        if place in text and re.search(rf"(?<![A-Za-z]){re.escape(place)}(?![A-Za-z])", text)
    ]
    return tuple(sorted(set(found), key=lambda word: (-len(word), word)))


@lru_cache(maxsize=256)
def _rules(places: tuple[str, ...], firms: tuple[str, ...]) -> list[Row]:
    """The rules with the clause's own places and employers filled in."""
    own = {
        "{place}": f"(?:{alternation(places)}|新加坡)" if places else "",
        "{firm}": f"(?:{'|'.join(map(re.escape, firms))})" if firms else "",
    }
    filled: list[Row] = []
    for row in _FACTS:
        source = row["pattern"].pattern
        wanted = [name for name in own if name in source]
        if all(own[name] for name in wanted):
            for name in wanted:
                source = source.replace(name, own[name])
            filled.append({**row, "pattern": re.compile(source)} if wanted else row)
    return filled
