"""python -m tools storm: random verbs of many clients on the same users, then the doctor."""

import json
import random
import threading
import time
from argparse import ArgumentParser
from collections import Counter, deque
from collections.abc import Callable
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import quote

from django.core.management.base import BaseCommand, CommandError

from accounts.scope import all_users
from tools.served import Client, Site, extract_all, problems_left, served

USERS = ("wu", "ann", "赵/六")
NAMES = ("Ada", "Bea", "Cleo", "小红", "红红", "王芳", "Dora", "老李")
PLACES = ("Ghent", "Leeds", "杭州", "Turin", "上海", "York")
JOBS = ("nurse", "cook", "律师", "pilot", "老师")
SAYINGS = (
    "My friend {one} moved to {place}.",
    "{one} is {other}'s sister.",
    "我朋友{one}在{place}当{job}。",
    "{one}的生日是5月3日。",
    "My colleague {one} works as a {job} and likes {other}.",
    "她昨天去了{place}。",
    "{one} no longer lives in {place}.",
    "Please forget what I said about {one}.",
    "别记{one}的事了。",
    "{one}和{other}都喜欢爬山。",
    "I live in {place} and I am allergic to peanuts.",
)
KNOWN = 8  # verbs between two looks at which ids there are
SHOWN = 40  # verbs on a user that are told with a failure
ANY_ID = "00000000-0000-4000-8000-000000000000"


