"""How long a context, a search and an ingest take, and what they cost as users grow.

Sizes are measured in turns (A B C A B C …), so that their ratios hold on a noisy machine. Whatever
embeds gets a new message each time: what was asked before is remembered, and would cost nothing.
"""

import random
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from itertools import count, product
from os import cpu_count
from pathlib import Path
from subprocess import DEVNULL, Popen
from typing import Any, TypeVar

import numpy as np
from django.utils import timezone
from tqdm import tqdm

from accounts.cells import atomic, connection
from accounts.models import App, EndUser
from contacts import store
from contacts.models import Contact, ContactKey
from memories.context import build
from memories.context.request import ContextRequest
from memories.models import Link, Memory
from memories.models.memory import content_hash
from memories.pipeline import store_memories
from memories.pipeline.buffer import Incoming, receive
from memories.providers.factory import embedder
from memories.search import recall
from memories.search.recall import SearchRequest
from memories.search.tokens import tokenise
from memories.types import Draft, ExtractedMemory, MemoryType, Subtype
from tools.bench import large
from tools.bench.measure import percentiles, timed
from tools.bench.scratch import scratch_database
from tools.bench.synthetic import Source
from understanding import names

USERS = 1000
CONTACTS = (10, 500, 5000)
MEMORIES = (50, 1000, 1800, 5000, 20_000)
USUAL = 1800
ROUNDS = 200
SEARCH_ROUNDS = 30
LOADED_ROUNDS = 60
INGEST_MESSAGES = 1000
STORED = 2000
CHUNK = 2000
QUESTION = "小红最近怎么样了，还在忙吗"

T = TypeVar("T")

_OPENINGS = ("", "听说", "对了，", "话说")
_TIMES = ("", "最近", "上周", "到底", "现在", "今年")
_DOINGS = "加班 出差 看书 跑步 学游泳 画画 搬家 装修 考试 写论文 找工作 带孩子 做饭 养猫 拍照 爬山 唱歌 钓鱼".split()
_ENDS = ("吗", "啊，你记得不", "呢，我想问问", "吗，她说过什么", "了没有")
_SURNAMES = "赵钱孙李周吴郑王冯陈褚卫蒋沈韩杨朱秦尤许何吕施张孔曹严华金魏"
_GIVEN = "伟芳娜敏静丽强磊军洋勇艳杰娟涛明超霞平刚玲桂鹏辉峰琳雪梅晨浩宇轩博文思远"
_TOPICS = ("在腾讯当工程师", "最近在学游泳", "养了一只橘猫", "下个月要去成都出差", "喜欢喝美式咖啡")


def run(_paths: Iterable[Path] = (), progress: bool = True, rows: int = 0) -> dict[str, Any]:
    """Percentiles in milliseconds and SQL statements; ``scale`` compares the sizes.

    ``embedding`` is that of a message alone; ``context_full`` and ``search``, of the person
    whom it names, hold it too. ``context_full_on_busy_cores``: while as many other processes as
    there are cores want all of them. With ``rows`` also searches in a table of so many memories.
    """
    with scratch_database():
        app = App.objects.create(name="bench")
        _crowd(app, progress)
        by_contacts = {n: _user_with_contacts(app, n) for n in CONTACTS}
        by_memories = {n: _user_with_memories(app, n, progress) for n in MEMORIES}
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")
        usual = by_memories[USUAL]
        messages = _messages()
        asked: dict[str, Callable[[], object]] = {
            "embedding": lambda: embedder().embed_query(next(messages)),
            "context_full": partial(_full, usual, messages),
            "search": partial(_search, usual, messages),
        }
        in_turns = _in_turns(asked, ROUNDS)
        with _busy_cores():
            loaded = _in_turns({"context_full": asked["context_full"]}, LOADED_ROUNDS)
        return {
            "context": _measure(lambda: _cards(usual)),
            **{name: percentiles(in_turns[name]) | {"sql": _sql(asked[name])} for name in asked},
            "context_full_over_embedding": _ratio(in_turns, "context_full", "embedding"),
            "context_full_on_busy_cores": percentiles(loaded["context_full"])
            | {"over_idle": _over(loaded["context_full"], in_turns["context_full"])},
            "ingest": {"messages_per_s": _ingest(app)},
            "store": {"memories_per_s": _store(app)},
            "scale": {
                "contacts": _compare({n: partial(_cards, u) for n, u in by_contacts.items()}),
                "memories": _compare({n: partial(_cards, u) for n, u in by_memories.items()}),
                "context_full": _compare(
                    {n: partial(_full, u, messages) for n, u in by_memories.items()}, SEARCH_ROUNDS
                ),
                "search": _compare(
                    {n: partial(_search, u, messages) for n, u in by_memories.items()},
                    SEARCH_ROUNDS,
                ),
            },
            **({"large": large.run(app, rows, progress=progress)} if rows else {}),
        }


