"""Whom one pointing word means: candidates by gender, number and binding, then by score."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from accounts.reasons import Reason
from contacts.coreference import role_features
from contacts.coreference import weights as w
from contacts.coreference.anaphors import Anaphor
from contacts.coreference.discourse import Focus, Referent, clues
from contacts.lexicon.rules import patterns

lex = patterns("anaphora")


@dataclass(frozen=True, slots=True)
class Choice:
    """``all`` are those meant, contacts or not; more than one when plural or undecidable."""

    all: tuple[Referent, ...]
    reason: Reason
    confidence: float


def agrees(asked: str, gender: str) -> bool:
    """Whether a word of gender ``asked`` can mean one of ``gender``; empty: either."""
    return not asked or not gender or asked == gender


def choose(a: Anaphor, text: str, clause: int, focus: Focus) -> Choice | None:
    """Whom ``a``, in ``clause`` of ``text``, means, going by what came before it."""
    if a.form in ("former", "latter"):
        return _former_latter(a, focus)
    if a.form == "demonstrative" and lex.asks_name.search(text):
        return None
    if a.form == "personal" and lex.naming.match(text[a.end :]):
        return None
    if a.number > 1:
        return _several(a, text, clause, focus)
    return _one(a, text, clause, focus)


def score(one: Referent, a: Anaphor, grams: frozenset[str], focus: Focus) -> float:
    """How much speaks for ``one``; ``grams`` are the clues of the text that ``a`` is in."""
    distance = one.distance(focus)
    total = w.SCORE["recency"] * w.DECAY**distance
    total += w.SCORE["goal"] if one.goal and distance else w.SCORE[one.role]
    # One spoken of in this very text shares all its words.
    shared = len(grams & one.grams) if distance else 0
    if a.form == "demonstrative" and a.described:
        total += w.SCORE["described"] * min(3, shared)
    else:
        total += w.SCORE["clue"] * min(2, shared)
    if a.form == "demonstrative" and _is_called(one, a.word):
        total += w.SCORE["described"]
    if a.gender and a.gender == one.gender:
        total += w.SCORE["gender"]
    if len(one.turns) > 1:
        total += w.SCORE["topic"]
    if not distance:
        total += w.SCORE["addressee"] if one.addressee else 0.0
        total += w.SCORE["source"] if one.source else 0.0
    flags = (("denied", one.denied), ("presented", one.presented), ("in_passing", one.in_passing))
    total += sum(w.SCORE[name] for name, holds in flags if holds)
    return total + (w.SCORE["pet"] if one.kind == "pet" else 0.0)


def _is_called(one: Referent, word: str) -> bool:
    return bool(word) and one.person is not None and role_features.is_called(one.person, word)


def _fits(one: Referent, a: Anaphor, clause: int, focus: Focus) -> bool:
    if one.kind == "group" and a.form != "other":
        return False
    # A gender beside female and male is for "they" and ta.
    if a.gender and one.gender and one.gender != a.gender:
        return False
    if not one.last_session and one.distance(focus) > w.REACH.get(a.form, w.HISTORY_TURNS):
        return False
    if a.form == "role" and not _is_called(one, a.word):
        return False
    return not _bound(one, a, clause, focus)


def _bound(one: Referent, a: Anaphor, clause: int, focus: Focus) -> bool:
    """Principle B of binding theory: no pronoun means another argument of its own verb."""
    if a.form == "reflexive" or a.role in ("subject", "possessor"):
        return False
    # Two people named before it, in an object, belong to another verb of a Chinese chain.
    free = ("possessor",) if a.number == 1 else ("possessor", "object", "oblique")
    return one.is_in(focus, clause) and one.role not in free


def _one(a: Anaphor, text: str, clause: int, focus: Focus) -> Choice | None:
    grams = clues(text)
    current: list[tuple[float, Referent]] = []
    earlier: list[tuple[float, Referent]] = []
    rejected = bool(lex.denied_before.search(text[: a.start]))
    for one in focus.referents.values():
        if not _fits(one, a, clause, focus) or (a.newcomer and not grams & one.grams):
            continue
        total = score(one, a, grams, focus)
        if rejected and one.denied:
            # "Not her": whom the assistant took to be meant.
            total -= w.SCORE["denied"]
        (earlier if one.last_session else current).append((total, one))
    if current:
        return _best(a, current, focus)
    if earlier and a.form in ("personal", "demonstrative"):
        return _best_of_last_session(a, earlier)
    return None


def _best(a: Anaphor, scored: list[tuple[float, Referent]], focus: Focus) -> Choice | None:
    scored.sort(key=lambda pair: (-pair[0], -pair[1].order))
    top, best = scored[0]
    if best.denied and top < w.DENIED_AT_LEAST:
        return None
    alike = [
        one
        for total, one in scored
        if top - total < w.TIE and (one.turn, one.role) == (best.turn, best.role)
    ]
    if len({one.clause for one in alike}) > 1 and not all(one.person for one in alike):
        # A contact and a stranger, each in a sentence of their own: whoever came last.
        best = max(alike, key=lambda one: one.order)
        alike = [best]
    next_best = max((total for total, one in scored if one not in alike), default=-9.0)
    sure = w.CONFIDENCE[a.form]
    reasons = [Reason("still_topic" if best.distance(focus) > 2 else "spoken_of_last")]
    if best.goal or best.role == "subject":
        reasons.append(Reason("received" if best.goal else "was_subject"))
    if top - next_best < w.RIVAL_WITHIN:
        sure -= w.LESS["rivals"]
    if best.distance(focus) >= w.FAR_FROM:
        sure -= w.LESS["far"]
    if len(alike) > 1:
        sure -= w.LESS["several"]
        reasons.append(Reason("equally_likely", count=len(alike)))
    return _told(a, alike, reasons, sure)


def _best_of_last_session(a: Anaphor, scored: list[tuple[float, Referent]]) -> Choice | None:
    scored.sort(key=lambda pair: -pair[0])
    top, best = scored[0]
    if len(scored) > 1 and top - scored[1][0] < w.CLEAR_ACROSS_SESSIONS:
        return None
    sure = w.CONFIDENCE[a.form] - w.LESS["last session"]
    return _told(a, [best], [Reason("last_session")], sure)


def _told(a: Anaphor, chosen: Sequence[Referent], reasons: list[Reason], sure: float) -> Choice:
    if a.gender:
        known = chosen[0].gender == a.gender
        reasons.append(Reason(a.gender if known else "gender_unknown"))
        sure -= 0.0 if known else w.LESS["gender"]
    return Choice(tuple(chosen), Reason("each_of", reasons=reasons), sure)


def _former_latter(a: Anaphor, focus: Focus) -> Choice | None:
    for _, here in focus.turns_back():
        people = [one for one in here if one.person]
        if len(people) >= 2:
            one = people[0 if a.form == "former" else 1]
            return Choice((one,), Reason(a.form), w.CONFIDENCE[a.form])
    return None


def _several(a: Anaphor, text: str, clause: int, focus: Focus) -> Choice | None:
    """Those named together last; else those spoken of one after the other."""
    gathered: list[Referent] = []
    two = a.number == 2
    for turn, here in focus.turns_back():
        people = [
            one
            for one in here
            if one.kind in ("person", "someone")
            and agrees(a.gender, one.gender)
            and not _bound(one, a, clause, focus)
        ]
        across = here[0].last_session
        found = _set_in(a, people, turn, alone=not gathered)
        if found is not None:
            less = w.LESS["last session"] if across else 0.0
            return replace(found, confidence=found.confidence - less)
        if across:
            continue
        contacts = sum(one.person is not None for one in people)
        if any(one.kind == "group" for one in here) and contacts < 2 and not two:
            break
        gathered = [one for one in people if one not in gathered] + gathered
        if len(gathered) >= 2:
            # "He said they …": they are others.
            if any(one.by_pronoun and one.turn == focus.turn for one in gathered):
                break
            chosen = gathered[-2:] if two else gathered
            sure = w.CONFIDENCE["personal"] - w.LESS["gathered"]
            return Choice(tuple(chosen), Reason("both_last"), sure)
        if gathered and focus.turn - turn > w.REACH["gathered"] and not two:
            break
    if lex.organisation_after.match(text, a.end):
        return _one(replace(a, number=1), text, clause, focus)
    return None


def _set_in(a: Anaphor, people: list[Referent], turn: int, *, alone: bool) -> Choice | None:
    """The set that one turn offers: those side by side in it, or one who stands for several."""
    sure = w.CONFIDENCE["personal"]
    if alone and len(people) == 1:
        one = people[0]
        if a.they and not one.last_session and one.gender not in ("female", "male"):
            return Choice((one,), Reason("singular_they"), sure)
        if one.associates:
            return Choice((one,), Reason("with_associates"), sure - w.LESS["gathered"])
    together = _together(people, turn)
    if not together:
        return None
    return Choice(
        tuple(together[-2:] if a.number == 2 else together), Reason("named_together"), sure
    )


def _together(people: Sequence[Referent], turn: int) -> list[Referent]:
    """Those who stand side by side in a turn: two or more of one clause and role."""
    groups: dict[tuple[int, str], list[Referent]] = {}
    for one in people:
        if one.turn == turn:
            groups.setdefault((one.clause, one.role), []).append(one)
    largest = max(groups.values(), key=len, default=[])
    return largest if len(largest) >= 2 else []
