"""The fake server, met with the real client."""

import openai
import pytest

from tests.servers import FakeOpenAI, embedding_of


@pytest.fixture
def server():
    with FakeOpenAI(dimensions=4) as fake:
        yield fake


@pytest.fixture
def client(server):
    return openai.OpenAI(api_key="k", base_url=server.base_url, max_retries=0, timeout=5)


def chat(client, **options):
    return client.chat.completions.create(
        model="m", messages=[{"role": "user", "content": "hi"}], **options
    )


def test_a_streamed_answer_arrives_in_pieces_that_make_the_whole(server, client):
    server.reply_text("一二三四五六七八九十，the end")
    chunks = list(chat(client, stream=True))
    pieces = [chunk.choices[0].delta.content or "" for chunk in chunks]
    assert "".join(pieces) == "一二三四五六七八九十，the end"
    assert len([piece for piece in pieces if piece]) > 1
    assert chunks[-1].choices[0].finish_reason == "stop"


def test_models_are_listed(client):
    assert [model.id for model in client.models.list()] == ["fake-model"]


def test_steps_are_played_in_order_and_an_ended_script_is_an_error(server, client):
    server.reply_text("one", times=2)
    server.fail(500)
    server.reply_text("two")
    assert [chat(client).choices[0].message.content for _ in range(2)] == ["one", "one"]
    with pytest.raises(openai.InternalServerError):
        chat(client)
    assert chat(client).choices[0].message.content == "two"
    with pytest.raises(openai.APIStatusError, match="script"):
        chat(client)


def test_embeddings_depend_on_the_text_alone(server, client):
    data = client.embeddings.create(model="m", input=["a", "b", "a"]).data
    assert data[0].embedding == data[2].embedding == pytest.approx(embedding_of("a", 4))
    assert data[0].embedding != data[1].embedding


def test_a_shuffled_reply_is_out_of_order(server, client):
    server.shuffle_embeddings = True
    data = client.embeddings.create(model="m", input=[str(n) for n in range(9)]).data
    assert [item.index for item in data] != sorted(item.index for item in data)
