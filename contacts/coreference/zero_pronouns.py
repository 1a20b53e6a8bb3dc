"""Whom a sentence means that has no word for them: a dropped subject, the addressee of a
draft, the one to whom a reply goes."""

from accounts.reasons import Reason
from contacts.coreference import weights as w
from contacts.coreference.anaphors import Anaphor
from contacts.coreference.antecedents import score
from contacts.coreference.discourse import Focus, Referent
from contacts.coreference.syntax import STOPS, Clauses, words_zh
from contacts.lexicon import words
from contacts.lexicon.rules import patterns
from contacts.text import HAN, quotations
from contacts.types import Person, Utterance

lex = patterns("anaphora")
_OVERT_SUBJECT = words("grammar_zh", "overt_subject")

_NEVER = -9.0
# Word classes that may stand before a predicate: time, adverb, conjunction, place, amount.
_BEFORE_PREDICATE = frozenset("tdcfqs")
_PREDICATE = frozenset("vaizlpbr")
_SUBJECT = Anaphor(0, 0, "", "personal", "subject")


def addressee(text: str, request: Utterance | None) -> tuple[Person, int, int] | None:
    """Who is "you" in the words that ``text`` dictates, after ``request`` asked to write to
    someone, and where."""
    if request is None or not lex.draft.search(request.text) or not lex.draft_body.match(text):
        return None
    people = {mention.person.id: mention.person for mention in request.mentions}
    if len(people) != 1:
        return None
    dictated = quotations(text)
    for match in lex.you.finditer(text):
        if any(start < match.start() < end for start, end in dictated):
            return next(iter(people.values())), *match.span()
    return None


def dropped_subject(
    text: str, asked: Utterance | None, before: Utterance | None, focus: Focus
) -> tuple[Referent, Reason] | None:
    """Whom ``text``, which names and points at nobody, is about, and why; ``asked`` is what
    the assistant said just before, ``before`` what the user did."""
    topic = _topic(focus)
    if topic is None:
        return None
    if lex.reply_request.search(text):
        return topic, Reason("to_answer")
    if not HAN.search(text):
        return (topic, Reason("subject_omitted")) if _english(text, asked) else None
    total, cues = zero_cues(text)
    # A question is no answer.
    if asked and lex.question.search(asked.text) and "question" not in cues:
        cue = "answers_about_you" if lex.you.search(asked.text) else "answers_about_them"
        total += w.ZERO[cue]
        cues.append(cue)
    if _own_feeling(text) and not _suffers(topic, before):
        total += w.ZERO["own_feeling"]
        cues.append("own_feeling")
    subject = topic.role in ("subject", "possessor")
    if total < w.ZERO_FROM + (0.0 if subject else w.ZERO_NOT_SUBJECT):
        return None
    return topic, Reason("subject_omitted_by", cues=[Reason(cue) for cue in cues])


def _own_feeling(text: str) -> bool:
    """Whether ``text`` says without a subject what only the speaker can feel."""
    return bool(lex.expletive_zh.search(text) or lex.own_feeling_zh.match(_rest(text)))


def _suffers(topic: Referent, said: Utterance | None) -> bool:
    """Whether the user said just before that the topic is unwell."""
    if said is None or topic.person is None or not lex.suffers_zh.search(said.text):
        return False
    return any(mention.person.id == topic.person.id for mention in said.mentions)


def _rest(text: str) -> str:
    """``text`` without what may lead it and says nothing about whom it is about."""
    lead = lex.lead_zh.match(text)
    return (text[lead.end() :] if lead else text) or text


def zero_cues(text: str) -> tuple[float, list[str]]:
    """How much a Chinese text looks like a sentence about a person who is left out of it."""
    text = _sworn(text)
    if not text.strip(STOPS):
        return _NEVER, []
    rest = _rest(text)
    if lex.command_zh.match(text) or lex.others_zh.match(rest):
        return _NEVER, []
    if any(map(lex.not_about_anyone_zh.match, (text, rest))):
        return _NEVER, []
    if lex.reported_zh.match(rest):
        return w.ZERO["reported"], ["reported"]
    clause = rest[: Clauses(rest).span(0)[1]]
    words = list(words_zh(clause))
    while words and words[0][1] in _BEFORE_PREDICATE and not _is_personal(words):
        words.pop(0)
    word, kind = words[0] if words else ("", "x")
    if word in _OVERT_SUBJECT:
        return _NEVER, []
    cues = _cues(text, rest, kind, personal=_is_personal(words))
    if "noun_first" in cues and len(text) > w.ANSWER_CHARACTERS:
        return _NEVER, []
    if lex.planned_zh.match(clause):
        cues.append("users_plan")
    return sum(w.ZERO[cue] for cue in cues), cues


def _sworn(text: str) -> str:
    """``text`` without oaths."""
    return lex.expletive_zh.sub("", text)


def _cues(text: str, rest: str, kind: str, *, personal: bool) -> list[str]:
    """``kind`` is the class of the word that ``rest``, the text past its lead, begins with."""
    cues = []
    asked = lex.asked_of_person_zh.search(rest) and (personal or kind not in "nNxj")
    if asked:
        cues.append("asked_of_person")
    elif lex.question.search(text) and not personal:
        cues.append("question")
    if personal:
        cues.append("personal_noun")
    elif kind in _PREDICATE:
        cues.append("predicate_first")
    elif not asked:
        cues.append("noun_first")
    return cues


def _is_personal(words: list[tuple[str, str]]) -> bool:
    return bool(lex.personal_noun.match("".join(word for word, _ in words)))


def _english(text: str, asked: Utterance | None) -> bool:
    """English drops "I"; another subject only in fragments that ask or answer about them."""
    if lex.first_person_en.search(text.split(",")[0]):
        return False
    if lex.asked_of_person_en.search(text):
        return True
    about_them = asked and "?" in asked.text and lex.third_person.search(asked.text)
    return bool(about_them and lex.answer_en.match(text))


def _topic(focus: Focus) -> Referent | None:
    """Whom the talk is about just now, when that is one contact."""
    near = [
        (score(one, _SUBJECT, frozenset(), focus), one)
        for one in focus.referents.values()
        if one.kind != "group"
        and not one.denied
        and not one.last_session
        and one.distance(focus) <= w.REACH["zero"]
    ]
    near.sort(key=lambda pair: -pair[0])
    if not near or (len(near) > 1 and near[0][0] - near[1][0] < w.TIE):
        return None
    return near[0][1] if near[0][1].person else None
