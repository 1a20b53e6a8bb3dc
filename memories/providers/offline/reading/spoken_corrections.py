"""Corrections and retractions: what they do to what was said before."""

from memories.providers.offline.reading.discourse_reading import SpokenTurn
from memories.providers.offline.reading.draft_book import DraftBook
from memories.providers.offline.reading.quoting import Before, Draft
from memories.providers.offline.reading.speech import confesses_joke
from understanding.lexicon import words
from understanding.lexicon.rules import patterns, rows
from understanding.text import simplified

RE = patterns(__file__)
_CONTRASTS = rows(__file__, "contrasts")
LONGEST_VALUE = 24


def apply_correction(book: DraftBook, spoken: SpokenTurn, draft: Draft) -> bool:
    """Takes back what the user says was a joke, and shows a correction behind the sentence that it
    puts right, which it takes the place of; True where the sentence did nothing else."""
    text = draft.text()
    if confesses_joke(text):
        _take_back_last(book, spoken)
        return True
    old = corrected(text)
    if not old:
        return bool(RE.only_mistake.match(text.strip(" ，,。.!！")))
    for wrong in reversed(book.drafts):
        if old in wrong.text():
            draft.before = Before(
                wrong.text() + wrong.sentence.end_mark, wrong.spots, wrong.spoken.turn.said_at
            )
            draft.extra_turns.append(wrong.turn_id)
            if wrong.spoken.wanted:
                book.drafts.remove(wrong)
            break
    return False


def corrected(text: str) -> str:
    """The words that ``text`` says were wrong, as it says what is right instead; empty where it
    corrects nothing."""
    plain = simplified(text)
    for row in _CONTRASTS:
        match = row["pattern"].search(plain)
        if match is None:
            continue
        old, new = (text[slice(*match.span(group))].strip() for group in ("old", "new"))
        vague = any(word in match.group("old") for word in words("grammar_zh", "no_value"))
        if not vague and old and new and old != new and len(old) <= LONGEST_VALUE:
            return old
    return ""


def _take_back_last(book: DraftBook, spoken: SpokenTurn) -> None:
    """What the user said in their last turn before, else in this one, was no statement."""
    told = [d for d in book.drafts if d.turn_id != spoken.turn.id] or book.drafts
    if told:
        last = told[-1].turn_id
        for draft in [d for d in book.drafts if d.turn_id == last]:
            book.drop(draft)
