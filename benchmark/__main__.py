"""python -m benchmark run SYSTEM [--task …] [--out FILE] | table FILE… | check"""

import argparse
import json
import shlex
from pathlib import Path
from typing import Any

from benchmark import corpus, table
from benchmark.checks import check
from benchmark.system import Program, System
from benchmark.tasks import crowd, kept, lives, pairs, who
from benchmark.timing import Clock

TASKS = ("who", "pairs", "kept", "lives", "crowd")


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


def run(name: str, tasks: list[str], authors: list[str], only: list[str]) -> dict[str, Any]:
    """The figures of a system by task, each with what it cost."""
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
                figures[task] = kept.run(system, authors, clock)
            elif task == "crowd":
                figures[task] = crowd.run(system, clock)
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
        given.task or list(TASKS),
        given.author or corpus.authors(),
        given.life or every,
    )
    figures["system"] = given.label or given.system
    text = json.dumps(figures, ensure_ascii=False, indent=1)
    if given.out:
        given.out.write_text(text + "\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
