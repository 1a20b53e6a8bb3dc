"""A batch of turns in, people, memories and relations out.

Turns are understood first (who is meant where), then cut into statements; a classifier says what
each does and whether it tells something of a life, and what it does is told in the third person.
"""

from collections.abc import Iterator

from contacts.tagging.secrets import holds_phone, holds_secret
from memories.providers.embeddings import LocalEmbedder
from memories.providers.offline.heads.judge import judge
from memories.providers.offline.reading.discourse_reading import Heard, understand
from memories.providers.offline.reading.draft_book import DraftBook
from memories.providers.offline.reading.forget_in_batch import forget_asked
from memories.providers.offline.reading.putting_right import put_right, taken_over
from memories.providers.offline.reading.realization import realize
from memories.providers.offline.reading.self_statements import with_self_statements
from memories.providers.offline.reading.speech import confirmed, injects, last_question, makes
from memories.providers.offline.reading.telling import Draft, drafts_of, is_fragment
from memories.text.sentences import sentences
from memories.types import Extraction, ExtractionRequest

_EMBEDDER = LocalEmbedder()


def extract(request: ExtractionRequest) -> Extraction:
    """The memories and people in a batch of turns."""
    return with_self_statements(_realized(request), request, _realized)


def _realized(request: ExtractionRequest) -> Extraction:
    return realize(read(request), request)


def read(request: ExtractionRequest) -> DraftBook:
    """What is drafted of a batch, each draft judged, before it is decided what becomes of it."""
    discourse = understand(request)
    book = DraftBook(discourse)
    asked: Heard | None = None
    for heard in discourse.turns:
        if heard.by_user:
            book.clock += 1
            _read_turn(book, heard, asked)
            book.before_id = heard.turn.id
            asked = None
        else:
            asked = heard
    _judge(book)
    return book


def _read_turn(book: DraftBook, heard: Heard, asked: Heard | None) -> None:
    """Carries out what a turn asks for, and drafts what it states."""
    drafts = list(drafts_of(heard))
    if asked is not None and drafts and (question := last_question(asked.text)):
        first = drafts[0]
        if first.sentence.start == 0 and is_fragment(first):
            at = asked.text.rindex(question)
            end = at + len(question)
            spots = [s.moved(-at) for s in asked.spots if at <= s.start and s.end <= end]
            first.asked = (question, spots)
    for sentence in sentences(heard.text):
        if makes(sentence.text):
            return
        if injects(sentence.text):
            continue
        if not heard.in_chat and forget_asked(book, heard, sentence):
            continue
        if put_right(book, heard, sentence):
            continue
        end = sentence.start + len(sentence.text)
        book.drafts += [d for d in drafts if sentence.start <= d.sentence.start < end]
    if asked is not None and (said := confirmed(asked.text, heard.text)):
        book.drafts += _agreed(heard, asked, said)


def _agreed(heard: Heard, asked: Heard, said: str) -> Iterator[Draft]:
    """What the assistant asked and the user said yes to is the user's own statement."""
    at = asked.text.index(said)
    statement = Heard(heard.turn, said, heard.wanted)
    for spot in asked.spots:
        if at <= spot.start and spot.end <= at + len(said):
            statement.spots.append(spot.moved(-at))
    for draft in drafts_of(statement):
        draft.agreed = True
        yield draft


def _judge(book: DraftBook) -> None:
    """What each draft does, and which of them tell nothing worth a memory."""
    book.drafts = [d for d in book.drafts if any(map(str.isalnum, d.text()))]
    wanted = [d for d in book.drafts if d.heard.wanted or d.extra_turns]
    texts = [d.text() + d.sentence.end_mark for d in wanted]
    each = [*dict.fromkeys(texts)]  # what is pasted says the same again and again
    known = dict(zip(each, _EMBEDDER.embed_passages(each) if each else [], strict=True))
    vectors = [known[text] for text in texts]
    for draft, judgement, vector in zip(wanted, judge(texts, vectors), vectors, strict=True):
        draft.judgement, draft.vector = judgement, vector
    taken_over(book, wanted)
    book.drafts = [d for d in book.drafts if d.judgement is not None and not _is_private(d.text())]


def _is_private(text: str) -> bool:
    return holds_secret(text) or holds_phone(text)
