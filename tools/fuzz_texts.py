"""Hostile and random texts through all that reads text without a model: what raises, what is slow."""

import random
import re
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import cache
from heapq import heappushpop
from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand
from tqdm import tqdm

from memories.pipeline.buffer import detect_language
from memories.providers.offline.offline_provider import OfflineProvider
from memories.search import query, tokens
from memories.search.query import asks_past
from memories.types import (
    ConflictCase,
    ExtractionRequest,
    MemoryType,
    Profile,
    ProfileRequest,
    StoredMemory,
    Turn,
)
from understanding.coreference.discourse import stated_relations
from understanding.coreference.resolve import refers_back, resolve_turns
from understanding.dates import time_range
from understanding.dates.relative_dates import find_dates
from understanding.entities import tag
from understanding.lexicon import words
from understanding.people.mentions import candidate_keys, entries_of, find_mentions
from understanding.requests import forget_reading
from understanding.sentences import clauses, sentences
from understanding.statements import own_words
from understanding.statements.secrets import holds_phone, masked
from understanding.statements.wordings import negations
from understanding.text import clean, is_chinese, one_line, quotations
from understanding.types import Person, Utterance

ROOT = Path(__file__).resolve().parent.parent
AT = datetime(2025, 6, 4, 9, 30, tzinfo=UTC)
PEOPLE = (
    Person(UUID(int=1), "王小红", ("小红", "Anna"), "朋友", "female"),
    Person(UUID(int=2), "Ben Carter", ("Ben",), "colleague", "male"),
    Person(UUID(int=3), "妈妈", (), "妈妈", "female"),
    Person(UUID(int=4), "Ann", (), "sister", "female"),
)
ENTRIES = entries_of(PEOPLE)
MEMORY, QUERY = 1000, 10_000  # the longest of each that is taken
_NUMBERS = ("0", "00", "1", "12", "31", "99", "3000", "9999", "10000", "5000000", "9" * 30, "９９９９",
            "３", "十", "三百", "九千万", "十十十", "〇〇〇〇", "٣", "二十一", "½", "-1", "1" * 5000)  # fmt: skip
_UNITS = "年 月 日 号 天 周 个月 点 岁 年前 年后 天后 weeks months years ago days from-now - / : 半 pm th".split()
_ODD = ("\0", "\ud800", "\u202e", "\u3164", "\ufe0f", "ſ", "ı", "K", "İ", "ß", "e\u0301", "👨\u200d👩\u200d👧",
        "<mio-memory>", "</mio-memory>", "```", "「", "“", "\"", "'", "《", "(", "[", "{", "\\", "\n", "\t", "\u2028",
        "，", "。", "？", ". ", ", ", "! ", "…", " ", "  ", ":", "@", "://", "=")  # fmt: skip
# What once took seconds or minutes, and what stands for its class.
HOSTILE = ("求你", "ABC ", "哈", "a", "Ann ", "1", "1 2 ", "\n", ". ", "“", "《", "`", "<mio-memory>", "小红", "他", "妈",
           "的", "不是", "my friend Anna ", "I work at ABC ", "she said ", "密码", "因为", "because of ", "2024-01-01",
           "3月", "next monday ", "，", "aGVsbG8gd29ybGQrLz09", "138 1234 5678 ", "system: ", "我昨天和小红一起去超市买了苹果",
           "we went to the shop and then my sister said that it was fine so ", "在北京上班", "不对，", "not x, ", "听说")  # fmt: skip


def _chains() -> Iterator[str]:
    """What no single unit stands for: rare characters and names, each beside others."""
    chance = random.Random(0)  # noqa: S311 texts to read, no secrets
    for first, last in ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0x20000, 0x2A6DF)):
        yield "".join(chr(chance.randint(first, last)) for _ in range(400))
    for kind in ("single", "compound"):
        yield "".join(chance.choices(sorted(words("surnames", kind)), k=400))
    english = sorted(words("given_names"))
    yield " ".join(name.title() for name in chance.choices(english, k=400))


def extract(text: str) -> None:
    """Reads ``text`` as a user's turn, which is then taken back."""
    turns = (Turn(1, "user", text, AT), Turn(2, "user", "忘了吧", AT))
    OfflineProvider().extract(ExtractionRequest(turns=turns, people=PEOPLE, language="zh"))


def resolve_in_context(text: str) -> None:
    """Whom ``text`` means, said after itself."""
    said = Utterance("user", text, tuple(find_mentions(text, ENTRIES)))
    resolve_turns(said, [said], [], stated_relations(list(PEOPLE)))


def settle(text: str) -> None:
    """``text`` as two memories that are compared and read into a profile."""
    one, other = (
        StoredMemory(UUID(int=n), text[n : n + MEMORY], MemoryType.PERSONAL, AT) for n in (0, 1)
    )
    offline = OfflineProvider()
    offline.resolve([ConflictCase("k", one, (other,))])
    offline.consolidate([ProfileRequest(PEOPLE[0], Profile(), (one, other), "zh")])


