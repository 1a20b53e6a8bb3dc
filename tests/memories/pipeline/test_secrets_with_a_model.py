"""What is told as a secret reaches no model, no row and no prompt, whoever read it."""

from typing import Any

import pytest
from django.db import connection
from stdnum import iban, luhn

from accounts.models import EndUser
from contacts.models import Contact
from memories.context import build
from memories.context.request import ContextRequest
from memories.models import Memory, Message
from memories.pipeline import run
from tests.api import ApiClient
from tests.servers import FakeOpenAI, Request

pytestmark = pytest.mark.django_db

PASSWORD, CARD = "tiger77", f"411111111111111{luhn.calc_check_digit('411111111111111')}"
CITIZEN = "11010519491231002X"
ACCOUNT = iban.format(f"NL{iban.calc_check_digits('NLxxABNA0417164300')}ABNA0417164300")
SECRETS = (PASSWORD, CARD, CITIZEN, ACCOUNT)
SAID = (
    f"Maren moved to Lyon. Her wifi password is {PASSWORD}, her card is {CARD}, "
    f"身份证号码 {CITIZEN}, and I pay into {ACCOUNT}."
)


def leaky(request: Request) -> Any:
    """A model that repeats every secret wherever it can, even those that it was not sent."""
    data = request.data
    if "turns" in data:
        told = [f"Maren's {what}" for what in (f"password is {PASSWORD}", f"card is {CARD}")]
        told += [f"Maren has the identity card number {CITIZEN}", f"The user pays into {ACCOUNT}"]
        facts = [
            {"key": "location", "value": "Lyon", "person": "n1"},
            {"key": "password", "value": PASSWORD, "person": "n1"},
        ]
        kept = {"content": "Maren moved to Lyon", "turns": [1], "people": ["n1"], "facts": facts}
        return {
            "people": [{"id": "n1", "name": "Maren", "aliases": [], "relationship": f"pin {CARD}"}],
            "memories": [
                {**kept, "quote": SAID},
                *({"content": text, "turns": [1], "people": ["n1"]} for text in told),
            ],
            "relations": [],
        }
    if "turns" not in data and data.get("people"):
        values = [{"value": CARD, "sources": ["m1"]}, {"value": "Lyon", "sources": ["m1"]}]
        patch = {
            "id": "p1",
            "attributes": [
                {"key": "location", "values": values},
                {"key": "door_code", "values": [{"value": "oak47gate", "sources": ["m1"]}]},
            ],
            "timeline": [{"at": "2026", "text": f"Maren got the card {CARD}", "sources": ["m1"]}],
            "personality": f"Careless: her password is {PASSWORD}",
            "personality_sources": ["m1"],
        }
        return {"people": [patch]}
    return {"resolutions": []}


def stored() -> str:
    """Every row of every table but the messages themselves, as text."""
    tables = [
        name
        for name in connection.introspection.table_names()
        if name.startswith(("contacts_", "memories_", "accounts_"))
        and name != Message._meta.db_table
    ]
    with connection.cursor() as cursor:
        found = []
        for name in tables:
            cursor.execute(f'SELECT t::text FROM "{name}" t')
            found += [row for (row,) in cursor.fetchall()]
    return "\n".join(found)


def test_secrets_of_a_chat_reach_neither_a_model_nor_a_row_nor_a_prompt(
    client: ApiClient, zoe: EndUser, server: FakeOpenAI
) -> None:
    server.answer_with = leaky
    client.post("users/zoe/messages/", {"messages": [{"role": "user", "content": SAID}]})
    while run.extract_next(zoe.pk, everything=True):
        pass
    run.consolidate_user(zoe.pk)

    sent = "\n".join(request.prompt for request in server.requests_to("chat"))
    assert "Maren moved to Lyon. Her wifi password is •••••••, her card is ••••" in sent
    assert len([r for r in server.requests_to("chat") if "new_memories" in r.prompt]) == 1
    rows = stored()
    prompt = build.trace(zoe, ContextRequest("How is Maren?")).injection.system_prompt
    for secret in (*SECRETS, "oak47gate"):
        assert secret not in sent
        assert secret not in rows
        assert secret not in prompt
    assert "Lyon" in prompt
    assert [m.content for m in Memory.objects.of(zoe).facts()] == ["Maren moved to Lyon"]
    maren = Contact.objects.get()
    assert {key: [v["value"] for v in held] for key, held in maren.attributes.items()} == {
        "location": ["Lyon"]
    }


def test_a_secret_that_was_stored_once_is_masked_in_the_prompt(
    client: ApiClient, zoe: EndUser
) -> None:
    made = client.post("users/zoe/contacts/", {"name": "Maren"})[1]["id"]
    about = {"content": "Maren likes rowing", "contacts": [made]}
    memory = client.post("users/zoe/memories/", about)[1]["id"]
    Memory.objects.filter(pk=memory).update(content=f"Maren's card is {CARD}")
    prompt = build.trace(zoe, ContextRequest("How is Maren?")).injection.system_prompt
    assert CARD not in prompt
    assert "Maren's card is ••••" in prompt


@pytest.mark.parametrize(
    ("method", "address", "body", "field"),
    [
        ("post", "memories/", {"content": f"The bank password is {PASSWORD}"}, "content"),
        ("patch", "memories/{memory}/", {"content": f"Pays into {ACCOUNT}"}, "content"),
        ("post", "contacts/", {"name": "Ann", "aliases": [f"Ann {CARD}"]}, "aliases[0]"),
        ("patch", "contacts/{contact}/", {"personality": f"id {CITIZEN}"}, "personality"),
        (
            "patch",
            "contacts/{contact}/",
            {"attributes": {"password": PASSWORD}},
            "attributes.password[0]",
        ),
        (
            "post",
            "contacts/bulk/",
            {"contacts": [{"name": "Ann"}, {"name": "Ben", "relationship": f"pays {ACCOUNT}"}]},
            "contacts[1].relationship",
        ),
        (
            "post",
            "relations/",
            {"subject": "{contact}", "kind": f"card {CARD}", "object": "{other}"},
            "kind",
        ),
    ],
)  # fmt: skip
def test_a_secret_that_an_app_states_is_refused_with_the_name_of_the_field(
    client: ApiClient, zoe: EndUser, method: str, address: str, body: Any, field: str
) -> None:
    ids = {
        "contact": client.post("users/zoe/contacts/", {"name": "Maren"})[1]["id"],
        "other": client.post("users/zoe/contacts/", {"name": "Otto"})[1]["id"],
        "memory": client.post("users/zoe/memories/", {"content": "Likes rowing."})[1]["id"],
    }
    before = stored()
    body = {key: ids.get(str(value).strip("{}"), value) for key, value in body.items()}
    code, answer = getattr(client, method)(f"users/zoe/{address.format(**ids)}", body)
    assert (code, list(answer["error"]["fields"])) == (400, [field])
    assert "passwords" in answer["error"]["message"]
    assert stored() == before


def test_the_telephone_number_and_mail_of_a_friend_are_no_secrets(
    client: ApiClient, zoe: EndUser
) -> None:
    known = {"phone": "13812345678", "email": "ann@example.com"}
    assert client.post("users/zoe/contacts/", {"name": "Ann", "attributes": known})[0] == 201
    told = {"content": "Ann's number is +44 20 7946 0958, order 4012 8888 8888 1882"}
    assert client.post("users/zoe/memories/", told)[0] == 201
