"""The benchmark: anybody's system can be measured, and each figure tells what it says."""

import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark import corpus, table
from benchmark.checks import check
from benchmark.system import Program, offers
from benchmark.systems.turns import AllTurns
from benchmark.tasks import crowd, kept, lives, pairs, who
from benchmark.timing import Clock

ROOT = Path(__file__).resolve().parents[2]
PROBE = {
    "id": "p",
    "tag": "updated",
    "must_include": [["Lyon"]],
    "must_not_include": ["Marta"],
    "must_not_be_current": ["Paris"],
}


class Knows:
    """A system whose contexts are given by hand."""

    def __init__(self, text: str) -> None:
        self.text = text

    def open(self, user):
        pass

    def add(self, messages):
        pass

    def settle(self):
        pass

    def context(self, message, history):
        return self.text

    def close(self):
        pass


def readme_program(tmp_path: Path) -> list[str]:
    text = (ROOT / "benchmark" / "README.md").read_text("utf-8")
    program = tmp_path / "notebook.py"
    program.write_text(text.split("```python\n")[1].split("```")[0], "utf-8")
    return [sys.executable, str(program)]


def test_the_program_of_the_readme_can_be_measured(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    system = Program(readme_program(tmp_path))
    figures = who.run(system, ["a08"], Clock())
    system.close()
    assert figures["ordinary"]["messages"] > 20
    assert 0 < figures["ordinary"]["needed_found"] < 1


def test_a_system_that_fails_says_in_which_call(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    system = Program(readme_program(tmp_path))
    with pytest.raises(RuntimeError, match=r"^add: AttributeError"):
        system.add([])  # nothing was opened
    system.close()


@pytest.mark.parametrize(
    ("context", "failed"),
    [
        ("She lives in Lyon.", None),
        ("She lives in Paris.", "needed"),
        ("She lives in Lyon.\nShe lives in Paris.", "nothing_old"),
        ("She lives in Lyon.\nUntil May she lived in Paris.", None),
        ("She moved from Paris to Lyon.", None),
        ("She lives in Lyon with Marta.", "nothing_wrong"),
        ("She lives in Lyon and owes 4000.", "nothing_forgotten"),
        ("Her pylon is new.", "needed"),
    ],
)
def test_a_probe_is_passed_only_with_what_is_needed_and_nothing_else(context, failed):
    row = lives.judged(PROBE, context, ["4000"])
    assert [part for part in lives.PARTS if not row[part]][:1] == ([failed] if failed else [])
    assert row["passed"] is (failed is None)


def test_who_counts_the_people_that_a_context_is_about():
    circle = corpus.circle("a08")
    everybody = " ".join(str(one.locker) for one in circle)
    of_all = who.run(Knows(everybody), ["a08"], Clock())["ordinary"]
    of_none = who.run(Knows(""), ["a08"], Clock())["ordinary"]
    assert (of_all["needed_found"], of_none["needed_found"]) == (1.0, 0.0)
    assert of_all["wrong_per_100"] > 100 * (len(circle) - 2)
    assert of_none["wrong_per_100"] == 0


def test_a_statement_is_kept_in_any_wording_that_has_its_values():
    said = "jana got a job at the zoo in june, she feeds 14 seals"
    kept_in = kept.stretched("- Jana: since June at the zoo\n- feeds seals, 14 of them")
    statement = "Jana has worked at the zoo since June and feeds 14 seals."
    assert kept.told(statement, said, kept_in)
    assert not kept.told(statement, said, kept.stretched("- Jana: since June at the zoo, 12 seals"))
    assert not kept.told(statement, said, kept.stretched("- a visit to the zoo"))


@given(st.datetimes(datetime(2020, 1, 1), datetime(2090, 1, 1), timezones=st.just(UTC)))
def test_a_chat_has_been_sent_on_the_same_weekday_and_hour(last):
    times = [last - timedelta(minutes=3), last]
    turns = [{"role": "user", "text": "Hi.", "time": time.isoformat()} for time in times]
    sent = [
        datetime.fromisoformat(message["created_at"])
        for message in kept.messages({"id": "a", "messages": turns})
    ]
    assert sent[-1] <= datetime.now(UTC)
    assert sent[-1] == last or last > datetime.now(UTC)
    assert (last - sent[-1]) % timedelta(weeks=1) == timedelta(0)
    assert sent[1] - sent[0] == timedelta(minutes=3)


def test_all_turns_keep_all_and_also_what_nobody_stated():
    figures = kept.run(AllTurns(), ["a08"], Clock())
    assert figures["kept"] > 0.8
    assert figures["kept_of_them"] > 0.7


def test_pairs_are_for_systems_that_can_tell():
    assert pairs.run(Knows(""), ["a08"]) is None
    system = Knows("")
    system.same = lambda first, second: True
    figures = pairs.run(system, ["a08"])
    assert figures["recall"] == 1.0
    assert 0.1 < figures["precision"] < 0.9


def test_a_crowd_is_for_systems_that_search():
    assert crowd.run(Knows(""), Clock()) is None
    system = Knows("")
    texts = [message["content"] for person, _language, message in crowd.crowd(4, 3)]
    system.search = lambda query, limit: [f"[2025-01-01] {text} (Tampa)" for text in texts]
    assert crowd.run(system, Clock(), 4, 3)["recall_at_50"] == {"zh": 1.0, "en": 1.0}
    system.search = lambda query, limit: [text.replace("1", "2") for text in texts]
    assert crowd.run(system, Clock(), 4, 3)["recall_at_50"] == {"zh": 0.0, "en": 0.0}


def test_a_program_says_what_it_offers(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    program = tmp_path / "searching.py"
    program.write_text(
        "from benchmark.system import serve\n\n"
        "class Searching:\n"
        "    def open(self, user):\n        pass\n\n"
        "    def search(self, query, limit):\n        return [query] * limit\n\n"
        "    def close(self):\n        pass\n\n"
        "serve(Searching())\n"
    )
    system = Program([sys.executable, str(program)])
    assert offers(system, "search")
    assert not offers(system, "same")
    assert system.search("Ana", 2) == ["Ana", "Ana"]
    system.close()


def test_a_probe_is_far_where_no_recent_message_has_what_it_needs():
    life = {
        "user": {"id": "u"},
        "messages": [
            {"id": f"m{n}", "content": "Ada lives in Lyon." if n == 0 else "fine"}
            for n in range(lives.RECENT + 1)
        ],
        "gold": {"forget_requests": []},
        "probes": [
            {**PROBE, "id": f"p{n}", "after": f"m{n}", "message": "Where is Ada?"}
            for n in (lives.RECENT - 1, lives.RECENT)
        ],
    }
    near, far = lives.play(Knows("Lyon"), life, Clock())
    assert (near["far"], far["far"]) == (False, True)


@pytest.mark.parametrize("file", sorted(lives.LIVES.glob("*.json")), ids=lambda file: file.stem)
def test_each_life_is_in_order(file):
    assert list(check(file)) == []


def test_the_command_measures_and_puts_side_by_side(tmp_path):
    out = tmp_path / "last.json"
    command = [sys.executable, "-m", "benchmark"]
    measured = [*command, "run", "last-turns", "--task", "lives", "--life", "a", "--out", out]
    subprocess.run(measured, cwd=ROOT, check=True, capture_output=True)
    assert json.loads(out.read_text("utf-8"))["lives"]["all"]["probes"] >= 50
    shown = subprocess.run(
        [*command, "table", out, out], cwd=ROOT, check=True, capture_output=True, text=True
    )
    assert shown.stdout.count("| last-turns |") == 1


def test_a_task_that_was_not_measured_is_a_dash():
    assert "| – |" in table.markdown([{"system": "x"}])