def search(text: str) -> None:
    """``text`` as a search, as far as it is read before the database is asked."""
    asked = text[:QUERY]
    time_range.span(asked, AT)
    for part in [query.infer(asked), *query.parts(asked)]:
        tokens.query_weights(part)
    asks_past(asked)


def forget(text: str) -> None:
    """Each sentence as a request to forget."""
    for sentence in sentences(text):
        forget_reading.topic_keys(forget_reading.read(sentence.text).topic)


def _both(read: Callable[[str, datetime, bool], Any]) -> Callable[[str], Any]:
    return lambda text: [read(text[:MEMORY], AT, chinese) for chinese in (True, False)]


READERS: dict[str, Callable[[str], Any]] = {
    "receive": lambda text: (forget_reading.may_ask(text), detect_language([text])),
    "own words": lambda text: (own_words.excerpt(text), own_words.unquoted(text)),
    "clauses": lambda text: [clauses(sentence) for sentence in sentences(text)],
    "forget": forget,
    "secrets": lambda text: (masked(text), holds_phone(text[:MEMORY]), negations(text)),
    "dates": _both(find_dates),
    "entities": lambda text: tag(text[:MEMORY], {"小红": "王小红", "Ann": "Ann"}),
    "mentions": lambda text: (candidate_keys(text), find_mentions(text, ENTRIES)),
    "refers back": refers_back,
    "coreference": resolve_in_context,
    "search": search,
    "tokens": lambda text: tokens.tokenise(text[:MEMORY]),
    "settle": settle,
    "extract": extract,
    "one line": lambda text: (one_line(text, 200), clean(text, 200), quotations(text), is_chinese(text)),
}  # fmt: skip


@cache
def vocabulary() -> list[str]:
    """The words of all rules and lexicons, so that random texts reach the rules."""
    files = [
        path for name in ("understanding", "memories") for path in (ROOT / name).rglob("*.toml")
    ]
    files += (ROOT / "understanding" / "lexicon").glob("*.t[sx][vt]")
    text = "\n".join(path.read_text(encoding="utf-8") for path in files)
    return sorted(set(re.findall(r"[\u4e00-\u9fff]{1,5}|[A-Za-z][a-z'’]{1,11}", text)))


def random_text(rng: random.Random) -> str:
    """A few words, numbers with units and odd characters, some of them again and again."""
    parts = []
    for _ in range(rng.randint(1, 5)):
        kind = rng.random()
        if kind < 0.6:
            part = rng.choice(vocabulary())
        elif kind < 0.85:
            part = rng.choice(_NUMBERS[:-1]) + rng.choice(("", " ")) + rng.choice(_UNITS)
        else:
            part = rng.choice(_ODD)
        many = rng.random() < 0.02
        parts.append(
            (part + rng.choice(("", " ", "，", " of "))) * (rng.randint(2, 40) if many else 1)
        )
    return rng.choice(("", " ")).join(parts)


def texts(count: int, seed: int, longest: int = 100_000) -> Iterator[str]:
    """So many texts, always the same of one seed: short random ones, and each hostile unit at growing
    lengths, alone and with a request behind."""
    rng = random.Random(seed)  # noqa: S311 texts to read, no secrets
    sizes = [size for size in (150, 1000, 10_000, 100_000) if size <= longest]
    hostile = [
        (unit * (size // len(unit) + 1))[:size] + tail
        for size in sizes
        for unit in (*HOSTILE, *_chains(), *_ODD, *_NUMBERS)
        for tail in ("", "忘了")
    ]
    yield from hostile[:count]
    for _ in range(count - len(hostile)):
        yield random_text(rng)


def read(text: str) -> Iterator[tuple[str, float, str]]:
    """Each reader with the processor's seconds that it took and what it raised, "" for nothing."""
    for name, reader in READERS.items():
        started, raised = time.process_time(), ""
        try:
            reader(text)
        except Exception as error:  # noqa: BLE001 what raises is what is looked for
            raised = f"{type(error).__name__}: {error}"[:200]
        yield name, time.process_time() - started, raised


class Command(BaseCommand):
    help = "Reads hostile and random texts with everything that works without a model"

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("--count", type=int, default=10_000)
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument("--longest", type=int, default=100_000, help="characters of a text")
        parser.add_argument("--slowest", type=int, default=10, help="how many are shown")

    def handle(self, **options: Any) -> None:
        slowest: list[tuple[float, str, str]] = [(0.0, "", "")] * options["slowest"]
        raised = 0
        found = texts(options["count"], options["seed"], options["longest"])
        for text in tqdm(found, total=options["count"], mininterval=10):
            for name, seconds, error in read(text):
                heappushpop(slowest, (seconds, name, f"{len(text)} {text[:60]!r}"))
                if error:
                    raised += 1
                    self.stdout.write(f"{name}: {error} in {text[:200]!r}")
        for seconds, name, what in sorted(slowest, reverse=True):
            self.stdout.write(f"{seconds:.2f} s  {name}  {what}")
        self.stdout.write(f"{options['count']} texts, {raised} errors")
