"""Whatever is sent to a door of the product, the time that it takes grows with its length alone."""

import json
import re
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest

from accounts.models import EndUser
from accounts.parsers import MAX_VALUES
from gateway import chat_messages, upstreams
from imports import dumps
from imports.overview import look, turns
from imports.people_intake import plan
from memories.models import Message
from tests.api import ApiClient
from tests.factories import make_end_user
from tests.imports import files
from tests.servers import FakeOpenAI
from understanding.statements import client_text
from understanding.statements.own_words import excerpt, unquoted
from understanding.statements.secrets import masked
from webhooks import safe_post

HOSTILE = (
    "a", " ", "\n", "1", "1 ", "“", '"', "妈", "e\u0301", "@a.", "http://", "[", "「", "<think>",
    '<details type="reasoning"', "<a edited ", "] a: ", "password is ", "-----BEGIN A ",
)  # fmt: skip
# What clients mark their own text with.
MARKS = (
    "<a>", "</a>", "<a b", "[a]", "[end a]", "<!--a-->", "--- a\n", "# a\n", "a:\n", "files\n```\n", "title ",
)  # fmt: skip
# At an honest door a text four times as long takes four times as long, at a quadratic one sixteen.
MOST = 9.0
NOISE = 0.05  # seconds of the processor that are never too many


