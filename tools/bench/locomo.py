"""LoCoMo (Maharana et al., ACL 2024): which turns of long conversations answer a question.

Every turn is a memory, of an end user per conversation, then of one for all of them.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tqdm import tqdm

from accounts.models import EndUser
from memories.types import Turn
from tools.bench.datasets import read_json
from tools.bench.retrieval import Library, Means, found, recall_at
from tools.bench.scratch import scratch_database

DEPTHS = (5, 10, 20)
POOLED_DEPTHS = (5, 10)
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}


def run(paths: Sequence[Path], progress: bool = True) -> dict[str, Any]:
    """Recall in per cent at several depths, by category, and with all conversations pooled."""
    conversations = [conversation for path in paths for conversation in read_json(path)]
    with scratch_database():
        library = Library()
        library.embed(turn.content for c in conversations for turn in _turns(c, 0))
        apart, pooled = Means(), Means()
        for number, conversation in enumerate(tqdm(conversations, disable=not progress)):
            turns = _turns(conversation, 0)
            end_user, memories = library.end_user(f"conversation {number}", turns)
            _ask(conversation, end_user, memories, 0, DEPTHS, apart)
        everything = [t for n, c in enumerate(conversations) for t in _turns(c, n)]
        end_user, memories = library.end_user("all conversations", everything)
        for number, conversation in enumerate(tqdm(conversations, disable=not progress)):
            _ask(conversation, end_user, memories, number, POOLED_DEPTHS, pooled)
    return {**apart.overall(), "by_category": apart.by_group(), "pooled": pooled.overall()}


def _numbers(conversation: Mapping[str, Any], number: int) -> dict[str, int]:
    """A number for each turn's own id, different between conversations."""
    ids = [turn["id"] for session in conversation["sessions"] for turn in session["turns"]]
    return {turn_id: number * 1_000_000 + place for place, turn_id in enumerate(ids)}


def _turns(conversation: Mapping[str, Any], number: int) -> list[Turn]:
    numbers = _numbers(conversation, number)
    return [
        Turn(
            id=numbers[turn["id"]],
            role="user",
            content=f"{turn['speaker']}: {turn['text']}",
            said_at=datetime.strptime(session["date"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC),
            session_id=f"{number}/{session['n']}",
        )
        for session in conversation["sessions"]
        for turn in session["turns"]
    ]


def _ask(
    conversation: Mapping[str, Any],
    end_user: EndUser,
    memories: Mapping[int, Any],
    number: int,
    depths: Sequence[int],
    means: Means,
) -> None:
    numbers = _numbers(conversation, number)
    for question in conversation["qa"]:
        if question["category"] not in CATEGORIES or not question["evidence"]:
            continue
        gold = {memories[numbers[turn_id]] for turn_id in question["evidence"]}
        ranked = found(end_user, question["question"], max(depths))
        scores = {f"recall@{k}": recall_at(ranked, gold, k) for k in depths}
        means.add(CATEGORIES[question["category"]], scores)
