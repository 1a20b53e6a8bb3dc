"""Fragments that complete the question or plan before them."""

import re
from datetime import timedelta

from contacts.segmentation import tagged
from contacts.text import HAN
from memories.dates import find_dates
from memories.dates.date_words import DateHit
from memories.providers.offline.extraction import repairs
from memories.providers.offline.extraction.draft import Draft, Piece
from memories.providers.offline.extraction.facts import read_values
from memories.providers.offline.extraction.reading_state import Reading
from memories.providers.offline.extraction.referents import Someone, Spot
from memories.providers.offline.extraction.stated_values import Value
from memories.types import Turn

_WH_ZH = re.compile(r"什么|哪里|哪儿|哪家|哪个|哪支|谁|多大|几岁|几号|哪天")
_DATE_WORDS = re.compile(
    r"^(?:就|是|在|对|嗯|好|那就|定在|改到|应该是|大概)+|(?:吧|呢|啊|哈|见|开始|左右)+$"
)


def is_beside_the_point(reading: Reading, subject: Someone | None, values: list[Value]) -> bool:
    """An answer without a subject to a question about no person says nothing of one."""
    about = reading.asked
    return (
        bool(about)
        and subject is not None
        and not values
        and not reading.asked_people
        and not _WH_ZH.search(about)
        and HAN.search(about) is not None
    )


def bare_workplace(text: str, sentence: str) -> list[Value]:
    """在珠海，格力的，做研发: a bare name before the job is the firm."""
    match = re.fullmatch(r"(?:在)?([\u4e00-\u9fff]{2,5}|[A-Z][A-Za-z]+)(?:的|那边)?", text)
    if match is None or not re.search(rf"{re.escape(text)}[，,]\s?(?:做|当|搞|负责)", sentence):
        return []
    if any(
        value.key in {"location", "school", "hometown", "job_title"}
        for value in read_values(text, [])
    ):
        return []
    return [Value("company", match.group(1), 0, 0)]


def fill_question(
    reading: Reading, text: str, spots: list[Spot], values: list[Value]
) -> tuple[str, list[Spot], list[Value]]:
    """A short answer takes the place of the question word: 学什么专业？物流 → 学物流专业."""
    asked = re.sub(r"^(?:那|所以|哦|啊|嗯)[，,\s]*", "", reading.asked)
    wh = _WH_ZH.search(asked)
    if (
        wh is None
        or len(text) > 10
        or values
        or spots
        or HAN.search(text) is None
        or re.search(r"[，,]", asked)
    ):
        return text, spots, values
    if re.search(r"什么(?:剧|名字)|怎么|为什么|什么时候", asked) or not _plain_noun(text):
        return text, spots, values
    filled = asked[: wh.start()] + text + asked[wh.end() :]
    filled = re.sub(r"[？?呢呀啊吗]+$", "", re.sub(r"在在", "在", filled))
    filled = (
        re.sub(r"^(?:他|她|你)(?:是|的)?(?=.)", "", filled)
        if re.match(r"他|她|你", filled)
        else filled
    )
    return filled, [], read_values(filled, [])


def refine_date(reading: Reading, text: str, turn: Turn) -> bool:
    """A clause that is only a date or time sharpens the plan spoken of last."""
    bare = _DATE_WORDS.sub("", text)
    hits = [hit for hit in find_dates(bare, turn.said_at, True) if hit.at is not None]
    if len(hits) != 1 or len(bare) - (hits[0].end - hits[0].start) > 1 or not reading.drafts:
        return False
    for draft in reversed(reading.drafts[-3:]):
        if draft.turn.id == turn.id:
            continue
        for piece in draft.pieces:
            old = [h for h in find_dates(piece.text, draft.turn.said_at, True) if h.at is not None]
            if old:
                repairs.swap(
                    piece, piece.text[old[0].start : old[0].end], _sharper(old[0], hits[0])
                )
                draft.extra_turns.append(turn.id)
                return True
    return False


def draft_own_pet(reading: Reading, turn: Turn, name: str, text: str) -> None:
    """The user's pet, with what is said of it in the same breath."""
    rest = re.sub(
        r"^(?:对+|是+的?|嗯+|没错|yes|yeah|yep)[，,。\s!！]*(?:啊|呀)?[，,]?",
        "",
        text.strip(),
        flags=re.I,
    ).strip("。.！! ")
    chinese = HAN.search(reading.asked) is not None
    chinese = chinese or HAN.search(name) is not None or reading.request.language == "zh"
    words = (
        f"养了宠物{name}" + (f"，{rest}" if rest else "")
        if chinese
        else f"has a pet, {name}" + (f": {rest}" if rest else "")
    )
    piece = Piece(
        ("我" if chinese else "I ") + words,
        [Spot(0, 1, None, "user", "我" if chinese else "I")],
        [Value("pet", name, 0, 0)],
        True,
    )
    reading.drafts.append(Draft(turn, None, [piece], quote=text.strip() or name))


def _plain_noun(text: str) -> bool:
    """A bare noun phrase, the kind of answer that fits into the question."""
    flags = [flag for _, flag in tagged(text)]
    return (
        bool(flags)
        and flags[-1][0] in "nxelmz"
        and not any(f[0] in "vdpcury" and f != "vn" for f in flags[:-1])
    )


def _sharper(old: DateHit, new: DateHit) -> str:
    """The date that two of them mean together: the day of the first with the time of the
    second when the second names the same weekday or none."""
    if old.at is None or new.at is None:
        return new.text
    whole_day = old.until is not None and old.until - old.at <= timedelta(days=1)
    if whole_day and new.at.weekday() == old.at.weekday():
        clock = new.text[10:]
        return f"{old.at:%Y-%m-%d}{clock}"
    return new.text