def grown(
    door: Callable[[str], Any], length: int, shapes: Sequence[str] = HOSTILE
) -> dict[str, float]:
    """The shapes whose time at this door grows faster than their length, and how many times it
    grew from a quarter of ``length``."""
    _taken(door, "hello")
    found = {}
    for shape in shapes:
        text = (shape * (length // len(shape) + 1))[:length]
        second = _taken(door, text)
        if second > NOISE:
            # Once more: what is loaded at first use is no part of it.
            times = min(second, _taken(door, text)) / _taken(door, text[: length // 4])
            if times > MOST:
                found[shape] = round(times, 1)
    return found


def _taken(door: Callable[[str], Any], text: str) -> float:
    begun = time.process_time()
    with suppress(Exception):  # a refusal is an answer
        door(text)
    return time.process_time() - begun


READERS: dict[str, Callable[[str], Any]] = {
    "secrets": masked,
    "own words": lambda text: (excerpt(text), unquoted(text)),
    "chat": lambda text: chat_messages.said(text),
    "address of a webhook": safe_post.check_url,
    "address of an upstream": upstreams.check,
}


@pytest.mark.parametrize("name", READERS)
def test_reading_takes_as_long_as_the_text_is(name: str) -> None:
    assert grown(READERS[name], 16_000) == {}


def test_finding_what_clients_wrote_takes_as_long_as_the_text_is() -> None:
    def door(text: str) -> None:
        client_text.client_text(text)
        client_text.instructs_for_client(text)

    assert grown(door, 10_000, (*HOSTILE, *MARKS)) == {}


@pytest.mark.parametrize(
    "begun",
    [
        files.WHATSAPP_IPHONE, files.WHATSAPP_ANDROID, files.WECHAT_COPY, files.MEMOTRACE_TEXT,
        files.MEMOTRACE_TABLE, files.CHATLOG_TABLE, files.CHATLOG_TEXT, files.LINE,
    ],
    ids=["iphone", "android", "wechat", "memotrace", "memotrace csv", "chatlog csv", "chatlog", "line"],
)  # fmt: skip
def test_importing_takes_as_long_as_the_file_is(begun: str, tmp_path: Path) -> None:
    path = tmp_path / "chat.txt"

    def door(text: str) -> None:
        path.write_text(f"{begun.rstrip()} {text}\n{text}\n", encoding="utf-8")
        look(path, UTC)
        list(turns(path, UTC))

    assert grown(door, 12_000) == {}


def _in_table(text: str) -> str:
    field = '"{}"'.format(text.replace('"', '""'))
    return f"Name,Notes,Phone 1 - Value\nKim,{field},{field}\n"


def _in_chat(chat: Any) -> Callable[[str], str]:
    """A file of a chat in which a name and a message go on with the text."""
    said = re.compile("Anna|小红|I moved|我搬到深圳了|我朋友小红在腾讯|I like tea")

    def made(text: str) -> str:
        quoted = json.dumps(text)[1:-1]
        return said.sub(lambda found: found[0] + quoted, files.as_text(chat), count=2)

    return made


_MEM0 = {"id": "1", "user_id": "ann", "hash": "x", "created_at": "2024-01-01T00:00:00Z"}
UPLOADS: dict[str, Callable[[str], str]] = {
    "vCard": lambda text: f"BEGIN:VCARD\nFN:Kim\nNOTE:{text}\nTEL:{text}\nEND:VCARD\n",
    "CSV": _in_table,
    "mem0": lambda text: json.dumps([{**_MEM0, "memory": f"Kim {text}"}]),
    **{
        name: _in_chat(chat)
        for name, (file, chat, *_) in files.CASES.items()
        if file.endswith(("json", "jsonl"))
    },
}


def _looked_at(path: Path, text: str, end_user: EndUser) -> None:
    path.write_text(text, encoding="utf-8")
    if dump := dumps.read(path, ""):
        plan(end_user, dump)
    else:
        look(path, UTC)


@pytest.mark.parametrize("name", UPLOADS)
def test_looking_at_an_upload_takes_as_long_as_the_file_is(name: str, tmp_path: Path) -> None:
    nobody = EndUser()
    made = UPLOADS[name]
    assert grown(lambda text: _looked_at(tmp_path / "file", made(text), nobody), 8_000) == {}


# Of a file with a part so many times.
PARTS: dict[str, Callable[[int], str]] = {
    "vCards": lambda n: "BEGIN:VCARD\nFN:Kim\nEND:VCARD\n" * n,
    "folds": lambda n: "BEGIN:VCARD\nFN:Kim\nNOTE:a{}\nEND:VCARD\n".format("\n b" * n * 20),
    "parameters": lambda n: f"BEGIN:VCARD\nFN:Kim\nA{';b' * n}\nEND:VCARD\n",
    "numbers": lambda n: "BEGIN:VCARD\nFN:Kim\n{}END:VCARD\n".format(
        "".join(f"1.X-ABLABEL:a\n1.RELATED:{i}\nTEL:{i}\n" for i in range(n))
    ),
    "rows of one person": lambda n: "Name,Given Name,Notes\n{}".format(
        "".join(f"Kim {i},Kim,x\n" for i in range(n))
    ),
    "memories": lambda n: json.dumps([{**_MEM0, "memory": "Kim"}] * n),
}


@pytest.mark.parametrize("name", PARTS)
def test_an_upload_of_many_parts_takes_as_long_as_these_are_many(name: str, tmp_path: Path) -> None:
    made, path, nobody = PARTS[name], tmp_path / "file", EndUser()

    def taken(many: int) -> float:
        return _taken(lambda text: _looked_at(path, text, nobody), made(many))

    taken(1)
    most = min(taken(1600), taken(1600))  # a pause of the process is no growth
    assert most < NOISE or most / taken(400) < MOST


API: dict[str, Callable[[str], tuple[str, dict[str, Any]]]] = {
    "message": lambda text: ("messages/", {"messages": [{"role": "user", "content": f"x{text}"}]}),
    "context": lambda text: ("context/", {"message": f"x{text}", "include": ["cards"]}),
    "search": lambda text: ("search/", {"query": f"x{text}"[:10_000]}),
    "memory": lambda text: ("memories/", {"content": f"x{text}"[:1000]}),
    "contact": lambda text: (
        "contacts/",
        {"name": f"x{text}"[:200], "aliases": [f"y{text}"[:200]], "personality": text[:2000]},
    ),
    "forget": lambda text: (
        "messages/",
        {"messages": [{"role": "user", "content": f"忘了{text}"}]},
    ),
}


@pytest.mark.django_db
@pytest.mark.parametrize("name", API)
def test_the_api_takes_as_long_as_the_text_is(name: str, settings: Any) -> None:
    with FakeOpenAI() as server:  # the local model would cost more than all else
        settings.MIO_EMBEDDINGS, settings.MIO_EMBEDDING_MODEL = "openai", "embed"
        settings.OPENAI_API_KEY, settings.OPENAI_BASE_URL = "sk-test", server.base_url
        _through_the_api(name)


def _through_the_api(name: str) -> None:
    client = ApiClient()
    make_end_user(app=client.app, external_id="zoe")
    statuses = set()

    def door(text: str) -> None:
        address, body = API[name](text)
        statuses.add(client.post(f"users/zoe/{address}", body)[0])

    assert grown(door, 10_000 if name == "search" else 4_000) == {}
    assert statuses & {200, 201, 202}
    assert max(statuses) < 500


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("address", "field", "most"), [("messages/", "messages", 500), ("context/", "history", 500)]
)
def test_a_list_that_is_too_long_is_refused_before_its_items_are_read(
    address: str, field: str, most: int
) -> None:
    client = ApiClient()
    zoe: EndUser = make_end_user(app=client.app, external_id="zoe")
    items = [{"role": "nobody"}] * (most + 1)
    code, answer = client.post(
        f"users/zoe/{address}",
        {"message": "hi", field: items} if field == "history" else {field: items},
    )
    assert (code, list(answer["error"]["fields"])) == (400, [field])
    assert f"no more than {most}" in answer["error"]["message"]
    assert not Message.objects.of(zoe).exists()


@pytest.mark.django_db
def test_a_body_of_more_values_than_any_honest_one_is_refused() -> None:
    client = ApiClient()
    code, answer = client.post("users/zoe/messages/", raw=b"[" + b"0," * MAX_VALUES + b"0]")
    assert (code, answer["error"]["code"]) == (400, "parse_error")
    assert "more than 200,000 values" in answer["error"]["message"]
