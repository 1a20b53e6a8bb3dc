"""MemDaily (MemSim, Zhang et al. 2024): everyday statements in Chinese and questions on them.

Every message is a memory: of an end user per trajectory, then of one per profile. At last
each profile goes through the whole pipeline, and the answers are looked for in prompts.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from tqdm import tqdm

from accounts.models import App, EndUser
from memories.context import build
from memories.context.request import ContextRequest
from memories.pipeline import run as pipeline
from memories.pipeline.buffer import Incoming, receive
from memories.types import Turn
from tools.bench.datasets import read_json, read_lines
from tools.bench.retrieval import Library, Means, found, recall_at
from tools.bench.scratch import scratch_database
from understanding.text import normalise

DEPTHS = (5, 10)
ANSWERED_TYPES = ("simple", "conditional", "noisy")


def run(paths: Sequence[Path], progress: bool = True) -> dict[str, Any]:
    """Recall in per cent: of the targets among as many results (``recall@gold``), and of
    their facts among the first of a whole profile (``f@k``); then ``answer_in_context``."""
    rows = read_lines(paths[:1])
    facts = read_json(paths[1])
    profiles: dict[Any, list[dict[str, Any]]] = {}
    for row in rows:
        profiles.setdefault(row["profile"], []).append(row)
    with scratch_database():
        library = Library()
        library.embed(message["text"] for row in rows for message in row["messages"])
        alone, together = Means(), Means()
        for row in tqdm(rows, desc="trajectories", disable=not progress):
            _ask_alone(library, row, alone)
        for name, members in tqdm(profiles.items(), desc="profiles", disable=not progress):
            _ask_together(library, f"profile {name}", members, facts, together)
        answered = _answered(profiles, progress)
    by_type = {
        group: {**alone.by_group()[group], **scores}
        for group, scores in together.by_group().items()
    }
    return {**alone.overall(), **together.overall(), "by_type": by_type} | answered


def _turns(row: Mapping[str, Any], first: int = 0) -> list[Turn]:
    return [
        Turn(first + place, "user", message["text"], _when(message["time"]), row["id"])
        for place, message in enumerate(row["messages"])
    ]


def _when(text: str) -> datetime:
    """``2024年04月01日 周一 08:17``."""
    year, month, day, hour, minute = map(int, re.findall(r"\d+", text))
    return datetime(year, month, day, hour, minute, tzinfo=UTC)


def _ask_alone(library: Library, row: Mapping[str, Any], means: Means) -> None:
    turns = _turns(row)
    end_user, memories = library.end_user(row["id"], turns)
    places = {message["id"]: place for place, message in enumerate(row["messages"])}
    gold = [memories[places[target]] for target in row["target_ids"]]
    targets = len(set(row["target_ids"]))
    ranked = found(end_user, row["question"], targets)
    means.add(row["type"], {"recall@gold": recall_at(ranked, gold, targets)})


def _ask_together(
    library: Library,
    name: str,
    rows: Sequence[Mapping[str, Any]],
    facts: Mapping[str, Sequence[str]],
    means: Means,
) -> None:
    turns: list[Turn] = []
    places: dict[str, int] = {}
    for row in rows:
        more = _turns(row, len(turns))
        for turn, message in zip(more, row["messages"], strict=True):
            places[f"{row['id']}/{message['id']}"] = turn.id
        turns += more
    end_user, memories = library.end_user(name, turns)
    stated: dict[UUID, set[str]] = {}
    for message, place in places.items():
        stated.setdefault(memories[place], set()).update(facts.get(message, ()))
    for row in rows:
        targets = {f"{row['id']}/{target}" for target in row["target_ids"]}
        ranked = found(end_user, row["question"], max(DEPTHS))
        scores = {}
        for k in DEPTHS:
            top = set(ranked[:k])
            said = {fact for memory in top for fact in stated[memory]}
            hits = [memories[places[t]] in top or said & set(facts.get(t, ())) for t in targets]
            scores[f"f@{k}"] = sum(map(bool, hits)) / len(hits)
        means.add(row["type"], scores)


def _answered(
    profiles: Mapping[Any, Sequence[Mapping[str, Any]]], progress: bool
) -> dict[str, float]:
    """How often the answer stands in the prompt for the question, after the whole pipeline."""
    app = App.objects.create(name="pipeline")
    asked = right = 0
    for name, rows in tqdm(profiles.items(), desc="pipeline", disable=not progress):
        end_user = _remembered(app, f"profile {name}", rows)
        for row in rows:
            if row["entities"] == "roles" and row["type"] in ANSWERED_TYPES:
                prompt = build.build(end_user, ContextRequest(row["question"])).system_prompt
                asked += 1
                right += normalise(str(row["answer"])) in normalise(prompt)
    return {"answer_in_context": round(100 * right / asked, 1)} if asked else {}


def _remembered(app: App, name: str, rows: Sequence[Mapping[str, Any]]) -> EndUser:
    for row in rows:
        messages = [
            Incoming(
                "user",
                message["text"],
                id=f"{row['id']}/{message['id']}",
                created_at=_when(message["time"]),
                session_id=row["id"],
            )
            for message in row["messages"]
        ]
        receive(app, name, messages)
    end_user = EndUser.objects.get(app=app, external_id=name)
    pipeline.process(end_user.pk)
    end_user.refresh_from_db()  # their language was learnt
    return end_user
