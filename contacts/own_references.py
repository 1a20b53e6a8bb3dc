"""Which phrases may become references to a contact: those that distinguish it from all others."""

from collections.abc import Iterable

from accounts.models import EndUser
from contacts import key_index
from contacts.models import Contact
from understanding.coreference.anaphors import find_anaphors, read_turn
from understanding.lexicon import words
from understanding.names import name_key
from understanding.people import references
from understanding.people.mentions import find_mentions, keys_in
from understanding.roles import terms
from understanding.segmentation import cut, frequency
from understanding.text import clean, is_cjk, is_han
from understanding.types import Utterance

COMMON = 1000  # a Chinese word this frequent in jieba's corpus (朋友, 学校, 胖子) may be anybody
SHORTEST, SHORTEST_LATIN = 2, 4


def chosen(end_user: EndUser, contact: Contact, phrases: Iterable[str]) -> list[str]:
    """Returns the ``phrases`` that may stand for the contact, cleaned, each once: no pronouns, no
    common words, none that names or refers to another person of the user, or finds the contact
    already, or that somebody took away. One statement."""
    denied = set(contact.references_denied)
    texts = {references.form(phrase): clean(phrase, references.LONGEST) for phrase in phrases}
    usable = {form: text for form, text in texts.items() if form not in denied and is_telling(text)}
    keys = frozenset().union(*map(keys_in, usable.values()))
    key_hits = key_index.hits(end_user, keys) if keys else []
    entries = [hit.entry for hit in key_hits]
    own_names = set(map(name_key, (contact.name, *contact.aliases)))
    return [
        text
        for text in usable.values()
        if name_key(text) not in own_names
        and not find_mentions(text, entries)
        and all(one.person.id == contact.pk for one in references.find(text, entries))
    ]


def is_telling(phrase: str) -> bool:
    """Whether a phrase distinguishes a person: no pronoun, no common word, not too short."""
    form = references.form(phrase)
    letters = [char for char in form if char.isalnum()]
    shortest = SHORTEST if any(map(is_cjk, letters)) else SHORTEST_LATIN
    if not shortest <= len(letters) or len(form) > references.LONGEST:
        return False
    for anaphor in find_anaphors(read_turn(Utterance("user", form), references.LONGEST)):
        is_whole = len(anaphor.text.strip()) == len(form)
        if anaphor.form == "personal" or (
            is_whole
            and not (anaphor.form == "bare" and form in terms() and frequency(form) < COMMON)
        ):
            return False
    if all(map(is_han, form)):
        return len(cut(form)) > 1 or frequency(form) < COMMON
    return " " in form or form not in words("english_words")
