"""A text is read once, and its document handed on."""

from understanding.people import references
from understanding.people.mentions import candidate_keys, entries_of, find_mentions
from understanding.sentences import last_begun, sentences
from understanding.text_document import Document, read
from understanding.types import Person

TEXT = "我表哥周海涛昨天到了。Dr. Lee met him; 他们聊了很久"


def test_a_short_text_is_read_once_for_all_who_ask() -> None:
    assert read(TEXT) is read(TEXT)
    assert read(TEXT).spellings is read(TEXT).spellings
    assert sentences(TEXT) is sentences(TEXT)
    document = Document(TEXT)
    assert read(document) is document


def test_a_document_says_what_its_text_says() -> None:
    document, entries = Document(TEXT), entries_of([Person("h", "周海涛", (), "表哥")])
    assert candidate_keys(document) == candidate_keys(TEXT)
    assert references.keys_in(document) == references.keys_in(TEXT)
    assert [m.text for m in find_mentions(document, entries)] == ["我表哥", "周海涛"]
    assert [s.whole for s in sentences(TEXT)] == [
        "我表哥周海涛昨天到了。",
        "Dr. Lee met him;",
        "他们聊了很久",
    ]


def test_what_follows_the_last_end_of_a_sentence_is_not_finished() -> None:
    assert last_begun("他走了。她跟") == "她跟"
    assert last_begun("no. 5 is") == "no. 5 is"  # a full stop alone may end nothing


def test_a_form_of_address_ends_no_sentence_though_chinese_stands_before_it() -> None:
    parts = sentences("房东Mr. Kowalski要涨房租。我约了Dr. Osei。")
    assert [part.text for part in parts] == ["房东Mr. Kowalski要涨房租", "我约了Dr. Osei"]
    parts = sentences("I met Rev. Okafor and prof. Lindqvist there. They had run 5 km. We ate.")
    assert [part.text for part in parts] == [
        "I met Rev. Okafor and prof. Lindqvist there", "They had run 5 km", "We ate"]  # fmt: skip
