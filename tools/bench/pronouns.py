"""Whom do pronouns, zero subjects and role words mean? On the function that injection uses."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm

from memories.context.who import doubted
from tools.bench.datasets import people_of, read_lines
from tools.bench.metrics import SetCase, ratio, score_sets
from understanding.coreference.discourse import stated_relations
from understanding.coreference.resolve import resolve_turns
from understanding.people.mentions import entries_of, find_mentions
from understanding.types import Entry, Utterance


def run(paths: Iterable[Path], progress: bool = True) -> dict[str, Any]:
    """As for mentions; contacts that the message names literally count on neither side."""
    cases, asked = [], 0
    for case in tqdm(read_lines(paths), desc="pronouns", disable=not progress):
        people = people_of(case)
        keys = {person.id: key for key, person in people.items()}
        entries = entries_of(people.values())
        message = _utterance("user", case["message"], entries)
        history = _utterances(case["history"], entries)
        *_, meant = resolve_turns(
            message,
            history,
            _utterances(case.get("last_session") or (), entries),
            stated_relations(list(people.values())),
        )
        people_in_session = {m.person.id: m.person for turn in history for m in turn.mentions}
        asked += (
            doubted(case["message"], [*message.mentions, *meant], people_in_session) is not None
        )
        named = frozenset(case.get("named") or ())
        given = frozenset(keys[mention.person.id] for mention in meant)
        cases.append(SetCase(case["tag"], frozenset(case["expect"]) - named, given - named))
    return score_sets(cases) | {"asked": ratio(asked, len(cases))}


def _utterances(turns: Sequence[dict[str, str]], entries: Sequence[Entry]) -> list[Utterance]:
    return [_utterance(turn["role"], turn["text"], entries) for turn in turns]


def _utterance(role: str, text: str, entries: Sequence[Entry]) -> Utterance:
    return Utterance(role, text, tuple(find_mentions(text, entries)))
