"""T4, a life: told message by message over months, with questions in between.

A probe is passed where the context has each needed fact, nothing that would be wrong, nothing that the
user asked to forget, and old values only as what used to be.
"""

import json
import re
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmark.scoring import holds, holds_any, normalised
from benchmark.system import Message, System
from benchmark.timing import Clock

LIVES = Path(__file__).resolve().parent.parent / "lives"
# Probes of everyday kinds, reported apart.
ORDINARY = frozenset(("ordinary", "small_talk", "name", "kinship", "alias", "preference"))
# So many messages a chat application gives its model anyway: probes whose needed words stand in none
# of them are reported apart, since only a memory can answer them.
RECENT = 20
# Nobody who worked on Mio has read these: of their probes only totals were looked at.
UNSEEN = ("i", "j")
PARTS = ("needed", "nothing_wrong", "nothing_forgotten", "nothing_old")
# What marks a line as of the past.
_PAST = re.compile(
    r"以前|之前|曾|原来|原先|旧|过去|不再|已改|改为|改到|更正|取消|推迟|离职|搬走|到此为止|前(?:公司|任|老板|男友|女友)"
    r"|until|formerly|former|previous|used to|no longer|\bwas\b|\bwere\b|\bleft\b|moved from|ended|"
    r"outdated|superseded|\bex\b|ex-|corrected|changed|postponed|~~|→|->"
)


def run(system: System, names: Sequence[str], clock: Clock) -> dict[str, Any]:
    """The share of probes that pass, as a whole and by their parts; of ordinary and hard ones, and of
    those that need what was told long ago (``far``), and those of ``UNSEEN`` lives. ``passed`` by tag."""
    rows: list[dict[str, Any]] = []
    for name in names:
        life = json.loads((LIVES / f"{name}.json").read_text("utf-8"))
        rows += [{**row, "life": name} for row in play(system, life, clock)]
    tags: dict[str, list[bool]] = defaultdict(list)
    for row in rows:
        tags[row["tag"]].append(row["passed"])
    groups = {
        "all": rows,
        "ordinary": [row for row in rows if row["tag"] in ORDINARY],
        "far": [row for row in rows if row["far"]],
        "hard": [row for row in rows if row["tag"] not in ORDINARY],
        "unseen": [row for row in rows if row["life"] in UNSEEN],
    }
    return {
        **{group: figures(probes) for group, probes in groups.items() if probes},
        "by_tag": {tag: [sum(passed), len(passed)] for tag, passed in sorted(tags.items())},
    }


def figures(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    parts = {part: sum(row[part] for row in rows) / len(rows) for part in ("passed", *PARTS)}
    return {"probes": len(rows), **parts}


def play(system: System, life: dict[str, Any], clock: Clock) -> list[dict[str, Any]]:
    """Tells a life and asks its probes, each after its message."""
    messages: list[Message] = life["messages"]
    place = {message["id"]: number for number, message in enumerate(messages)}
    probes = [*life["probes"], *life.get("extra_probes", ())]
    probes.sort(key=lambda probe: (place[probe["after"]], probe["id"]))
    system.open(life["user"]["id"])
    rows, told = [], 0
    for probe in probes:
        upto = place[probe["after"]] + 1
        if upto > told:
            with clock.adding():
                system.add(messages[told:upto])
                system.settle()
            told = upto
        with clock.asking():
            text = system.context(probe["message"], probe.get("history", []))
        clock.count(text)
        row = judged(probe, text, forgotten(life, place, upto))
        recent = normalised(
            "\n".join(one["content"] for one in messages[max(0, upto - RECENT) : upto])
        )
        row["far"] = not all(holds_any(recent, group) for group in probe["must_include"])
        rows.append(row)
    return rows


def forgotten(life: dict[str, Any], place: dict[str, int], upto: int) -> list[str]:
    """What the user has asked to forget so far."""
    return [
        word
        for request in life["gold"]["forget_requests"]
        if place[request["message"]] < upto
        for word in (*request["strings"], *request.get("also", ()))
    ]


def judged(probe: dict[str, Any], context: str, gone: Sequence[str]) -> dict[str, Any]:
    text = normalised(context)
    row: dict[str, Any] = {
        "id": probe["id"],
        "tag": probe["tag"],
        "needed": all(holds_any(text, group) for group in probe["must_include"]),
        "nothing_wrong": not any(normalised(one) in text for one in probe["must_not_include"]),
        "nothing_forgotten": not any(normalised(one) in text for one in gone),
        "nothing_old": not stale(context, probe),
    }
    row["passed"] = all(row[part] for part in PARTS)
    return row


def stale(context: str, probe: dict[str, Any]) -> bool:
    """Whether a line tells an old value as if it were true: without a word of the past and without
    the new value beside it."""
    new = [value for group in probe["must_include"] for value in group]
    for line in map(normalised, context.splitlines()):
        for old in probe.get("must_not_be_current", ()):
            if holds(line, old) and not _PAST.search(line) and not holds_any(line, new):
                return True
    return False