class Command(BaseCommand):
    help = (
        "Let clients do random things to the same few users over the real API, beside a worker. "
        "Nothing may answer 5xx or keep a client waiting, no work may stay stuck, and the doctor "
        "must be content. Exit code 1 with what was found, and the verbs that led to it. The last "
        "line is JSON."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--minutes", type=float, default=10)
        parser.add_argument("--seed", type=int, default=1, help="chooses the verbs of each client")
        parser.add_argument("--clients", type=int, default=8)
        parser.add_argument("--log", type=Path, help="every verb with its answer, a line each")

    @all_users()
    def handle(
        self, *, minutes: float, seed: int, clients: int, log: Path | None, **_options: Any
    ) -> None:
        with served() as site:
            storm = Storm(site, seed, clients)
            storm.run(minutes * 60)
            found = [*storm.failures, *extract_all(site.client()), *problems_left()]
        if log:
            log.write_text("".join(f"{line}\n" for line in storm.log), encoding="utf-8")
        for line in found:
            self.stderr.write(line)
        figures = {
            "seed": seed,
            "verbs": sum(storm.answers.values()),
            "answers": dict(sorted(storm.answers.items())),
            "longest_s": round(storm.longest, 2),
            "found": len(found),
        }
        self.stdout.write(json.dumps(figures))
        if found:
            raise CommandError(f"{len(found)} things were found with seed {seed}.")


class Storm:
    """The clients; what they found stands in ``failures``."""

    def __init__(self, site: Site, seed: int, clients: int) -> None:
        self.site, self.seed, self.clients = site, seed, clients
        self.failures: list[str] = []
        self.answers: Counter[int] = Counter()
        self.longest = 0.0
        self.log: list[str] = []
        self._latest = {user: deque[str](maxlen=SHOWN) for user in USERS}
        self._lock = threading.Lock()

    def run(self, seconds: float) -> None:
        """Has all clients call for so long."""
        until = time.monotonic() + seconds
        threads = [
            threading.Thread(target=self._client, args=(number, until))
            for number in range(self.clients)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _client(self, number: int, until: float) -> None:
        chance = random.Random(f"{self.seed}:{number}")  # noqa: S311 repeatable
        client, hands = self.site.client(), [Hand(chance, user) for user in USERS]
        while time.monotonic() < until:
            self._do(client, chance.choice(hands))

    def _do(self, client: Client, hand: "Hand") -> None:
        method, address, body = hand.next()
        started = time.monotonic()
        try:
            answer = client.call(method, f"users/{hand.at}/{address}", body)
        except (OSError, HTTPException) as error:
            self._note(hand, method, address, body, 0, type(error).__name__, started)
            return
        self._note(hand, method, address, body, answer.status, str(answer.body)[:200], started)
        if answer.status == 200 and method == "GET":
            hand.learn(address, answer.body)

    def _note(
        self, hand: "Hand", method: str, address: str, body: Any, status: int, text: str, at: float
    ) -> None:
        took = time.monotonic() - at
        line = json.dumps([round(at, 3), round(took, 3), hand.user, method, address, body, status],
                          ensure_ascii=False)  # fmt: skip
        with self._lock:
            self.answers[status] += 1
            self.longest = max(self.longest, took)
            self.log.append(line)
            self._latest[hand.user].append(line)
            # 503 with Retry-After: the model is waited for, or another writes to the user.
            if status == 0 or (status >= 500 and status != 503):
                before = "\n  ".join(self._latest[hand.user])
                self.failures.append(f"{status} {text}, seed {self.seed}, after\n  {before}")


class Hand:
    """What one client does to one user: chooses verbs, and knows the ids that it has read of."""

    def __init__(self, chance: random.Random, user: str) -> None:
        self.user, self.at = user, quote(user, safe="")
        self._chance = chance
        self._since = KNOWN
        self._reads: list[str] = []
        self._ids: dict[str, list[str]] = {"contacts": [], "memories": [], "changes": []}
        self._contents: dict[str, str] = {}

    def next(self) -> tuple[str, str, Any]:
        """Method, address below the user's, body."""
        self._since += 1
        if self._since > KNOWN:
            self._since = 0
            self._reads = ["contacts/", "memories/?status=all", "changes/"]
        if self._reads:
            return "GET", self._reads.pop(), None
        verb = self._chance.choices([v for v, _ in VERBS], [weight for _, weight in VERBS])[0]
        return verb(self)

    def learn(self, address: str, answer: Any) -> None:
        kind, _, rest = address.partition("/")
        if kind in self._ids and not rest.partition("?")[0]:
            self._ids[kind] = [row["id"] for row in answer["results"]]
            if kind == "memories":
                self._contents |= {row["id"]: row["content"] for row in answer["results"]}

    def one(self, kind: str) -> str:
        return self._chance.choice(self._ids[kind] or [ANY_ID])

    def sentence(self) -> str:
        pick = self._chance.choice
        return pick(SAYINGS).format(
            one=pick(NAMES), other=pick(NAMES), place=pick(PLACES), job=pick(JOBS)
        )

    def say(self) -> tuple[str, str, Any]:
        turns = [
            {"role": "user", "content": self.sentence()} for _ in range(self._chance.randint(1, 6))
        ]
        return "POST", "messages/", {"messages": turns}

    def process(self) -> tuple[str, str, Any]:
        return "POST", "process/", {"wait": self._chance.random() < 0.5}

    def context(self) -> tuple[str, str, Any]:
        return "POST", "context/", {"message": self.sentence()}

    def search(self) -> tuple[str, str, Any]:
        return "POST", "search/", {"query": self.sentence()}

    def read(self) -> tuple[str, str, Any]:
        addresses = [
            "export/", "forgetting/", f"contacts/{self.one('contacts')}/",
            f"memories/{self.one('memories')}/history/",
            f"memories/{self.one('memories')}/edges/?hops=2", f"changes/{self.one('changes')}/",
        ]  # fmt: skip
        return "GET", self._chance.choice(addresses), None

    def add_contact(self) -> tuple[str, str, Any]:
        return "POST", "contacts/", {"name": self._chance.choice(NAMES), "relationship": "friend"}

    def edit_contact(self) -> tuple[str, str, Any]:
        pick = self._chance.choice
        body = pick([
            {"name": pick(NAMES)}, {"aliases": [pick(NAMES)]}, {"relationship": "colleague"},
            {"attributes": {"location": [pick(PLACES)], "job_title": []}}, {"gender": "female"},
        ])  # fmt: skip
        return "PATCH", f"contacts/{self.one('contacts')}/", body

    def merge(self) -> tuple[str, str, Any]:
        return "POST", f"contacts/{self.one('contacts')}/merge/", {"into": self.one("contacts")}

    def differ(self) -> tuple[str, str, Any]:
        body = {"other": self.one("contacts")}
        return "POST", f"contacts/{self.one('contacts')}/not-the-same/", body

    def archive(self) -> tuple[str, str, Any]:
        body = {"archived": self._chance.random() < 0.5}
        return "POST", f"contacts/{self.one('contacts')}/archive/", body

    def split(self) -> tuple[str, str, Any]:
        body = {"memories": [self.one("memories")], "name": self._chance.choice(NAMES)}
        return "POST", f"contacts/{self.one('contacts')}/split/", body

    def resolve(self) -> tuple[str, str, Any]:
        body = {"key": "location", "value": self._chance.choice(PLACES)}
        return "POST", f"contacts/{self.one('contacts')}/resolve/", body

    def remember(self) -> tuple[str, str, Any]:
        return "POST", "memories/", {"content": self.sentence(), "contacts": [self.one("contacts")]}

    def edit_memory(self) -> tuple[str, str, Any]:
        body = self._chance.choice([
            {"content": self.sentence()}, {"status": "outdated"}, {"status": "active"},
            {"status": "archived"}, {"importance": 0.7}, {"importance": None},
        ])  # fmt: skip
        return "PATCH", f"memories/{self.one('memories')}/", body

    def move(self) -> tuple[str, str, Any]:
        body = {"from": self.one("contacts"), "to": self.one("contacts")}
        return "POST", f"memories/{self.one('memories')}/move/", body

    def link(self) -> tuple[str, str, Any]:
        body = {"contact": self.one("contacts")}
        return "POST", f"memories/{self.one('memories')}/links/", body

    def connect(self) -> tuple[str, str, Any]:
        body = {
            "target": self.one("memories"),
            "kind": self._chance.choice(["causes", "complements"]),
        }
        return "POST", f"memories/{self.one('memories')}/edges/", body

    def undo(self) -> tuple[str, str, Any]:
        body = {"with_later": self._chance.random() < 0.5}
        return "POST", f"changes/{self.one('changes')}/undo/", body

    def forget(self) -> tuple[str, str, Any]:
        choice = self._chance.random()
        if choice < 0.03:
            return "POST", "forget/", {"everything": True}
        kind = "contact" if choice < 0.4 else "memory"
        return "POST", "forget/", {kind: self.one("contacts" if kind == "contact" else "memories")}


VERBS: list[tuple[Callable[[Hand], tuple[str, str, Any]], int]] = [
    (Hand.say, 6), (Hand.process, 3), (Hand.context, 4), (Hand.search, 2), (Hand.read, 3),
    (Hand.add_contact, 3), (Hand.edit_contact, 3), (Hand.merge, 5), (Hand.differ, 4),
    (Hand.split, 2), (Hand.resolve, 1), (Hand.remember, 4), (Hand.edit_memory, 3), (Hand.move, 3),
    (Hand.archive, 1), (Hand.link, 3),
    (Hand.connect, 2), (Hand.undo, 6),
    (Hand.forget, 1),
]  # fmt: skip
