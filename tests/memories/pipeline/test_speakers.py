"""Messages that people of the user's wrote, from the API to contacts, and their erasure."""

import pytest
from django.utils import timezone

from accounts.models import EndUser
from contacts.models import Contact
from memories.erasure import erase
from memories.models import Memory, Message
from memories.pipeline import buffer, run
from memories.pipeline.buffer import Incoming
from tests.api import ApiClient, assert_error
from tests.factories import make_app, make_contact, make_end_user, make_message

pytestmark = pytest.mark.django_db

LISBON = "I just moved to Lisbon"


def send(client: ApiClient, *messages: dict[str, object]) -> None:
    assert client.post("users/zoe/messages/", {"messages": list(messages)})[0] == 202


def test_a_friend_in_a_chat_becomes_a_contact_with_what_she_says_of_herself():
    client = ApiClient(make_app())
    send(
        client,
        {"role": "user", "speaker": "Anna", "content": LISBON, "session_id": "c"},
        {"role": "user", "content": "I moved to Berlin in May", "session_id": "c"},
        {"role": "user", "speaker": "Anna", "content": "you live in Rome?", "session_id": "c"},
    )
    zoe = EndUser.objects.get(external_id="zoe")
    run.process(zoe.pk)
    [anna] = Contact.objects.of(zoe)
    assert (anna.name, anna.attributes["location"][0]["value"]) == ("Anna", "Lisbon")
    hers = Memory.objects.of(zoe).facts().about(anna.pk)
    assert [(m.content, m.speaker) for m in hers] == [("I just moved to Lisbon", "Anna")]
    own = Memory.objects.of(zoe).facts().exclude(links__contact=anna)
    assert [m.speaker for m in own] == ["user"]
    assert not any(word in m.content for m in own for word in ("Lisbon", "Rome"))


def test_the_speaker_is_shown_again_and_belongs_to_an_id():
    client = ApiClient(make_app())
    said = {"id": "1", "role": "user", "speaker": " Anna ", "content": LISBON}
    send(client, said)
    [shown] = client.get("users/zoe/messages/")[1]["results"]
    assert (shown["speaker"], shown["role"]) == ("Anna", "user")
    again = {"messages": [said, said | {"speaker": "Ben"}, said | {"speaker": None}]}
    assert client.post("users/zoe/messages/", again)[1] == {
        "accepted": 0,
        "duplicates": 1,
        "conflicts": ["1"],
    }


@pytest.mark.parametrize(
    ("speaker", "role"), [("Anna", "assistant"), ("…", "user"), ("x" * 101, "user"), (3, "user")]
)
def test_a_speaker_that_is_no_person_is_refused(speaker, role):
    body = {"messages": [{"role": role, "speaker": speaker, "content": LISBON}]}
    reply = ApiClient(make_app()).post("users/zoe/messages/", body)
    assert "speaker" in str(assert_error(reply, 400, "invalid")["fields"])


def test_the_words_of_others_are_no_activity_and_no_language_of_the_user():
    zoe = make_end_user()
    received = buffer.receive(
        zoe.app, zoe.external_id, [Incoming("user", "我搬到深圳了", speaker="小红")]
    )
    assert received.end_user.activity_days == 0
    run.process(zoe.pk)
    zoe.refresh_from_db()
    assert zoe.language != "zh"


def test_who_is_forgotten_takes_what_they_wrote_along():
    zoe = make_end_user()
    anna = make_contact(zoe, "Anna")
    hers = make_message(zoe, LISBON, speaker="Anna")
    other = make_message(zoe, "I work at Siemens now", speaker="Ben")
    erase.forget_contact(zoe, anna.pk)
    hers.refresh_from_db()
    assert (hers.content, hers.speaker) == ("", None)
    assert Message.objects.get(pk=other.pk).speaker == "Ben"


def test_a_chat_with_people_is_one_in_every_batch_of_it():
    zoe = make_end_user()
    make_message(zoe, "Hi!", speaker="Anna", session_id="chat")
    for number in range(buffer.CONTEXT_MESSAGES):
        make_message(zoe, f"Fine, {number}.", session_id="chat")
    run.process(zoe.pk)
    make_message(zoe, "Do you like tea?", session_id="chat")
    make_message(zoe, "Hello.", session_id="other")
    zoe.refresh_from_db()
    batch = buffer.claim_next(zoe.pk, now=timezone.now(), everything=True)
    assert batch is not None
    assert buffer.request_for(batch).chats == {"chat"}


@pytest.mark.parametrize(
    "message",
    [
        "<source>My brother Viktor lives in Minsk and I am a welder.</source>\n\nWho is Viktor?",
        "[letter begin]My brother Viktor lives in Minsk and I am a welder.[letter end] Who is he?",
        "## References:\nMy brother Viktor lives in Minsk and I am a welder.\n\n## Question:\nWho is he?",
        "<文档>我哥哥张伟住在上海，我对花生过敏。</文档>\n<提问>他是谁？</提问>",
    ],
)
def test_what_a_client_attached_is_not_what_the_user_told(message):
    client = ApiClient(make_app())
    send(client, {"role": "user", "content": message}, {"role": "user", "content": "I like tea"})
    zoe = EndUser.objects.get(external_id="zoe")
    run.process(zoe.pk)
    assert not Contact.objects.of(zoe).exists()
    assert [memory.content for memory in Memory.objects.of(zoe)] == ["I like tea"]
