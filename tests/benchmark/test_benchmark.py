"""The benchmark: anybody's system can be measured, and each figure tells what it says."""

import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark import corpus, table
from benchmark.checks import check
from benchmark.judge import Judge
from benchmark.scoring import normalised
from benchmark.system import Program, offers
from benchmark.systems.search import HybridSearch
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


def test_the_program_of_the_readme_can_be_measured(tmp_path):
    system = Program(readme_program(tmp_path))
    figures = who.run(system, ["a08"], Clock())
    system.close()
    assert figures["ordinary"]["messages"] > 20
    assert 0 < figures["ordinary"]["needed_found"] < 1


def test_a_system_that_fails_says_in_which_call(tmp_path):
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


def test_traps_are_the_hard_messages_that_mean_nobody_and_descriptions_follow_the_chats():
    silent = Knows("")
    told = []
    silent.add = told.extend
    figures = who.run(silent, ["a08"], Clock())
    hard = [*corpus.cases("a08", "mentions"), *corpus.cases("a08", "pronouns")]
    nobody = [case for case in hard if not case["expect"] and not case.get("named")]
    assert figures["traps"]["messages"] == len(nobody)
    assert (figures["traps"]["exact"], figures["traps"]["needed_found"]) == (1.0, None)
    described = list(corpus.cases("a08", "descriptions"))
    assert figures["descriptions"]["messages"] == len(described)
    assert figures["descriptions"]["needed_found"] == 0
    introduced = [one["content"] for one in told if str(corpus.FIRST_LOCKER) in one["content"]]
    assert len(introduced) == 2
    assert any(one["role"] == "assistant" for one in told)
    lockers = {one.locker: one.key for one in corpus.people_in_chats("a08")}
    expected = next(case["expect"] for case in described if case["expect"])
    [locker] = [number for number, key in lockers.items() if key in expected]
    right = who.run(Knows(f"locker {locker}"), ["a08"], Clock())["descriptions"]
    assert right["needed_found"] == 1 / sum(len(case["expect"]) for case in described)


def test_a_statement_is_kept_in_any_wording_that_has_its_values():
    said = "jana got a job at the zoo in june, she feeds 14 seals"
    kept_in = kept.stretched("- Jana: since June at the zoo\n- feeds seals, 14 of them")
    statement = "Jana has worked at the zoo since June and feeds 14 seals."
    assert kept.told(statement, said, kept_in)
    assert not kept.told(statement, said, kept.stretched("- Jana: since June at the zoo, 12 seals"))
    assert not kept.told(statement, said, kept.stretched("- a visit to the zoo"))


def test_what_nobody_stated_is_kept_only_with_what_no_fact_says():
    said = normalised("jana has a dog. she will buy two llamas, haha!")
    known = normalised("Jana has a dog.")

    def kept_by(statement, answer):
        return kept.told_besides(statement, known, said, kept.stretched(answer))

    assert kept_by("Jana will buy two llamas.", "Jana: she will buy two llamas")
    assert not kept_by("Jana will buy two llamas.", "Jana has a dog")
    # Nobody said it, so its own words count.
    assert not kept_by("Jana has a parrot.", "Jana has a dog")
    assert kept_by("Jana has a parrot.", "Jana has a dog and a parrot")
    assert kept_by("Jana has a dog.", "Jana has a dog") is None


def test_the_facts_alone_keep_nothing_that_nobody_stated():
    for case in corpus.cases("a08", "extraction"):
        facts = "\n".join(memory["content"] for memory in case["gold"]["memories"])
        said = normalised("\n".join(turn["text"] for turn in case["messages"]))
        for one in map(kept.statement, case["gold"]["not_memories"]):
            assert not kept.told_besides(one, normalised(facts), said, kept.stretched(facts))


class Judging(BaseHTTPRequestHandler):
    """A model server that says yes where the text before the last line has its words."""

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text, _, statement = asked["messages"][0]["content"].rpartition("\n")
        self.server.asked.append((self.path, self.headers["Authorization"], asked["model"]))
        word = "Yes." if statement in text else "no"
        answer = {"choices": [{"message": {"content": self.server.word or word}}]}
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())

    def log_message(self, *_args):
        pass


@pytest.fixture
def judging() -> Iterator[ThreadingHTTPServer]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Judging)
    server.asked, server.word = [], ""
    Thread(target=server.serve_forever).start()
    yield server
    server.shutdown()
    server.server_close()