def _cards(end_user: EndUser) -> None:
    build.build(end_user, ContextRequest(QUESTION, include=("cards",)))


def _full(end_user: EndUser, messages: Iterator[str]) -> None:
    """What a client waits for: the writes come after the answer."""
    build.trace(end_user, ContextRequest(next(messages), heal=True))


def _search(end_user: EndUser, messages: Iterator[str]) -> None:
    """A search as the context makes it."""
    contact = Contact.objects.of(end_user).values_list("pk", flat=True).get(name="小红")
    recall.search(
        end_user, SearchRequest(next(messages), contact_ids=[contact]), embedder=embedder()
    )


def _messages() -> Iterator[str]:
    """Messages about 小红 of about one length, none of them twice; half ask about a time."""
    made = [
        f"{opening}小红{when}怎么样了，还在忙着{doing}{end}"
        for opening, when, doing, end in product(_OPENINGS, _TIMES, _DOINGS, _ENDS)
    ]
    random.Random(1).shuffle(made)  # noqa: S311 the same for each run
    yield from made
    yield from (f"小红怎么样了，第{number}次问" for number in count(1))


@contextmanager
def _busy_cores() -> Iterator[None]:
    """As many processes as there are cores compute all the while."""
    loop = [sys.executable, "-c", "while True: pass"]
    processes = [Popen(loop, stdout=DEVNULL) for _ in range(cpu_count() or 1)]  # noqa: S603 our own
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def _measure(call: Callable[[], object], rounds: int = ROUNDS) -> dict[str, float]:
    call()
    return percentiles(timed([call] * rounds)) | {"sql": _sql(call)}


def _sql(call: Callable[[], object]) -> int:
    """How many statements it sends."""
    sent: list[object] = []

    def counted(execute: Callable[..., Any], *args: Any) -> Any:
        sent.append(None)
        return execute(*args)

    with connection.execute_wrapper(counted):
        call()
    return len(sent)


def _compare(calls: dict[int, Callable[[], object]], rounds: int = ROUNDS) -> dict[str, Any]:
    """Each size's percentiles, and the largest's median over the smallest's."""
    times = _in_turns(calls, rounds)
    smallest, largest = min(times), max(times)
    return {str(size): percentiles(values) for size, values in times.items()} | {
        f"p50_{largest}_over_{smallest}": _ratio(times, largest, smallest)
    }


def _in_turns(calls: Mapping[T, Callable[[], object]], rounds: int) -> dict[T, list[float]]:
    """The times of each, after a first one that warms up."""
    for call in calls.values():
        call()
    times = timed(call for _ in range(rounds) for call in calls.values())
    return {name: times[place :: len(calls)] for place, name in enumerate(calls)}


def _ratio(times: Mapping[T, Sequence[float]], one: T, other: T) -> float:
    return _over(times[one], times[other])


def _over(one: Sequence[float], other: Sequence[float]) -> float:
    """The median of one over that of the other."""
    return round(statistics.median(one) / statistics.median(other), 3)


def _crowd(app: App, progress: bool) -> None:
    """Other users with a few contacts each, so that the tables are not one user's."""
    users = EndUser.objects.bulk_create(
        [EndUser(app=app, external_id=f"user {n}", language="zh") for n in range(USERS)]
    )
    known = tqdm(users, desc="users", disable=not progress)
    _save_contacts([contact for user in known for contact in _contacts(user, 10)])


