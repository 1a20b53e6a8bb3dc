"""Each single pattern of a file earns its place: without it, the functions that act on it read its
example ``yes`` otherwise, and its example ``no`` as before."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from imports.formats import whatsapp
from memories.providers.offline.reading import (
    discourse_reading,
    entity_linking,
    facts,
    quoting,
    reader,
    self_statements,
)
from tests.memories.providers.offline.talks import talk
from tests.patterns.product import PACKAGES
from understanding import role_mentions, roles, text_document
from understanding.coreference import anaphors, antecedents, discourse
from understanding.coreference.resolve import resolve_turns
from understanding.lexicon.rules import content
from understanding.people import person_tagger
from understanding.same_person import claims, features, namesakes, relationships
from understanding.same_person.records import Record
from understanding.statements import client_text, endings, secrets, wordings
from understanding.text import normalise
from understanding.types import Mention, Person, Utterance

IVO = Person("ivo", "Ivo", gender="male")  # type: ignore[arg-type]
NEVER = re.compile(r"(?!)")
# What is read without a pattern must not answer later tests.
CACHED = [
    roles.roles_of,
    roles.is_relation_of_other,
    relationships.ties,
    relationships._relate_texts,
    features._ages,
    features._stated_genders,
    claims._stated_names,
    client_text.client_text,
]


def read_roles(text: str) -> Any:
    norm = normalise(text)
    words = role_mentions.role_words(norm, norm)
    nouns = roles.noun_gender(text), roles.noun_age(text)
    whole = [roles.with_former(norm, word.start, word.end) for word in words]
    return roles.roles_of(text), roles.is_relation_of_other(text), words, nouns, whole


def point_back(text: str) -> Any:
    turn = anaphors.read_turn(Utterance("user", text), len(text))
    found = anaphors.find_anaphors(turn)
    relatives = anaphors.relatives_of(text, [(one.start, one.end) for one in found])
    ivo = (Mention(IVO, 0, 3, "Ivo", "name", 1.0),)
    message = Utterance("user", text, ivo if text.startswith("Ivo") else ())
    return turn, found, relatives, resolve_turns(message, [Utterance("user", "Ivo", ivo)])[-1]


def refer(text: str) -> Any:
    """Whom a message behind a word of the assistant's means: "Is he well?|He is ill"."""
    asked, message = text.split("|")
    named = Utterance("user", "Ivo came by", (Mention(IVO, 0, 3, "Ivo", "name", 1.0),))
    return resolve_turns(Utterance("user", message), [named, Utterance("assistant", asked)])[-1]


def relate(text: str) -> Any:
    return discourse.stated_relations([IVO, Person("jo", text)])  # type: ignore[arg-type]


def speak_of_oneself(text: str) -> Any:
    spans = person_tagger.person_spans(text)
    spots = [(one.start, one.end) for one in entity_linking.user_spots(text, [])]
    whose = person_tagger.owners(text, spans), person_tagger.same_person(text, spans)
    relatives = entity_linking._with_relatives(text, [])
    return self_statements._of_oneself(text), spots, relatives, whose


def end(text: str) -> Any:
    """Whether a sentence says that a value is over: "Ana left Acme|company|Acme"."""
    return endings.is_over(*text.split("|"))


def tell_apart(text: str) -> Any:
    """Whether a text speaks of another person of the name before it: "Sam|another Sam"."""
    name, told = text.split("|")
    start = told.index(name)
    return namesakes.says_another(told, start, start + len(name))


def tie(text: str) -> Any:
    boss = Record("Jo", relationship="boss")
    return relationships.ties(text), relationships.relate(Record("Ivo", relationship=text), boss)


def describe(text: str) -> Any:
    one = Record("Ivo", facts=(text,))
    return features.ages(one), features.gender_of(one)


def claim(text: str) -> Any:
    """What a fact about somebody states of the name before it: "Spud|Known as Spud"."""
    name, fact = text.split("|")
    one, other = Record("Ivo", facts=(fact,)), Record(name)
    same, different = claims.stated_same(one, other), claims.stated_different(one, other)
    return same, different, claims.named_as_other(one, other), list(claims.stated_keys(one))


def mask(text: str) -> Any:
    return text_document.masked(normalise(text))


def learn(text: str) -> Any:
    """What is learnt from the turns of a conversation: "Ivo moved|A: Where to?|Rome"."""
    return talk(*text.split("|"))


def conceal(text: str) -> Any:
    return secrets.masked(text), secrets.holds_phone(text), secrets.secret_labels(text)


def strip(text: str) -> Any:
    return client_text.client_text(text), client_text.instructs_for_client(text)


FILES: Sequence[tuple[ModuleType, str, str, Callable[[str], Any]]] = [
    (roles, "lex", "role_phrases", read_roles),
    (person_tagger, "_FIRST_PERSON", "first_person", speak_of_oneself),
    (anaphors, "lex", anaphors.__file__, point_back),
    (antecedents, "lex", antecedents.__file__, refer),
    (discourse, "lex", discourse.__file__, relate),
    (endings, "RE", endings.__file__, end),
    (wordings, "_RE", wordings.__file__, wordings.greets),
    (namesakes, "lex", namesakes.__file__, tell_apart),
    (whatsapp, "_TEXTS", whatsapp.__file__, whatsapp._typed_text),
    (relationships, "lex", relationships.__file__, tie),
    (features, "lex", features.__file__, describe),
    (claims, "lex", claims.__file__, claim),
    (text_document, "lex", text_document.__file__, mask),
    (quoting, "RE", quoting.__file__, learn),
    (reader, "RE", reader.__file__, learn),
    (facts, "RE", facts.__file__, learn),
    (discourse_reading, "RE", discourse_reading.__file__, learn),
    (secrets, "_RE", secrets.__file__, conceal),
    (client_text, "_NAMES", client_text.__file__, strip),
]
PATTERNS = [
    pytest.param(getattr(module, attribute), name, act, content(file)["examples"], id=name)
    for module, attribute, file, act in FILES
    for name in content(file)["patterns"]
]


def test_each_file_of_patterns_has_an_example_of_each() -> None:
    here = Path(__file__).parents[2]
    paths = [path for package in PACKAGES for path in (here / package).rglob("*.toml")]
    named = {path.stem: content(str(path)) for path in paths}
    assert {Path(file).stem for _, _, file, _ in FILES} == {
        name for name, tables in named.items() if "patterns" in tables
    }
    for tables in named.values():
        assert tables.get("patterns", {}).keys() == tables.get("examples", {}).keys()


@pytest.mark.parametrize(("patterns", "name", "act", "examples"), PATTERNS)
def test_a_pattern_changes_the_reading_of_its_example_and_of_no_other(
    patterns: Any,
    name: str,
    act: Callable[[str], Any],
    examples: Mapping[str, Mapping[str, str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def readings() -> list[Any]:
        try:
            return [act(examples[name][kind]) for kind in ("yes", "no")]
        finally:
            for function in CACHED:
                function.cache_clear()

    with_pattern = readings()
    monkeypatch.setattr(patterns, name, NEVER)
    without_pattern = readings()
    assert [a == b for a, b in zip(with_pattern, without_pattern, strict=True)] == [False, True]
