"""python -m benchmark run SYSTEM [--quick] [--task …] [--out FILE] | table FILE… | check"""

import argparse
import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmark import corpus, table
from benchmark.checks import check
from benchmark.judge import Judge
from benchmark.system import Program, System
from benchmark.tasks import crowd, kept, lives, pairs, who
from benchmark.timing import Clock

TASKS = ("who", "pairs", "kept", "lives", "crowd")
# What --quick measures: these authors and lives, and a crowd of so many people.
QUICK_AUTHORS, QUICK_LIVES, QUICK_CROWD = ("a08", "a17"), ("d", "i"), 10


def made(name: str) -> System:
    """A system of this folder by its name, else a program by its command."""
    if name == "last-turns":
        from benchmark.systems.turns import LastTurns

        return LastTurns()
    if name == "all-turns":
        from benchmark.systems.turns import AllTurns

        return AllTurns()
    if name == "hybrid-search":
        from benchmark.systems.search import HybridSearch

        return HybridSearch()
    if name == "mio":
        from benchmark.systems.mio import Mio

        return Mio()
    return Program(shlex.split(name))


def run(
    name: str,
    tasks: Sequence[str],
    authors: Sequence[str],
    only: Sequence[str],
    people: int = crowd.PEOPLE,
    judge: Judge | None = None,
) -> dict[str, Any]:
    """The figures of a system by task, each with what it cost. ``people`` are those of T5."""
    system = made(name)
    figures: dict[str, Any] = {"system": name}
    try:
        for task in tasks:
            clock = Clock()
            if task == "who":
                figures[task] = who.run(system, authors, clock)
            elif task == "pairs":
                figures[task] = pairs.run(system, authors)
            elif task == "kept":
                figures[task] = kept.run(system, authors, clock, judge)
            elif task == "crowd":
                figures[task] = crowd.run(system, clock, people)
            else:
                figures[task] = lives.run(system, only, clock)
            figures[f"{task}_cost"] = clock.figures()
    finally:
        system.close()
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmark", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    running = commands.add_parser("run", help="measures a system")
    running.add_argument(
        "system", help="last-turns, all-turns, hybrid-search, mio, or the command of a program"
    )
    running.add_argument(
        "--task", action="append", choices=TASKS, help="only this; may be repeated"
    )
    running.add_argument(
        "--author", action="append", choices=corpus.authors(), help="only this one"
    )
    running.add_argument("--life", action="append", help="only this one")
    running.add_argument(
        "--quick", action="store_true", help="a part of the data, for a first look in minutes"
    )
    running.add_argument("--judge-url", help="a server of the OpenAI protocol that judges T3")
    running.add_argument("--judge-model", default="", help="its model; the key is JUDGE_KEY")
    running.add_argument("--label", help="the name in tables")
    running.add_argument("--out", type=Path, help="where the figures go as JSON")
    showing = commands.add_parser("table", help="puts figures side by side, as Markdown")
    showing.add_argument("files", nargs="+", type=Path)
    checking = commands.add_parser("check", help="looks for mistakes in the lives")
    checking.add_argument(
        "files", nargs="*", type=Path, help="other lives than those of this folder"
    )
    given = parser.parse_args()
    if given.command == "table":
        print(table.markdown([json.loads(path.read_text("utf-8")) for path in given.files]))
        return
    every = sorted(path.stem for path in lives.LIVES.glob("*.json"))
    if given.command == "check":
        files = given.files or [lives.LIVES / f"{name}.json" for name in every]
        problems = [problem for file in files for problem in check(file)]
        print("\n".join(problems) or f"{len(files)} lives are in order")
        raise SystemExit(bool(problems))
    figures = run(
        given.system,
        given.task or TASKS,
        given.author or (QUICK_AUTHORS if given.quick else corpus.authors()),
        given.life or (QUICK_LIVES if given.quick else every),
        QUICK_CROWD if given.quick else crowd.PEOPLE,
        Judge(given.judge_url, given.judge_model) if given.judge_url else None,
    )
    figures["system"] = given.label or given.system
    text = json.dumps(figures, ensure_ascii=False, indent=1)
    if given.out:
        given.out.write_text(text + "\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