def _contacts(end_user: EndUser, count: int) -> list[Contact]:
    known = ["小红", *(_name(n) for n in range(count - 1))]
    return [
        Contact(
            end_user=end_user,
            name=name,
            name_key=names.name_key(name),
            relationship="朋友",
            attributes={"company": [{"value": "腾讯", "sources": [], "since": None}]},
            card=f"### {name}\n关系：朋友\n公司：腾讯",
        )
        for name in known
    ]


def _name(number: int) -> str:
    number, surname = divmod(number, len(_SURNAMES))
    number, first = divmod(number, len(_GIVEN))
    return _SURNAMES[surname] + _GIVEN[first] + _GIVEN[number % len(_GIVEN)]


def _save_contacts(contacts: list[Contact]) -> None:
    Contact.objects.bulk_create(contacts, batch_size=CHUNK)
    keys = {c.name: store.keys_of(c.person) for c in {c.name: c for c in contacts}.values()}
    ContactKey.objects.bulk_create(
        (
            ContactKey(end_user=c.end_user, contact=c, key=k.key, how=k.how, text=k.text)
            for c in contacts
            for k in keys[c.name]
        ),
        batch_size=CHUNK,
        ignore_conflicts=True,
    )


def _user_with_contacts(app: App, count: int) -> EndUser:
    end_user = EndUser.objects.create(app=app, external_id=f"{count} contacts", language="zh")
    _save_contacts(_contacts(end_user, count))
    return end_user


def _user_with_memories(app: App, count: int, progress: bool) -> EndUser:
    """A user whose contact 小红 has ``count`` linked memories, with random embeddings."""
    end_user = EndUser.objects.create(app=app, external_id=f"{count} memories", language="zh")
    _save_contacts(_contacts(end_user, 10))
    contact = Contact.objects.of(end_user).get(name="小红")
    noise = np.random.default_rng(count)
    dimensions = embedder().dimensions
    now = timezone.now()
    for start in tqdm(range(0, count, CHUNK), desc=f"{count} memories", disable=not progress):
        texts = [
            f"小红{_TOPICS[n % len(_TOPICS)]}，第{n}次提起"
            for n in range(start, min(start + CHUNK, count))
        ]
        vectors = noise.normal(size=(len(texts), dimensions))
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        rows = Memory.objects.bulk_create(
            Memory(
                end_user=end_user,
                content=text,
                content_hash=content_hash(text),
                tokens=tokenise(text),
                type="personal",
                subtype="friend",
                embedding_model=embedder().space,
                embedding=vectors[place],
                said_at=now - timedelta(minutes=count - start - place),
            )
            for place, text in enumerate(texts)
        )
        Link.objects.bulk_create(
            Link(end_user=end_user, contact=contact, memory=row, made_by=Link.MadeBy.EXTRACTOR)
            for row in rows
        )
    return end_user


def _ingest(app: App) -> float:
    """Messages a second through the receiving function, in requests of ten."""
    texts = [f"第{n}条消息，小红今天又加班了" for n in range(INGEST_MESSAGES)]
    started = time.perf_counter()
    for start in range(0, len(texts), 10):
        chunk = [
            Incoming("user", text, id=f"m{start + place}")
            for place, text in enumerate(texts[start : start + 10])
        ]
        receive(app, "ingest", chunk)
    return round(len(texts) / (time.perf_counter() - started), 1)


def _store(app: App) -> float:
    """Memories a second through the storing step of the pipeline, ten at a time, with vectors
    made before."""
    end_user = EndUser.objects.create(app=app, external_id="store", language="zh")
    vectors = Source(embedder().dimensions, seed=3).vectors(STORED).tolist()
    drafts = [_draft(n, vector) for n, vector in enumerate(vectors)]
    started = time.perf_counter()
    for at in range(0, STORED, 10):
        with atomic():
            store_memories.store(end_user, drafts[at : at + 10], {}, embedder().space)
    return round(STORED / (time.perf_counter() - started), 1)


def _draft(number: int, vector: list[float]) -> Draft:
    text = f"小红{_TOPICS[number % len(_TOPICS)]}，第{number}次提起"
    said = ExtractedMemory(text, MemoryType.PERSONAL, Subtype.FRIEND, (number,), quote=text)
    key, tokens = content_hash(text), tokenise(text)
    return Draft(key, text, timezone.now(), said, (), vector, tokens)