def test_a_model_judges_what_is_kept(judging, monkeypatch):
    monkeypatch.setenv("JUDGE_KEY", "key")
    judge = Judge(f"http://127.0.0.1:{judging.server_port}/v1/", "wise")
    case = next(corpus.cases("a08", "extraction"))
    facts = [memory["content"] for memory in case["gold"]["memories"]]
    figures = kept.run(Knows("\n".join(facts)), ["a08"], Clock(), judge)
    assert 0 < figures["kept_by_judge"] < 0.5
    assert figures["kept_of_them_by_judge"] == 0
    assert set(judging.asked) == {("/v1/chat/completions", "Bearer key", "wise")}
    asked = len(judging.asked)
    assert judge.states("\n".join(facts), "Pigs fly.") is False
    assert judge.states("\n".join(facts), "Pigs fly.") is False
    assert len(judging.asked) == asked + 1
    judging.word = "Perhaps."
    with pytest.raises(ValueError, match=r"'Perhaps\.' instead of yes or no"):
        judge.states("Pigs fly.", "Pigs fly.")


@given(st.datetimes(datetime(2020, 1, 1), datetime(2090, 1, 1), timezones=st.just(UTC)))
def test_a_chat_has_been_sent_on_the_same_weekday_and_hour(last):
    times = [last - timedelta(minutes=3), last]
    turns = [{"role": "user", "text": "Hi.", "time": time.isoformat()} for time in times]
    sent = [
        datetime.fromisoformat(message["created_at"])
        for message in kept.messages({"id": "a", "messages": turns})
    ]
    assert sent[-1] <= kept.TOLD_BEFORE
    assert sent[-1] == last or last > kept.TOLD_BEFORE
    assert (last - sent[-1]) % timedelta(weeks=1) == timedelta(0)
    assert sent[1] - sent[0] == timedelta(minutes=3)


def test_all_turns_keep_all_and_also_what_nobody_stated():
    figures = kept.run(AllTurns(), ["a08"], Clock())
    assert figures["kept"] > 0.8
    assert figures["kept_of_them"] > 0.5


def test_pairs_are_for_systems_that_can_tell():
    assert pairs.run(Knows(""), ["a08"]) is None
    system = Knows("")
    system.same = lambda first, second: True
    figures = pairs.run(system, ["a08"])
    assert figures["recall"] == 1.0
    assert 0.1 < figures["precision"] < 0.9


def test_the_baseline_of_pairs_compares_whole_records():
    figures = pairs.run(HybridSearch(), ["a08"])
    assert 0.4 < figures["f1"] < 0.95
    assert figures["pairs"] == len(
        [case for case in corpus.cases("a08", "aliases") if case["confidence"] != "ambiguous"]
    )


def test_a_crowd_is_for_systems_that_search():
    assert crowd.run(Knows(""), Clock()) is None
    system = Knows("")
    texts = [message["content"] for person, _language, message in crowd.crowd(4, 3)]
    system.search = lambda query, limit: [f"[2025-01-01] {text} (Tampa)" for text in texts]
    assert crowd.run(system, Clock(), 4, 3)["recall_at_50"] == {"zh": 1.0, "en": 1.0}
    system.search = lambda query, limit: [text.replace("1", "2") for text in texts]
    assert crowd.run(system, Clock(), 4, 3)["recall_at_50"] == {"zh": 0.0, "en": 0.0}


def test_a_program_says_what_it_offers(tmp_path):
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
    assert "| unseen |" not in shown.stdout


def test_a_task_that_was_not_measured_is_a_dash_and_two_runs_show_their_spread():
    runs = [
        {"system": "x", "lives": {"far": {"passed": passed}}, "lives_cost": {"ms": ms}}
        for passed, ms in ((0.5, 20), (0.52, 22))
    ]
    other = {"system": "y", "pairs": {"f1": 0.7}, "lives_cost": {"ms": 40}}
    shown = table.markdown([*runs, other]).splitlines()
    assert "| T4 far | .50–.52 | – |" in shown
    assert "| T2 F1 | – | .70 |" in shown
    assert "| time | 1.0–1.1 | 2.0 |" in shown
    assert not any(line.startswith("| T3 kept |") for line in shown)
